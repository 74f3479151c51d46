"""Rank documents by summed postings, twice: in numpy, which is ready at once, and compiled, which is ten times faster.

Both give the same bits: float32 sums in the order of the query's terms, ties by document order.
"""

import hashlib
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from filelock import FileLock

from agentgym_r1.errors import RetrievalError
from agentgym_r1.home import home
from agentgym_r1.retrieval.postings import Postings

Ranking = tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]
Ranker = Callable[[Postings, Sequence[Mapping[int, int]], int], Ranking]


def rank_numpy(postings: Postings, queries: Sequence[Mapping[int, int]], k: int) -> Ranking:
    """Rank the documents for each query.

    Args:
        postings: the index.
        queries: for each the numbers of its terms and how often each occurs.
        k: between 1 and the number of documents.

    Returns:
        (queries, k) positions of documents, best first, -1 behind the last match; and their scores.
    """
    positions = np.full((len(queries), k), -1, np.int32)
    scores = np.zeros((len(queries), k), np.float32)
    for row, query in enumerate(queries):
        total = np.zeros(postings.count, np.float32)
        for term, weight in query.items():
            of_term = slice(postings.starts[term], postings.starts[term + 1])
            total[postings.documents[of_term]] += np.float32(weight) * postings.scores[of_term]
        best = _best(total, k)
        positions[row, : len(best)] = best
        scores[row, : len(best)] = total[best]
    return positions, scores


def _best(total: npt.NDArray[np.float32], k: int) -> npt.NDArray[np.int64]:
    """Return the positions of the k greatest positive numbers, greatest first, ties in order."""
    bound = np.partition(total, len(total) - k)[len(total) - k]
    candidates = np.flatnonzero(total >= bound) if bound > 0 else np.flatnonzero(total)
    order = np.argsort(-total[candidates], kind="stable")
    return candidates[order[:k]]


def rank_compiled(postings: Postings, queries: Sequence[Mapping[int, int]], k: int) -> Ranking:
    """Rank as ``rank_numpy`` does; the first call of a process loads the compiled kernel."""
    positions = np.empty((len(queries), k), np.int32)
    scores = np.empty((len(queries), k), np.float32)
    terms = np.array([term for query in queries for term in query], np.int64)
    weights = np.array([weight for query in queries for weight in query.values()], np.float32)
    firsts = np.array([*accumulate(map(len, queries), initial=0)], np.int64)
    kernel = load_kernel()
    kernel(
        postings.starts, postings.documents, postings.scores, postings.count, firsts, terms, weights, positions, scores
    )
    return positions, scores


@cache
def load_kernel() -> Any:
    """Import the compiled kernel: 2 s when numba has to compile it, 0.4 s from numba's cache on disk.

    The first process of a machine compiles while others that start with it wait; a file then says that there is no
    need to wait any more.
    """
    import numba

    source = Path(__file__).with_name("kernel.py").read_bytes()
    key = hashlib.sha256(source + f"{numba.__version__} {sys.version}".encode()).hexdigest()[:16]
    compiled = home() / "numba" / f"{key}.compiled"
    if compiled.is_file():
        return _import_kernel()
    try:
        compiled.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(compiled.with_suffix(".lock")):
            kernel = _import_kernel()
            compiled.touch()
            return kernel
    except OSError as err:
        raise RetrievalError(f"{compiled.parent}: cannot be written ({err.strerror}); set AGENTGYM_R1_HOME") from err


def _import_kernel() -> Any:
    from agentgym_r1.retrieval.kernel import rank

    return rank
