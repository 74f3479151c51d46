"""Dense retrieval against its limits, measured in one run on one CPU thread.

Exact search of one query is compared with the memory's bandwidth and with plain reads of the same bytes, which a small
corpus has in a cache; batches of 64 with faiss as it comes; and each approximate kind with exact search. The vectors
are generated: clusters of 32 directions, of length 1, in 256 dimensions, and for exact search also in 768, as many as
wiki-18's. Run ``python benchmarks/retrieval_dense.py``; ``--json`` prints one document.
"""

import argparse
import importlib.util
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from agentgym_r1.corpus import MemoryCorpus
from agentgym_r1.retrieval.dense import DenseRetriever
from agentgym_r1.retrieval.devices import CpuIndex
from agentgym_r1.retrieval.encoder import EncoderSettings, EncoderSpec, Matrix
from agentgym_r1.retrieval.exact import ExactIndex
from agentgym_r1.retrieval.flat import append_rows, map_flat
from agentgym_r1.retrieval.plan import KINDS, make_plan
from agentgym_r1.retrieval.training import train_index

K = 10
DIMENSIONS = (256, 768)
"""Exact search is measured in all of them, approximate kinds in the first."""
MEMORY_BYTES = 1 << 29
"""Enough that no cache holds it."""
DIRECTIONS = 32
QUERIES = 256
BATCH = 64
SINGLE = 16
"""Queries one after the other: a call of a third of a millisecond alone would be measured as it starts up. For the same
reason there are several batches."""
ROUNDS = 7
FAISS_THRESHOLD = 128_000
BLAS_KIND = "OPENBLAS_CORETYPE"
"""Where it is set it names an older processor than there is, and both sides are slower; it is removed."""
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


class NoEncoder:
    """Stands where texts are encoded; only vectors are searched here."""

    device = "cpu"
    spec = EncoderSpec("none", "", DIMENSIONS[0], EncoderSettings("mean"))

    def encode_queries(self, texts: object) -> Matrix:
        raise AssertionError("only vectors are searched here")

    encode_passages = encode_queries


@dataclass(frozen=True, slots=True)
class Limits:
    """Exact search against what bounds it; times in milliseconds a query."""

    count: int
    dimension: int
    read_gb_s: float
    single_gb_s: float
    single_share: float
    memory_share: float
    batch_ms: float
    blas_batch_ms: float
    plain_batch_ms: float
    batch_speedup: float


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of index: recall@10 against exact search, queries a second, bytes a vector besides the exact ones."""

    count: int
    kind: str
    factory: str
    recall: float
    single_qps: float
    batch_qps: float
    bytes_a_vector: float
    build_s: float


def vectors(count: int, dimension: int, *, seed: int) -> Matrix:
    """Return float32 (count, dimension) of length 1 in 300 clusters that all seeds share."""
    shared = np.random.default_rng(0)
    centres = shared.standard_normal((300, DIRECTIONS), np.float32)
    basis = shared.standard_normal((DIRECTIONS, dimension), np.float32)
    rng = np.random.default_rng(seed)
    inner = centres[rng.integers(0, len(centres), count)] + 0.7 * rng.standard_normal((count, DIRECTIONS), np.float32)
    rows = inner @ basis + rng.standard_normal((count, dimension), np.float32)
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


def best(*actions: Callable[[], object]) -> list[float]:
    """Return the shortest time of each action over rounds that take turns, so that all see the same neighbours."""
    times = [[] for _ in actions]
    for _ in range(ROUNDS):
        for action, of_action in zip(actions, times):
            start = time.perf_counter()
            action()
            of_action.append(time.perf_counter() - start)
    return [min(of_action) for of_action in times]


def memory_gb_s() -> float:
    """Return how fast one thread reads memory that no cache holds, the faster of two plain ways."""
    numbers = np.ones(MEMORY_BYTES // 4, np.float32)
    product, total = best(lambda: numbers @ numbers, lambda: numbers.view(np.int32).max())
    return numbers.nbytes / min(product, total) / 1e9


def measure_limits(path: Path, queries: Matrix, memory: float) -> Limits:
    """Time exact search beside plain reads of the same bytes, and beside faiss without and with its BLAS."""
    import faiss

    dimension = queries.shape[1]
    ours = ExactIndex(map_flat(path))
    ours.warm_up()
    plain = faiss.read_index(str(path))
    rows = faiss.rev_swig_ptr(plain.get_xb(), plain.ntotal * dimension).reshape(-1, dimension)

    batches = [queries[start : start + BATCH] for start in range(0, QUERIES, BATCH)]

    def faiss_batches(threshold: int) -> None:
        faiss.cvar.distance_compute_blas_threshold = threshold
        for asked in batches:
            plain.search(asked, K)

    product, total, single, batch, blas, slow = best(
        lambda: [rows @ query for query in queries[:SINGLE]],
        lambda: [rows.view(np.int32).max() for _ in range(SINGLE)],
        lambda: [ours.search(query[None], K) for query in queries[:SINGLE]],
        lambda: [ours.search(asked, K) for asked in batches],
        lambda: faiss_batches(1),
        lambda: faiss_batches(FAISS_THRESHOLD),
    )
    read = SINGLE * rows.nbytes / 1e9
    limit, reached = read / min(product, total), read / single
    shares = reached / limit, reached / memory
    times = (seconds / QUERIES * 1e3 for seconds in (batch, blas, slow))
    return Limits(len(rows), dimension, limit, reached, *shares, *times, slow / batch)


def measure_kind(folder: Path, name: str, rows: Matrix, queries: Matrix, truth: list[set[int]]) -> Kind:
    """Build one kind of index and search it as a retriever does, exact scores included."""
    plan = make_plan(name, *rows.shape)
    path, start = folder / ("vectors.faiss" if name == "flat" else f"{name}.faiss"), time.perf_counter()
    if name != "flat":
        train_index(path, rows, plan)
    build = time.perf_counter() - start
    index = ExactIndex(rows) if name == "flat" else CpuIndex.open(path, plan)
    retriever = DenseRetriever(MemoryCorpus([]), NoEncoder(), rows, index, refine=plan.refine)
    retriever.warm_up()
    found = retriever.rank_vectors(queries, k=K)
    recall = np.mean([len({hit for hit, _ in hits} & true) / K for hits, true in zip(found, truth)])
    single, batch = best(
        lambda: [retriever.rank_vectors(query[None], k=K) for query in queries[:SINGLE]],
        lambda: [retriever.rank_vectors(queries[at : at + BATCH], k=K) for at in range(0, QUERIES, BATCH)],
    )
    size = 0.0 if name == "flat" else path.stat().st_size / len(rows)
    return Kind(len(rows), name, plan.factory, float(recall), SINGLE / single, QUERIES / batch, size, build)


def measure(count: int, dimension: int, kinds: list[str], memory: float) -> tuple[Limits, list[Kind]]:
    """Measure one size of corpus in one dimension."""
    queries = vectors(QUERIES, dimension, seed=2)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        append_rows(folder / "vectors.faiss", vectors(count, dimension, seed=1), done=0, count=count)
        rows = map_flat(folder / "vectors.faiss")
        limits = measure_limits(folder / "vectors.faiss", queries, memory)
        order = np.argsort(-(queries @ np.array(rows).T), axis=1)[:, :K] if kinds else []
        truth = [set(row.tolist()) for row in order]
        return limits, [measure_kind(folder, kind, rows, queries, truth) for kind in kinds]


def table(header: str, lines: list[str]) -> str:
    """Return a Markdown table."""
    return "\n".join([header, "|" + "---|" * (header.count("|") - 1), *lines, ""])


def report(results: list[tuple[Limits, list[Kind]]]) -> str:
    """Return both tables."""
    first = [
        f"| {one.count:,} | {one.dimension} | {one.single_gb_s:.1f} | {one.memory_share:.0%} | {one.read_gb_s:.1f} |"
        f" {one.single_share:.0%} | {one.batch_ms:.3f} | {one.plain_batch_ms:.3f} | {one.batch_speedup:.1f}x |"
        f" {one.blas_batch_ms:.3f} |"
        for one, _ in results
    ]
    second = [
        f"| {one.count:,} | {one.kind} | {one.factory} | {one.recall:.3f} | {one.single_qps:,.0f} |"
        f" {one.batch_qps:,.0f} | {one.bytes_a_vector:.0f} | {one.build_s:.0f} |"
        for _, kinds in results
        for one in kinds
    ]
    limits = (
        "| vectors | dimensions | one query GB/s | of the memory's | same bytes read, GB/s | of that |"
        " ms a query in 64 | plain faiss | speed-up | faiss's BLAS |"
    )
    kinds = "| vectors | kind | faiss | recall@10 | single QPS | batch QPS | extra bytes a vector | build s |"
    return table(limits, first) + "\n" + table(kinds, second)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--kinds", nargs="+", default=list(KINDS), choices=KINDS)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if importlib.util.find_spec("faiss") is None:
        print("left out: dense retrieval needs pip install 'agentgym-r1[dense]'", file=sys.stderr)
        return
    wanted = {name: value for name, value in os.environ.items() if name != BLAS_KIND} | ONE_THREAD
    if os.environ != wanted:
        os.execve(sys.executable, [sys.executable, *sys.argv], wanted)
    memory = memory_gb_s()
    results = [
        measure(count, dimension, options.kinds if dimension == DIMENSIONS[0] else [], memory)
        for dimension in DIMENSIONS
        for count in options.sizes
    ]
    if options.json:
        print(
            json.dumps(
                {
                    "memory_gb_s": memory,
                    "results": [
                        {"limits": asdict(one), "kinds": [asdict(kind) for kind in kinds]} for one, kinds in results
                    ],
                }
            )
        )
    else:
        print(f"One thread reads memory at {memory:.1f} GB/s.\n")
        print(report(results))


if __name__ == "__main__":
    main()
