"""Corpora in Arrow IPC files: memory-mapped, opened at once, their pages shared by all processes."""

import json
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from agentgym_r1.corpus.base import BaseCorpus, CorpusHasher, check_exists, check_unique, one_line, temporary_beside
from agentgym_r1.errors import DataError
from agentgym_r1.types import Document

FORMAT = b"agentgym-r1 corpus"
FORMAT_VERSION = 1
BATCH_ROWS = 4096
BATCH_CHARACTERS = 8_000_000


class ArrowCorpus(BaseCorpus):
    """A corpus in the Arrow IPC file that ``write_corpus`` made: memory-mapped, opened at once, pickled by its path.

    Raises:
        DataError: the file is missing, truncated, not such a file, or of a later format version.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        batches, closing = _arrow_batches(self.path)
        self.sha256: str = closing["sha256"]
        self._columns = [[view for column in batch.columns for view in _views(column)] for batch in batches]
        self._starts = [0]
        for batch in batches:
            self._starts.append(self._starts[-1] + batch.num_rows)
        if self._starts[-1] != closing["count"]:
            raise DataError(
                f"{self.path}: {closing['count']} documents announced, {self._starts[-1]} found; write it again"
            )

    def __reduce__(self) -> tuple[type["ArrowCorpus"], tuple[Path]]:
        return type(self), (self.path,)

    def __len__(self) -> int:
        return self._starts[-1]

    def id_at(self, index: int) -> str:
        """Return the id of the document at ``index`` without reading the rest."""
        columns, row = self._row(index)
        id_ends, ids = columns[:2]
        try:
            return str(ids[id_ends[row] : id_ends[row + 1]], "utf-8")
        except UnicodeDecodeError as err:
            raise self._damaged(index, err) from err

    def _row(self, index: int) -> tuple[list[memoryview], int]:
        self._check_index(index)
        batch = bisect_right(self._starts, index) - 1
        return self._columns[batch], index - self._starts[batch]

    def __getitem__(self, index: int) -> Document:
        columns, row = self._row(index)
        id_ends, ids, title_ends, titles, text_ends, texts = columns
        try:
            return Document(
                str(ids[id_ends[row] : id_ends[row + 1]], "utf-8"),
                str(titles[title_ends[row] : title_ends[row + 1]], "utf-8"),
                str(texts[text_ends[row] : text_ends[row + 1]], "utf-8"),
            )
        except UnicodeDecodeError as err:
            raise self._damaged(index, err) from err

    def _damaged(self, index: int, err: UnicodeDecodeError) -> DataError:
        return DataError(f"{self.path}: document {index} is damaged ({err.reason}); write the file again")


def _views(column: Any) -> tuple[memoryview, memoryview]:
    """Return where the strings of a column end, behind a 0, and their bytes: twice as fast as pyarrow's scalars."""
    _, ends, data = column.buffers()
    return memoryview(ends).cast("q"), memoryview(data or b"")


def _arrow_batches(path: Path) -> tuple[list[Any], dict[str, Any]]:
    """Return the record batches of a corpus file and what its closing batch says."""
    import pyarrow as pa

    check_exists(path)
    try:
        reader = pa.ipc.open_file(pa.memory_map(str(path)))
        _check_format(path, reader.schema.metadata or {})
        last = reader.num_record_batches - 1
        batches = [reader.get_batch(number) for number in range(last)]
        closing = reader.get_batch_with_custom_metadata(last).custom_metadata
        return batches, json.loads(closing[b"corpus"])
    except (pa.ArrowException, OSError, ValueError, KeyError) as err:
        raise DataError(f"{path}: not a whole Arrow file ({one_line(err)}); copy or write it again") from err


def _check_format(path: Path, metadata: Mapping[bytes, bytes]) -> None:
    if FORMAT not in metadata:
        raise DataError(f"{path}: an Arrow file, but not a corpus of this library; write it with write_corpus")
    version = int(metadata[FORMAT])
    if version > FORMAT_VERSION:
        raise DataError(
            f"{path}: corpus format {version}, this version reads up to {FORMAT_VERSION}: upgrade agentgym-r1"
        )


def write_corpus(path: str | Path, documents: Iterable[Document]) -> str:
    """Stream documents into an Arrow corpus file and return its sha256.

    The file appears whole or not at all (temporary file, then rename). Memory stays within one batch of text and a few
    bytes a document.

    Args:
        path: the file to write, usually ``*.arrow``; its folder is made.
        documents: any iterable, read once.

    Raises:
        DataError: two documents share an id, a text is not valid Unicode, or the folder cannot be written.
    """
    path = Path(path)
    temporary = temporary_beside(path)
    try:
        sha256 = _write_arrow(temporary, documents)
        check_unique(ArrowCorpus(temporary))
        temporary.replace(path)
    except OSError as err:
        raise DataError(f"{path}: not written ({one_line(err)})") from err
    finally:
        temporary.unlink(missing_ok=True)
    return sha256


def _write_arrow(path: Path, documents: Iterable[Document]) -> str:
    """Write the batches, then an empty one whose metadata holds count and hash, which are known only then."""
    import pyarrow as pa

    names = ("id", "title", "text")
    schema = pa.schema([(name, pa.large_string()) for name in names], metadata={FORMAT: str(FORMAT_VERSION)})
    hasher, count = CorpusHasher(), 0
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, schema) as writer:
        for rows in _batches(documents):
            for document in rows:
                hasher.add(document)
            columns = [pa.array([getattr(row, name) for row in rows], pa.large_string()) for name in names]
            writer.write_batch(pa.record_batch(columns, schema=schema))
            count += len(rows)
        closing = json.dumps({"count": count, "sha256": hasher.hexdigest()})
        empty = pa.record_batch([pa.array([], pa.large_string())] * 3, schema=schema)
        writer.write_batch(empty, custom_metadata={"corpus": closing})
    return hasher.hexdigest()


def _batches(documents: Iterable[Document]) -> Iterator[list[Document]]:
    rows: list[Document] = []
    characters = 0
    for document in documents:
        rows.append(document)
        characters += len(document.text)
        if len(rows) == BATCH_ROWS or characters >= BATCH_CHARACTERS:
            yield rows
            rows, characters = [], 0
    if rows:
        yield rows
