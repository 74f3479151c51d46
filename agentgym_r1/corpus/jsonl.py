"""Corpora in JSON: a JSONL file read in place through the offsets of its lines, or a short list read whole."""

import functools
import gzip
import hashlib
import mmap
import zlib
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from agentgym_r1.corpus.base import (
    BaseCorpus,
    MemoryCorpus,
    check_exists,
    check_unique,
    corpus_sha256,
    one_line,
    split_contents,
    temporary_beside,
)
from agentgym_r1.errors import DataError
from agentgym_r1.home import home
from agentgym_r1.types import Document


class JsonlCorpus(BaseCorpus):
    """A corpus in a JSONL file of ``{"id", "contents"}`` or ``{"id", "title", "text"}``, read in place.

    The first open finds the lines and stores their offsets under ``home()/corpus``; later ones map them. Ids that are
    numbers become text; a row without an id gets its position.

    Raises:
        DataError: the file is missing, or its first or last row is not a document (a truncated or foreign file).
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        check_exists(self.path)
        status = self.path.stat()
        key = hashlib.sha256(f"{self.path.resolve()}\0{status.st_size}\0{status.st_mtime_ns}".encode()).hexdigest()[:32]
        self._cache = home() / "corpus" / key
        self._offsets = _line_offsets(self.path, self._cache.with_suffix(".offsets"))
        if len(self._offsets) > 1:
            with self.path.open("rb") as handle:
                self._data = mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ)
            for index in {0, len(self) - 1}:
                self[index]

    def __reduce__(self) -> tuple[type["JsonlCorpus"], tuple[Path]]:
        return type(self), (self.path,)

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def __getitem__(self, index: int) -> Document:
        self._check_index(index)
        line = self._data[int(self._offsets[index]) : int(self._offsets[index + 1])]
        try:
            return read_row(msgspec.json.decode(line), index)
        except (msgspec.DecodeError, UnicodeDecodeError, DataError) as err:
            raise DataError(
                f"{self.path}: row {index} is not a document ({one_line(err)}); is the file complete?"
            ) from err

    @functools.cached_property
    def sha256(self) -> str:
        """Hex hash of the documents in order; the first call reads the whole file, and the result is stored."""
        stored = self._cache.with_suffix(".sha256")
        if stored.is_file():
            return stored.read_text(encoding="ascii")
        check_unique(self)
        value = corpus_sha256(self)
        write_atomically(stored, value.encode("ascii"))
        return value


def _line_offsets(path: Path, cache: Path) -> Any:
    """Return the start of every line that is not blank, and the file's length; from the cache where it is there."""
    if not cache.is_file():
        offsets, position = array("q"), 0
        with path.open("rb") as handle:
            for line in handle:
                if not line.isspace():
                    offsets.append(position)
                position += len(line)
        offsets.append(position)
        write_atomically(cache, offsets.tobytes())
    return np.memmap(cache, dtype=np.int64, mode="r")


def write_atomically(path: Path, data: bytes) -> None:
    """Write a whole file or none; raise DataError when the folder cannot be written."""
    temporary = temporary_beside(path)
    try:
        temporary.write_bytes(data)
        temporary.replace(path)
    except OSError as err:
        raise DataError(f"{path.parent}: cannot be written ({err.strerror}); set AGENTGYM_R1_HOME") from err


def read_row(row: Any, position: int) -> Document:
    """Return the document of a JSON row, its position being the id when it has none; raise DataError if it is none."""
    if not isinstance(row, dict):
        raise DataError(f"expected an object, got {type(row).__name__}")
    document_id = str(row.get("id", position))
    if isinstance(row.get("contents"), str):
        return Document(document_id, *split_contents(row["contents"]))
    title, text = row.get("title", ""), row.get("text")
    if isinstance(title, str) and isinstance(text, str):
        return Document(document_id, title, text)
    raise DataError(f'expected "contents", or "title" and "text", got the keys {sorted(map(str, row))}')


def stream_gzip(path: Path) -> Iterator[Document]:
    """Yield the documents of a JSONL file that is packed with gzip, in order.

    Raises:
        DataError: the file is damaged, or a row is not a document.
    """
    position = -1
    try:
        with gzip.open(path, "rb") as handle:
            for position, line in enumerate(line for line in handle if not line.isspace()):
                yield read_row(msgspec.json.decode(line), position)
    except (OSError, EOFError, zlib.error, msgspec.DecodeError, UnicodeDecodeError, DataError) as err:
        raise DataError(f"{path}: not whole, near row {position + 1} ({one_line(err)}); get it again") from err


def read_json(path: Path) -> MemoryCorpus:
    """Read a list of documents; raise DataError when the file holds anything else."""
    try:
        rows = msgspec.json.decode(path.read_bytes())
        if not isinstance(rows, list):
            raise DataError(f"expected a list of documents, got {type(rows).__name__}")
        return MemoryCorpus([read_row(row, position) for position, row in enumerate(rows)])
    except (msgspec.DecodeError, UnicodeDecodeError, DataError) as err:
        raise DataError(f"{path}: not a corpus ({one_line(err)}); is the file complete?") from err
