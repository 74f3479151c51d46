"""Recorded runs for the export tests: an expert's and a random player's, on the arithmetic world."""

import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

import agentgym_r1  # noqa: F401 - registers the environments
from agentgym_r1.policies.scripted import ExpertPolicy, RandomPolicy, ScriptedPolicy
from agentgym_r1.rollout import rollout
from agentgym_r1.trajectories import TrajectoryWriter
from agentgym_r1.types import Trajectory

GSM8K = "AgentR1/GSM8K-v0"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if importlib.util.find_spec("transformers") is None:
        for item in items:
            if item.get_closest_marker("lm"):
                item.add_marker(pytest.mark.skip(reason="needs the lm extra: pip install 'agentgym-r1[lm]'"))


def play(split: str, policy: Any, tasks: int) -> list[Trajectory]:
    env = gym.make(GSM8K, source="world", split=split, max_steps=4)
    ids = list(env.unwrapped.tasks.ids())[:tasks]
    episodes = [rollout(env, policy, task=task, seed=7) for task in ids]
    env.close()
    return episodes


@pytest.fixture(scope="session")
def expert() -> list[Trajectory]:
    return play("train", ExpertPolicy(), 4)


@pytest.fixture(scope="session")
def failing() -> list[Trajectory]:
    """The same tasks, answered wrongly at once."""
    return play("train", ScriptedPolicy(["<answer>-1</answer>"]), 4)


@pytest.fixture(scope="session")
def wandering() -> list[Trajectory]:
    return play("train", RandomPolicy(), 4)


@pytest.fixture(scope="session")
def evaluated() -> list[Trajectory]:
    return play("test", ExpertPolicy(), 3)


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., Path]:
    """Writes episodes as a run folder."""

    def write(*groups: Sequence[Trajectory], name: str = "run", file: str = "trajectories.jsonl") -> Path:
        folder = tmp_path / name
        with TrajectoryWriter(folder / file) as writer:
            for group in groups:
                for trajectory in group:
                    writer.write(trajectory)
        return folder

    return write


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory, expert: list[Trajectory]) -> Path:
    """A tiny model whose tokenizer knows what the expert sees and says."""
    from training_models import make_tiny_model

    texts = [text for t in expert for step in t.transitions for text in (step.observation, step.action)]
    return make_tiny_model(tmp_path_factory.mktemp("model"), texts)


def broken(trajectory: Trajectory) -> Trajectory:
    return replace(trajectory, error="policy: it broke")
