"""HotpotQA v1.1 in the distractor setting, from the official JSON or the Parquet files of the Hugging Face hub."""

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from agentgym_r1.data.gold import QAGold
from agentgym_r1.data.loader import FileLoader
from agentgym_r1.data.multihop import Question, tasks
from agentgym_r1.data.passages import Passages
from agentgym_r1.data.reading import json_rows, nested, parquet_rows
from agentgym_r1.types import Task

logger = logging.getLogger(__name__)


class Row(msgspec.Struct, frozen=True, rename={"id": "_id"}):
    """A record of the official JSON; 2WikiMultiHopQA has the same fields and ``answer_id``."""

    id: str
    question: str
    answer: str
    supporting_facts: list[tuple[str, int]]
    context: list[tuple[str, list[str]]]
    type: str = ""
    answer_id: str | None = None


def read(path: Path, passages: Passages) -> Iterator[Task]:
    """Yield the tasks of a file; published sentences bring their own leading blank."""
    return tasks(path, (question_of(row, separator="", answers=[row.answer]) for row in rows(path)), passages)


def rows(path: Path) -> Iterator[Row]:
    """Yield the records of a file, JSON or Parquet, in the form of the official JSON."""
    return parquet_rows(path, Row, reshape=_official) if path.suffix == ".parquet" else json_rows(path, Row)


def question_of(row: Row, *, separator: str, answers: list[str]) -> Question:
    """Return the question of a record.

    The evidence is the paragraphs whose titles the supporting facts name, in the order of the facts. A title that is
    not in the context is logged and left out.

    Args:
        row: the record.
        separator: what joins the sentences of a paragraph.
        answers: the accepted answers.
    """
    positions = {title: position for position, (title, _) in reversed(list(enumerate(row.context)))}
    named = list(dict.fromkeys(title for title, _ in row.supporting_facts))
    missing = [title for title in named if title not in positions]
    if missing:
        logger.warning("question %s: the supporting titles %s are not in its context", row.id, missing)
    context = [(title, separator.join(sentences)) for title, sentences in row.context]
    supporting = [positions[title] for title in named if title in positions]
    return Question(row.id, row.question, answers, row.type, context, supporting)


def _official(values: dict[str, Any]) -> dict[str, Any]:
    """Return a Parquet row in the form of the official JSON: ``_id``, and lists of pairs instead of columns."""
    official = {**values, "_id": values.get("_id", values.get("id"))}
    for field, columns in (("context", ("title", "sentences")), ("supporting_facts", ("title", "sent_id"))):
        value = nested(values.get(field))
        if isinstance(value, dict) and value.keys() == set(columns):
            value = list(zip(*(value[column] for column in columns), strict=False))
        official[field] = value
    return official


LOADER = FileLoader(
    files={
        "dev": (
            "hotpot_dev_distractor*.json",
            "validation-*.parquet",
            "distractor/validation-*.parquet",
        ),
        "train": (
            "hotpot_train*.json",
            "train-*.parquet",
            "distractor/train-*.parquet",
        ),
    },
    read=read,
    gold=QAGold,
    has_corpus=True,
)
