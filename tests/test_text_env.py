"""The step contract of TextEnv and ToolEnv, on a toy environment."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toy import NUMBERS, GuessEnv

from agentgym_r1.errors import ConfigError, EpisodeError
from agentgym_r1.types import ToolCall


def make(**options: Any) -> GuessEnv:
    env = GuessEnv(**options)
    env.reset(seed=0, options={"index": 0})
    return env


def guess(env: GuessEnv, *numbers: object) -> str:
    return env.format.call(*(ToolCall("compare", {"guess": str(number)}) for number in numbers))


def test_the_observation_is_the_whole_prompt() -> None:
    env = GuessEnv()
    observation, info = env.reset(options={"task": "n3"})
    assert "Find the secret number." in observation
    assert "Compare a guess with the secret number." in observation
    assert "Which number is secret 1?" in observation
    assert "\n\n".join(f"[{m['role']}]\n{m['content']}" for m in info["messages"]) == observation
    assert info["tools"][0]["function"]["name"] == "compare"
    assert info["task"]["id"] == "n3"
    assert info["task"]["index"] == 1


def test_a_call_is_answered_and_pays_nothing() -> None:
    env = make()
    observation, reward, terminated, truncated, info = env.step(guess(env, 9))
    assert (reward, terminated, truncated) == (0.0, False, False)
    assert info["feedback"] == "9 is too large"
    assert "9 is too large" in observation
    assert info["valid_action"] is True
    assert info["events"] == {"guesses": 1.0}
    assert "success" not in info


def test_several_calls_are_answered_in_order_and_the_excess_is_named() -> None:
    env = make()
    *_, info = env.step(guess(env, 1, 9, 7, 2, 3, 4))
    assert info["feedback"].startswith("1 is too small\n\n9 is too large\n\n7 is right\n\n2 is too small")
    assert "2 more calls were ignored: at most 4 a step." in info["feedback"]


def test_the_right_answer_terminates_with_the_outcome_reward() -> None:
    env = make(success_reward=10.0)
    _, reward, terminated, truncated, info = env.step(env.format.answer("7"))
    assert (reward, terminated, truncated) == (10.0, True, False)
    assert info["success"] is True
    assert info["score"] == 1.0
    assert info["metrics"] == {"found": 0.0}
    assert info["reward_terms"] == {"outcome": 10.0}


def test_a_wrong_answer_terminates_without_reward() -> None:
    env = make()
    _, reward, terminated, _, info = env.step(env.format.answer("8"))
    assert (reward, terminated, info["success"], info["score"]) == (0.0, True, False, 0.0)


def test_the_step_limit_truncates_and_gives_the_verdict() -> None:
    env = make(max_steps=2)
    env.step(guess(env, 1))
    _, reward, terminated, truncated, info = env.step(guess(env, 2))
    assert (reward, terminated, truncated) == (0.0, False, True)
    assert (info["success"], info["score"]) == (False, 0.0)
    with pytest.raises(EpisodeError, match="reset"):
        env.step(guess(env, 3))


def test_an_answer_on_the_last_step_counts() -> None:
    env = make(max_steps=1)
    _, reward, terminated, truncated, _ = env.step(env.format.answer("7"))
    assert (reward, terminated, truncated) == (1.0, True, False)


def test_an_invalid_action_costs_what_the_options_say() -> None:
    env = make(invalid_penalty=-0.1)
    _, reward, *_, info = env.step("no action at all")
    assert reward == -0.1
    assert info["reward_terms"] == {"outcome": 0.0, "invalid": -0.1}
    _, reward, *_, info = env.step(guess(env, "many"))
    assert reward == -0.1
    assert "is not a number" in info["feedback"]
    _, reward, *_ = env.step(guess(env, 5))
    assert reward == 0.0


def test_the_forced_answer_grants_one_more_step_for_an_answer_only() -> None:
    env = make(max_steps=1, forced_answer=True)
    *_, truncated, info = env.step(guess(env, 5))
    assert not truncated
    *_, truncated, info = env.step(guess(env, 7))
    assert truncated
    assert "7 is right" not in info["feedback"]
    env = make(max_steps=1, forced_answer=True)
    env.step(guess(env, 5))
    assert env.step(env.format.answer("7"))[1] == 1.0


def test_long_feedback_is_cut_to_its_tokens() -> None:
    env = make(feedback_tokens=40)
    *_, info = env.step(guess(env, "x" * 3000))
    assert "tokens cut ..." in info["feedback"]
    assert len(info["feedback"]) < 200


def test_the_budget_is_kept_and_reported() -> None:
    env = make(context="append", context_budget=400, max_steps=50)
    for _ in range(20):
        *_, info = env.step(guess(env, "9" * 100))
    assert info["context"]["fits"]
    assert info["context"]["tokens"] <= 400
    assert info["context"]["dropped"] > 0


def test_a_drawn_task_follows_the_seed() -> None:
    env = GuessEnv()
    drawn = [env.reset(seed=seed)[1]["task"]["id"] for seed in range(30)]
    assert drawn == [GuessEnv().reset(seed=seed)[1]["task"]["id"] for seed in range(30)]
    assert set(drawn) == {f"n{n}" for n in NUMBERS}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"task": "n99"}, "has no task 'n99' among its 4"),
        ({"index": 4}, "tasks 0 to 3, got index 4"),
        ({"index": True}, "got index True"),
        ({"index": 0, "task": "n7"}, "not both"),
        ({"tsk": 1}, "unknown reset options"),
    ],
)
def test_a_wrong_reset_option_says_what_is_right(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        GuessEnv().reset(options=options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_steps": 0}, "max_steps must be an integer of at least 1, got 0"),
        ({"context_budget": -1}, "context_budget must be"),
        ({"context": "apend"}, "did you mean 'append'"),
        ({"action_format": "herms"}, "did you mean 'hermes'"),
        ({"render_mode": "human"}, "None or 'ansi'"),
    ],
)
def test_a_wrong_option_is_refused_when_the_environment_is_made(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        GuessEnv(**options)


def test_an_action_of_another_type_is_the_programmers_fault() -> None:
    with pytest.raises(ConfigError, match="an action is a str, got int"):
        make().step(5)  # type: ignore[arg-type]


def test_a_step_before_the_first_reset_is_refused() -> None:
    with pytest.raises(EpisodeError, match="reset"):
        GuessEnv().step("x")


@pytest.mark.parametrize("garbage", [b"", b"nonsense", b"\x81\xa7version\x63", b"\x80"])
def test_a_foreign_snapshot_is_refused(garbage: bytes) -> None:
    with pytest.raises(ConfigError, match="snapshot"):
        make().restore(garbage)


def test_a_snapshot_keeps_the_generator() -> None:
    env = make()
    env.reset(seed=5)
    saved = env.snapshot()
    later = [env.reset()[1]["task"]["id"] for _ in range(10)]
    other = GuessEnv()
    other.restore(saved)
    assert [other.reset()[1]["task"]["id"] for _ in range(10)] == later


def test_the_last_observation_can_be_asked_for_again() -> None:
    env = make()
    observation, *_ = env.step(guess(env, 9))
    assert env.last()[0] == observation


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=300))
def test_any_text_is_an_action_and_never_pays(text: str) -> None:
    env = make()
    observation, reward, *_ = env.step(text)
    assert env.observation_space.contains(observation)
    assert reward <= 0 or "7" in text
