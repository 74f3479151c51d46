"""Which queries and which library AgentR1/PaperSearch is made with."""

import json
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
from kites import PAPERS

import agentgym_r1  # noqa: F401 - registers the environments
from agentgym_r1.corpus import MemoryPapers
from agentgym_r1.data.get import get
from agentgym_r1.errors import ConfigError, DataError
from agentgym_r1.retrieval import MemoryRetriever
from agentgym_r1.retrieval.library import LocalLibrary

ID = "AgentR1/PaperSearch-v0"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AGENTGYM_R1_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def kites(home: Path, tmp_path: Path) -> None:
    """Install the kites as a library of one's own."""
    folder = tmp_path / "kites"
    folder.mkdir()
    papers = [
        {"id": p.id, "title": p.title, "abstract": p.abstract, "year": p.year, "references": p.references}
        for p in PAPERS
    ]
    queries = [{"id": "q", "question": "kites", "gold": ["k1"]}, {"id": "b", "question": "bread", "gold": ["b1"]}]
    for name, rows in (("papers.jsonl", papers), ("queries.jsonl", queries)):
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    get("acl", source=folder)


def test_auto_takes_an_installed_set_and_says_so(kites: None) -> None:
    _, info = gym.make(ID).reset(options={"task": "q"})
    assert (info["task"]["set"], info["task"]["source"]) == ("acl", "real")


def test_auto_takes_the_world_where_nothing_is_installed(home: Path) -> None:
    _, info = gym.make(ID, split="dev").reset(seed=0)
    assert (info["task"]["set"], info["task"]["source"]) == ("library", "world")


def test_real_without_a_set_says_how_to_get_one(home: Path) -> None:
    with pytest.raises(DataError, match="agentgym-r1 data get litsearch"):
        gym.make(ID, source="real")
    with pytest.raises(DataError, match="agentgym-r1 data get scifact"):
        gym.make(ID, source="real", data="scifact")


def test_environments_of_a_process_share_one_library(kites: None) -> None:
    one, other = (gym.make(ID).unwrapped for _ in range(2))
    assert one.library is other.library
    assert gym.make(ID, source="world").unwrapped.library is gym.make(ID, source="world").unwrapped.library


def test_a_set_that_was_installed_again_is_opened_again(kites: None, tmp_path: Path) -> None:
    before = gym.make(ID).unwrapped.library
    path = tmp_path / "kites" / "papers.jsonl"
    path.write_text(path.read_text(encoding="utf-8").replace("Kite tails", "Kite tail"), encoding="utf-8")
    get("acl", source=tmp_path / "kites")
    after = gym.make(ID).unwrapped.library
    assert before is not after
    assert after.papers[0].title == "Kite tail"


def test_queries_without_their_library_need_another_one(home: Path, tmp_path: Path) -> None:
    row = {"qid": "q", "question": "kites", "answer": ["Kite: tails"], "answer_arxiv_id": ["x"]}
    (tmp_path / "AutoScholarQuery_test.jsonl").write_text(json.dumps(row), encoding="utf-8")
    get("pasa", source=tmp_path)
    with pytest.raises(ConfigError, match="pasa is installed without its library"):
        gym.make(ID, data="pasa")
    papers = MemoryPapers(PAPERS)
    env = gym.make(ID, library=LocalLibrary(papers, MemoryRetriever(papers.documents)))
    env.reset(options={"task": "q"})
    over = False
    while not over:
        *_, over, _, info = env.step(env.unwrapped.expert())
    assert info["task"]["set"] == "pasa"
    assert info["success"]


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"data": "arxiv"}, "data must be one of 'auto', 'pasa'"),
        ({"library": "google"}, "library must be one of 'own', 'semantic-scholar', 'openalex'"),
        ({"k": 0}, "k must be at least 1, got 0"),
        ({"beast": 2}, "did you mean 'best'"),
    ],
)
def test_a_wrong_argument_says_what_is_right(kwargs: dict, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        gym.make(ID, source="world", **kwargs)


def test_another_retriever_searches_the_same_papers() -> None:
    own = gym.make(ID, source="world").unwrapped.library
    retriever = MemoryRetriever(own.papers.documents)
    env = gym.make(ID, source="world", retriever=retriever).unwrapped
    assert env.retriever is retriever
    assert env.library.papers is own.papers


def test_knobs_of_the_reward_reach_the_environment() -> None:
    env = gym.make(ID, source="world", process=False)
    env.reset(seed=0)
    *_, info = env.step(env.unwrapped.expert())
    assert set(info["reward_terms"]) == {"outcome"}


def test_the_batched_environment_searches_in_one_batch() -> None:
    envs = gym.make_vec(ID, num_envs=3, vectorization_mode="vector_entry_point", source="world")
    library = envs.envs[0].library
    assert all(env.library is library for env in envs.envs)
    envs.reset(seed=0)
    _, rewards, *_ = envs.step(tuple(env.expert() for env in envs.envs))
    assert np.isfinite(rewards).all()
    envs.close()
