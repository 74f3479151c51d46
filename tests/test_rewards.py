"""Reward wrappers add their term, itemised, and nothing else."""

import pytest
from toy import GuessEnv

from agentgym_r1.errors import ConfigError
from agentgym_r1.rewards import (
    CostSignal,
    EventReward,
    FormatPenalty,
    HumanApproval,
    NoveltyBonus,
    PotentialShaping,
    StepCost,
)
from agentgym_r1.types import ToolCall


def call(guess: str) -> str:
    return GuessEnv().format.call(ToolCall("compare", {"guess": guess}))


def answer(text: str) -> str:
    return GuessEnv().format.answer(text)


def test_wrappers_stack_and_each_term_is_itemised() -> None:
    env = StepCost(FormatPenalty(GuessEnv(), penalty=-0.5), cost=-0.01)
    env.reset(options={"index": 0})
    _, reward, *_, info = env.step("nonsense")
    assert info["reward_terms"] == {"outcome": 0.0, "format": -0.5, "step_cost": -0.01}
    assert reward == pytest.approx(-0.51)
    _, reward, *_, info = env.step(answer("7"))
    assert info["reward_terms"] == {"outcome": 1.0, "format": 0.0, "step_cost": -0.01}
    assert reward == pytest.approx(0.99)


def test_events_are_paid_by_weight() -> None:
    env = EventReward(GuessEnv(), "guesses", weight=-0.2)
    env.reset(options={"index": 0})
    _, reward, *_, info = env.step(call("1") + call("2"))
    assert reward == pytest.approx(-0.4)
    assert info["reward_terms"]["guesses"] == pytest.approx(-0.4)


def test_shaping_telescopes_to_minus_the_first_potential_at_a_terminal_state() -> None:
    env = PotentialShaping(GuessEnv(), gamma=0.9)
    env.reset(options={"index": 0})
    rewards = [float(env.step(action)[1]) for action in (call("1"), call("7"), answer("7"))]
    assert rewards == pytest.approx([0.0, 0.9, 1.0 - 1.0])
    discounted = sum(0.9**t * r for t, r in enumerate(rewards))
    assert discounted == pytest.approx(0.9**2 * 1.0 - 0.0)


def test_shaping_keeps_the_potential_of_a_truncated_state() -> None:
    env = PotentialShaping(GuessEnv(max_steps=1))
    env.reset(options={"index": 0})
    _, reward, terminated, truncated, _ = env.step(call("7"))
    assert truncated
    assert not terminated
    assert float(reward) == 1.0


def test_the_novelty_bonus_falls_with_the_root_of_the_visits() -> None:
    env = NoveltyBonus(GuessEnv(), weight=1.0)
    bonuses = []
    for _ in range(4):
        env.reset(options={"index": 0})
        bonuses.append(env.step(call("1"))[4]["reward_terms"]["novelty"])
    assert bonuses == pytest.approx([1.0, 2**-0.5, 3**-0.5, 0.5])


def test_the_cost_signal_leaves_the_reward_alone() -> None:
    env = CostSignal(GuessEnv(), {"guesses": 2.0, "invalid": 1.0})
    env.reset(options={"index": 0})
    _, reward, *_, info = env.step(call("1"))
    assert (float(reward), info["cost"]) == (0.0, 2.0)
    assert env.step("nonsense")[4]["cost"] == 1.0


def test_a_refused_action_does_not_reach_the_world() -> None:
    env = HumanApproval(GuessEnv(), needs_approval=lambda action: "answer" in action, approve=lambda action: False)
    env.reset(options={"index": 0})
    _, reward, terminated, _, info = env.step(answer("7"))
    assert not terminated
    assert float(reward) == 0.0
    assert "did not approve" in info["feedback"]
    assert info["valid_action"] is False
    assert env.step(call("7"))[4]["valid_action"] is True


def test_impossible_weights_are_refused() -> None:
    with pytest.raises(ConfigError, match="gamma must be between 0 and 1, got 1.5"):
        PotentialShaping(GuessEnv(), gamma=1.5)
    with pytest.raises(ConfigError, match="capacity must be at least 1, got 0"):
        NoveltyBonus(GuessEnv(), capacity=0)
