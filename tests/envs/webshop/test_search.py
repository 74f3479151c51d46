"""Searching the shop."""

import json
import lzma
import pickle
from collections.abc import Sequence
from pathlib import Path

import pytest

from agentgym_r1.data.webshop import Catalogue, ProductCorpus
from agentgym_r1.envs.webshop.search import BM25Search, RetrieverSearch
from agentgym_r1.retrieval.base import Passage
from agentgym_r1.retrieval.bm25 import BM25Retriever, write_bm25


class Recorded:
    """A retriever that answers every query with the same passages."""

    name = "recorded"

    def __init__(self) -> None:
        self.asked: list[tuple[list[str], int]] = []

    def search(self, queries: Sequence[str], *, k: int) -> list[list[Passage]]:
        self.asked.append((list(queries), k))
        return [[Passage("W000000002", "", "", 2.0), Passage("GONE", "", "", 1.0)] for _ in queries]


def test_a_retriever_is_asked_for_fifty_products_of_each_query_at_once(world: Catalogue) -> None:
    retriever = Recorded()
    assert RetrieverSearch(retriever, world)(["tea", "soap"]) == [[2], [2]]
    assert retriever.asked == [(["tea", "soap"], 50)]


def test_bm25_finds_a_product_by_its_title_and_nothing_for_blanks(world: Catalogue) -> None:
    search = BM25Search.build(world)
    rows = [0, 17, 599]
    found = search([world.product(row).title for row in rows])
    assert [hits[0] for hits in found] == rows
    assert search(["", " ", "!!!", "the"]) == [[], [], [], []]
    assert max(len(hits) for hits in search(["hand", "for"])) == 50


def test_both_ways_to_ask_bm25_agree(world: Catalogue) -> None:
    retriever = BM25Retriever.build(ProductCorpus(world))
    queries = ["hand soap", "leak proof plant pots of rattan", "a", ""]
    ours, plain = BM25Search(retriever, world)(queries), RetrieverSearch(retriever, world)(queries)
    assert [hits[:3] for hits in ours] == [hits[:3] for hits in plain]
    assert [len(hits) for hits in ours] == [len(hits) for hits in plain]


def test_products_with_equal_scores_stand_in_the_order_of_their_asins(world: Catalogue) -> None:
    retriever = BM25Retriever.build(ProductCorpus(world))
    found = BM25Search(retriever, world)(["working day returns"])[0]
    scores = dict(retriever.rank(["working day returns"], k=600)[0])
    assert found == sorted(found, key=lambda row: (-round(scores[row], 6), world.product(row).asin))


def test_an_index_folder_over_a_catalogue_copies_no_text(world: Catalogue, tmp_path: Path) -> None:
    corpus = ProductCorpus(world)
    write_bm25(tmp_path / "index", corpus)
    assert not (tmp_path / "index" / "documents.arrow").exists()
    search = BM25Search(BM25Retriever.open(tmp_path / "index", corpus=corpus), world)
    assert search(["hand soap"]) == BM25Search.build(world)(["hand soap"])
    assert pickle.loads(pickle.dumps(search))(["hand soap"]) == search(["hand soap"])


@pytest.mark.real
def test_real_searches_find_the_recorded_lucene_products(real: Catalogue, samples: Path) -> None:
    with lzma.open(samples / "golden" / "lucene_rankings.jsonl.xz", "rt", encoding="utf-8") as handle:
        rows = [json.loads(line) for line in handle]
    rows = [row for row in rows if row["corpus"] == "webshop" and row["k1"] == 0.9]
    found = BM25Search.build(real)([row["query"] for row in rows])
    for row, hits in zip(rows, found, strict=True):
        assert [real.product(hit).asin for hit in hits[:10]] == [asin for asin, _ in row["hits"]]
