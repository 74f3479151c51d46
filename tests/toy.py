"""A small real environment for the tests of the core: guess a number with a tool that compares."""

from collections.abc import Sequence
from typing import Any

from agentgym_r1.data.tasks import ListTasks
from agentgym_r1.text_env import Options, ToolEnv, Verdict
from agentgym_r1.tools.base import BoundCall
from agentgym_r1.types import Task, ToolCall, ToolResult

NUMBERS = (7, 3, 12, 5)


class Compare:
    """Says how a guess compares with the secret, which the environment sets."""

    name = "compare"
    description = "Compare a guess with the secret number."

    def __init__(self) -> None:
        self.secret = 0

    def __call__(self, guess: str) -> ToolResult:
        if not guess.lstrip("-").isdigit():
            return ToolResult(f"{guess!r} is not a number. Try: 5", ok=False)
        sign = (int(guess) > self.secret) - (int(guess) < self.secret)
        return ToolResult(f"{guess} is {['too small', 'right', 'too large'][sign + 1]}", data=sign)


class GuessEnv(ToolEnv):
    """Answer the secret number."""

    def __init__(self, **options: Any) -> None:
        self._compare = Compare()
        self._found = False
        tasks = ListTasks(
            [Task(f"n{n}", f"Which number is secret {n * 0 + i}?", {"answer": str(n)}) for i, n in enumerate(NUMBERS)],
            name="guess",
            split="test",
            source="world",
        )
        super().__init__(tasks, tools=(self._compare,), options=Options(**{"max_steps": 4, **options}))

    def _instructions(self) -> str:
        return "Find the secret number."

    def _begin(self, results: Sequence[ToolResult]) -> str:
        self._compare.secret = int(self.task.gold["answer"])
        self._found = False
        return ""

    def _absorb(self, calls: Sequence[BoundCall | ToolResult], results: Sequence[ToolResult]) -> dict[str, float]:
        self._found = self._found or any(result.data == 0 for result in results)
        return {"guesses": float(sum(result.ok for result in results))}

    def _score(self, answer: str) -> Verdict:
        right = answer == self.task.gold["answer"]
        return Verdict(right, float(right), {"found": float(self._found)})

    def potential(self) -> float:
        return float(self._found)

    def expert(self) -> str:
        answer = self.task.gold["answer"]
        if self.steps == 0:
            return self.format.call(ToolCall("compare", {"guess": answer}), thought="Check.")
        return self.format.answer(answer)

    def _state(self) -> Any:
        return self._found

    def _load_state(self, state: Any) -> None:
        self._compare.secret = int(self.task.gold["answer"])
        self._found = bool(state)
