"""A library of your own: ``papers.jsonl`` and ``queries.jsonl`` in one folder.

A paper is ``{"id", "title", "abstract", "authors": [], "year", "venue", "references": [ids]}``, a query ``{"id" or
"qid", "question", "gold": [ids]}`` with an optional ``"kind"`` or ``"split"`` that the metrics are broken down by, and
optional ``"answer"``, the titles of all papers that satisfy it: those that no gold paper has are counted as absent.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from agentgym_r1.corpus import Paper
from agentgym_r1.data.papers.loader import PaperLoader, Query
from agentgym_r1.data.reading import jsonl_rows


class _Paper(msgspec.Struct, frozen=True):
    id: str
    title: str
    abstract: str
    authors: tuple[str, ...] = ()
    year: int | None = None
    venue: str = ""
    references: tuple[str, ...] = ()


class _Query(msgspec.Struct, frozen=True):
    question: str
    gold: list[str]
    id: str = ""
    qid: str = ""
    kind: str = ""
    split: str = ""
    answer: list[str] = []


def read_papers(path: Path) -> Iterator[Paper]:
    """Yield the papers of a JSON Lines file; raise DataError where a line is not one."""
    for row in jsonl_rows(path, _Paper):
        yield Paper(row.id, row.title, row.abstract, row.authors, row.year, row.venue, row.references)


def _papers(paths: Sequence[Path]) -> Iterator[Paper]:
    return read_papers(paths[0])


def _queries(split: str, paths: Sequence[Path]) -> Iterator[Query]:
    for number, row in enumerate(jsonl_rows(paths[0], _Query)):
        papers = [(paper_id, "") for paper_id in row.gold]
        absent = [("", title) for title in row.answer]
        identity = row.id or row.qid or str(number)
        yield Query(identity, row.question, [*papers, *absent], row.kind or row.split)


LOADER = PaperLoader(
    files={
        "test": ("queries.jsonl", "queries_test.jsonl", "*_queries.jsonl"),
        "dev": ("queries_dev.jsonl",),
        "train": ("queries_train.jsonl",),
    },
    library=(("papers.jsonl", "*_corpus.jsonl", "corpus.jsonl"),),
    papers=_papers,
    queries=_queries,
)
