"""A retriever over a handful of passages, for tests and small tasks: real BM25 without a file."""

from collections.abc import Iterable, Sequence

from agentgym_r1.corpus import MemoryCorpus
from agentgym_r1.retrieval.base import Passage
from agentgym_r1.retrieval.bm25 import BM25Retriever
from agentgym_r1.types import Document


class MemoryRetriever:
    """Ranks the given documents by BM25.

    Args:
        documents: what can be found.
    """

    name = "memory"

    def __init__(self, documents: Iterable[Document]) -> None:
        self._bm25 = BM25Retriever.build(MemoryCorpus(documents))

    @classmethod
    def from_texts(cls, texts: Iterable[tuple[str, str]]) -> "MemoryRetriever":
        """Make one from (title, text) pairs; the ids are the positions."""
        return cls(Document(str(position), title, text) for position, (title, text) in enumerate(texts))

    def search(self, queries: Sequence[str], *, k: int) -> list[list[Passage]]:
        """Return the best passages of each query; see ``Retriever.search``."""
        return self._bm25.search(queries, k=k)
