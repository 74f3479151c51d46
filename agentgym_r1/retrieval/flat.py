"""Vectors in faiss's own flat file, written row by row, mapped, and resumed after a kill."""

import os
import struct
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from agentgym_r1.errors import RetrievalError

Matrix = npt.NDArray[np.float32]

INNER_PRODUCT = b"IxFI"
HEADER = struct.Struct("<4siqqqBiQ")
"""Kind, dimension, count, two unused numbers, trained, metric (0: inner product), number of floats that follow."""

UNUSED = 1 << 20


def map_flat(path: Path) -> Matrix:
    """Map the rows of a flat inner-product index file, for example Search-R1's ``e5_Flat.index``.

    Returns:
        float32 (count, dimension), read from the disk when a row is used. Its start is not aligned: copy a chunk
        before heavy arithmetic.

    Raises:
        RetrievalError: the file is missing, of another kind of index or metric, or truncated.
    """
    count, dimension = read_header(path)
    if not count:
        return np.empty((0, dimension), np.float32)
    return np.memmap(path, "<f4", mode="r", offset=HEADER.size, shape=(count, dimension))


def read_header(path: Path) -> tuple[int, int]:
    """Return (count, dimension) of a whole flat index file; see ``map_flat`` for what is refused."""
    try:
        with path.open("rb") as handle:
            head = handle.read(HEADER.size)
        size = path.stat().st_size
    except OSError as err:
        raise RetrievalError(f"{path}: no flat index there ({err.strerror})") from err
    if len(head) < HEADER.size or head[:4] != INNER_PRODUCT:
        raise RetrievalError(f"{path}: begins with {head[:4]!r}, a flat inner-product index with {INNER_PRODUCT!r}")
    _, dimension, count, _, _, _, metric, floats = HEADER.unpack(head)
    if metric != 0 or floats != count * dimension:
        raise RetrievalError(f"{path}: metric {metric} and {floats} floats, expected 0 and {count} x {dimension}")
    expected = HEADER.size + 4 * floats
    if size != expected:
        raise RetrievalError(f"{path}: {expected} bytes expected, {size} found; copy or build it again")
    return count, dimension


def append_rows(path: Path, rows: Matrix, *, done: int, count: int) -> None:
    """Write rows behind the first ``done`` ones of a file of ``count``, and force them to the disk.

    What lies behind ``done`` (the rest of a killed write) is overwritten.
    """
    dimension = rows.shape[1]
    with path.open("r+b" if done else "wb") as handle:
        if not done:
            numbers = (dimension, count, UNUSED, UNUSED, 1, 0, count * dimension)
            handle.write(HEADER.pack(INNER_PRODUCT, *numbers))
        handle.seek(HEADER.size + 4 * done * dimension)
        handle.truncate()
        handle.write(np.ascontiguousarray(rows, "<f4").data)
        handle.flush()
        os.fsync(handle.fileno())


def chunks(vectors: Matrix, *, rows: int) -> Iterator[Matrix]:
    """Yield aligned copies of consecutive rows; only one is in memory at a time."""
    for start in range(0, len(vectors), rows):
        yield np.array(vectors[start : start + rows], np.float32, order="C")
