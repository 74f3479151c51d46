"""An episode as training samples: plain data, one row a step, as it travels from the rollout engine to the trainer."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import gymnasium as gym

from agentgym_r1.policies.scripted import text_env
from agentgym_r1.types import Message, Trajectory, Transition


@dataclass(frozen=True, slots=True)
class Row:
    """One step as a training sample.

    Attributes:
        prompt_ids, action_ids: what the engine was given and what it sampled.
        logprobs: one an action id, under the sampling policy.
        reward: the step's.
        anchor: hash of the state the step was taken in.
        cut: whether the response was ended by its length limit.
        teacher: of distillation from the expert: its log-probability of each action id, NaN where it has none.
    """

    prompt_ids: tuple[int, ...]
    action_ids: tuple[int, ...]
    logprobs: tuple[float, ...]
    reward: float
    anchor: str
    cut: bool
    teacher: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class EpisodeSample:
    """One episode.

    Attributes:
        prompt: the row of the prompt set it was played for.
        trajectory: the whole record.
        rows: one a step; empty when the episode broke, which is then not trained on.
        next_prompt_ids: the prompt after the last step when a limit cut the episode off, else empty.
    """

    prompt: str
    trajectory: Trajectory
    rows: tuple[Row, ...]
    next_prompt_ids: tuple[int, ...] = ()


class Watch(gym.Wrapper[str, str, str, str]):
    """Remembers what training needs beside the trajectory: the anchor of each state, and the newest info.

    Args:
        env: the environment.
        expert: whether to ask the environment's expert in each state what it would say.
    """

    def __init__(self, env: gym.Env[str, str], *, expert: bool = False) -> None:
        super().__init__(env)
        self._ask = text_env(env).expert if expert else None
        self.anchors: list[str] = []
        self.advice: list[str] = []
        self.info: Mapping[str, Any] = {}

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """Reset, and forget the last episode."""
        observation, info = self.env.reset(seed=seed, options=options)
        self.anchors, self.advice = [], []
        self._remember(observation, info)
        self._consult()
        return observation, info

    def step(self, action: str) -> tuple[str, Any, bool, bool, dict[str, Any]]:
        """Step, and remember the state that came."""
        outcome = self.env.step(action)
        self._remember(outcome[0], outcome[4])
        if not (outcome[2] or outcome[3]):
            self._consult()
        return outcome

    def messages(self) -> list[Message]:
        """Return the newest prompt as chat messages."""
        return [Message(message["role"], message["content"]) for message in self.info.get("messages", ())]

    def _consult(self) -> None:
        if self._ask is not None:
            self.advice.append(self._ask())

    def _remember(self, observation: str, info: Mapping[str, Any]) -> None:
        inner = self.env.unwrapped
        anchor = info.get("anchor") or (inner.anchor() if hasattr(inner, "anchor") else observation)
        self.anchors.append(hashlib.sha256(str(anchor).encode("utf-8", "surrogatepass")).hexdigest()[:16])
        self.info = info


def rows_of(
    trajectory: Trajectory, anchors: Sequence[str], teachers: Sequence[tuple[float, ...]] = ()
) -> tuple[Row, ...]:
    """Return the rows of a trajectory; none when it broke: what was not finished has no return to learn from."""
    if trajectory.error:
        return ()
    rows = (_row(transition, anchor) for transition, anchor in zip(trajectory.transitions, anchors))
    return tuple(replace(row, teacher=teacher) for row, teacher in zip(rows, teachers)) if teachers else tuple(rows)


def _row(transition: Transition, anchor: str) -> Row:
    return Row(
        prompt_ids=transition.prompt_ids,
        action_ids=transition.action_ids,
        logprobs=transition.logprobs,
        reward=transition.reward,
        anchor=anchor,
        cut=transition.finish_reason == "length",
    )
