"""A corpus file on its way into an index: unpacked where it is packed, and counted while it is read."""

import gzip
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from agentgym_r1.corpus import ArrowCorpus, Corpus, open_corpus, read_jsonl, write_corpus
from agentgym_r1.errors import DataError
from agentgym_r1.types import Document

Progress = Callable[[str, int, int | None], None]

REPORT_EVERY = 1000


class CountedCorpus:
    """A corpus that reports how far each pass over it has come.

    Args:
        corpus: what is read.
        progress: is given a label of the pass, the documents read and the number of documents.
        keep: the corpus is only there for now, and an index must copy it; else an index may refer to its file.
    """

    def __init__(self, corpus: Corpus, progress: Progress, *, keep: bool) -> None:
        self._corpus = corpus
        self._progress = progress
        self._passes = 0
        self.path: Path | None = None if keep else getattr(corpus, "path", None)

    @property
    def sha256(self) -> str:
        """The corpus's hash."""
        return self._corpus.sha256

    def __len__(self) -> int:
        return len(self._corpus)

    def __getitem__(self, index: int) -> Document:
        return self._corpus[index]

    def __iter__(self) -> Iterator[Document]:
        self._passes += 1
        yield from _counted(self._corpus, f"pass {self._passes}", self._progress, total=len(self._corpus))

    def index_of(self, document_id: str) -> int:
        """Return the position of an id; see ``Corpus``."""
        return self._corpus.index_of(document_id)
