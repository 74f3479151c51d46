"""MuSiQue-Ans v1.0, the answerable questions of MuSiQue, from the official JSON Lines."""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from agentgym_r1.data.gold import QAGold
from agentgym_r1.data.loader import FileLoader
from agentgym_r1.data.multihop import Question, tasks
from agentgym_r1.data.passages import Passages
from agentgym_r1.data.reading import jsonl_rows
from agentgym_r1.types import Task


class _Paragraph(msgspec.Struct, frozen=True):
    idx: int
    title: str
    paragraph_text: str
    is_supporting: bool


class _Hop(msgspec.Struct, frozen=True):
    paragraph_support_idx: int | None


class _Row(msgspec.Struct, frozen=True):
    id: str
    question: str
    answer: str
    paragraphs: list[_Paragraph]
    question_decomposition: list[_Hop]
    answer_aliases: list[str] = []


def read(path: Path, passages: Passages) -> Iterator[Task]:
    """Yield the tasks of a file; the kind is the id's first part (``2hop``, ``3hop1``, ``4hop3``, ...)."""
    return tasks(path, map(_question, jsonl_rows(path, _Row)), passages)


def _question(row: _Row) -> Question:
    """Return the question of a record; the evidence follows the decomposition, one paragraph a hop."""
    positions = {paragraph.idx: position for position, paragraph in enumerate(row.paragraphs)}
    hops = [hop.paragraph_support_idx for hop in row.question_decomposition]
    marked = [paragraph.idx for paragraph in row.paragraphs if paragraph.is_supporting]
    return Question(
        id=row.id,
        text=row.question,
        answers=[row.answer, *row.answer_aliases],
        kind=row.id.partition("__")[0],
        context=[(paragraph.title, paragraph.paragraph_text) for paragraph in row.paragraphs],
        supporting=[positions[idx] for idx in (*hops, *marked) if idx in positions],
    )


LOADER = FileLoader(
    files={
        "dev": ("musique_ans*dev*.jsonl", "musique_dev*.jsonl"),
        "train": ("musique_ans*train*.jsonl", "musique_train*.jsonl"),
    },
    read=read,
    gold=QAGold,
    has_corpus=True,
)
