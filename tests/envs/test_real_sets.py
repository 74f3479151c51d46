"""The environments on the real samples: every task solvable, every protocol's figures where they should be."""

import asyncio
from pathlib import Path

import gymnasium as gym
import pytest

from agentgym_r1.bench.run import BenchConfig, run
from agentgym_r1.data.get import get
from agentgym_r1.data.installed import open_corpus_of, open_tasks
from agentgym_r1.data.verify import verify
from agentgym_r1.policies import EXPLOITS
from agentgym_r1.registration import ANSWER_EXPLOITS
from agentgym_r1.retrieval import open_retriever
from agentgym_r1.rollout import Episode, rollout_many

pytestmark = pytest.mark.real

SETS = [
    ("AgentR1/GSM8K-v0", "gsm8k", "test", 1319),
    ("AgentR1/HotpotQA-v0", "hotpotqa", "dev", 298),
    ("AgentR1/2WikiMultiHopQA-v0", "2wiki", "dev", 164),
    ("AgentR1/MuSiQue-v0", "musique", "dev", 200),
]


@pytest.fixture(scope="module")
def installed(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("home")
    for _, name, _, _ in SETS:
        get(name, source=samples / "data" / name, home=home)
    return home


@pytest.fixture(autouse=True)
def _at_home(installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTGYM_R1_HOME", str(installed))


@pytest.mark.parametrize(("env_id", "name", "split", "count"), SETS)
def test_the_expert_solves_every_task(env_id: str, name: str, split: str, count: int, tmp_path: Path) -> None:
    config = BenchConfig((env_id,), ("expert",), tmp_path / "run", source="real", split=split)
    results = run(config, on_plan=lambda total, done: None, on_episode=lambda trajectory: None)
    (row,) = results["rows"]
    assert (row["episodes"], row["success"], row["errors"], row["source"]) == (count, 1.0, 0, "real")


@pytest.mark.parametrize("protocol", ["search-r1", "gigpo", "react"])
def test_the_expert_solves_questions_under_every_protocol(protocol: str, tmp_path: Path) -> None:
    ids = tuple(env_id for env_id, name, _, _ in SETS if name != "gsm8k")
    config = BenchConfig(ids, ("expert",), tmp_path / "run", source="real", protocol=protocol, episodes=40)
    results = run(config, on_plan=lambda total, done: None, on_episode=lambda trajectory: None)
    assert [row["success"] for row in results["rows"]] == [1.0, 1.0, 1.0]


@pytest.mark.parametrize(("env_id", "name", "split", "count"), SETS)
@pytest.mark.parametrize("exploit", ANSWER_EXPLOITS)
def test_an_exploit_scores_no_more_than_the_majority_answer(
    env_id: str, name: str, split: str, count: int, exploit: str
) -> None:
    tasks = open_tasks(name, split)
    number = min(count, 150)
    golds = [getattr(tasks[i].gold, "answers", None) or (tasks[i].gold.answer,) for i in range(number)]
    majority = max(sum(a in gold for gold in golds) for a in {"yes", "no", *(x for gold in golds for x in gold)})

    async def play() -> float:
        episodes = [Episode(tasks[i].id, seed=i) for i in range(number)]
        make = lambda: gym.make(env_id, source="real", split=split)  # noqa: E731
        return sum([t.score async for t in rollout_many(make, EXPLOITS[exploit], episodes)])

    assert asyncio.run(play()) <= majority


@pytest.mark.parametrize(("name", "expected"), [("hotpotqa", 0.646), ("2wiki", 0.657), ("musique", 0.422)])
def test_the_evidence_that_plain_question_search_finds_is_what_was_measured(name: str, expected: float) -> None:
    tasks = open_tasks(name, "dev")
    retriever = open_retriever("bm25", corpus=open_corpus_of(name))
    golds = [tasks[i] for i in range(len(tasks))]
    found = retriever.search([task.prompt for task in golds], k=3)
    recalls = [
        len({p.id for p in passages} & set(task.gold.supporting)) / len(task.gold.supporting)
        for task, passages in zip(golds, found)
    ]
    assert sum(recalls) / len(recalls) == pytest.approx(expected, abs=0.005)


@pytest.mark.parametrize(("env_id", "name", "split", "count"), SETS)
def test_the_samples_are_sound(env_id: str, name: str, split: str, count: int) -> None:
    report = verify(name)
    assert report.ok, report.problems
    assert report.tasks[split] == count


def test_auto_takes_the_real_set_where_it_is_installed() -> None:
    env = gym.make("AgentR1/HotpotQA-v0")
    _, info = env.reset(options={"task": "5a711bb55542994082a3e597"})
    assert info["task"]["source"] == "real"
    assert info["task"]["split"] == "dev"
