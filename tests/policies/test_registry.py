"""Policies by name."""

from pathlib import Path

import gymnasium as gym
import pytest

from agentgym_r1.bench.run import BenchConfig, run
from agentgym_r1.errors import ConfigError
from agentgym_r1.policies import make_policy
from agentgym_r1.rollout import rollout

OWN = """
from agentgym_r1.policies import ScriptedPolicy


class Certain(ScriptedPolicy):
    name = "certain"

    def __init__(self):
        super().__init__(["<answer>42</answer>"])


def nothing():
    return None
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "own_policies.py").write_text(OWN, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    return "own_policies"


def test_a_policy_of_your_own_plays(module: str, tmp_path: Path) -> None:
    policy = make_policy(f"{module}:Certain")
    trajectory = rollout(gym.make("AgentR1/GSM8K-v0", source="world"), policy, seed=0)
    assert [step.action for step in trajectory.transitions] == ["<answer>42</answer>"]
    config = BenchConfig(("AgentR1/GSM8K-v0",), (f"{module}:Certain",), tmp_path / "run", source="world", episodes=3)
    (row,) = run(config, on_plan=lambda total, done: None, on_episode=lambda trajectory: None)["rows"]
    assert (row["policy"], row["steps"]) == ("certain", 1.0)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("nowhere:Policy", "No module named 'nowhere'"),
        ("{module}:Other", "has no attribute 'Other'"),
        (":Certain", "cannot import the policy"),
        ("{module}:nothing", "makes a NoneType, expected a Policy"),
        ("certain", "MODULE:NAME"),
    ],
)
def test_what_is_no_policy_says_what_one_is(module: str, spec: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        make_policy(spec.format(module=module))
