"""Documents on disk: a corpus is an ordered, immutable sequence of documents with one hash, however it is stored.

Arrow IPC is our own kind (memory-mapped, so that all processes share the pages); JSONL adopts a Search-R1 corpus as is.
"""

import functools
import hashlib
import json
import mmap
import os
import tempfile
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import msgspec
import numpy as np

from agentgym_r1.errors import ConfigError, DataError
from agentgym_r1.home import home
from agentgym_r1.types import Document

FORMAT = b"agentgym-r1 corpus"
FORMAT_VERSION = 1
BATCH_ROWS = 4096
BATCH_CHARACTERS = 8_000_000


@runtime_checkable
class Corpus(Protocol):
    """An ordered, immutable sequence of documents with unique ids."""

    @property
    def sha256(self) -> str:
        """Hex hash of the (id, title, text) stream in order; the same for every kind of storage."""
        ...

    def __len__(self) -> int: ...

    def __getitem__(self, index: int) -> Document:
        """Return the document at ``index``; raise IndexError outside 0..len-1 (negative ones too)."""
        ...

    def __iter__(self) -> Iterator[Document]: ...

    def index_of(self, document_id: str) -> int:
        """Return the position of an id; raise KeyError when no document has it."""
        ...


def contents(document: Document) -> str:
    """Return the text that is indexed: ``"Title"`` in double quotes, a newline, the text (Search-R1's form)."""
    return f'"{document.title}"\n{document.text}' if document.title else document.text


def split_contents(text: str) -> tuple[str, str]:
    """Return (title, text) of Search-R1 contents; the title is empty when the first line is not in double quotes."""
    first, newline, rest = text.partition("\n")
    if newline and len(first) > 2 and first.startswith('"') and first.endswith('"'):
        return first[1:-1], rest
    return "", text


class CorpusHasher:
    """Folds documents into the hash of a corpus: each field's UTF-8 bytes behind their length."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()

    def add(self, document: Document) -> None:
        """Append one document; raise DataError when it holds text that UTF-8 cannot write (a lone surrogate)."""
        for value in (document.id, document.title, document.text):
            try:
                data = value.encode()
            except UnicodeEncodeError as err:
                raise DataError(
                    f"document {document.id!a}: text that is not valid Unicode ({err.reason}); clean it before use"
                ) from err
            self._hash.update(len(data).to_bytes(8, "little"))
            self._hash.update(data)

    def hexdigest(self) -> str:
        """Return the hash of what was added so far."""
        return self._hash.hexdigest()


def corpus_sha256(documents: Iterable[Document]) -> str:
    """Return the hash of a stream of documents, as ``Corpus.sha256`` defines it."""
    hasher = CorpusHasher()
    for document in documents:
        hasher.add(document)
    return hasher.hexdigest()


class _Positions:
    """Maps ids to positions in 16 bytes a document, whatever the length of the ids."""

    def __init__(self, ids: Iterable[str]) -> None:
        hashes = np.array(array("Q", map(_id_hash, ids)), dtype=np.uint64)
        self._order = np.argsort(hashes, kind="stable")
        self._hashes = hashes[self._order]

    def candidates(self, document_id: str) -> list[int]:
        """Return every position whose id may be ``document_id``, lowest first."""
        key = np.uint64(_id_hash(document_id))
        low, high = np.searchsorted(self._hashes, key, "left"), np.searchsorted(self._hashes, key, "right")
        return [int(position) for position in self._order[low:high]]

    def repeats(self) -> list[int]:
        """Return the positions whose hash an earlier position has too, lowest first."""
        again = self._hashes[1:] == self._hashes[:-1]
        return sorted(int(position) for position in self._order[1:][again])


def _id_hash(document_id: str) -> int:
    data = document_id.encode(errors="surrogatepass")
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "little")


class _BaseCorpus:
    """What the three kinds share: iteration and the search for an id."""

    def __len__(self) -> int:
        raise NotImplementedError

    def __getitem__(self, index: int) -> Document:
        raise NotImplementedError

    def __iter__(self) -> Iterator[Document]:
        return (self[index] for index in range(len(self)))

    def index_of(self, document_id: str) -> int:
        """Return the position of an id; raise KeyError when no document has it. The first call reads every id."""
        for position in self._positions.candidates(document_id):
            if self[position].id == document_id:
                return position
        raise KeyError(document_id)

    @functools.cached_property
    def _positions(self) -> _Positions:
        return _Positions(document.id for document in self)

    def _check_index(self, index: int) -> None:
        if not 0 <= index < len(self):
            raise IndexError(f"document {index} of a corpus of {len(self)}")


class MemoryCorpus(_BaseCorpus):
    """A corpus held in memory, for a few thousand documents."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self._documents = tuple(documents)
        _check_unique(self._positions, self)

    def __len__(self) -> int:
        return len(self._documents)

    def __getitem__(self, index: int) -> Document:
        self._check_index(index)
        return self._documents[index]

    @functools.cached_property
    def sha256(self) -> str:
        """Hex hash of the documents in order."""
        return corpus_sha256(self._documents)


class ArrowCorpus(_BaseCorpus):
    """A corpus in the Arrow IPC file that ``write_corpus`` made: memory-mapped, opened at once, pickled by its path.

    Raises:
        DataError: the file is missing, truncated, not such a file, or of a later format version.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        batches, closing = _arrow_batches(self.path)
        self.sha256: str = closing["sha256"]
        self._columns = [tuple(batch.columns) for batch in batches]
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

    def __getitem__(self, index: int) -> Document:
        self._check_index(index)
        batch = bisect_right(self._starts, index) - 1
        row = index - self._starts[batch]
        ids, titles, texts = self._columns[batch]
        return Document(ids[row].as_py(), titles[row].as_py(), texts[row].as_py())


def _arrow_batches(path: Path) -> tuple[list[Any], dict[str, Any]]:
    """Return the record batches of a corpus file and what its closing batch says."""
    import pyarrow as pa

    _check_exists(path)
    try:
        reader = pa.ipc.open_file(pa.memory_map(str(path)))
    except pa.ArrowInvalid as err:
        raise DataError(f"{path}: not a whole Arrow file ({_line(err)}); copy or write it again") from err
    metadata = reader.schema.metadata or {}
    version = metadata.get(FORMAT)
    if version is None:
        raise DataError(f"{path}: an Arrow file, but not a corpus of this library; write it with write_corpus")
    if int(version) > FORMAT_VERSION:
        raise DataError(
            f"{path}: corpus format {int(version)}, this version reads up to {FORMAT_VERSION}: upgrade agentgym-r1"
        )
    last = reader.num_record_batches - 1
    batches = [reader.get_batch(number) for number in range(last)]
    closing = reader.get_batch_with_custom_metadata(last).custom_metadata
    return batches, json.loads(closing[b"corpus"])


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
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-", suffix=".tmp")
    except OSError as err:
        raise DataError(f"{path.parent}: cannot be written ({err.strerror}); choose another folder") from err
    os.close(handle)
    temporary = Path(name)
    try:
        sha256 = _write_arrow(temporary, documents)
        corpus = ArrowCorpus(temporary)
        _check_unique(corpus._positions, corpus)
        temporary.replace(path)
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


class JsonlCorpus(_BaseCorpus):
    """A corpus in a JSONL file of ``{"id", "contents"}`` or ``{"id", "title", "text"}``, read in place.

    The first open finds the lines and stores their offsets under ``home()/corpus``; later ones map them. Ids that are
    numbers become text; a row without an id gets its position.

    Raises:
        DataError: the file is missing, or its first or last row is not a document (a truncated or foreign file).
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        _check_exists(self.path)
        status = self.path.stat()
        key = hashlib.sha256(f"{self.path.resolve()}\0{status.st_size}\0{status.st_mtime_ns}".encode()).hexdigest()[:32]
        self._cache = home() / "corpus" / key
        self._offsets = _line_offsets(self.path, self._cache.with_suffix(".npy"))
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
            return _document(msgspec.json.decode(line), index)
        except (msgspec.DecodeError, UnicodeDecodeError, DataError) as err:
            raise DataError(
                f"{self.path}: row {index} is not a document ({_line(err)}); is the file complete?"
            ) from err

    @functools.cached_property
    def sha256(self) -> str:
        """Hex hash of the documents in order; the first call reads the whole file, and the result is stored."""
        stored = self._cache.with_suffix(".sha256")
        if stored.is_file():
            return stored.read_text(encoding="ascii")
        _check_unique(self._positions, self)
        value = corpus_sha256(self)
        _write_atomically(stored, value.encode("ascii"))
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
        _write_atomically(cache, offsets.tobytes())
    return np.memmap(cache, dtype=np.int64, mode="r")


def _write_atomically(path: Path, data: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as handle:
            handle.write(data)
        Path(handle.name).replace(path)
    except OSError as err:
        raise DataError(f"{path.parent}: cannot be written ({err.strerror}); set AGENTGYM_R1_HOME") from err


def _document(row: Any, position: int) -> Document:
    """Return the document of a JSON row; raise DataError when the row has neither form."""
    if not isinstance(row, dict):
        raise DataError(f"expected an object, got {type(row).__name__}")
    document_id = str(row.get("id", position))
    if isinstance(row.get("contents"), str):
        return Document(document_id, *split_contents(row["contents"]))
    title, text = row.get("title", ""), row.get("text")
    if isinstance(title, str) and isinstance(text, str):
        return Document(document_id, title, text)
    raise DataError(f'expected "contents", or "title" and "text", got the keys {sorted(map(str, row))}')


def _read_json(path: Path) -> MemoryCorpus:
    try:
        rows = msgspec.json.decode(path.read_bytes())
        if not isinstance(rows, list):
            raise DataError(f"expected a list of documents, got {type(rows).__name__}")
        return MemoryCorpus([_document(row, position) for position, row in enumerate(rows)])
    except (msgspec.DecodeError, UnicodeDecodeError, DataError) as err:
        raise DataError(f"{path}: not a corpus ({_line(err)}); is the file complete?") from err


def open_corpus(path: str | Path) -> Corpus:
    """Open a corpus file: ``.arrow``, ``.jsonl``, or ``.json`` (a list of ``{"title", "text"}``; ids are positions).

    A file with another name is recognised by its first bytes.

    Raises:
        DataError: the file is missing, truncated, foreign, packed or of a later format version; the message says which.
    """
    path = Path(path)
    _check_exists(path)
    kind = path.suffix if path.suffix in {".arrow", ".jsonl", ".json"} else _sniff(path)
    if kind == ".arrow":
        return ArrowCorpus(path)
    return JsonlCorpus(path) if kind == ".jsonl" else _read_json(path)


def _sniff(path: Path) -> str:
    with path.open("rb") as handle:
        head = handle.read(512).lstrip()
    if head.startswith(b"\x1f\x8b"):
        raise DataError(f"{path}: packed with gzip, which has no random access: unpack it first (gunzip -k)")
    for magic, kind in ((b"ARROW1", ".arrow"), (b"[", ".json"), (b"{", ".jsonl")):
        if head.startswith(magic):
            return kind
    raise DataError(f"{path}: neither Arrow, JSONL nor JSON; a corpus is *.arrow, *.jsonl or *.json")


def _check_exists(path: Path) -> None:
    if not path.is_file():
        raise DataError(f"{path}: no such corpus file")


def _check_unique(positions: _Positions, corpus: Corpus | _BaseCorpus) -> None:
    for position in positions.repeats():
        document_id = corpus[position].id
        first = next(other for other in positions.candidates(document_id) if corpus[other].id == document_id)
        if first != position:
            raise DataError(f"documents {first} and {position} share the id {document_id!r}; ids must be unique")


def _line(err: Exception) -> str:
    return " ".join(str(err).split())


def get(corpus: Corpus, document_id: str) -> Document:
    """Return the document with an id; raise ConfigError when the corpus has none."""
    try:
        return corpus[corpus.index_of(document_id)]
    except KeyError as err:
        raise ConfigError(f"no document {document_id!r} in a corpus of {len(corpus)}") from err
