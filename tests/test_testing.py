"""The conformance kit finds each fault in an environment that has it, and none in one that has not."""

import random
from typing import Any

import gymnasium as gym
import pytest
from toy import GuessEnv

from agentgym_r1.spaces import FreeText
from agentgym_r1.testing import assert_conforms, examine

Result = tuple[str, float, bool, bool, dict[str, Any]]


def failures(make: Any, resets: int = 300) -> set[str]:
    return {finding.point for finding in examine(make, resets=resets) if finding.status == "fail"}


def test_a_sound_environment_has_no_finding() -> None:
    assert failures(GuessEnv) == set()
    assert_conforms(GuessEnv, resets=300)


class TellsReward(GuessEnv):
    def step(self, action: str) -> Result:
        observation, reward, terminated, truncated, info = super().step(action)
        return f"{observation}\nReward: {reward}", reward, terminated, truncated, info


class TellsGold(GuessEnv):
    def step(self, action: str) -> Result:
        observation, reward, terminated, truncated, info = super().step(action)
        gold = f"Wrong, it is {self.task.gold['answer']}" if terminated else ""
        return observation + gold, reward, terminated, truncated, {**info, "feedback": info["feedback"] + gold}


class SucceedsOnTimeOut(GuessEnv):
    def step(self, action: str) -> Result:
        observation, reward, terminated, truncated, info = super().step(action)
        return observation, reward, terminated, truncated, info | ({"success": True} if truncated else {})


class ForgetsTheVerdict(GuessEnv):
    def step(self, action: str) -> Result:
        observation, reward, terminated, truncated, info = super().step(action)
        if truncated:
            info.pop("score")
        return observation, reward, terminated, truncated, info


class PaysAgain(GuessEnv):
    def step(self, action: str) -> Result:
        if self.over:
            return "over", 1.0, True, False, {}
        return super().step(action)


class IsRandom(GuessEnv):
    def step(self, action: str) -> Result:
        observation, *rest = super().step(action)
        return f"{observation} {random.random()}", *rest  # type: ignore[return-value]


class Remembers(GuessEnv):
    played = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        observation, info = super().reset(seed=seed, options=options)
        self.played += 1
        return f"episode {self.played}\n{observation}", info


class Crashes(GuessEnv):
    def step(self, action: str) -> Result:
        if "{{" in action:
            raise KeyError("template")
        return super().step(action)


class EndsOnNonsense(GuessEnv):
    def step(self, action: str) -> Result:
        observation, reward, terminated, truncated, info = super().step(action)
        return observation, reward, terminated or not info["valid_action"], truncated, info


class HidesFeedback(GuessEnv):
    def step(self, action: str) -> Result:
        observation, *rest, info = super().step(action)
        return observation.replace(info["feedback"], ""), *rest, info  # type: ignore[return-value]


class RestoresHalf(GuessEnv):
    def restore(self, snapshot: bytes) -> None:
        super().restore(snapshot)
        self._turns = self._turns[:1]


class Leaks(GuessEnv):
    kept: list[Any] = []

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        self.kept.extend([[seed] for _ in range(20)])
        return super().reset(seed=seed, options=options)


class FailsItsOwnTasks(GuessEnv):
    def expert(self) -> str:
        return self.format.answer("0")


class PaysTwice(GuessEnv):
    def _reward_terms(self, outcome: Any, verdict: Any) -> dict[str, float]:
        return {"outcome": 1.0} if self.steps == 1 else super()._reward_terms(outcome, verdict)


class DoesNotPickle(GuessEnv):
    def __init__(self) -> None:
        super().__init__()
        self.hook = lambda: None


@pytest.mark.parametrize(
    ("broken", "point"),
    [
        (TellsReward, "no reward or answer is told in the text"),
        (TellsGold, "no reward or answer is told in the text"),
        (SucceedsOnTimeOut, "a time out is no success"),
        (ForgetsTheVerdict, "the final verdict comes with the last step"),
        (PaysAgain, "no step after the end"),
        (IsRandom, "the same seed gives the same episode"),
        (Remembers, "an episode does not depend on the one before"),
        (Crashes, "hostile actions never raise"),
        (EndsOnNonsense, "a bad action is an observation"),
        (HidesFeedback, "a bad action is an observation"),
        (RestoresHalf, "snapshots continue equally"),
        (Leaks, "memory does not grow"),
        (FailsItsOwnTasks, "expert solves and nothing scores nothing"),
        (PaysTwice, "expert solves and nothing scores nothing"),
        (DoesNotPickle, "the environment pickles"),
    ],
)
def test_the_kit_finds_the_fault(broken: type[GuessEnv], point: str) -> None:
    assert point in failures(broken)


class Stranger(gym.Env[str, str]):
    """An environment that knows nothing of ours: guess the seed's parity."""

    observation_space = FreeText(200)
    action_space = FreeText(10**6)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        super().reset(seed=seed)
        self.left = 3
        self.secret = int(self.np_random.integers(2))
        return "even or odd?", {}

    def step(self, action: str) -> Result:
        self.left -= 1
        right = action == ("odd" if self.secret else "even")
        return "even or odd?", float(right), right, self.left <= 0 and not right, {}


def test_a_strangers_environment_is_examined_from_outside() -> None:
    report = {finding.point: finding for finding in examine(Stranger, resets=300)}
    assert {f.point for f in report.values() if f.status == "fail"} == set()
    assert report["snapshots continue equally"].status == "skip"
    assert report["a time out is no success"].status == "pass"
    assert report["no step after the end"].detail == "pays nothing"
