"""The compiled loops of exact dense search. Importing this module compiles them, or loads them from numba's cache."""

import math

import numba as nb
import numpy as np
import numpy.typing as npt

from agentgym_r1.retrieval.kernels.jit import jit

Matrix = npt.NDArray[np.float32]
Positions = npt.NDArray[np.int64]

BLOCK_NUMBERS = 1 << 17
"""Of a block of rows: half a megabyte, which stays in a cache while each query is multiplied with it."""

TOGETHER = 256
EPSILON, ROOM = 2.0**-23, 16
"""The rounding of float32, and how many times it enters a bound besides once for each number of a row."""

_SCORES = nb.types.Array(nb.float32, 2, "C", readonly=True)
_PRODUCTS = nb.types.Array(nb.int32, 2, "C", readonly=True)
_BOUNDS = nb.types.Array(nb.float32, 2, "A", readonly=True)
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


@nb.njit(nb.void(_ROWS, nb.int64, nb.int64, nb.uint8[:, ::1], _BEST), nogil=True, cache=True)  # type: ignore[untyped-decorator]
def encode(rows: Matrix, levels: int, zero: int, codes: npt.NDArray[np.uint8], bounds: Matrix) -> None:
    """Fill the codes and bounds of ``Codes`` with those of rows, which may be unaligned.

    Args:
        rows: (rows, dimension).
        levels: the greatest whole number.
        zero: the code of 0.
        codes: (rows, dimension), the nearest whole numbers; less than 0 wraps around.
        bounds: (3, rows).
    """
    dimension = rows.shape[1]
    room = (dimension + ROOM) * EPSILON
    for row in range(len(rows)):
        greatest = np.float32(0)
        for at in range(dimension):
            greatest = max(greatest, abs(rows[row, at]))
        scale, norm, length, distance = greatest / np.float32(levels), 0.0, 0.0, 0.0
        if not scale > 0:
            scale = np.float32(1)
        for at in range(dimension):
            number = np.float64(rows[row, at])
            whole = max(-levels, min(levels, round(number / scale)))
            scaled = whole * np.float64(scale)
            norm += number * number
            length += scaled * scaled
            distance += (number - scaled) * (number - scaled)
            codes[row, at] = zero + whole
        bounds[0, row] = scale
        bounds[1, row] = (math.sqrt(distance) + room * math.sqrt(norm)) * (1 + EPSILON)
        bounds[2, row] = math.sqrt(length) * (1 + EPSILON)


@nb.njit(fastmath=_REORDERED)  # type: ignore[untyped-decorator]
def _product(row: npt.NDArray[np.float32], query: npt.NDArray[np.float32]) -> np.float32:
    total = np.float32(0)
    for at in range(len(query)):
        total += row[at] * query[at]
    return total


@nb.njit(nb.int64(_PRODUCTS, nb.int64, _ROWS, _BOUNDS, _SCORES, _BOUNDS, _BEST, _POSITIONS), nogil=True, cache=True)  # type: ignore[untyped-decorator]
def keep_likely(  # noqa: PLR0917 - numba takes positional arguments fastest
    products: npt.NDArray[np.int32],
    base: int,
    rows: Matrix,
    row_bounds: Matrix,
    queries: Matrix,
    query_bounds: Matrix,
    best: Matrix,
    positions: Positions,
) -> int:
    """Do what ``keep_best`` does with the exact products of the rows that may be among the best.

    Args:
        products: (rows, queries) of their codes.
        base: the position of the first row.
        rows: (rows, dimension), may be unaligned.
        row_bounds: (3, rows), those of ``Codes``.
        queries: (queries, dimension).
        query_bounds: (3, queries).
        best: (queries, k), see ``keep_best``.
        positions: (queries, k).

    Returns:
        How many exact products there were.
    """
    needed, most, computed = best[:, -1].copy(), np.empty(len(queries), np.float32), 0
    scales, distances, lengths = query_bounds[0].copy(), query_bounds[1].copy(), query_bounds[2].copy()
    norms = distances + lengths
    pairs, scores = np.empty((TOGETHER * len(needed), 2), np.int64), np.empty(TOGETHER * len(needed), np.float32)
    for start in range(0, len(products), TOGETHER):
        found = 0  # of pairs whose bound is greater than what is needed, or not a number
        for row in range(start, min(start + TOGETHER, len(products))):
            scale, distance, length = row_bounds[0, row], row_bounds[1, row], row_bounds[2, row]
            above = False
            for query in range(len(needed)):
                likely = scale * scales[query] * np.float32(products[row, query])
                most[query] = likely + distance * norms[query] + length * distances[query]
                above |= not most[query] <= needed[query]
            if above:
                for query in range(len(needed)):
                    if not most[query] <= needed[query]:
                        pairs[found, 0], pairs[found, 1] = row, query
                        found += 1
        for pair in range(found):  # by themselves, so that the memory gives several rows at a time
            scores[pair] = _product(rows[pairs[pair, 0]], queries[pairs[pair, 1]])
        for pair in range(found):
            row, query = pairs[pair]
            if scores[pair] > needed[query]:
                _insert(best[query], positions[query], scores[pair], base + row)
                needed[query] = best[query, -1]
        computed += found
    return computed


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
        scores[row] = _product(rows[row], query)


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
