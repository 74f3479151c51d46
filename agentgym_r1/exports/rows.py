"""One row a step: the exact prompt of the step, what was said, and its token ids."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import accumulate
from pathlib import Path
from typing import Any

from agentgym_r1.errors import ConfigError
from agentgym_r1.exports.tokens import StepIds, encode_step, prompt_messages
from agentgym_r1.types import Trajectory, Transition

Encode = Callable[[Transition], StepIds | None]
Row = Mapping[str, Any]
PROMPT_IDS, COMPLETION_IDS = "prompt_ids", "completion_ids"


def recorded_ids(step: Transition) -> StepIds | None:
    """Return the ids that were recorded with a step, or None."""
    return StepIds(step.prompt_ids, step.action_ids) if step.prompt_ids and step.action_ids else None


def tokenized(tokenizer: Any) -> Encode:
    """Return what gives the ids of a step in a tokenizer; see tokens.encode_step."""
    return lambda step: encode_step(tokenizer, step)


def sft_rows(episodes: Iterable[Trajectory], encode: Encode) -> Iterator[Row]:
    """Yield every step as prompt and completion, with what a weight can be computed from."""
    for number, episode in enumerate(episodes):
        for k, step in enumerate(episode.transitions):
            yield {
                **prompt_of(step),
                "completion": completion(step),
                **ids_of(encode(step)),
                **labels(episode, number, k),
                "reward": step.reward,
            }


def prompt_of(step: Transition) -> dict[str, Any]:
    """Return the prompt as chat messages, under the name that OpenRLHF and TRL are told or expect."""
    return {"prompt": [message.to_dict() for message in prompt_messages(step)]}


def completion(step: Transition) -> list[dict[str, str]]:
    """Return the action as the assistant's message."""
    return [{"role": "assistant", "content": step.action}]


def ids_of(ids: StepIds | None) -> dict[str, Any]:
    """Return the ids of a row, or nothing."""
    return {} if ids is None else {PROMPT_IDS: list(ids.prompt), COMPLETION_IDS: list(ids.action)}


def labels(episode: Trajectory, number: int, step: int) -> dict[str, Any]:
    """Return where a row comes from; ``episode`` counts the episodes of the export."""
    return {
        "env": episode.env_id,
        "split": episode.split,
        "task": episode.task_id,
        "policy": episode.policy,
        "episode": number,
        "step": step,
        "success": episode.success,
        "score": episode.score,
        "return": episode.episode_return,
    }


def returns_to_go(episode: Trajectory) -> list[float]:
    """Return the undiscounted sum of rewards from each step on."""
    return list(accumulate(step.reward for step in reversed(episode.transitions)))[::-1]


def write_jsonl(path: Path, rows: Iterable[Row]) -> int:
    """Write one row a line and return how many there are.

    Raises:
        ConfigError: some rows have token ids and others have none, which no reader of the file could train on alike.
    """
    count, keys = 0, None
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        for row in rows:
            keys = keys or row.keys()
            if row.keys() != keys:
                raise ConfigError(
                    "some of these episodes were recorded with token ids and others without: give --tokenizer MODEL"
                )
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
            count += 1
    return count
