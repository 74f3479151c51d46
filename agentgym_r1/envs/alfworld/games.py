"""From the tasks of a split to games: choose them by type, word their goals, compile them."""

from collections import OrderedDict
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import Final, Literal

from agentgym_r1.data.alfworld import TASK_TYPES, check_task_types, kind_of, read_game
from agentgym_r1.data.installed import open_tasks
from agentgym_r1.data.tasks import unknown_task
from agentgym_r1.envs.alfworld.compile import compile_game
from agentgym_r1.envs.alfworld.model import Game
from agentgym_r1.errors import DataError, unknown_name
from agentgym_r1.types import Task, TaskSet

Goals = Literal["template", "human"]
GOALS = ("template", "human")
_MOST_SHARED: Final = 512
"""Games kept: about 3 MB."""


def compile_task(task: Task) -> Game:
    """Compile a task with GameGold; raise DataError naming the task when its problem is damaged."""
    return compile_game(task.gold.problem, name=task.id, walkthrough=task.gold.walkthrough)


class _Shared:
    """The compiled games of this process that were used last, by task digest."""

    def __init__(self) -> None:
        self._games: OrderedDict[str, Game] = OrderedDict()
        self._lock = Lock()

    def __call__(self, task: Task, digest: str) -> Game:
        """Return the game of a task, compiled once while it is kept; ``digest`` is the task's."""
        with self._lock:
            game = self._games.get(digest) or compile_task(task)
            self._games[digest] = game
            self._games.move_to_end(digest)
            if len(self._games) > _MOST_SHARED:
                self._games.popitem(last=False)
        return game


shared_game: Final = _Shared()


def open_game(path: Path) -> Game:
    """Compile a game.tw-pddl file; raise DataError naming the file when it is not one or is truncated."""
    try:
        data = path.read_bytes()
    except OSError as err:
        raise DataError(f"{path} cannot be read: {err.strerror}") from err
    game = read_game(data, name=str(path))
    return compile_game(game.pddl_problem, name=str(path), walkthrough=game.walkthrough or ())


def installed_games(split: str, *, task_types: Collection[str] = TASK_TYPES, goals: Goals = "template") -> TaskSet:
    """Return the installed games of ALFWorld, in their order.

    Args:
        split: train, valid_seen or valid_unseen.
        task_types: the types to keep.
        goals: ``template`` for ALFWorld's own wording, ``human`` for the first one that people gave.

    Raises:
        ConfigError: the split, a task type or the kind of goal is unknown.
        DataError: ALFWorld is not installed, or was installed without what people said.
    """
    if goals not in GOALS:
        raise unknown_name("kind of goal", goals, GOALS)
    kept = check_task_types(task_types)
    tasks: TaskSet = open_tasks("alfworld", split)
    if kept != TASK_TYPES:
        ids = enumerate(tasks.ids())
        tasks = Selection(tasks, [position for position, task_id in ids if kind_of(task_id) in kept])
    return HumanGoals(tasks) if goals == "human" else tasks


class Selection:
    """Some tasks of a task set, by position."""

    def __init__(self, tasks: TaskSet, positions: Sequence[int]) -> None:
        self.name, self.split, self.source = tasks.name, tasks.split, tasks.source
        self._tasks = tasks
        self._positions = tuple(positions)
        ids = tasks.ids()
        self._ids = tuple(ids[position] for position in self._positions)

    def __len__(self) -> int:
        return len(self._positions)

    def __getitem__(self, index: int) -> Task:
        if not 0 <= index < len(self):
            raise IndexError(f"{self.name}/{self.split} has {len(self)} tasks of these types, got index {index}")
        return self._tasks[self._positions[index]]

    def ids(self) -> tuple[str, ...]:
        """Return all task ids in order."""
        return self._ids

    def index_of(self, task_id: str) -> int:
        """Return the position of a task id among the selected."""
        if task_id not in self._ids:
            raise unknown_task(task_id, name=self.name, split=self.split, count=len(self))
        return self._ids.index(task_id)


class HumanGoals:
    """The same tasks with the goal in the words of the first person who described it."""

    def __init__(self, tasks: TaskSet) -> None:
        self.name, self.split, self.source = tasks.name, tasks.split, tasks.source
        self._tasks = tasks

    def __len__(self) -> int:
        return len(self._tasks)

    def __getitem__(self, index: int) -> Task:
        task = self._tasks[index]
        if not task.gold.annotations:
            raise DataError(
                f"{self.name}/{self.split} task {task.id} has no goal in people's words: install ALFWorld with both of "
                "its zips (agentgym-r1 data get alfworld), or use goals='template'"
            )
        return replace(task, prompt=task.gold.annotations[0].rstrip(". "))

    def ids(self) -> Sequence[str]:
        """Return all task ids in order."""
        return self._tasks.ids()

    def index_of(self, task_id: str) -> int:
        """Return the position of a task id."""
        return self._tasks.index_of(task_id)
