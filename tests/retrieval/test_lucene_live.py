"""Lucene itself, live on the real sample corpora: it repeats its recorded rankings, and our BM25 repeats it."""

from pathlib import Path
from typing import Any

import pytest

from agentgym_r1.corpus import Corpus, contents
from agentgym_r1.retrieval import BM25Retriever, LuceneRetriever, write_lucene
from agentgym_r1.retrieval.lucene import LuceneSettings
from agentgym_r1.retrieval.lucene_java import Java
from tests.retrieval.golden import K, overlap, read_corpus, read_rankings, same_first

pytestmark = [pytest.mark.real, pytest.mark.java, pytest.mark.xdist_group("java")]

CORPORA = {"hotpotqa": 993, "2wiki": 764, "webshop": 1100, "scifact": 400}
"""Recorded questions of each corpus, over both settings of BM25."""
TEXTS = 150
"""Documents of each corpus that serve as queries: long ones, with every kind of character that the corpus has."""


@pytest.fixture(scope="module", params=CORPORA)
def live(request: pytest.FixtureRequest, java: Java, samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A corpus's name, its documents, and Lucene over them."""
    corpus = read_corpus(samples / "data", request.param)
    folder = tmp_path_factory.mktemp("live") / request.param
    write_lucene(folder, corpus)
    lucene = LuceneRetriever.open(folder)
    yield request.param, corpus, lucene
    lucene.close()


def test_lucene_repeats_its_recorded_rankings(live: tuple[str, Corpus, LuceneRetriever], samples: Path) -> None:
    name, corpus, lucene = live
    compared = 0
    for (of, k1, b), rows in read_rankings(samples).items():
        if of != name:
            continue
        retriever = LuceneRetriever(lucene.folder, settings=LuceneSettings(k1, b), corpus=corpus)
        found = retriever.rank([row["query"] for row in rows], k=K)
        retriever.close()
        for row, hits in zip(rows, found, strict=True):
            assert [document_id for document_id, _ in hits] == [hit[0] for hit in row["hits"]]
            assert [score for _, score in hits] == pytest.approx([hit[1] for hit in row["hits"]], abs=1e-4)
            compared += 1
    assert compared == CORPORA[name]


def test_our_bm25_ranks_as_lucene_does(
    live: tuple[str, Corpus, LuceneRetriever], samples: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name, corpus, lucene = live
    questions = read_rankings(samples)[name, 0.9, 0.4]
    step = max(1, len(corpus) // TEXTS)
    texts = [contents(corpus[position]) for position in range(0, len(corpus), step)]
    queries = [row["query"] for row in questions] + texts
    expected = [[document_id for document_id, _ in hits] for hits in lucene.rank(queries, k=K)]
    found = [[passage.id for passage in hits] for hits in BM25Retriever.build(corpus).search(queries, k=K)]
    mean = sum(map(overlap, expected, found)) / len(queries)
    first = sum(map(same_first, expected, found)) / len(queries)
    with capsys.disabled():
        print(f"\n{name:9} n={len(queries):4} overlap@10={mean:.4f} top1={first:.4f}", end="")
    assert mean >= 0.995
    assert first >= 0.995
