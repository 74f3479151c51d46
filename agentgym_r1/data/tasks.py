"""TaskSets: the in-memory one that the worlds use, and what every task set shares."""

from collections.abc import Iterable
from typing import Literal

from agentgym_r1.errors import ConfigError, unknown_name
from agentgym_r1.types import Task


class ListTasks:
    """A TaskSet held in memory.

    Raises:
        ConfigError: two tasks share an id, or there is none.
    """

    def __init__(self, tasks: Iterable[Task], *, name: str, split: str, source: Literal["real", "world"]) -> None:
        self.name = name
        self.split = split
        self.source: Literal["real", "world"] = source
        self._tasks = tuple(tasks)
        self._index = {task.id: position for position, task in enumerate(self._tasks)}
        if not self._tasks:
            raise ConfigError(f"{name}/{split} holds no tasks; expected at least one")
        if len(self._index) != len(self._tasks):
            raise ConfigError(f"{name}/{split} holds {len(self._tasks)} tasks but {len(self._index)} different ids")

    def __len__(self) -> int:
        return len(self._tasks)

    def __getitem__(self, index: int) -> Task:
        if not 0 <= index < len(self._tasks):
            raise IndexError(f"{self.name}/{self.split} has tasks 0 to {len(self._tasks) - 1}, got {index}")
        return self._tasks[index]

    def ids(self) -> tuple[str, ...]:
        """Return all task ids in order."""
        return tuple(self._index)

    def index_of(self, task_id: str) -> int:
        """Return the position of ``task_id``."""
        if task_id not in self._index:
            raise unknown_task(task_id, name=self.name, split=self.split, count=len(self._tasks))
        return self._index[task_id]


def unknown_task(task_id: str, *, name: str, split: str, count: int) -> ConfigError:
    """Return the error for a task id that a split does not hold."""
    return ConfigError(
        f"{name}/{split} has no task {task_id!r} among its {count}; task ids are per split, "
        "and options={'index': N} selects by position"
    )


def unknown_split(split: str, *, name: str, known: Iterable[str]) -> ConfigError:
    """Return the error for a split that a set does not have."""
    return unknown_name(f"split of {name}", split, known)
