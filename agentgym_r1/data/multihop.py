"""What the multi-hop question sets share: from a published question with its paragraphs to a task with its gold."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from agentgym_r1.data.gold import QAGold
from agentgym_r1.data.passages import Passages
from agentgym_r1.errors import DataError
from agentgym_r1.types import Task


@dataclass(frozen=True, slots=True)
class Question:
    """A question as published.

    Attributes:
        id, text: as published.
        answers: accepted answers, the canonical one first; blanks and repeats allowed.
        kind: the question type, or empty.
        context: (title, text) of every paragraph that comes with it.
        supporting: positions in ``context`` of the evidence, in reasoning order; repeats allowed.
    """

    id: str
    text: str
    answers: Sequence[str]
    kind: str
    context: Sequence[tuple[str, str]]
    supporting: Sequence[int]


def tasks(path: Path, questions: Iterable[Question], passages: Passages) -> Iterator[Task]:
    """Yield the tasks of a file's questions and add their paragraphs to the corpus.

    Raises:
        DataError: a question or its answer is blank, or none of its paragraphs supports it; names file and record.
    """
    for number, question in enumerate(questions, start=1):
        problem = _problem(question)
        if problem:
            raise DataError(f"{path}, record {number} ({question.id}): {problem}; is this the set's official file?")
        yield _task(question, passages)


def _problem(question: Question) -> str:
    """Return what keeps a record from being a task, or nothing."""
    if not question.text.strip():
        return "field question: expected text, got none"
    if not any(answer.strip() for answer in question.answers):
        return "field answer: expected text, got none"
    if not question.supporting:
        return f"no supporting fact is among the {len(question.context)} paragraphs of its context"
    return ""


def _task(question: Question, passages: Passages) -> Task:
    ids = [passages.add(title, text) for title, text in question.context]
    supporting = {ids[position]: question.context[position][0] for position in question.supporting}
    answers = dict.fromkeys(answer for answer in question.answers if answer.strip())
    gold = QAGold(tuple(answers), tuple(supporting), tuple(supporting.values()))
    return Task(question.id, question.text, gold, question.kind)
