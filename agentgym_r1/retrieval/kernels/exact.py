"""The compiled loops of exact dense search. Importing this module compiles them, or loads them from numba's cache."""

import numba as nb
import numpy as np
import numpy.typing as npt

from agentgym_r1.retrieval.kernels.jit import jit

Matrix = npt.NDArray[np.float32]
Positions = npt.NDArray[np.int64]

BLOCK_NUMBERS = 1 << 17
"""Of a block of rows: half a megabyte, which stays in a cache while each query is multiplied with it."""

_SCORES = nb.types.Array(nb.float32, 2, "C", readonly=True)
_ROWS = nb.types.Array(nb.float32, 2, "C", readonly=True, aligned=False)
_BEST, _POSITIONS = nb.float32[:, ::1], nb.int64[:, ::1]
_REORDERED = {"reassoc", "contract", "nsz"}
"""What a sum of products may do to be computed in vectors."""


@jit
def _insert(best: npt.NDArray[np.float32], positions: Positions, score: np.float32, position: int) -> None:
    """Put a score behind all that are at least as great, and drop the last."""
    place = len(best) - 1
    while place > 0 and best[place - 1] < score:
        best[place], positions[place] = best[place - 1], positions[place - 1]
        place -= 1
    best[place], positions[place] = score, position


@nb.njit(nb.void(_SCORES, nb.int64, _BEST, _POSITIONS), nogil=True, cache=True)  # type: ignore[untyped-decorator]
def keep_best(scores: Matrix, base: int, best: Matrix, positions: Positions) -> None:
    """Move the rows that score more than the worst of a query's best so far to their places among these.

    Args:
        scores: (rows, queries).
        base: the position of the first row.
        best: (queries, k) scores, greatest first, changed in place; the earlier row first where they are equal.
        positions: (queries, k) of those rows, changed with them.
    """
    bounds = best[:, -1].copy()
    for row in range(len(scores)):
        above = False
        for query in range(len(bounds)):
            above |= scores[row, query] > bounds[query]
        if above:
            for query in range(len(bounds)):
                if scores[row, query] > bounds[query]:
                    _insert(best[query], positions[query], scores[row, query], base + row)
                    bounds[query] = best[query, -1]


@nb.njit(fastmath=_REORDERED)  # type: ignore[untyped-decorator]
def _multiply(rows: Matrix, query: npt.NDArray[np.float32], scores: npt.NDArray[np.float32]) -> None:
    """Fill ``scores`` with the products of rows and a query.

    Four distant rows are read side by side: one after the other would leave the memory idle in between.
    """
    quarter = len(rows) // 4
    for row in range(quarter):
        one, two, three, four = np.float32(0), np.float32(0), np.float32(0), np.float32(0)
        for at in range(len(query)):
            one += rows[row, at] * query[at]
            two += rows[row + quarter, at] * query[at]
            three += rows[row + 2 * quarter, at] * query[at]
            four += rows[row + 3 * quarter, at] * query[at]
        scores[row], scores[row + quarter] = one, two
        scores[row + 2 * quarter], scores[row + 3 * quarter] = three, four
    for row in range(4 * quarter, len(rows)):
        total = np.float32(0)
        for at in range(len(query)):
            total += rows[row, at] * query[at]
        scores[row] = total


@nb.njit(nb.void(_ROWS, nb.int64, _SCORES, _BEST, _POSITIONS), nogil=True, cache=True)  # type: ignore[untyped-decorator]
def rank_few(rows: Matrix, base: int, queries: Matrix, best: Matrix, positions: Positions) -> None:
    """Multiply rows, which may be unaligned, with a few queries, and keep the best as ``keep_best`` does.

    Args:
        rows: (rows, dimension).
        base: the position of the first row.
        queries: (queries, dimension).
        best: (queries, k), see ``keep_best``.
        positions: (queries, k).
    """
    size = max(1, BLOCK_NUMBERS // rows.shape[1])
    scores = np.empty(size, np.float32)
    for start in range(0, len(rows), size):
        block = rows[start : start + size]
        for query in range(len(queries)):
            _multiply(block, queries[query], scores)
            bound = best[query, -1]
            for row in range(len(block)):
                if scores[row] > bound:
                    _insert(best[query], positions[query], scores[row], base + start + row)
                    bound = best[query, -1]
