"""What the generated worlds share: seeded randomness, splits that own their words, and task sets made on demand."""

import hashlib
import random
from collections.abc import Callable
from typing import Literal

from agentgym_r1.data.tasks import unknown_split, unknown_task
from agentgym_r1.errors import ConfigError
from agentgym_r1.types import Task

SPLITS = ("train", "dev", "test")
DEFAULT_SIZES = {"train": 10_000, "dev": 500, "test": 1_000}


def seeded(*parts: object) -> random.Random:
    """Return a generator that depends on the text of ``parts`` only: the same on every platform and Python version."""
    return random.Random("/".join(map(str, parts)))


def owner(word: str) -> str:
    """Return the one split that may use ``word`` as a name, whatever the seed, so that splits share no entity."""
    return SPLITS[hashlib.sha256(word.casefold().encode()).digest()[0] % len(SPLITS)]


def words(text: str) -> tuple[str, ...]:
    """Return the words of a text; vocabularies are written this way to stay readable."""
    return tuple(text.split())


def check_split(split: str, *, name: str) -> None:
    """Raise ConfigError when ``split`` is not train, dev or test."""
    if split not in SPLITS:
        raise unknown_split(split, name=name, known=SPLITS)


class SeededTasks:
    """A TaskSet that generates a task when it is read, so that opening it costs nothing and it may be of any size.

    Args:
        generate: makes the task of an id and an index from nothing else; picklable.
        name: the world.
        split: the split; task ids are ``SPLIT-000000`` and so on.
        size: number of tasks, at least 1. A smaller set is a prefix of a larger one.

    Raises:
        ConfigError: the size is less than 1.
    """

    source: Literal["real", "world"] = "world"

    def __init__(self, generate: Callable[[str, int], Task], *, name: str, split: str, size: int) -> None:
        if size < 1:
            raise ConfigError(f"size must be at least 1, got {size}")
        self.name = name
        self.split = split
        self.generate = generate
        self._size = size

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, index: int) -> Task:
        if not 0 <= index < self._size:
            raise IndexError(f"{self.name}/{self.split} has tasks 0 to {self._size - 1}, got {index}")
        return self.generate(self._id(index), index)

    def ids(self) -> tuple[str, ...]:
        """Return all task ids in order; no task is generated for it."""
        return tuple(map(self._id, range(self._size)))

    def index_of(self, task_id: str) -> int:
        """Return the position of ``task_id``."""
        digits = task_id.removeprefix(f"{self.split}-")
        index = int(digits) if digits.isascii() and digits.isdigit() else self._size
        if index >= self._size or task_id != self._id(index):
            raise unknown_task(task_id, name=self.name, split=self.split, count=self._size)
        return index

    def _id(self, index: int) -> str:
        return f"{self.split}-{index:06d}"
