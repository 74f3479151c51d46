"""Libraries: what somebody who looks for papers can ask, wherever the papers are."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from agentgym_r1.corpus import Paper, Papers
from agentgym_r1.errors import RetrievalError
from agentgym_r1.retrieval.base import Passage, Retriever

MOST_REFERENCES, MOST_CITATIONS = 99, 30
"""What an expansion shows at most, as in Agent-R1's paper search."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A paper with the score of one query; greater is better."""

    paper: Paper
    score: float


@runtime_checkable
class Library(Protocol):
    """A collection of papers that can be searched and whose citations can be followed, batch first."""

    @property
    def name(self) -> str:
        """What it is, for tables."""
        ...

    def search(self, queries: Sequence[str], *, k: int) -> list[list[Hit]]:
        """Return the best papers of each query, best first; the papers come without their references.

        Raises:
            RetrievalError: the library cannot be reached or understood.
        """
        ...

    def expand(self, paper_ids: Sequence[str]) -> list[list[Paper]]:
        """Return the references (99 at most), then the citations (the newest 30), of each paper.

        Raises:
            RetrievalError: a paper is unknown, or the library cannot be reached or understood.
        """
        ...


class LocalLibrary:
    """A library on this machine.

    Args:
        papers: what it holds.
        retriever: searches ``papers.documents``.
    """

    def __init__(self, papers: Papers, retriever: Retriever) -> None:
        self.papers = papers
        self.retriever = retriever

    @property
    def name(self) -> str:
        """The retriever's name."""
        return self.retriever.name

    def search(self, queries: Sequence[str], *, k: int) -> list[list[Hit]]:
        """Return the best papers of each query; see ``Library.search``."""
        found = self.retriever.search(queries, k=k)
        return [[Hit(self._seen(passage), passage.score) for passage in passages] for passages in found]

    def expand(self, paper_ids: Sequence[str]) -> list[list[Paper]]:
        """Return references and citations of each paper; see ``Library.expand``."""
        return [[self._paper(index) for index in self.neighbours(paper_id)] for paper_id in paper_ids]

    def neighbours(self, paper_id: str) -> list[int]:
        """Return the positions of the papers that an expansion shows."""
        index = self._index_of(paper_id)
        references = self.papers.references(index)[:MOST_REFERENCES]
        citations = sorted(self.papers.citations(index), key=lambda citing: -(self.papers.year(citing) or 0))
        return list(dict.fromkeys([*references, *citations[:MOST_CITATIONS]]))

    def _index_of(self, paper_id: str) -> int:
        try:
            return self.papers.index_of(paper_id)
        except KeyError as err:
            raise RetrievalError(
                f"no paper {paper_id!r} in a library of {len(self.papers)}; was the index built from another one?"
            ) from err

    def _seen(self, passage: Passage) -> Paper:
        year = self.papers.year(self._index_of(passage.id))
        return Paper(passage.id, passage.title, passage.text, year=year)

    def _paper(self, index: int) -> Paper:
        document = self.papers.documents[index]
        return Paper(document.id, document.title, document.text, year=self.papers.year(index))
