"""GSM8K's own arguments; what it shares with the others is in test_every_environment.py."""

import gymnasium as gym
import pytest

import agentgym_r1  # noqa: F401 - registers the environments
from agentgym_r1.errors import ConfigError


def make(**kwargs):
    return gym.make("AgentR1/GSM8K-v0", **{"source": "world", **kwargs}).unwrapped


def problems(**kwargs):
    tasks = make(**kwargs).tasks
    return [tasks[index] for index in range(50)]


def test_the_knobs_of_the_world_shape_its_problems():
    some = problems(kinds=["wages", "ages"], solution_steps=2, distractors=0)
    assert {task.kind for task in some} == {"wages", "ages"}
    assert {len(task.gold.solution) for task in some} == {2}
    assert {len(task.gold.solution) for task in problems(solution_steps=[3, 4])} == {3, 4}
    assert {task.kind for task in problems(kinds="sale")} == {"sale"}


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"kinds": "sail"}, "did you mean 'sale'"),
        ({"solution_steps": 1}, "2 <= min_steps"),
        ({"solution_steps": [2, 3, 4]}, "the fewest and the most, got"),
        ({"solution_steps": "2"}, "must be a whole number"),
        ({"distractors": 9}, "distractors must be from 0 to 3"),
    ],
)
def test_a_wrong_knob_says_what_is_right(kwargs, message):
    with pytest.raises(ConfigError, match=message):
        make(**kwargs)


def test_knobs_of_the_world_do_not_go_with_the_real_problems(monkeypatch):
    monkeypatch.setattr("agentgym_r1.envs.gsm8k.choose_source", lambda name, source: True)
    with pytest.raises(ConfigError, match="kinds, distractors shape the arithmetic world: add source='world'"):
        make(kinds="ages", distractors=0)
