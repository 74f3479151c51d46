"""The goals of one split as a task set; ``goal:N`` names a goal by its position among all goals of the catalogue."""

import functools
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from agentgym_r1.data.tasks import unknown_task
from agentgym_r1.data.webshop.goals import Goal, Goals
from agentgym_r1.errors import ConfigError
from agentgym_r1.types import Task

NAME = "webshop"
POSITION = "goal:"


class ShopTasks:
    """A TaskSet of goals: ids are the goals' hashes, prompts their instructions, kinds the departments.

    Args:
        goals: all goals of the catalogue.
        split: "train", "dev" or "test".

    Raises:
        ConfigError: an unknown split, or one without goals.
    """

    name = NAME

    def __init__(self, goals: Goals, *, split: str) -> None:
        self.goals, self.split = goals, split
        self.source: Literal["real", "world"] = goals.catalogue.manifest.source
        self._positions = goals.positions(split)
        if not len(self._positions):
            raise ConfigError(
                f"{NAME}/{split} holds no {goals.kind} goals: the catalogue has {len(goals)} in all; "
                "take another split, or a larger catalogue"
            )

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopen, (self.goals, self.split)

    def __len__(self) -> int:
        return len(self._positions)

    def __getitem__(self, index: int) -> Task:
        goal = self.goal(index)
        return Task(goal.id, goal.instruction, goal.gold, goal.category)

    def goal(self, index: int) -> Goal:
        """Return the goal at an index of the split; raise IndexError outside 0..len-1."""
        if not 0 <= index < len(self):
            raise IndexError(f"{NAME}/{self.split} has tasks 0 to {len(self) - 1}, got {index}")
        return self.goals[int(self._positions[index])]

    @functools.cached_property
    def chances(self) -> npt.NDArray[np.float64]:
        """How likely the original draws each goal of the split; they add up to 1."""
        weights = self.goals.weights()[self._positions]
        chances: npt.NDArray[np.float64] = weights / weights.sum()
        return chances

    def ids(self) -> tuple[str, ...]:
        """Return all task ids in order; the first call makes every goal of the split."""
        return tuple(self._indices)

    def index_of(self, task_id: str) -> int:
        """Return the index of a goal's hash or ``goal:N``; the first call with a hash makes every goal of the split."""
        if task_id.startswith(POSITION) and task_id[len(POSITION) :].isdecimal():
            position = int(task_id[len(POSITION) :])
            index = int(np.searchsorted(self._positions, position))
            if index < len(self) and self._positions[index] == position:
                return index
        elif task_id in self._indices:
            return self._indices[task_id]
        raise unknown_task(task_id, name=NAME, split=self.split, count=len(self))

    @functools.cached_property
    def _indices(self) -> dict[str, int]:
        return {self.goal(index).id: index for index in range(len(self))}


def _reopen(goals: Goals, split: str) -> ShopTasks:
    return ShopTasks(goals, split=split)
