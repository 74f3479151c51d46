"""A folder with a Lucene index, read and written through a Java process; what Anserini and pyserini make, and we."""

import functools
import hashlib
import json
import logging
import os
import threading
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from agentgym_r1.corpus import Corpus, contents
from agentgym_r1.corpus.base import BaseCorpus, corpus_sha256
from agentgym_r1.corpus.jsonl import read_row, write_atomically
from agentgym_r1.errors import DataError, RetrievalError
from agentgym_r1.home import home
from agentgym_r1.retrieval.lucene_process import JavaDied, JavaProcess
from agentgym_r1.types import Document

logger = logging.getLogger(__name__)

ID, SEARCHED = "id", "contents"
TEXTS = ("raw", "contents")
"""The stored fields that may hold a document's text, best first: its JSON, or the text itself."""
CHUNK = 1000
READ_ROWS = 1000
ADD_ROWS = 1000
COMMIT_ROWS = 100_000
"""Documents after which a build can go on when it is killed."""
BLANK = "".join(map(chr, range(33)))
"""What Java trims: Anserini leaves out a document of nothing else."""


class LuceneHit(NamedTuple):
    """One found document.

    Attributes:
        id: of the document.
        score: as Anserini rounds it.
        stored: its stored text, where the index has one.
    """

    id: str
    score: float
    stored: str | None


def is_lucene(folder: Path) -> bool:
    """Return whether a folder holds a Lucene index."""
    return any(folder.glob("segments_*"))


class LuceneFolder:
    """A Lucene index that Anserini can search; a Java process opens it when it is first needed.

    When the process dies it is started again, once a request. A forked child starts its own. Pickled by its path.

    Args:
        folder: of the index.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._java: JavaProcess | None = None
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.folder,)

    @functools.cached_property
    def count(self) -> int:
        """The number of documents."""
        return int(self._description["count"])

    @functools.cached_property
    def texts(self) -> str | None:
        """The stored field with the documents' texts, or None."""
        return next((name for name in TEXTS if name in self._description["stored"]), None)

    @property
    def process_id(self) -> int | None:
        """The process that searches, or None when there is none at the moment."""
        return self._java.process_id if self._java is not None else None

    def search(
        self, queries: Sequence[str], *, k: int, bm25: tuple[float, float], threads: int, stored: bool
    ) -> list[list[LuceneHit]]:
        """Return the best documents of each query, equal scores by id (by position where ids cannot be sorted).

        Args:
            queries: words, in valid Unicode; long batches go in parts.
            k: the most documents a query.
            bm25: k1 and b.
            threads: of Lucene, at most one a query.
            stored: bring the stored texts.
        """
        texts = self.texts if stored else None
        found: list[list[LuceneHit]] = []
        for start in range(0, len(queries), CHUNK):
            part = queries[start : start + CHUNK]
            hits = self._ask("search", queries=part, k=k, bm25=bm25, threads=min(threads, len(part)), texts=texts)
            found += [[LuceneHit(*hit) for hit in row] for row in hits["hits"]]
        return found

    def rows(self, first: int, count: int, *, stored: bool = True) -> list[tuple[str, str | None]]:
        """Return (id, stored text) of documents in the order of the index."""
        texts = self.texts if stored else None
        found = self._ask("documents", first=first, count=count, texts=texts)["rows"]
        return [(document_id, text) for document_id, text in found]

    def warm_up(self) -> None:
        """Start the process unless it runs."""
        self._opened()

    def close(self) -> None:
        """End the process; a later request starts another."""
        with self._lock:
            java, self._java = self._java, None
        if java is not None:
            java.close()

    @functools.cached_property
    def _description(self) -> dict[str, Any]:
        self._opened()
        return self._found

    def _ask(self, do: str, **arguments: Any) -> dict[str, Any]:
        try:
            return self._opened().ask(do, **arguments)
        except JavaDied as err:
            logger.warning("%s: %s; it is started again", self.folder, err)
            self.close()
        except RetrievalError as err:
            raise RetrievalError(f"{self.folder}: {err}") from err
        try:
            return self._opened().ask(do, **arguments)
        except JavaDied as err:
            self.close()
            raise RetrievalError(f"{self.folder}: {err}, twice in one request; is there enough memory?") from err

    def _opened(self) -> JavaProcess:
        """Return this process's Java with the index open in it."""
        java = self._java
        if java is not None and java.owner == os.getpid():
            return java
        with self._lock:
            if self._java is None or self._java.owner != os.getpid():
                java = JavaProcess()
                self._found = self._open(java)
                self._java = java
            return self._java

    def _open(self, java: JavaProcess) -> dict[str, Any]:
        try:
            found = java.ask("open", folder=str(self.folder))
        except RetrievalError as err:
            java.close()
            raise RetrievalError(f"{self.folder}: no index that Lucene can open: {err}") from err
        fields = set(found["indexed"])
        if found["count"] and (SEARCHED not in fields or ID not in found["stored"]):
            java.close()
            raise RetrievalError(
                f"{self.folder}: not Anserini's: it needs the fields {SEARCHED!r}, to search, and {ID!r}, to name them"
                f" (indexed: {sorted(fields)}, stored: {found['stored']}); index its documents with --kind lucene"
            )
        return found


def write_folder(folder: Path, documents: Iterable[Document]) -> int:
    """Index documents into a folder and return how many there are in it; blank ones are not.

    Texts are not stored: they stay in the corpus. Memory is bounded, and the process is ended. In a folder that a
    killed build of the same documents has left, it goes on after the last ``COMMIT_ROWS`` that are whole.

    Raises:
        RetrievalError: Java cannot write the index, or did not take every document.
    """
    java = JavaProcess()
    try:
        count: int = java.ask("create", folder=str(folder))["count"]
        for rows in _batches(islice(_rows(documents), count, None)):
            _add(java, rows)
            count += len(rows)
            if count % COMMIT_ROWS == 0:
                java.ask("commit")
        java.ask("finish")
    finally:
        java.close()
    (folder / "write.lock").unlink(missing_ok=True)
    return count


def _rows(documents: Iterable[Document]) -> Iterator[str]:
    texts = ((document.id, contents(document)) for document in documents)
    return (json.dumps({ID: key, SEARCHED: text}, ensure_ascii=False) for key, text in texts if text.strip(BLANK))


def _batches(rows: Iterator[str]) -> Iterator[list[str]]:
    while batch := list(islice(rows, ADD_ROWS)):
        yield batch


def _add(java: JavaProcess, rows: list[str]) -> None:
    added = java.ask("add", rows=rows)["added"]
    if added != len(rows):
        raise RetrievalError(f"Lucene took {added} of {len(rows)} documents, from {rows[0][:80]!r} on; look at those")


class LuceneCorpus(BaseCorpus):
    """The documents that a Lucene index stores, in its order: what pyserini keeps with ``--storeRaw``.

    Raises:
        RetrievalError: the folder is no index, or stores no texts.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path).resolve()
        self.lucene = LuceneFolder(self.path)
        if self.lucene.count and self.lucene.texts is None:
            raise RetrievalError(f"{self.path}: stores no texts (no field {' or '.join(TEXTS)}); give the corpus file")

    def __reduce__(self) -> tuple[type["LuceneCorpus"], tuple[Path]]:
        return type(self), (self.path,)

    def __len__(self) -> int:
        return self.lucene.count

    def __getitem__(self, index: int) -> Document:
        self._check_index(index)
        return self._documents(index, 1)[0]

    def __iter__(self) -> Iterator[Document]:
        for first in range(0, len(self), READ_ROWS):
            yield from self._documents(first, min(READ_ROWS, len(self) - first))

    @functools.cached_property
    def sha256(self) -> str:
        """Hex hash of the documents in order; the first call reads them all, and the result is stored."""
        state = [(file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in index_files(self.path)]
        key = hashlib.sha256(f"{self.path}\0{state}".encode()).hexdigest()[:32]
        stored = home() / "corpus" / f"{key}.sha256"
        if stored.is_file():
            return stored.read_text(encoding="ascii")
        value = corpus_sha256(self)
        write_atomically(stored, value.encode("ascii"))
        return value

    def _documents(self, first: int, count: int) -> list[Document]:
        rows = self.lucene.rows(first, count)
        return [as_document(document_id, stored or "") for document_id, stored in rows]


def index_files(folder: Path) -> list[Path]:
    """Return the files of a Lucene index."""
    return sorted(path for path in folder.iterdir() if path.is_file() and path.name.startswith(("_", "segments")))


def as_document(document_id: str, stored: str) -> Document:
    """Return the document of a stored text: JSON with ``contents`` or ``title`` and ``text``, or the text itself."""
    try:
        document = read_row(msgspec.json.decode(stored), 0)
    except (msgspec.DecodeError, UnicodeError, DataError):
        return Document(document_id, "", stored)
    return Document(document_id, document.title, document.text)


def check_belongs(lucene: LuceneFolder, corpus: Corpus) -> None:
    """Raise RetrievalError unless a corpus has as many documents as an index, and a few of the index's ids."""
    if lucene.count > len(corpus):
        raise RetrievalError(
            f"{lucene.folder}: {lucene.count} documents, {len(corpus)} expected; it was built from another corpus"
        )
    for position in sorted({0, lucene.count // 2, lucene.count - 1}) if lucene.count else ():
        ((document_id, _),) = lucene.rows(position, 1, stored=False)
        try:
            corpus.index_of(document_id)
        except KeyError as err:
            raise RetrievalError(
                f"{lucene.folder}: document {document_id!r} is not in the corpus of {len(corpus)} documents; "
                "it was built from another one"
            ) from err
