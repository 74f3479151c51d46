"""A corpus file on its way into an index: unpacked where it is packed, and counted while it is read."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from agentgym_r1.corpus import ArrowCorpus, Corpus, open_corpus, stream_gzip, write_corpus
from agentgym_r1.errors import DataError
from agentgym_r1.retrieval.lucene_folder import LuceneCorpus, is_lucene
from agentgym_r1.types import Document

Progress = Callable[[str, int, int | None], None]

REPORT_EVERY = 1000
GZIP = b"\x1f\x8b"


class CountedCorpus:
    """A corpus that reports how far each pass over it has come.

    Args:
        corpus: what is read.
        progress: is told the name of the pass, the documents read and the number of documents.
        path: the file an index may refer to; without one it keeps a copy of the documents.
    """

    def __init__(self, corpus: Corpus, progress: Progress, *, path: Path | None) -> None:
        self.path = path
        self._corpus = corpus
        self._progress = progress
        self._passes = 0
        progress("hash", 0, None)
        self.sha256 = corpus.sha256
        progress("hash", len(corpus), len(corpus))

    def __len__(self) -> int:
        return len(self._corpus)

    def __getitem__(self, index: int) -> Document:
        return self._corpus[index]

    def __iter__(self) -> Iterator[Document]:
        self._passes += 1
        return _counted(self._corpus, f"pass {self._passes}", self._progress, total=len(self))

    def index_of(self, document_id: str) -> int:
        """Return the position of an id; see ``Corpus``."""
        return self._corpus.index_of(document_id)


@contextmanager
def opened_corpus(path: Path, *, beside: Path, progress: Progress) -> Iterator[CountedCorpus]:
    """Open a corpus file of any kind, Search-R1's packed JSONL included, for the time an index is built from it.

    Args:
        path: the file, or the folder of a Lucene index that stores its documents. A packed file has no random access:
            its documents wait in a hidden file for that time.
        beside: the index that is built; the hidden file lies beside it, and one that a killed build left is replaced.
        progress: see CountedCorpus.

    Raises:
        DataError: the file is missing, damaged or no corpus.
    """
    if is_lucene(path):
        yield CountedCorpus(LuceneCorpus(path), progress, path=path.resolve())
        return
    if not _is_packed(path):
        corpus = open_corpus(path)
        yield CountedCorpus(corpus, progress, path=getattr(corpus, "path", None))
        return
    unpacked = beside.with_name(f".{beside.name}.unpacked.arrow")
    try:
        write_corpus(unpacked, _counted(stream_gzip(path), "unpack", progress, total=None))
        yield CountedCorpus(ArrowCorpus(unpacked), progress, path=None)
    finally:
        unpacked.unlink(missing_ok=True)


def _is_packed(path: Path) -> bool:
    try:
        with path.open("rb") as handle:
            return handle.read(len(GZIP)) == GZIP
    except OSError as err:
        raise DataError(f"{path}: cannot be read ({err.strerror}); give the path of a corpus file") from err


def _counted(documents: Iterable[Document], label: str, progress: Progress, *, total: int | None) -> Iterator[Document]:
    count = 0
    for count, document in enumerate(documents, 1):
        yield document
        if count % REPORT_EVERY == 0:
            progress(label, count, total)
    progress(label, count, count)
