"""Read the records of published files one by one: JSON arrays, JSON Lines and Parquet.

Whatever does not have the official format is a DataError that names the file, the record (counted from 1), the field,
what was expected and what came. Memory holds one record (JSON, JSON Lines) or one small batch (Parquet); a JSON array
is memory-mapped, so that a file of 560 MB costs page cache and not the heap.
"""

import mmap
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import msgspec

from agentgym_r1.errors import DataError

T = TypeVar("T")

PARQUET_BATCH_ROWS = 256
DECODE_ERRORS = (msgspec.MsgspecError, UnicodeDecodeError)


def json_rows(path: Path, row: type[T]) -> Iterator[T]:
    """Yield the elements of a JSON array as ``row`` (a msgspec Struct); raise DataError where the file is not that."""
    with _open(path) as handle:
        if os.fstat(handle.fileno()).st_size == 0:
            raise DataError(f"{path}: the file is empty; expected a JSON array of records")
        mapped = mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ)
    with _problem(f"{path}", "a JSON array of records"):
        elements = msgspec.json.decode(mapped, type=list[msgspec.Raw])
    decoder = msgspec.json.Decoder(row)
    for number, element in enumerate(elements, start=1):
        with _problem(f"{path}, record {number}", "the set's official format"):
            yield decoder.decode(element)


def jsonl_rows(path: Path, row: type[T]) -> Iterator[T]:
    """Yield the lines of a JSON Lines file as ``row``, without blank ones; raise DataError where a line is not that."""
    decoder = msgspec.json.Decoder(row)
    with _open(path) as handle:
        for number, line in enumerate(handle, start=1):
            if not line.isspace():
                with _problem(f"{path}, line {number}", "the set's official format"):
                    yield decoder.decode(line)


def parquet_rows(
    path: Path,
    row: type[T],
    *,
    reshape: Callable[[dict[str, Any]], dict[str, Any]],
    columns: Sequence[str] | None = None,
) -> Iterator[T]:
    """Yield the rows of a Parquet file as ``row``, after ``reshape`` brought each into the form of the JSON release.

    ``columns`` names those that are read; the others stay on disk.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    with _problem(f"{path}", "a whole Parquet file", (pa.ArrowException, OSError)), pq.ParquetFile(path) as table:
        batches = table.iter_batches(batch_size=PARQUET_BATCH_ROWS, columns=columns)
        for number, values in enumerate((values for batch in batches for values in batch.to_pylist()), start=1):
            with _problem(f"{path}, record {number}", "the set's official format"):
                yield msgspec.convert(reshape(values), row)


def nested(value: Any) -> Any:
    """Return the value of a Parquet column that may hold its JSON as text."""
    return msgspec.json.decode(value) if isinstance(value, str) else value


def _open(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as err:
        raise DataError(f"{path}: cannot be read ({err.strerror}); check its permissions") from err


@contextmanager
def _problem(where: str, expected: str, kinds: tuple[type[Exception], ...] = DECODE_ERRORS) -> Iterator[None]:
    """Turn a decoding error into a DataError that names the place."""
    try:
        yield
    except kinds as err:
        raise DataError(f"{where}: not {expected}: {' '.join(str(err).split())}; is the file complete?") from err
