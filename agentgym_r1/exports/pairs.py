"""Preference pairs: two answers to one prompt, of which one led to more reward; and single answers, good or bad.

A pair of ``episode`` takes a task's best episode and a worse one at the step where they part: up to there both saw the
same prompts and said the same, so that the difference of their returns begins with these two actions. A pair of
``step`` compares what was said in equal states of a task, whichever episodes came there, by the mean return-to-go
(as the step-level preferences of arXiv 2406.11176, estimated from the log alone).
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agentgym_r1.errors import ConfigError, unknown_name
from agentgym_r1.exports.rows import (
    PROMPT_IDS,
    Encode,
    completion,
    ids_of,
    labels,
    prompt_of,
    returns_to_go,
)
from agentgym_r1.exports.tokens import prompt_messages
from agentgym_r1.types import Trajectory, Transition, digest

KINDS = ("episode", "step", "both")


@dataclass(frozen=True, slots=True)
class _Pair:
    kind: str
    chosen: Transition
    rejected: Transition
    margin: float


@dataclass(slots=True)
class _Answers:
    """What was said in one state: each action's first step and its returns-to-go."""

    steps: dict[str, Transition] = field(default_factory=dict)
    returns: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def add(self, step: Transition, to_go: float) -> None:
        self.steps.setdefault(step.action, step)
        self.returns[step.action].append(to_go)

    def pairs(self) -> Iterator[_Pair]:
        """Yield the best action against every one that is worse."""
        means = {action: math.fsum(returns) / len(returns) for action, returns in self.returns.items()}
        best = max(means, key=lambda action: means[action])
        for action, mean in means.items():
            if mean < means[best]:
                yield _Pair("step", self.steps[best], self.steps[action], means[best] - mean)


def dpo_rows(episodes: Iterable[Trajectory], encode: Encode, *, pairs: str = "episode") -> Iterator[Mapping[str, Any]]:
    """Yield preference pairs, task by task; the episodes are held in memory.

    Args:
        episodes: any number of episodes a task.
        encode: gives the token ids of a step.
        pairs: ``episode``, ``step``, or ``both``, where a pair of episodes that a step's mean decides is left to it.

    Raises:
        ConfigError: unknown pairs, or the two answers were recorded with different token ids of their prompt.
    """
    if pairs not in KINDS:
        raise unknown_name("kind of pairs", pairs, KINDS)
    tasks: dict[str, list[Trajectory]] = defaultdict(list)
    for episode in episodes:
        tasks[digest([episode.env_id, dict(episode.env_kwargs), episode.task_id])].append(episode)
    for played in tasks.values():
        seen: set[frozenset[str]] = set()
        for pair in _pairs(played, pairs):
            key = frozenset((_state(pair.chosen) + pair.chosen.action, _state(pair.rejected) + pair.rejected.action))
            if key not in seen:
                seen.add(key)
                yield _row(played[0], pair, encode)


def kto_rows(
    episodes: Iterable[Trajectory], encode: Encode, *, threshold: float | None = None
) -> Iterator[Mapping[str, Any]]:
    """Yield every step with ``label``: whether its episode succeeded, or scored ``threshold`` or more where given."""
    for number, episode in enumerate(episodes):
        desirable = episode.success if threshold is None else episode.score >= threshold
        for k, step in enumerate(episode.transitions):
            yield {
                **prompt_of(step),
                "completion": completion(step),
                "label": desirable,
                **ids_of(encode(step)),
                **labels(episode, number, k),
            }


def _pairs(played: Sequence[Trajectory], kinds: str) -> Iterator[_Pair]:
    if kinds != "episode":
        states: dict[str, _Answers] = defaultdict(_Answers)
        for episode in played:
            for step, to_go in zip(episode.transitions, returns_to_go(episode)):
                states[_state(step)].add(step, to_go)
        for answers in states.values():
            yield from answers.pairs()
    if kinds != "step":
        best = max(played, key=lambda episode: episode.episode_return)
        for other in played:
            margin = best.episode_return - other.episode_return
            parting = _parting(best, other) if margin > 0 else None
            if parting is not None:
                yield _Pair("episode", *parting, margin)


def _parting(first: Trajectory, second: Trajectory) -> tuple[Transition, Transition] | None:
    """Return the steps at which two episodes say different things for the first time, if still in the same state."""
    for one, other in zip(first.transitions, second.transitions):
        if prompt_messages(one) != prompt_messages(other):
            return None
        if one.action != other.action:
            return one, other
    return None


def _state(step: Transition) -> str:
    return digest([message.to_dict() for message in prompt_messages(step)])


def _row(episode: Trajectory, pair: _Pair, encode: Encode) -> Mapping[str, Any]:
    chosen, rejected = encode(pair.chosen), encode(pair.rejected)
    ids: dict[str, Any] = {}
    if chosen is not None and rejected is not None:
        if chosen.prompt != rejected.prompt:
            raise ConfigError("two answers to one prompt were recorded by different tokenizers: give --tokenizer MODEL")
        ids = {PROMPT_IDS: chosen.prompt, "chosen_ids": chosen.action, "rejected_ids": rejected.action}
    return {
        **prompt_of(pair.chosen),
        "chosen": completion(pair.chosen),
        "rejected": completion(pair.rejected),
        **ids,
        "kind": pair.kind,
        "margin": pair.margin,
        "env": episode.env_id,
        "split": episode.split,
        "task": episode.task_id,
    }
