"""What scoring needs to know of a task, one frozen dataclass a task family; the policy never sees any of it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class QAGold:
    """Gold of a question.

    Attributes:
        answers: accepted answers, the canonical one first, at least one.
        supporting: ids, in the set's own corpus, of the passages that hold the evidence, in reasoning order.
        supporting_titles: titles of the same passages, for corpora with other ids (wiki-18, fullwiki).
    """

    answers: tuple[str, ...]
    supporting: tuple[str, ...]
    supporting_titles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NumberGold:
    """Gold of a word problem.

    Attributes:
        answer: the number as text, without thousands separators, for example "18" or "-2.5".
        solution: calculator expressions that lead to it, in order; the last one gives the answer.
    """

    answer: str
    solution: tuple[str, ...]
