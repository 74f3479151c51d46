"""2WikiMultiHopQA, from the official JSON or the Parquet files of the Hugging Face hub.

The test split is left out: its answers are not published. Where the official ``id_aliases.json`` lies beside the split,
the aliases and demonyms of the answer's Wikidata entity are accepted too, as in the official evaluation (version 1.1).
"""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from agentgym_r1.data.gold import QAGold
from agentgym_r1.data.hotpotqa import question_of, rows
from agentgym_r1.data.loader import FileLoader
from agentgym_r1.data.multihop import tasks
from agentgym_r1.data.passages import Passages
from agentgym_r1.data.reading import jsonl_rows
from agentgym_r1.types import Task

ALIASES = "id_aliases.json"


class _Entity(msgspec.Struct, frozen=True, rename={"id": "Q_id"}):
    id: str
    aliases: list[str] = []
    demonyms: list[str] = []


def read(path: Path, passages: Passages) -> Iterator[Task]:
    """Yield the tasks of a file; published sentences are bare, so a blank joins them."""
    aliases = _aliases(path.with_name(ALIASES))
    questions = (
        question_of(row, separator=" ", answers=[row.answer, *aliases.get(row.answer_id or "", ())])
        for row in rows(path)
    )
    return tasks(path, questions, passages)


def _aliases(path: Path) -> dict[str, list[str]]:
    """Return the other names of every entity; nothing when the file is not there."""
    if not path.exists():
        return {}
    return {entity.id: entity.aliases + entity.demonyms for entity in jsonl_rows(path, _Entity)}


LOADER = FileLoader(
    files={
        "dev": ("dev.json", "2wiki_dev*.json", "dev*.parquet", "validation*.parquet"),
        "train": ("train.json", "2wiki_train*.json", "train*.parquet"),
    },
    read=read,
    gold=QAGold,
    has_corpus=True,
)
