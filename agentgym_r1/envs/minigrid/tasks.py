"""Task sets of levels: each task is a level and a seed, whose layout is laid out when the task is read."""

from collections.abc import Sequence
from typing import Any, Literal

from agentgym_r1.data.gold import LevelGold
from agentgym_r1.data.tasks import unknown_task
from agentgym_r1.data.worlds.seeded import check_split
from agentgym_r1.envs.minigrid.level import Level
from agentgym_r1.types import Task

LEVELS = (
    "BabyAI-GoToObj-v0",
    "BabyAI-GoToLocal-v0",
    "BabyAI-PickupLoc-v0",
    "BabyAI-OpenDoor-v0",
    "BabyAI-PutNextLocal-v0",
    "BabyAI-UnlockLocal-v0",
    "BabyAI-GoToSeqS5R2-v0",
    "MiniGrid-DoorKey-8x8-v0",
    "MiniGrid-UnlockPickup-v0",
    "MiniGrid-MultiRoom-N2-S4-v0",
)
FIRST_SEEDS = {"train": 0, "dev": 1_000_000, "test": 2_000_000}
LAYOUTS = {"train": 1_000, "dev": 50, "test": 100}


class LevelTasks:
    """Layouts of some levels, the levels taking turns; ids are ``LEVEL:SEED``. Splits have seeds of their own.

    The layouts are those of the installed minigrid package; a task's digest covers its layout, so that another version
    which lays it out differently has another panel.

    Args:
        levels: Gymnasium ids.
        split: train (1,000 layouts a level), dev (50) or test (100).

    Raises:
        MissingExtra: minigrid is not installed.
        ConfigError: a level or the split is unknown.
    """

    name = "minigrid"
    source: Literal["real", "world"] = "real"

    def __init__(self, levels: Sequence[str] = LEVELS, *, split: str) -> None:
        check_split(split, name=self.name)
        self.split = split
        self._levels = {level: Level(level) for level in levels}

    def __reduce__(self) -> tuple[Any, ...]:
        return _make, (tuple(self._levels), self.split)

    def __len__(self) -> int:
        return len(self._levels) * LAYOUTS[self.split]

    def __getitem__(self, index: int) -> Task:
        if not 0 <= index < len(self):
            raise IndexError(f"{self.name}/{self.split} has tasks 0 to {len(self) - 1}, got {index}")
        level_id, seed = self._place(index)
        level = self._levels[level_id]
        level.reset(seed)
        return Task(f"{level_id}:{seed}", level.mission, LevelGold(level_id, seed, level.layout()), level_id)

    def ids(self) -> tuple[str, ...]:
        """Return all task ids in order; no layout is made for it."""
        return tuple(":".join(map(str, self._place(index))) for index in range(len(self)))

    def index_of(self, task_id: str) -> int:
        """Return the position of ``task_id``."""
        level, _, digits = task_id.rpartition(":")
        names = list(self._levels)
        turn = int(digits) - FIRST_SEEDS[self.split] if digits.isascii() and digits.isdigit() else -1
        if level not in names or not 0 <= turn < LAYOUTS[self.split] or str(int(digits)) != digits:
            raise unknown_task(task_id, name=self.name, split=self.split, count=len(self))
        return turn * len(names) + names.index(level)

    def _place(self, index: int) -> tuple[str, int]:
        turn, position = divmod(index, len(self._levels))
        return list(self._levels)[position], FIRST_SEEDS[self.split] + turn


def _make(levels: Sequence[str], split: str) -> LevelTasks:
    return LevelTasks(levels, split=split)
