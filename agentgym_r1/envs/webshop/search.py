"""How the shop finds products: BM25 or any retriever over the search texts, and the original's searches by field."""

import random
from collections.abc import Sequence
from typing import Literal, Protocol

from agentgym_r1.data.webshop import Catalogue, ProductCorpus
from agentgym_r1.retrieval.base import Retriever
from agentgym_r1.retrieval.bm25 import BM25Retriever

MOST_RESULTS = 50
MOST_RANKED = 2 * MOST_RESULTS
SCORE_DIGITS = 6
"""Scores that agree so far are equal: with five digits one search in 1,300 is ordered otherwise than by Lucene."""
_Field = Literal["category", "query", "attributes"]
_FIELDS: dict[str, _Field] = {"<c>": "category", "<q>": "query", "<a>": "attributes"}


class Search(Protocol):
    """Answers queries with catalogue rows, best first, at most ``MOST_RESULTS`` a query."""

    def __call__(self, queries: Sequence[str]) -> Sequence[Sequence[int]]:
        """Return one list a query, in their order."""
        ...


class BM25Search:
    """Searches with BM25; products with equal scores stand in the order of their asins, as Anserini has them.

    Args:
        retriever: over the catalogue's ``ProductCorpus``, whose positions are the rows.
        catalogue: the products.
    """

    def __init__(self, retriever: BM25Retriever, catalogue: Catalogue) -> None:
        self._retriever, self._catalogue = retriever, catalogue

    @classmethod
    def build(cls, catalogue: Catalogue) -> "BM25Search":
        """Index a catalogue in memory; for a large one write an index folder and open it."""
        return cls(BM25Retriever.build(ProductCorpus(catalogue)), catalogue)

    def __call__(self, queries: Sequence[str]) -> list[list[int]]:
        """Return the rows of the best products of each query."""
        return [self._in_order(hits) for hits in self._retriever.rank(queries, k=MOST_RANKED)]

    def _in_order(self, hits: Sequence[tuple[int, float]]) -> list[int]:
        keys = sorted((-round(score, SCORE_DIGITS), self._catalogue.headline(row)[0], row) for row, score in hits)
        return [row for _, _, row in keys[:MOST_RESULTS]]


class RetrieverSearch:
    """Searches with any retriever whose passages' ids are asins; those that the shop does not sell are left out."""

    def __init__(self, retriever: Retriever, catalogue: Catalogue) -> None:
        self._retriever, self._catalogue = retriever, catalogue

    def __call__(self, queries: Sequence[str]) -> list[list[int]]:
        """Return the rows of the best products of each query."""
        found = self._retriever.search(queries, k=MOST_RESULTS)
        rows = ([self._catalogue.row_of(passage.id) for passage in passages] for passages in found)
        return [[row for row in places if row is not None] for places in rows]


def rows_by_field(catalogue: Catalogue, query: str) -> list[int] | None:
    """Return the products of a search by field, in the catalogue's order, or None when it is a search by words.

    ``<c> beauty`` asks for a category (one word), ``<q> console tables`` for a query, ``<a> machine washable`` for a
    listed attribute, and ``<r>`` for 50 random products, here always the same for the same text.
    """
    mark, _, rest = query.partition(" ")
    if mark == "<r>":
        return random.Random(query).sample(range(len(catalogue)), min(MOST_RESULTS, len(catalogue)))
    if mark not in _FIELDS:
        return None
    return catalogue.rows_where(_FIELDS[mark], rest.split(" ")[0] if mark == "<c>" else rest.strip())
