"""Small environments for the training tests: name the side of a colour, and break in stated ways on the way."""

import itertools
import os
import random
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gymnasium as gym

from agentgym_r1.actions import ParsedAction
from agentgym_r1.context import Section
from agentgym_r1.data.tasks import ListTasks
from agentgym_r1.envs import gsm8k
from agentgym_r1.retrieval import open_retriever
from agentgym_r1.text_env import Options, Outcome, StepPlan, TextEnv, Verdict
from agentgym_r1.types import Task, ToolResult

SIDES = {"red": "left", "blue": "right"}
WORDS = ("<pad>", "<eos>", "<unk>", "left", "right", "red", "blue", "seen", "up", "down")
FAULTS = ("walk-1-0", "walk-50-0", "crash-3-0", "long-3-0", "die-3-0", "walk-3-0", "walk-2-0", "walk-4-0")


class ColourEnv(TextEnv):
    """See a colour, answer its side; a task is KIND-STEPS-NUMBER.

    The kind ``crash`` raises at its second step, ``long`` has a prompt beyond any budget, and ``die`` ends the whole
    process at its third step, once (``grave`` is the file that remembers it). The kind ``ask``, of the split
    ``asking``, asks a retrieval service at its second step, once that is down: the file ``grave`` says that somebody
    waits for it, ``grave.down`` that it is.
    """

    def __init__(self, *, split: str = "train", grave: str = "", retriever: str = "", **options: Any) -> None:
        kind = "ask" if split == "asking" else "walk"
        ids = FAULTS if split == "faults" else [f"{kind}-3-{split}{i}" for i in range(256)]
        self._retriever = open_retriever(retriever) if retriever else None
        tasks = ListTasks([Task(i, "seen", None) for i in ids], name="colours", split=split, source="world")
        self._grave = Path(grave)
        self._colours: list[str] = []
        self._right = 0
        defaults = {"max_steps": 60, "action_format": "plain", "context": "state"}
        super().__init__(tasks, tools=(), options=Options(**{**defaults, **options}))

    def _instructions(self) -> str:
        return ""

    def _begin(self, results: Sequence[ToolResult]) -> str:
        _, steps, number = self.task.id.split("-")
        draws = random.Random(number)
        self._colours = [draws.choice(sorted(SIDES)) for _ in range(int(steps))]
        self._right = 0
        return ""

    def _sections(self) -> tuple[Section, ...]:
        words = "up " * (5000 if self.task.id.startswith("long") else 0)
        colour = self._colours[self.steps] if self.steps < len(self._colours) else "seen"
        return (Section("seen", (words + colour,)),)

    def plan_step(self, action: str) -> StepPlan:
        """Take any text as a move, also none: a policy may end its response at once."""
        self._check_running(action)
        return StepPlan(action, ParsedAction())

    def _perform(self, plan: StepPlan, results: Sequence[ToolResult]) -> Outcome:
        kind = self.task.id.split("-")[0]
        if self.steps == 1 and kind == "crash":
            raise RuntimeError("the world broke, as it was told to")
        if self.steps == 2 and kind == "die":  # later than the crash, which it would take along
            die_once(self._grave)
        if self.steps == 1 and self._retriever is not None:
            self._wait_for_outage()
            self._retriever.search(["red"], k=1)
        right = plan.action.split()[:1] == [SIDES[self._colours[self.steps]]]
        self._right += right
        over = self.steps + 1 == len(self._colours)
        share = self._right / len(self._colours)
        return Outcome("", rewards={"right": float(right)}, verdict=Verdict(share == 1, share) if over else None)

    def _wait_for_outage(self) -> None:
        self._grave.touch()
        until = time.monotonic() + 60
        while not self._grave.with_suffix(".down").exists() and time.monotonic() < until:
            time.sleep(0.02)

    def _outcome_reward(self, verdict: Verdict) -> float:
        return 0.0

    def expert(self) -> str:
        return SIDES[self._colours[self.steps]]

    def _state(self) -> Any:
        return [self._colours, self._right]

    def _load_state(self, state: Any) -> None:
        self._colours, self._right = state


def die_once(grave: Path) -> str:
    """End the whole process, the first time (``grave`` is the file that remembers it)."""
    if not grave.exists():
        grave.touch()
        os._exit(1)
    return "alive"


_contexts = itertools.cycle(["append", "window", "state", "summary"])


def mixed_contexts(**kwargs: Any) -> gym.Env[str, str]:
    """GSM8K whose context policy is another one in each environment that is made."""
    return gsm8k.make(**{**kwargs, "context": next(_contexts)})


gym.register("Worlds/Colours-v0", entry_point=ColourEnv)
gym.register("Worlds/MixedContexts-v0", entry_point=mixed_contexts)
