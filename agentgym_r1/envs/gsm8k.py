"""AgentR1/GSM8K: word problems with a calculator and a numeric answer."""

from collections.abc import Collection, Sequence
from typing import Any, ClassVar

from agentgym_r1.data.gold import NumberGold
from agentgym_r1.data.installed import open_tasks
from agentgym_r1.data.worlds import arithmetic
from agentgym_r1.envs.presets import DEFAULT_PROTOCOL, check_choice, resolve, split_options
from agentgym_r1.envs.sources import choose_source
from agentgym_r1.envs.vector import VectorTextEnv
from agentgym_r1.errors import ConfigError
from agentgym_r1.scoring import extract_number, numbers_equal
from agentgym_r1.text_env import Options, ToolEnv, Verdict
from agentgym_r1.tools.base import BoundCall
from agentgym_r1.tools.calculator import Calculator
from agentgym_r1.types import Source, TaskSet, ToolCall, ToolResult

EXTRACTIONS = ("strict", "flexible")


class GSM8KEnv(ToolEnv):
    """Solve a word problem; ``calculator`` may be called, the answer is a number.

    Args:
        tasks: tasks whose gold is a NumberGold.
        options: see Options.
        extraction: ``strict`` scores the answer tag or a last ``#### n``; ``flexible`` the last number of the answer.
    """

    max_calls: ClassVar[int] = 4

    def __init__(self, tasks: TaskSet, *, options: Options, extraction: str = "strict") -> None:
        check_choice("extraction", extraction, EXTRACTIONS)
        self._extraction = extraction
        self._computed = 0
        super().__init__(tasks, tools=(Calculator(),), options=options)

    def _instructions(self) -> str:
        return (
            "Solve the word problem. Work it out step by step, use the calculator for every computation you are not "
            "sure of, and give the final answer as a plain number without units."
        )

    def _begin(self, results: Sequence[ToolResult]) -> str:
        self._computed = 0
        return ""

    def _absorb(self, calls: Sequence[BoundCall | ToolResult], results: Sequence[ToolResult]) -> dict[str, float]:
        computed = sum(result.ok for result in results)
        self._computed += computed
        return {"calculations": float(computed)}

    def _score(self, answer: str) -> Verdict:
        value = extract_number(answer, mode=self._extraction)
        right = value is not None and numbers_equal(value, self._gold.answer)
        return Verdict(success=right, score=float(right), metrics={"calculations": float(self._computed)})

    def _unfinished(self) -> Verdict:
        return Verdict(success=False, score=0.0, metrics={"calculations": float(self._computed)})

    def _state(self) -> Any:
        return self._computed

    def _load_state(self, state: Any) -> None:
        self._computed = int(state)

    def expert(self) -> str:
        """Compute the solution's expressions one a step, as far as the step limit lets, then answer."""
        steps = self._gold.solution
        if self._computed < len(steps) and self.steps < self.max_steps - 1:
            expression = steps[self._computed]
            return self.format.call(
                ToolCall("calculator", {"expression": expression}), thought=f"Compute {expression}."
            )
        return self.format.answer(self._gold.answer)

    @property
    def _gold(self) -> NumberGold:
        gold = self.task.gold
        assert isinstance(gold, NumberGold)
        return gold


def make(
    *,
    split: str = "test",
    source: Source = "auto",
    protocol: str = DEFAULT_PROTOCOL,
    kinds: str | Collection[str] | None = None,
    solution_steps: int | tuple[int, int] | None = None,
    distractors: int | None = None,
    **options: Any,
) -> GSM8KEnv:
    """Make the environment; the entry point of gym.make.

    Args:
        split: ``train`` or ``test`` (the world also has ``dev``).
        source: ``auto``, ``real`` or ``world``.
        protocol: a preset; see envs.presets.
        kinds: knob of the arithmetic world: the schemas that its stories start from; by default all.
        solution_steps: knob of the world: the steps of a solution, or the fewest and the most; by default 2 to 8.
        distractors: knob of the world: the most sentences with numbers that do not matter; by default 1.
        **options: fields of Options, and ``extraction``.
    """
    shared, own = split_options(resolve("gsm8k", protocol, options), own={"extraction": "strict"})
    knobs = {"kinds": kinds, "solution_steps": solution_steps, "distractors": distractors}
    tasks = open_problems(split, source=source, **{name: knob for name, knob in knobs.items() if knob is not None})
    return GSM8KEnv(tasks, options=shared, **own)


def open_problems(split: str, *, source: Source, **knobs: Any) -> TaskSet:
    """Return the tasks of a split; see ``make``.

    Raises:
        ConfigError: a name is unknown, or a knob is out of range or does not fit the source.
        DataError: the real problems are asked for and not installed.
    """
    if choose_source("gsm8k", source):
        if knobs:
            raise ConfigError(f"{', '.join(knobs)} shape the arithmetic world: add source='world', or leave them out")
        return open_tasks("gsm8k", split)
    if "solution_steps" in knobs:
        knobs["min_steps"], knobs["max_steps"] = _bounds(knobs.pop("solution_steps"))
    return arithmetic.tasks(split, **knobs)


def _bounds(steps: Any) -> Sequence[int]:
    bounds = steps if isinstance(steps, list | tuple) else (steps, steps)
    if len(bounds) != 2 or not all(isinstance(bound, int) for bound in bounds):
        raise ConfigError(f"solution_steps must be a whole number, or the fewest and the most, got {steps!r}")
    return bounds


def make_vector(num_envs: int, **kwargs: Any) -> VectorTextEnv:
    """Make the batched environment; the vector entry point of gym.make_vec."""
    return VectorTextEnv([lambda: make(**kwargs)] * num_envs)
