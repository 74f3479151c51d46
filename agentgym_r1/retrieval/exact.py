"""Exact search on the CPU: the product of all vectors with the queries, a block of rows at a time.

A block is read from memory once and serves all queries while a cache has it. Batches are multiplied by numpy's BLAS.
That of faiss's wheels falls back to code many times slower on a processor that is newer than it, and faiss reads all
vectors again for each of a few queries. Where 8-bit codes show which rows cannot be among the best, only the others
are multiplied (``codes``).
"""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from agentgym_r1.errors import require
from agentgym_r1.retrieval.codes import Codes, encode_queries, encode_rows, products
from agentgym_r1.retrieval.devices import EXTRA, Positions
from agentgym_r1.retrieval.flat import Matrix
from agentgym_r1.retrieval.kernels import load_kernels

FEW, FEWER = 8, 3
"""Queries up to which the compiled product, which mostly waits for memory, is faster than BLAS, and than codes."""
MOST_KEPT = 1000
"""The greatest k for which the best are kept compiled."""
ROWS = 2048
QUERIES = 256
"""Of a block; its scores fit into the cache of a core."""
WORK_BEFORE_KERNELS = 10**10
"""Multiplications that take as long without the compiled kernels as loading these."""
WORK_OF_A_THREAD = 10**8
"""Multiplications worth a thread: about a millisecond."""

LEAST_ENCODED, MOST_ENCODED = 1 << 20, 1 << 28
"""Numbers in an index between which a warm one has 8-bit codes: of a byte each, in the memory of its process."""
FIRST = 512
"""Rows that are all multiplied, for a first idea of what the best score."""
LIKELY_SHARE = 1 / 8
"""Of exact products in a block beyond which BLAS, which makes all of them, takes the rest of the rows."""

Best = tuple[npt.NDArray[np.float32], Positions]
Likely = Callable[[int, int, Matrix, Positions], int]
_parallel = threading.Lock()
"""Held by the search whose threads have all cores, while BLAS has a single one for each of them."""


class ExactIndex:
    """All vectors against all queries; safe to use from several threads.

    The first searches use numpy alone and the later ones compiled kernels, so that a short-lived process on a small
    corpus never waits for numba. Processes that share a mapped file share all there is; only ``warm_up`` makes codes.

    Args:
        vectors: float32 (count, dimension), in memory or mapped; a mapped file's may be unaligned.
    """

    device = "cpu"

    def __init__(self, vectors: Matrix) -> None:
        self._vectors = np.asarray(vectors)
        self._work = 0
        self._codes: Codes | None = None

    def warm_up(self) -> None:
        """Load the compiled kernels and make 8-bit codes; see ``VectorIndex.warm_up``."""
        load_kernels("exact")
        self._work = WORK_BEFORE_KERNELS
        if self._codes is None and LEAST_ENCODED <= self._vectors.size <= MOST_ENCODED:
            self._codes = encode_rows(self._vectors)

    def search(self, queries: Matrix, k: int) -> Positions:
        """Return the rows found; see ``VectorIndex.search``."""
        if k < 1:
            return np.empty((len(queries), 0), np.int64)
        self._work += self._vectors.size * len(queries)
        slices = range(0, len(queries), QUERIES)
        found = [self._search(queries[start : start + QUERIES], k) for start in slices]
        return np.concatenate(found) if found else np.empty((0, k), np.int64)

    def _search(self, queries: Matrix, k: int) -> Positions:
        work = self._vectors.size * max(len(queries), 2 * FEW)  # few queries wait for memory
        threads = min(_threads(), work // WORK_OF_A_THREAD) if work > WORK_OF_A_THREAD else 1
        if threads == 1:
            return self._best(queries, k, 0, len(self._vectors))[1]
        edges = [len(self._vectors) * part // threads for part in range(threads + 1)]
        with _parallel, _blas().limit(limits=1), ThreadPoolExecutor(threads) as pool:
            return _merged([*pool.map(lambda part: self._best(queries, k, *part), pairwise(edges))], k)

    def _best(self, queries: Matrix, k: int, start: int, stop: int) -> Best:
        """Return the scores and positions of the best of some rows for each query, -1 where there are fewer."""
        best, positions = np.full((len(queries), k), -np.inf, np.float32), np.full((len(queries), k), -1, np.int64)
        compiled = self._work > WORK_BEFORE_KERNELS and k <= MOST_KEPT
        if compiled and len(queries) <= (FEW if self._codes is None else FEWER):
            load_kernels("exact").rank_few(self._vectors[start:stop], start, queries, best, positions)
            return best, positions
        keep = load_kernels("exact").keep_best if compiled else _keep_best
        scores, block = np.empty((ROWS, len(queries)), np.float32), np.empty((ROWS, queries.shape[1]), np.float32)
        likely = self._likely(queries) if compiled else None
        edges = [start, *range(start + (FIRST if likely else ROWS), stop, ROWS), stop]
        for first, last in pairwise(edges):
            if likely is None or first == start:
                rows = _aligned(self._vectors[first:last], block)
                np.matmul(rows, queries.T, out=scores[: len(rows)])
                keep(scores[: len(rows)], first, best, positions)
            elif likely(first, last, best, positions) > LIKELY_SHARE * (last - first) * len(queries):
                likely = None
        return best, positions

    def _likely(self, queries: Matrix) -> Likely | None:
        """Return what keeps the best of some rows and says how many exact products that took, if there are codes."""
        rows = self._codes
        if rows is None:
            return None
        coded, keep = encode_queries(queries), load_kernels("exact").keep_likely

        def likely(first: int, last: int, best: Matrix, positions: Positions) -> int:
            found = products(rows.codes[first:last], coded)
            of_rows = self._vectors[first:last], rows.bounds[:, first:last]
            return int(keep(found, first, *of_rows, queries, coded.bounds, best, positions))

        return likely


def _aligned(rows: Matrix, block: Matrix) -> Matrix:
    """Return rows as BLAS can read them: themselves when they are aligned, or copied into ``block``."""
    if rows.flags.aligned:
        return rows
    block[: len(rows)].view(np.uint8)[:] = rows.view(np.uint8)
    return block[: len(rows)]


def _keep_best(scores: Matrix, base: int, best: Matrix, positions: Positions) -> None:
    """Do what the compiled ``keep_best`` does."""
    rows = np.arange(base, base + len(scores))
    every = np.concatenate([best, scores.T], axis=1)
    places = np.concatenate([positions, np.broadcast_to(rows, (len(best), len(rows)))], axis=1)
    order = np.argsort(-every, axis=1, kind="stable")[:, : best.shape[1]]
    best[:], positions[:] = np.take_along_axis(every, order, axis=1), np.take_along_axis(places, order, axis=1)


def _merged(parts: list[Best], k: int) -> Positions:
    """Return the best of consecutive parts of the rows, the earlier row first where scores are equal."""
    scores, positions = (np.concatenate(columns, axis=1) for columns in zip(*parts))
    order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(positions, order, axis=1)


def _threads() -> int:
    """Return how many threads BLAS may use, which ``OMP_NUM_THREADS`` sets; one while another search has them all."""
    return max((library["num_threads"] for library in _blas().info()), default=1)


@cache
def _blas() -> Any:
    """Return what tells and limits the threads of the BLAS libraries of this process."""
    return require("threadpoolctl", EXTRA).ThreadpoolController().select(user_api="blas")
