"""The compiled ranking loop. Importing this module compiles it, or loads it from numba's cache on disk.

The corpus is walked in blocks whose sums fit into the first-level cache; a group of sums that all stay at or below the
k-th best score so far is passed over without a look at single documents.
"""

import numba as nb
import numpy as np
import numpy.typing as npt

from agentgym_r1.retrieval.kernels.jit import jit

BLOCK = 8192
GROUP = 64

_READ_ONLY = {name: nb.types.Array(getattr(nb, name), 1, "C", readonly=True) for name in ("int64", "int32", "float32")}
_SIGNATURE = nb.void(
    _READ_ONLY["int64"],
    _READ_ONLY["int32"],
    _READ_ONLY["float32"],
    nb.int64,
    _READ_ONLY["int64"],
    _READ_ONLY["int64"],
    _READ_ONLY["float32"],
    nb.int32[:, ::1],
    nb.float32[:, ::1],
)


@jit
def _seek(documents: npt.NDArray[np.int32], start: int, end: int, bound: int) -> int:
    """Return the first place from ``start`` on whose document is not below ``bound``, by doubling steps."""
    if start == end or documents[start] >= bound:
        return start
    step, low = 1, start
    while low + step < end and documents[low + step] < bound:
        low += step
        step *= 2
    high = min(low + step, end)
    while low + 1 < high:
        middle = (low + high) // 2
        if documents[middle] < bound:
            low = middle
        else:
            high = middle
    return high


@jit
def _insert(
    positions: npt.NDArray[np.int32], scores: npt.NDArray[np.float32], found: int, position: int, score: float
) -> int:
    """Insert behind everything that scores at least as much, dropping the last when full; return the new length."""
    place = min(found, len(scores) - 1)
    while place > 0 and scores[place - 1] < score:
        scores[place] = scores[place - 1]
        positions[place] = positions[place - 1]
        place -= 1
    scores[place] = score
    positions[place] = position
    return min(found + 1, len(scores))


@jit
def _collect(
    total: npt.NDArray[np.float32],
    base: int,
    positions: npt.NDArray[np.int32],
    scores: npt.NDArray[np.float32],
    found: int,
) -> int:
    """Move the sums of one block that are among the best so far into the ranking; return the length of that."""
    bound = scores[found - 1] if found == len(scores) else np.float32(0)
    for group in range(0, BLOCK, GROUP):
        above = False
        for i in range(group, group + GROUP):
            above |= total[i] > bound
        if above:
            for i in range(group, group + GROUP):
                if total[i] > bound:
                    found = _insert(positions, scores, found, base + i, total[i])
                    if found == len(scores):
                        bound = scores[found - 1]
    return found


@nb.njit(_SIGNATURE, nogil=True, cache=True)  # type: ignore[untyped-decorator]
def rank(  # noqa: PLR0917 - numba takes positional arguments fastest
    starts: npt.NDArray[np.int64],
    documents: npt.NDArray[np.int32],
    scores: npt.NDArray[np.float32],
    count: int,
    firsts: npt.NDArray[np.int64],
    terms: npt.NDArray[np.int64],
    weights: npt.NDArray[np.float32],
    best: npt.NDArray[np.int32],
    best_scores: npt.NDArray[np.float32],
) -> None:
    """Fill ``best`` and ``best_scores`` (queries, k) with the ranking of each query.

    The terms of query q are ``terms[firsts[q]:firsts[q + 1]]`` with their ``weights``; the first four arguments are
    those of ``Postings``.
    """
    total = np.zeros(BLOCK, np.float32)
    places = np.empty(len(terms), np.int64)
    for query in range(len(firsts) - 1):
        first, last, found = firsts[query], firsts[query + 1], 0
        for t in range(first, last):
            places[t] = starts[terms[t]]
        for base in range(0, count, BLOCK):
            for t in range(first, last):
                stop = _seek(documents, places[t], starts[terms[t] + 1], base + BLOCK)
                for place in range(places[t], stop):
                    total[documents[place] - base] += weights[t] * scores[place]
                places[t] = stop
            found = _collect(total, base, best[query], best_scores[query], found)
            total[:] = 0
        best[query, found:] = -1
        best_scores[query, found:] = 0
