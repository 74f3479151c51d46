"""A world of your own: put the books of a shelf in order by swapping two of them."""

from collections.abc import Sequence
from itertools import permutations
from typing import Any

import gymnasium as gym

from agentgym_r1 import Task, ToolResult, rollout
from agentgym_r1.context import Section
from agentgym_r1.data.tasks import ListTasks
from agentgym_r1.policies import ExpertPolicy
from agentgym_r1.text_env import Options, Outcome, StepPlan, TextEnv, Verdict

SHELVES = [" ".join(books) for books in permutations(("ant", "bee", "cat", "dog")) if list(books) != sorted(books)]


class ShelfEnv(TextEnv):
    """Swap books until they stand in alphabetical order; an action is two titles."""

    def __init__(self, *, split: str = "test", **options: Any) -> None:
        tasks = [Task(f"s{n}", shelf, gold=" ".join(sorted(shelf.split()))) for n, shelf in enumerate(SHELVES)]
        tasks = tasks[::2] if split == "test" else tasks[1::2]
        self._books: list[str] = []
        listed = ListTasks(tasks, name="shelf", split=split, source="world")
        super().__init__(listed, tools=(), options=Options(**{"max_steps": 6, "action_format": "plain", **options}))

    def _instructions(self) -> str:
        return "Put the books in alphabetical order. A step swaps two of them: write both titles, for example: bee cat"

    def _begin(self, results: Sequence[ToolResult]) -> str:
        self._books = self.task.prompt.split()
        return f"The shelf: {self.task.prompt}"

    def _perform(self, plan: StepPlan, results: Sequence[ToolResult]) -> Outcome:
        titles = plan.parsed.calls[0].arguments["command"].split()
        if len(set(titles)) != 2 or not set(titles) <= set(self._books):
            return Outcome("That names no two books of the shelf. A right example: bee cat", valid=False)
        self._books = [dict(zip(titles, titles[::-1])).get(book, book) for book in self._books]
        shelf = " ".join(self._books)
        return Outcome(f"The shelf: {shelf}", verdict=Verdict(True, 1.0) if shelf == self.task.gold else None)

    def _sections(self) -> tuple[Section, ...]:
        return (*super()._sections(), Section("The shelf now", (" ".join(self._books),)))

    def expert(self) -> str:
        return next(f"{it} {should}" for it, should in zip(self._books, sorted(self._books)) if it != should)

    def _state(self) -> Any:
        return self._books

    def _load_state(self, state: Any) -> None:
        self._books = list(state)


gym.register("Examples/Shelf-v0", entry_point=ShelfEnv)

if __name__ == "__main__":
    print(rollout(gym.make("Examples/Shelf-v0"), ExpertPolicy(), seed=0).transitions[-1].feedback)
