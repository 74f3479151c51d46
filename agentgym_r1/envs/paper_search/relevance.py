"""How relevant a paper is to a query: the measure behind the process reward."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from agentgym_r1.corpus import Paper, title_key
from agentgym_r1.data.gold import PaperGold
from agentgym_r1.types import Task


@runtime_checkable
class Relevance(Protocol):
    """Judges papers; PaSa's selector in general form (arXiv 2501.10120)."""

    @property
    def shown(self) -> bool:
        """Whether the policy may see the judgements; those made from gold it may not."""
        ...

    def judge(self, task: Task, papers: Sequence[Paper]) -> list[float]:
        """Return how relevant each paper is to the task's query, from 0 to 1, in one batch."""
        ...


class GoldRelevance:
    """1 for a paper of the gold set, else 0.

    Args:
        by_title: recognise papers by their titles, in a library whose ids are not the set's own.
    """

    shown = False

    def __init__(self, *, by_title: bool = False) -> None:
        self.by_title = by_title

    def targets(self, gold: PaperGold) -> frozenset[str]:
        """Return the keys (see ``key``) of the papers to be found: those that the library can hold."""
        if self.by_title:
            return frozenset(map(title_key, (*gold.titles, *gold.absent)))
        return frozenset(gold.papers)

    def key(self, paper: Paper) -> str:
        """Return what a paper is recognised by."""
        return title_key(paper.title) if self.by_title else paper.id

    def judge(self, task: Task, papers: Sequence[Paper]) -> list[float]:
        """Return membership in the gold set."""
        targets = self.targets(task.gold)
        return [float(self.key(paper) in targets) for paper in papers]
