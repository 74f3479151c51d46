"""Every step with all that was recorded, as Parquet with a fixed schema, for ``datasets.load_dataset`` and the like."""

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from agentgym_r1.exports.rows import Encode, labels, prompt_of, returns_to_go
from agentgym_r1.types import Trajectory

_ROWS = 1000
_MESSAGES = pa.list_(pa.struct([("role", pa.string()), ("content", pa.string())]))
# Mappings whose keys differ from environment to environment are JSON texts: a struct would need all keys of all rows.
SCHEMA = pa.schema(
    [
        ("env", pa.string()),
        ("env_kwargs", pa.string()),
        ("split", pa.string()),
        ("source", pa.string()),
        ("task", pa.string()),
        ("task_kind", pa.string()),
        ("task_digest", pa.string()),
        ("policy", pa.string()),
        ("seed", pa.int64()),
        ("repeat", pa.int64()),
        ("episode", pa.int64()),
        ("step", pa.int64()),
        ("steps", pa.int64()),
        ("prompt", _MESSAGES),
        ("observation", pa.string()),
        ("action", pa.string()),
        ("reward", pa.float64()),
        ("reward_terms", pa.string()),
        ("return_to_go", pa.float64()),
        ("feedback", pa.string()),
        ("terminated", pa.bool_()),
        ("truncated", pa.bool_()),
        ("valid_action", pa.bool_()),
        ("context", pa.string()),
        ("prompt_ids", pa.list_(pa.int32())),
        ("completion_ids", pa.list_(pa.int32())),
        ("logprobs", pa.list_(pa.float64())),
        ("finish_reason", pa.string()),
        ("success", pa.bool_()),
        ("score", pa.float64()),
        ("return", pa.float64()),
        ("metrics", pa.string()),
    ]
)


def write_parquet(path: Path, episodes: Iterable[Trajectory], encode: Encode) -> int:
    """Write one row a step and return how many there are; a thousand rows are in memory at a time."""
    rows, count = parquet_rows(episodes, encode), 0
    path.parent.mkdir(parents=True, exist_ok=True)
    with pq.ParquetWriter(path, SCHEMA) as writer:
        while batch := list(islice(rows, _ROWS)):
            writer.write_table(pa.Table.from_pylist(batch, schema=SCHEMA))
            count += len(batch)
    return count


def parquet_rows(episodes: Iterable[Trajectory], encode: Encode) -> Iterator[Mapping[str, Any]]:
    """Yield the rows; ids are empty where there are none, log-probabilities where the ids are not the sampled ones."""
    for number, episode in enumerate(episodes):
        for k, (step, to_go) in enumerate(zip(episode.transitions, returns_to_go(episode))):
            ids = encode(step)
            sampled = ids is not None and ids.action == step.action_ids
            yield {
                **labels(episode, number, k),
                **prompt_of(step),
                "env_kwargs": _json(episode.env_kwargs),
                "source": episode.source,
                "task_kind": episode.task_kind,
                "task_digest": episode.task_digest,
                "seed": episode.seed,
                "repeat": episode.repeat,
                "steps": len(episode.transitions),
                "observation": step.observation,
                "action": step.action,
                "reward": step.reward,
                "reward_terms": _json(step.reward_terms),
                "return_to_go": to_go,
                "feedback": step.feedback,
                "terminated": step.terminated,
                "truncated": step.truncated,
                "valid_action": step.valid_action,
                "context": _json(step.context),
                "prompt_ids": ids.prompt if ids is not None else (),
                "completion_ids": ids.action if ids is not None else (),
                "logprobs": step.logprobs if sampled else (),
                "finish_reason": step.finish_reason,
                "metrics": _json(episode.metrics),
            }


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
