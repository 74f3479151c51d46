"""Our BM25 against the rankings that Lucene itself gave (Anserini, on the real sample corpora)."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agentgym_r1.corpus import contents
from agentgym_r1.retrieval.analyzer import analyze
from agentgym_r1.retrieval.base import Passage
from agentgym_r1.retrieval.bm25 import BM25Retriever
from agentgym_r1.retrieval.postings import Bm25Settings
from agentgym_r1.retrieval.query_terms import QueryReader
from agentgym_r1.retrieval.vocabulary import Vocabulary
from tests.retrieval.golden import Cell, K, overlap, read_corpus, read_rankings, same_first

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def results(samples: Path) -> dict[Cell, list[tuple[dict[str, Any], list[Passage]]]]:
    """For each corpus and setting, the golden rows with our best 3 K passages."""
    found = {}
    for (name, k1, b), golden in read_rankings(samples).items():
        retriever = BM25Retriever.build(read_corpus(samples / "data", name), settings=Bm25Settings(k1=k1, b=b))
        found[name, k1, b] = list(zip(golden, retriever.search([row["query"] for row in golden], k=3 * K)))
    return found


def ids(row: dict[str, Any], passages: list[Passage]) -> tuple[list[str], list[str]]:
    return [hit[0] for hit in row["hits"]], [passage.id for passage in passages]


def test_rankings_equal_those_of_lucene(
    results: dict[Cell, list[tuple[dict[str, Any], list[Passage]]]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert len(results) == 8
    every = []
    for cell, pairs in results.items():
        figures = [(overlap(*ids(*pair)), same_first(*ids(*pair))) for pair in pairs]
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


def test_the_compiled_reader_finds_the_same_terms_in_every_question_and_passage(samples: Path) -> None:
    questions = [row["query"] for rows in read_rankings(samples).values() for row in rows]
    passages = [contents(document) for document in read_corpus(samples / "data", "2wiki")]
    vocabulary, _ = Vocabulary.build({term for text in questions + passages for term in analyze(text)})
    reader = QueryReader(vocabulary)
    python, compiled = reader.read(questions + passages), reader.read_compiled(questions + passages)
    assert len(python.numbers) > 100_000
    assert np.array_equal(python.firsts, compiled.firsts)
    assert np.array_equal(python.numbers, compiled.numbers)
    assert np.array_equal(python.counts, compiled.counts)
