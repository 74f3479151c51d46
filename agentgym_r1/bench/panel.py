"""Frozen panels: which tasks a benchmark evaluates, chosen by a rule that depends on the tasks and the seed alone."""

import hashlib
from dataclasses import dataclass

from agentgym_r1.errors import ConfigError
from agentgym_r1.rollout import Episode, episode_seed
from agentgym_r1.types import Task, TaskSet, panel_hash


@dataclass(frozen=True, slots=True)
class Panel:
    """The tasks of one evaluation in play order, and the hash of what defines them."""

    task_ids: tuple[str, ...]
    hash: str

    def episodes(self, *, seed: int, repeats: int) -> list[Episode]:
        """Return every evaluation: each task exactly ``repeats`` times, with its own seed."""
        return [
            Episode(task_id, episode_seed(seed, task_id, repeat), repeat)
            for task_id in self.task_ids
            for repeat in range(repeats)
        ]


def choose_panel(tasks: TaskSet, *, episodes: int | None = None, seed: int = 0) -> Panel:
    """Choose ``episodes`` tasks of a split, or all of them.

    Tasks are taken in the order of sha256(seed, id), so a smaller panel is a part of a larger one, and neither file
    order nor worker count nor process seeds matter. Asking for more than the split holds gives the whole split.

    Raises:
        ConfigError: episodes below 1.
    """
    if episodes is not None and episodes < 1:
        raise ConfigError(f"episodes must be at least 1, got {episodes}")
    everything = [tasks[i] for i in range(len(tasks))] if episodes is None or episodes >= len(tasks) else None
    chosen = everything if everything is not None else _first(tasks, int(episodes or 0), seed)
    return Panel(tuple(task.id for task in chosen), panel_hash(chosen))


def _first(tasks: TaskSet, count: int, seed: int) -> list[Task]:
    order = sorted((_rank(seed, identity), index) for index, identity in enumerate(tasks.ids()))
    return [tasks[index] for _, index in order[:count]]


def _rank(seed: int, task_id: str) -> bytes:
    return hashlib.sha256(f"{seed}\n{task_id}".encode("utf-8", "surrogatepass")).digest()
