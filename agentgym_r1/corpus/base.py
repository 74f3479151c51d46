"""What a corpus is: an ordered, immutable sequence of documents with one hash, however it is stored."""

import functools
import hashlib
import secrets
from abc import ABC, abstractmethod
from array import array
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from agentgym_r1.errors import ConfigError, DataError
from agentgym_r1.types import Document


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


class Positions:
    """Maps ids to positions in 16 bytes a document, whatever the length of the ids."""

    def __init__(self, ids: Iterable[str]) -> None:
        hashes = np.array(array("Q", map(id_hash, ids)), dtype=np.uint64)
        self._order = np.argsort(hashes, kind="stable")
        self._hashes = hashes[self._order]

    def candidates(self, document_id: str) -> list[int]:
        """Return every position whose id may be ``document_id``, lowest first."""
        key = np.uint64(id_hash(document_id))
        low, high = np.searchsorted(self._hashes, key, "left"), np.searchsorted(self._hashes, key, "right")
        return [int(position) for position in self._order[low:high]]

    def locate(self, hashes: Sequence[int]) -> npt.NDArray[np.int64]:
        """Return the position of each hash (see ``id_hash``), -1 where no id has it, without looking at the ids."""
        wanted = np.asarray(hashes, dtype=np.uint64)
        places = np.searchsorted(self._hashes, wanted)
        found = np.flatnonzero(places < len(self._hashes))
        found = found[self._hashes[places[found]] == wanted[found]]
        positions = np.full(len(wanted), -1, dtype=np.int64)
        positions[found] = self._order[places[found]]
        return positions

    def repeats(self) -> list[int]:
        """Return the positions whose hash an earlier position has too, lowest first."""
        again = self._hashes[1:] == self._hashes[:-1]
        return sorted(int(position) for position in self._order[1:][again])


def id_hash(document_id: str) -> int:
    """Return 64 bits that stand for an id."""
    data = document_id.encode(errors="surrogatepass")
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "little")


class BaseCorpus(ABC):
    """What the three kinds share: iteration and the search for an id."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def __getitem__(self, index: int) -> Document: ...

    def __iter__(self) -> Iterator[Document]:
        return (self[index] for index in range(len(self)))

    def index_of(self, document_id: str) -> int:
        """Return the position of an id; raise KeyError when no document has it. The first call reads every id."""
        for position in self.positions.candidates(document_id):
            if self.id_at(position) == document_id:
                return position
        raise KeyError(document_id)

    def id_at(self, index: int) -> str:
        """Return the id of the document at ``index``, in storages that can without reading the rest."""
        return self[index].id

    @functools.cached_property
    def positions(self) -> Positions:
        """Where each id is; made when it is first needed."""
        return Positions(map(self.id_at, range(len(self))))

    def _check_index(self, index: int) -> None:
        if not 0 <= index < len(self):
            raise IndexError(f"document {index} of a corpus of {len(self)}")


class MemoryCorpus(BaseCorpus):
    """A corpus held in memory, for a few thousand documents."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self._documents = tuple(documents)
        check_unique(self)

    def __len__(self) -> int:
        return len(self._documents)

    def __getitem__(self, index: int) -> Document:
        self._check_index(index)
        return self._documents[index]

    @functools.cached_property
    def sha256(self) -> str:
        """Hex hash of the documents in order."""
        return corpus_sha256(self._documents)


def get(corpus: Corpus, document_id: str) -> Document:
    """Return the document with an id; raise ConfigError when the corpus has none."""
    try:
        return corpus[corpus.index_of(document_id)]
    except KeyError as err:
        raise ConfigError(f"no document {document_id!r} in a corpus of {len(corpus)}") from err


def check_exists(path: Path) -> None:
    """Raise DataError when there is no such file."""
    if not path.is_file():
        raise DataError(f"{path}: no such corpus file")


def check_unique(corpus: BaseCorpus) -> None:
    """Raise DataError when two documents share an id."""
    positions = corpus.positions
    for position in positions.repeats():
        document_id = corpus[position].id
        first = next(other for other in positions.candidates(document_id) if corpus[other].id == document_id)
        if first != position:
            raise DataError(f"documents {first} and {position} share the id {document_id!r}; ids must be unique")


def temporary_beside(path: Path) -> Path:
    """Return a fresh hidden path in the folder of ``path``, which is made, to write to and then rename."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as err:
        raise DataError(f"{path.parent}: cannot be made ({err.strerror}); choose another folder") from err
    return path.with_name(f".{path.name}-{secrets.token_hex(8)}.tmp")


def one_line(err: Exception) -> str:
    """Return the message of an exception without its line breaks."""
    return " ".join(str(err).split())
