"""Retrieval against its peers, measured in one run: BM25 against bm25s with numba and against Lucene.

Each engine works in a process of its own, on the same generated passages; times are CPU seconds, Java's threads
included, so that neighbours on the machine disturb little. Lucene takes part where the extra ``lucene`` is installed.
Then the memory of worker processes that share one corpus and index (Linux only).
Run ``python benchmarks/retrieval.py``; ``--json`` prints one document.
"""

import argparse
import json
import multiprocessing
import os
import re
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from agentgym_r1.corpus import MemoryCorpus, contents, open_corpus, write_corpus
from agentgym_r1.errors import MissingExtra
from agentgym_r1.retrieval.analyzer import STOP_WORDS
from agentgym_r1.retrieval.bm25 import BM25Retriever, write_bm25
from agentgym_r1.retrieval.lucene import LuceneRetriever, write_lucene
from agentgym_r1.retrieval.lucene_java import find_jar, find_java
from agentgym_r1.types import Document

K = 10
JAVA_WARM_UP = 3
SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprstvz" for vowel in "aeiou"]


@dataclass(frozen=True, slots=True)
class Figures:
    """What one engine did: rates in queries a CPU second, times in CPU seconds, memory as the peak of its process."""

    build_s: float
    single_qps: float
    batch_qps: float
    disk_mb: float
    peak_mb: float


class Zipf:
    """A seeded language: stop words are its most frequent words, as in English, and frequencies follow Zipf's law."""

    def __init__(self, *, seed: int, words: int = 150_000) -> None:
        self._rng = np.random.default_rng(seed)
        names = {"".join(self._rng.choice(SYLLABLES, self._rng.integers(2, 5))) for _ in range(words)}
        self._words = np.array([*sorted(STOP_WORDS), *sorted(names)])
        weights = 1 / np.arange(3, len(self._words) + 3)
        self._weights = weights / weights.sum()

    def documents(self, count: int) -> list[Document]:
        """Return passages of 60 to 100 words; every one has words of its own topic that it repeats."""
        documents = []
        for position, length in enumerate(self._rng.integers(60, 101, count)):
            text = self._rng.choice(self._words, length, p=self._weights)
            topic = self._rng.choice(self._words, 4)
            text[self._rng.integers(0, length, 10)] = self._rng.choice(topic, 10)
            documents.append(Document(str(position), " ".join(topic[:2]), " ".join(text)))
        return documents

    def queries(self, documents: list[Document], count: int) -> list[str]:
        """Return questions of 16 words, 6 of them from one passage, 4 from another and 6 common ones."""
        queries = []
        for first, second in self._rng.integers(0, len(documents), (count, 2)):
            words = [
                *self._rng.choice(documents[first].text.split(), 6),
                *self._rng.choice(documents[second].text.split(), 4),
                *self._rng.choice(self._words, 6, p=self._weights),
            ]
            queries.append(" ".join(words))
        return queries


def measure_ours(folder: Path) -> Figures:
    """Build an index folder, open it, and rank every query alone and all at once."""
    corpus, queries = open_corpus(folder / "corpus.arrow"), json.loads((folder / "queries.json").read_text())
    start = time.process_time()
    write_bm25(folder / "ours", corpus)
    build = time.process_time() - start
    retriever = BM25Retriever.open(folder / "ours")
    retriever.warm_up()
    keep_ids(folder / "ours.json", [[str(position) for position, _ in hits] for hits in retriever.rank(queries, k=K)])
    return Figures(
        build_s=build,
        single_qps=rate(lambda: [retriever.rank([query], k=K) for query in queries], len(queries)),
        batch_qps=rate(lambda: retriever.rank(queries, k=K), len(queries)),
        disk_mb=size_mb(folder / "ours"),
        peak_mb=peak_mb(),
    )


def measure_new_words(folder: Path) -> dict[str, float]:
    """Return the rates of a process that meets every word of the queries for the first time.

    Once as they are, and once with a word of its own beyond ASCII in each, which Python reads.
    """
    asked = json.loads((folder / "queries.json").read_text())
    accented = [f"{query} {re.sub('[aeiou]', 'é', query.split()[0])}" for query in asked]

    def opened() -> BM25Retriever:
        retriever = BM25Retriever.open(folder / "ours")
        retriever.warm_up()
        retriever.rank([""], k=K)
        return retriever

    def single(retriever: BM25Retriever, queries: list[str]) -> None:
        for query in queries:
            retriever.rank([query], k=K)

    def batch(retriever: BM25Retriever, queries: list[str]) -> None:
        retriever.rank(queries, k=K)

    def measured(work: Callable[[BM25Retriever, list[str]], None], queries: list[str]) -> float:
        fresh = iter([opened() for _ in range(3)])
        return rate(lambda: work(next(fresh), queries), len(queries))

    return {
        f"{name}_{words}_qps": measured(work, queries)
        for words, queries in (("new_words", asked), ("accented", accented))
        for name, work in (("single", single), ("batch", batch))
    }


def measure_passages(folder: Path) -> float:
    """Return queries a CPU second of ``search``, which also reads the passages."""
    queries = json.loads((folder / "queries.json").read_text())
    retriever = BM25Retriever.open(folder / "ours")
    retriever.warm_up()
    return rate(lambda: retriever.search(queries, k=K), len(queries))


def measure_bm25s(folder: Path) -> Figures:
    """The same with bm25s: its tokenizer and stop words, no stemmer, the numba back end, its index memory-mapped."""
    import bm25s

    corpus, queries = open_corpus(folder / "corpus.arrow"), json.loads((folder / "queries.json").read_text())
    start = time.process_time()
    built = bm25s.BM25(k1=0.9, b=0.4, backend="numba")
    built.index(bm25s.tokenize([contents(document) for document in corpus], show_progress=False), show_progress=False)
    built.save(folder / "bm25s")
    build = time.process_time() - start
    retriever = bm25s.BM25.load(folder / "bm25s", mmap=True)
    retriever.backend = "numba"

    def ask(queries: list[str]):
        tokens = bm25s.tokenize(queries, show_progress=False)
        return retriever.retrieve(tokens, k=K, show_progress=False, n_threads=1)

    keep_ids(folder / "bm25s.json", [[str(position) for position in row] for row in ask(queries)[0]])
    return Figures(
        build_s=build,
        single_qps=rate(lambda: [ask([query]) for query in queries], len(queries)),
        batch_qps=rate(lambda: ask(queries), len(queries)),
        disk_mb=size_mb(folder / "bm25s"),
        peak_mb=peak_mb(),
    )


def measure_lucene(folder: Path) -> Figures:
    """The same with Lucene through ``LuceneRetriever``: CPU seconds and memory are of both processes together."""
    corpus, queries = open_corpus(folder / "corpus.arrow"), json.loads((folder / "queries.json").read_text())
    start = time.process_time() + ended_children_s()
    write_lucene(folder / "lucene", corpus)
    build = time.process_time() + ended_children_s() - start
    retriever = LuceneRetriever.open(folder / "lucene")
    for _ in range(JAVA_WARM_UP):
        found = retriever.rank(queries, k=K)
    keep_ids(folder / "lucene.json", [[document_id for document_id, _ in hits] for hits in found])
    java = retriever.process_id

    def clock() -> float:
        return time.process_time() + running_s(java)

    figures = Figures(
        build_s=build,
        single_qps=rate(lambda: [retriever.rank([query], k=K) for query in queries], len(queries), clock=clock),
        batch_qps=rate(lambda: retriever.rank(queries, k=K), len(queries), clock=clock),
        disk_mb=size_mb(folder / "lucene"),
        peak_mb=peak_mb() + running_peak_mb(java),
    )
    retriever.close()
    return figures


def keep_ids(path: Path, rankings: list[list[str]]) -> None:
    path.write_text(json.dumps(rankings))


def overlap(folder: Path, engine: str) -> float:
    """Return the mean share of Lucene's first K passages that an engine has among its own."""
    lucene, other = (json.loads((folder / f"{name}.json").read_text()) for name in ("lucene", engine))
    return sum(len({*mine} & {*its}) / K for mine, its in zip(lucene, other, strict=True)) / len(lucene)


def ended_children_s() -> float:
    """Return the CPU seconds of the child processes that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def running_s(process_id: int) -> float:
    """Return the CPU seconds that a running process has used (Linux)."""
    fields = Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def running_peak_mb(process_id: int) -> float:
    """Return the peak memory of a running process (Linux)."""
    lines = Path(f"/proc/{process_id}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 / 1e6 for line in lines if line.startswith("VmHWM"))


def has_lucene() -> bool:
    """Return whether Lucene can run here; say what is missing when it cannot."""
    try:
        find_jar()
        find_java()
    except MissingExtra as err:
        print(f"without Lucene: {err}", file=sys.stderr)
        return False
    return sys.platform == "linux"


def rate(
    work: Callable[[], object], queries: int, *, repeats: int = 3, clock: Callable[[], float] = time.process_time
) -> float:
    """Return the queries a CPU second of the fastest of three runs."""
    times = []
    for _ in range(repeats):
        start = clock()
        work()
        times.append(clock() - start)
    return queries / min(times)


def size_mb(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.iterdir()) / 1e6


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6


def apart(work: Callable[[Path], object], folder: Path) -> object:
    """Run ``work`` in a fresh process and return what it returns."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(work, (folder,))


def bm25_section(count: int, *, queries: int, seed: int, workers: int) -> tuple[dict[str, float], dict[str, object]]:
    """Return ratios, greater than 1 where ours is better, and figures for a corpus of ``count`` passages."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        language = Zipf(seed=seed)
        documents = language.documents(count)
        write_corpus(folder / "corpus.arrow", documents)
        (folder / "queries.json").write_text(json.dumps(language.queries(documents, queries)))
        del documents
        ours, peer = apart(measure_ours, folder), apart(measure_bm25s, folder)
        passages, new = apart(measure_passages, folder), apart(measure_new_words, folder)
        lucene = lucene_part(folder, count, ours) if has_lucene() else ({}, {})
        shared = memory_section(folder, count, workers) if Path("/proc/self/smaps_rollup").exists() else ({}, {})
    ratios = {
        f"bm25_{count}_build_vs_bm25s": peer.build_s / ours.build_s,
        f"bm25_{count}_single_vs_bm25s": ours.single_qps / peer.single_qps,
        f"bm25_{count}_batch_vs_bm25s": ours.batch_qps / peer.batch_qps,
        f"bm25_{count}_single_new_words_vs_bm25s": new["single_new_words_qps"] / peer.single_qps,
        f"bm25_{count}_batch_new_words_vs_bm25s": new["batch_new_words_qps"] / peer.batch_qps,
        f"bm25_{count}_single_accented_vs_bm25s": new["single_accented_qps"] / peer.single_qps,
        f"bm25_{count}_batch_accented_vs_bm25s": new["batch_accented_qps"] / peer.batch_qps,
        f"bm25_{count}_memory_vs_bm25s": peer.peak_mb / ours.peak_mb,
    }
    figures = {
        f"bm25_{count}": asdict(ours) | new | {"batch_with_passages_qps": passages},
        f"bm25s_{count}": asdict(peer),
    }
    return ratios | lucene[0] | shared[0], figures | lucene[1] | shared[1]


def lucene_part(folder: Path, count: int, ours: Figures) -> tuple[dict[str, float], dict[str, object]]:
    """Return our ratios to Lucene, how much of its first K passages each engine has, and its figures."""
    lucene = apart(measure_lucene, folder)
    ratios = {
        f"bm25_{count}_build_vs_lucene": lucene.build_s / ours.build_s,
        f"bm25_{count}_single_vs_lucene": ours.single_qps / lucene.single_qps,
        f"bm25_{count}_batch_vs_lucene": ours.batch_qps / lucene.batch_qps,
        f"bm25_{count}_memory_vs_lucene": lucene.peak_mb / ours.peak_mb,
        f"bm25_{count}_overlap_with_lucene": overlap(folder, "ours"),
        f"bm25s_{count}_overlap_with_lucene": overlap(folder, "bm25s"),
    }
    return ratios, {f"lucene_{count}": asdict(lucene)}


def proportional_mb() -> float:
    """Return the memory of this process; a page that n processes share counts an nth (the kernel's Pss)."""
    text = Path("/proc/self/smaps_rollup").read_text()
    return int(next(line for line in text.splitlines() if line.startswith("Pss:")).split()[1]) * 1024 / 1e6


def hold_index(folder: Path, together: Any, results: Any) -> None:
    """Open the index, touch all of it and of its documents, and tell the memory before and while all others hold it."""
    queries = json.loads((folder / "queries.json").read_text())
    use_index(folder / "tiny", queries[:20])  # the libraries are there from here on
    together.wait()
    before = proportional_mb()
    together.wait()
    kept = use_index(folder / "ours", queries)
    together.wait()
    results.put((before, proportional_mb(), kept.name))
    together.wait()


def use_index(folder: Path, queries: list[str]) -> BM25Retriever:
    """Open an index, search it a query at a time as a worker does, and read every document and every posting."""
    retriever = BM25Retriever.open(folder)
    retriever.warm_up()
    for query in queries:
        retriever.rank([query], k=K)
    for document in retriever.corpus:
        assert document.id
    for path in folder.glob("*.npy"):
        np.load(path, mmap_mode="r").max()
    return retriever


def held_by(workers: int, folder: Path) -> tuple[float, float]:
    """Return megabytes of so many processes, all added up: with the index open, and how much of it the index is."""
    context = multiprocessing.get_context("spawn")
    together, results = context.Barrier(workers), context.Queue()
    processes = [context.Process(target=hold_index, args=(folder, together, results)) for _ in range(workers)]
    for process in processes:
        process.start()
    told = [results.get() for _ in processes]
    for process in processes:
        process.join()
    whole = sum(after for _, after, _ in told)
    return whole, whole - sum(before for before, _, _ in told)


def memory_section(folder: Path, count: int, workers: int) -> tuple[dict[str, float], dict[str, object]]:
    """Return how much more memory the corpus and index take in many processes than in one: 1 is perfect sharing."""
    write_bm25(folder / "tiny", MemoryCorpus([Document("0", "", "warm")]))
    (one, own), (many, shared) = held_by(1, folder), held_by(workers, folder)
    files = size_mb(folder / "ours") + (folder / "corpus.arrow").stat().st_size / 1e6
    figures = {"files_mb": files, "one_mb": one, f"of_{workers}_mb": many, "index_one_mb": own, "index_all_mb": shared}
    return {f"memory_{count}_of_{workers}_workers_vs_one": shared / own}, {f"memory_{count}": figures}


def print_table(ratios: dict[str, float], figures: dict[str, object]) -> None:
    for engine, values in figures.items():
        print(f"{engine:14}", *(f"{name} {value:,.1f}" for name, value in values.items()), sep="  ")
    print()
    for name, ratio in ratios.items():
        print(f"{name:42} {ratio:7.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000], help="passages in the corpus")
    parser.add_argument("--queries", type=int, default=2000)
    parser.add_argument("--workers", type=int, default=8, help="processes that share the index")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    os.environ["NUMBA_NUM_THREADS"] = "1"
    ratios: dict[str, float] = {}
    figures: dict[str, object] = {}
    for size in options.sizes:
        print(f"BM25, {size:,} passages ...", file=sys.stderr)
        some_ratios, some_figures = bm25_section(
            size, queries=options.queries, seed=options.seed, workers=options.workers
        )
        ratios |= some_ratios
        figures |= some_figures
    if options.json:
        print(json.dumps({"name": "retrieval", "ratios": ratios, "figures": figures}, indent=2))
    else:
        print_table(ratios, figures)


if __name__ == "__main__":
    main()
