"""The prompt set, written from an environment's split: one task id a line, no hand-made data."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gymnasium as gym

from agentgym_r1.adapters.openrlhf.spec import Job, Phase
from agentgym_r1.bench.panel import choose_panel
from agentgym_r1.errors import ConfigError, DataError
from agentgym_r1.text_env import TextEnv

INPUT_KEY, LABEL_KEY = "input", "label"


def write_prompts(
    path: Path, env_id: str, kwargs: Mapping[str, Any], *, phase: Phase, count: int | None = None, seed: int = 0
) -> int:
    """Write the tasks of the environment's split and return how many there are.

    Args:
        path: the JSONL file; OpenRLHF reads it with the keys ``input`` and ``label``.
        env_id, kwargs: what gym.make gets; ``split`` among the arguments chooses the split.
        phase: recorded in each row.
        count: how many tasks, chosen as the benchmark chooses its panels; None takes the whole split in order.
        seed: of the choice.

    Raises:
        ConfigError: the environment is not one with a task set.
        DataError: the file cannot be written.
    """
    env = gym.make(env_id, **kwargs)
    try:
        inner = env.unwrapped
        if not isinstance(inner, TextEnv):
            raise ConfigError(f"{env_id} has no task set: training needs an environment made of TextEnv")
        ids = (
            list(inner.tasks.ids())
            if count is None
            else list(choose_panel(inner.tasks, episodes=count, seed=seed).task_ids)
        )
    finally:
        env.close()
    rows = [json.dumps({INPUT_KEY: f"{phase} {task}", LABEL_KEY: Job(task, phase).encode()}) for task in ids]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    except OSError as err:
        raise DataError(f"cannot write {path}: {err.strerror or err}") from err
    return len(rows)
