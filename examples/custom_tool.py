"""A task that is a tool and a scored answer: say how many seconds something takes, with a tool that converts times."""

from collections.abc import Sequence
from typing import Any, Literal

import gymnasium as gym

from agentgym_r1 import Task, ToolCall, ToolResult, rollout
from agentgym_r1.data.tasks import ListTasks
from agentgym_r1.policies import ExpertPolicy
from agentgym_r1.scoring import extract_number, numbers_equal
from agentgym_r1.text_env import Options, ToolEnv, Verdict

Unit = Literal["seconds", "minutes", "hours", "days"]
SECONDS = {"seconds": 1, "minutes": 60, "hours": 3600, "days": 86400}
QUESTIONS = [(amount, unit) for amount in range(2, 12) for unit in ("minutes", "hours", "days")]
TASKS = [Task(f"{n}-{unit}", f"How many seconds are {n} {unit}?", str(n * SECONDS[unit])) for n, unit in QUESTIONS]


class Convert:
    """The tool. Its signature is its JSON schema; a call that does not fit never reaches it."""

    name = "convert"
    description = "Convert a time from one unit to another."

    def __call__(self, amount: float, unit: Unit, to: Unit) -> ToolResult:
        return ToolResult(f"{amount * SECONDS[unit] / SECONDS[to]:g} {to}")


class TimesEnv(ToolEnv):
    """Answer how many seconds something takes."""

    def __init__(self, **options: Any) -> None:
        listed = ListTasks(TASKS, name="times", split="test", source="world")
        super().__init__(listed, tools=[Convert()], options=Options(**{"max_steps": 3, **options}))

    def _instructions(self) -> str:
        return "Answer with a plain number."

    def _begin(self, results: Sequence[ToolResult]) -> str:
        return ""

    def _score(self, answer: str) -> Verdict:
        right = numbers_equal(extract_number(answer) or "", self.task.gold)
        return Verdict(success=right, score=float(right))

    def expert(self) -> str:
        amount, unit = self.task.id.split("-")
        call = ToolCall("convert", {"amount": float(amount), "unit": unit, "to": "seconds"})
        return self.format.answer(self.task.gold) if self.steps else self.format.call(call)

    def _state(self) -> Any:
        return None  # the base class keeps the steps, and there is nothing else

    def _load_state(self, state: Any) -> None: ...


gym.register("Examples/Times-v0", entry_point=TimesEnv)
if __name__ == "__main__":
    print(rollout(gym.make("Examples/Times-v0"), ExpertPolicy(), seed=0).transitions[0].feedback)
