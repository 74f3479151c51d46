"""Our BM25 against the rankings that Lucene itself gave (Anserini, on the real sample corpora)."""

import json
import lzma
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentgym_r1.corpus import Corpus, MemoryCorpus, open_corpus
from agentgym_r1.retrieval.base import Passage
from agentgym_r1.retrieval.bm25 import BM25Retriever
from agentgym_r1.retrieval.postings import Bm25Settings
from agentgym_r1.types import Document

pytestmark = pytest.mark.real
K = 10
Cell = tuple[str, float, float]


def read_corpus(data: Path, name: str) -> Corpus:
    if name == "webshop":
        return open_corpus(data / "webshop" / "resources_1k_documents.jsonl")
    if name == "scifact":
        return MemoryCorpus(scifact(data / "paper_search" / "scifact" / "corpus.jsonl"))
    file = {"hotpotqa": "hotpot", "2wiki": "2wiki"}[name]
    return open_corpus(data / name / f"{file}_sample_corpus.json")


def scifact(path: Path) -> Iterator[Document]:
    with path.open(encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            yield Document(str(row["doc_id"]), "", f"{row['title']} {' '.join(row['abstract'])}")


@pytest.fixture(scope="module")
def results(samples: Path) -> dict[Cell, list[tuple[dict[str, Any], list[Passage]]]]:
    """For each corpus and setting, the golden rows with our best 3 K passages."""
    rows: dict[Cell, list[dict[str, Any]]] = defaultdict(list)
    with lzma.open(samples / "golden" / "lucene_rankings.jsonl.xz", "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            rows[row["corpus"], row["k1"], row["b"]].append(row)
    found = {}
    for (name, k1, b), golden in rows.items():
        retriever = BM25Retriever.build(read_corpus(samples / "data", name), settings=Bm25Settings(k1=k1, b=b))
        found[name, k1, b] = list(zip(golden, retriever.search([row["query"] for row in golden], k=3 * K)))
    return found


def overlap(row: dict[str, Any], passages: list[Passage]) -> float:
    lucene, ours = {hit[0] for hit in row["hits"]}, {passage.id for passage in passages[:K]}
    return len(lucene & ours) / max(len(lucene), len(ours), 1)


def same_first(row: dict[str, Any], passages: list[Passage]) -> bool:
    return [hit[0] for hit in row["hits"][:1]] == [passage.id for passage in passages[:1]]


def test_rankings_equal_those_of_lucene(
    results: dict[Cell, list[tuple[dict[str, Any], list[Passage]]]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert len(results) == 8
    every = []
    for cell, pairs in results.items():
        figures = [(overlap(row, passages), same_first(row, passages)) for row, passages in pairs]
        every += figures
        mean, first = (sum(column) / len(figures) for column in zip(*figures))
        with capsys.disabled():
            print(
                f"\n{cell[0]:9} k1={cell[1]} b={cell[2]:<4} n={len(figures):4} overlap@10={mean:.4f} top1={first:.4f}",
                end="",
            )
        assert mean >= 0.995
        assert first >= 0.995
    assert len(every) == 3257
    assert sum(mean for mean, _ in every) / len(every) >= 0.999
    assert sum(first for _, first in every) / len(every) >= 0.999


def test_with_anserinis_order_of_ties_every_ranking_is_identical(
    results: dict[Cell, list[tuple[dict[str, Any], list[Passage]]]],
) -> None:
    """Anserini sorts equal scores by the id as text; we keep the order of the corpus."""
    for pairs in results.values():
        for row, passages in pairs:
            ordered = sorted(passages, key=lambda passage: (-round(passage.score, 5), passage.id))[:K]
            assert [passage.id for passage in ordered] == [hit[0] for hit in row["hits"]]
            assert [passage.score for passage in ordered] == pytest.approx([hit[1] for hit in row["hits"]], abs=1e-4)
