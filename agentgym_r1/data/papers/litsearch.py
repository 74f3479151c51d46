"""LitSearch (arXiv 2407.18940): literature queries over 64,183 papers of the computational linguistics literature.

Ids are Semantic Scholar's corpus ids, a query's id its row number, its kind the set it comes from (written by authors
about their own papers, or made from citations in text).
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from agentgym_r1.corpus import Paper
from agentgym_r1.data.papers.loader import PaperLoader, Query
from agentgym_r1.data.reading import parquet_rows


class _Paper(msgspec.Struct, frozen=True):
    corpusid: int
    title: str | None
    abstract: str | None
    citations: list[int] | None


class _Query(msgspec.Struct, frozen=True):
    query_set: str
    query: str
    corpusids: list[int]


def _papers(paths: Sequence[Path]) -> Iterator[Paper]:
    for path in paths:
        for row in parquet_rows(path, _Paper, reshape=_as_it_is, columns=_Paper.__struct_fields__):
            cited = tuple(map(str, row.citations or ()))
            yield Paper(str(row.corpusid), row.title or "", row.abstract or "", references=cited)


def _queries(split: str, paths: Sequence[Path]) -> Iterator[Query]:
    rows = (row for path in paths for row in parquet_rows(path, _Query, reshape=_as_it_is))
    for number, row in enumerate(rows):
        yield Query(str(number), row.query, [(str(identity), "") for identity in row.corpusids], row.query_set)


def _as_it_is(values: dict[str, Any]) -> dict[str, Any]:
    return values


LOADER = PaperLoader(
    files={"test": ("query/full-*.parquet", "query_full-*.parquet")},
    library=(("corpus_clean/full-*.parquet", "corpus_clean_full-*.parquet"),),
    papers=_papers,
    queries=_queries,
)
