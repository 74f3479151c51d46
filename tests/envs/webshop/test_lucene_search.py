"""The shop over Lucene: an index as the original builds it, and one built from a catalogue."""

import json
import lzma
from collections.abc import Iterator
from pathlib import Path

import gymnasium as gym
import pytest

from agentgym_r1 import cli_index
from agentgym_r1.data.webshop import Catalogue, ProductCorpus
from agentgym_r1.envs.webshop.opening import choose_stock, open_catalogue
from agentgym_r1.envs.webshop.search import BM25Search, RetrieverSearch
from agentgym_r1.retrieval import LuceneRetriever, open_retriever
from agentgym_r1.retrieval.lucene_java import Java
from tests.retrieval.lucene_folders import run_anserini

pytestmark = [pytest.mark.java, pytest.mark.xdist_group("java")]


@pytest.fixture(scope="module")
def original(java: Java, samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The index of the original's documents by the original's command (search_engine/run_indexing.sh)."""
    documents = samples / "data" / "webshop" / "resources_1k_documents.jsonl"
    rows = map(json.loads, documents.read_text(encoding="utf-8").splitlines())
    folder = tmp_path_factory.mktemp("original") / "indexes_1k"
    return run_anserini(java, rows, folder, "-storePositions", "-storeDocvectors", "-storeRaw")


@pytest.fixture(scope="module")
def lucene(original: Path, real: Catalogue) -> Iterator[LuceneRetriever]:
    retriever = open_retriever(original, corpus=ProductCorpus(real))
    assert isinstance(retriever, LuceneRetriever)
    yield retriever
    retriever.close()


def recorded_searches(samples: Path) -> list[str]:
    """Return what was searched for in the golden episodes, and the questions of the Lucene record."""
    searched: dict[str, None] = {}
    with lzma.open(samples / "golden" / "webshop_transcripts.jsonl.xz", "rt", encoding="utf-8") as handle:
        for line in handle:
            searched |= dict.fromkeys(json.loads(line)["searches"])
    with lzma.open(samples / "golden" / "lucene_rankings.jsonl.xz", "rt", encoding="utf-8") as handle:
        for row in map(json.loads, handle):
            searched |= {row["query"]: None} if row["corpus"] == "webshop" else {}
    return list(searched)


@pytest.mark.real
def test_the_originals_index_gives_the_products_of_our_bm25_in_their_order(
    lucene: LuceneRetriever, real: Catalogue, samples: Path
) -> None:
    queries = recorded_searches(samples)
    assert len(queries) > 1000
    ours, theirs = BM25Search.build(real)(queries), RetrieverSearch(lucene, real)(queries)
    assert [query for query, mine, its in zip(queries, ours, theirs, strict=True) if mine != its] == []


def test_an_index_built_from_a_catalogue_serves_the_environment(java: Java, tmp_path: Path) -> None:
    catalogue = open_catalogue(choose_stock("world", 1000))
    cli_index.build(corpus=catalogue.folder, kind="lucene", out=tmp_path / "shop")

    def play(**options: str) -> list[str]:
        with gym.make("AgentR1/WebShop-v0", source="world", **options) as env:
            seen = [env.reset(seed=3)[0]]
            for _ in range(15):
                observation, _, terminated, truncated, info = env.step(env.unwrapped.expert())
                seen.append(observation)
                if terminated or truncated:
                    break
            assert info["success"]
        return seen

    assert play(retriever=str(tmp_path / "shop")) == play()
