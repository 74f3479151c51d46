"""Every environment that searches takes its retriever as a name, a URL, an index folder or an object."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest
from hashing_encoder import HashingEncoder

from agentgym_r1 import cli_index
from agentgym_r1.corpus import Corpus, MemoryCorpus
from agentgym_r1.data.webshop import ProductCorpus
from agentgym_r1.data.worlds import encyclopedia, library
from agentgym_r1.envs import hotpotqa
from agentgym_r1.envs.paper_search import opening as paper_opening
from agentgym_r1.envs.webshop.opening import choose_stock, open_catalogue
from agentgym_r1.errors import ConfigError, RetrievalError
from agentgym_r1.retrieval import BM25Retriever, MemoryRetriever, write_bm25
from agentgym_r1.retrieval.service import RunningService
from agentgym_r1.types import Document


def questions() -> Corpus:
    return MemoryCorpus(encyclopedia.corpus("dev"))


CORPORA: dict[str, Callable[[], Corpus]] = {
    "AgentR1/HotpotQA-v0": questions,
    "AgentR1/2WikiMultiHopQA-v0": questions,
    "AgentR1/MuSiQue-v0": questions,
    "AgentR1/PaperSearch-v0": lambda: MemoryCorpus(paper.document() for paper in library.corpus("test")),
    "AgentR1/WebShop-v0": lambda: ProductCorpus(open_catalogue(choose_stock("world", 1000))),
}
OWN_LIBRARY = ["AgentR1/PaperSearch-v0", "AgentR1/WebShop-v0"]


@contextmanager
def by_name(folder: Path) -> Iterator[Any]:
    yield "bm25"


@contextmanager
def by_url(folder: Path) -> Iterator[Any]:
    with RunningService({"other": MemoryRetriever([]), "own": folder}) as service:
        yield f"{service.address()}?index=own"


@contextmanager
def by_folder(folder: Path) -> Iterator[Any]:
    yield str(folder)


@contextmanager
def by_path(folder: Path) -> Iterator[Any]:
    yield folder


@contextmanager
def by_object(folder: Path) -> Iterator[Any]:
    yield BM25Retriever.open(folder)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return the index folder of an environment's corpus, built when it is first asked for."""

    def folder(env_id: str) -> Path:
        corpus = CORPORA[env_id]()
        place = tmp_path_factory.getbasetemp() / "retrievers" / corpus.sha256[:12]
        write_bm25(place, MemoryCorpus(corpus))
        return place

    return folder


def play(env_id: str, **options: Any) -> list[str]:
    """Return what the expert sees on its way to success."""
    with gym.make(env_id, source="world", **options) as env:
        seen = [env.reset(seed=3)[0]]
        for _ in range(20):
            observation, _, terminated, truncated, info = env.step(env.unwrapped.expert())
            seen.append(observation)
            if terminated or truncated:
                break
        assert info["success"]
        return seen


def test_the_command_line_indexes_a_shop_so_that_it_can_be_served(tmp_path: Path) -> None:
    catalogue = open_catalogue(choose_stock("world", 1000))
    cli_index.build(corpus=catalogue.folder, out=tmp_path / "shop")
    with RunningService({"shop": tmp_path / "shop"}) as service:
        assert play("AgentR1/WebShop-v0", retriever=service.address()) == play("AgentR1/WebShop-v0")


@pytest.mark.parametrize("way", [by_name, by_url, by_folder, by_path, by_object])
@pytest.mark.parametrize("env_id", CORPORA)
def test_an_episode_is_the_same_however_the_retriever_is_given(
    env_id: str, way: Any, folders: Callable[[str], Path]
) -> None:
    with way(folders(env_id)) as retriever:
        assert play(env_id, retriever=retriever) == play(env_id)


@pytest.mark.parametrize("way", [by_url, by_folder, by_path])
@pytest.mark.parametrize("env_id", OWN_LIBRARY)
def test_a_shop_or_library_refuses_the_index_of_another_corpus(env_id: str, way: Any, tmp_path: Path) -> None:
    write_bm25(tmp_path / "index", MemoryCorpus([Document("a", "Ferry", "It crosses.")]))
    with way(tmp_path / "index") as retriever, pytest.raises(RetrievalError, match=r"another corpus|searches corpus"):
        gym.make(env_id, source="world", retriever=retriever)


@pytest.mark.parametrize("env_id", CORPORA)
def test_a_retriever_that_is_nothing_is_explained(env_id: str) -> None:
    with pytest.raises(ConfigError, match="did you mean 'bm25'"):
        gym.make(env_id, source="world", retriever="bm52")


@pytest.mark.dense
@pytest.mark.parametrize("env_id", CORPORA)
def test_dense_by_name_searches_the_environments_own_corpus(env_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("faiss", reason="needs the dense extra: pip install 'agentgym-r1[dense]'")
    monkeypatch.setattr("agentgym_r1.retrieval.opening.open_encoder", HashingEncoder)
    for cached in (hotpotqa._world_retriever, paper_opening._searched_by_name):
        cached.cache_clear()
    with gym.make(env_id, source="world", retriever="dense") as env:
        env.reset(seed=3)
        retriever = getattr(env.unwrapped, "retriever", None)
        assert retriever is None or retriever.corpus.sha256 == CORPORA[env_id]().sha256
    for cached in (hotpotqa._world_retriever, paper_opening._searched_by_name):
        cached.cache_clear()
