"""The list of papers that an episode has collected."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from agentgym_r1.corpus import Paper
from agentgym_r1.tools.papers import line


@dataclass(slots=True)
class Listed:
    """A paper of the list.

    Attributes:
        paper: without its references.
        score: of the search that found it; None when an expansion did.
        relevance: as it was judged when it was found.
        expanded: whether its citations were followed.
    """

    paper: Paper
    score: float | None
    relevance: float = 0.0
    expanded: bool = False

    def text(self, *, judged: bool) -> str:
        """Return its line in the prompt; ``judged`` shows the relevance."""
        marks = [f"match {self.score:.1f}"] if self.score is not None else []
        marks += [f"relevance {self.relevance:.2f}"] if judged else []
        return line(self.paper, marks=[*marks, *(["expanded"] if self.expanded else [])])


class Pool:
    """Papers in the order in which they were found, each once."""

    def __init__(self) -> None:
        self._listed: dict[str, Listed] = {}

    def __len__(self) -> int:
        return len(self._listed)

    def __contains__(self, paper_id: str) -> bool:
        return paper_id in self._listed

    def __getitem__(self, paper_id: str) -> Listed:
        return self._listed[paper_id]

    def __iter__(self) -> Iterator[Listed]:
        return iter(self._listed.values())

    def add(self, found: Sequence[tuple[Paper, float | None]]) -> list[Listed]:
        """Add papers with their scores and return those that are new, in the same order."""
        new = []
        for paper, score in found:
            if paper.id not in self._listed:
                self._listed[paper.id] = Listed(paper, score)
                new.append(self._listed[paper.id])
        return new

    def ranked(self, *, judged: bool) -> list[Listed]:
        """Return the papers as a result list: by relevance where it is no secret, else in the order found."""
        return sorted(self, key=lambda listed: -listed.relevance) if judged else list(self)

    def state(self) -> Any:
        """Return the list as builtins."""
        return [
            [p.paper.id, p.paper.title, p.paper.abstract, p.paper.year, p.score, p.relevance, p.expanded] for p in self
        ]

    @classmethod
    def from_state(cls, state: Any) -> "Pool":
        """Return the list that ``state`` described."""
        pool = cls()
        for paper_id, title, abstract, year, score, relevance, expanded in state:
            paper = Paper(paper_id, title, abstract, year=year)
            pool._listed[paper_id] = Listed(paper, score, relevance, expanded)
        return pool
