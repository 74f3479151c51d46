"""The arithmetic world: word problems that stand for GSM8K, generated from schemas.

It stands for what a calculator agent has to do on GSM8K: read a short story, pick the numbers that matter, chain two to
eight operations, and give one number. It cannot stand for GSM8K's variety of language and of ideas, and it was not
written by people: an accuracy on it compares policies with each other, never with a published GSM8K score.

Difficulty knobs: ``min_steps`` and ``max_steps`` bound the length of the solution, ``distractors`` the number of
sentences with numbers that do not matter, ``kinds`` the schemas that stories start from.
"""

import random
import re
from collections.abc import Collection
from dataclasses import dataclass
from fractions import Fraction

from agentgym_r1.data.gold import NumberGold
from agentgym_r1.data.worlds.arithmetic import groups, measures, money, rates, things
from agentgym_r1.data.worlds.arithmetic.distractors import distract
from agentgym_r1.data.worlds.arithmetic.story import Result, Schema, Story
from agentgym_r1.data.worlds.arithmetic.tails import TAILS
from agentgym_r1.data.worlds.arithmetic.term import Unusable, decimal
from agentgym_r1.data.worlds.seeded import DEFAULT_SIZES, SeededTasks, check_split, seeded
from agentgym_r1.errors import ConfigError, unknown_name
from agentgym_r1.types import Task

SCHEMAS: tuple[Schema, ...] = money.SCHEMAS + things.SCHEMAS + groups.SCHEMAS + rates.SCHEMAS + measures.SCHEMAS
KINDS: tuple[str, ...] = tuple(schema.name for schema in SCHEMAS)
FEWEST, MOST = 2, 8
LONGEST_TAIL = 3
DRAWS = 30


def tasks(
    split: str = "dev",
    *,
    size: int | None = None,
    seed: int = 0,
    kinds: str | Collection[str] = KINDS,
    min_steps: int = FEWEST,
    max_steps: int = MOST,
    distractors: int = 1,
) -> SeededTasks:
    """Return word problems with NumberGold; a task's kind is the schema its story starts from.

    Task i depends on nothing but the arguments other than ``size``. Splits share no names, so no prompts either.

    Args:
        split: train, dev or test.
        size: number of tasks; default 10,000 (train), 500 (dev), 1,000 (test).
        seed: another seed gives other tasks of the same split.
        kinds: the schemas to start from: one or more of ``KINDS``. Numbers of steps that none of them has are
            not drawn.
        min_steps: the fewest solution steps, at least 2.
        max_steps: the most solution steps, at most 8.
        distractors: the most sentences with numbers that do not matter; each task draws from 0 to this many.

    Raises:
        ConfigError: the split or a kind is unknown, a knob is out of range, or no kind has so many or few steps.
    """
    check_split(split, name="arithmetic")
    if not FEWEST <= min_steps <= max_steps <= MOST:
        raise ConfigError(f"steps must satisfy 2 <= min_steps <= max_steps <= 8, got {min_steps} and {max_steps}")
    if not 0 <= distractors <= 3:
        raise ConfigError(f"distractors must be from 0 to 3, got {distractors}")
    kinds = [kinds] if isinstance(kinds, str) else kinds
    schemas = _schemas(kinds)
    steps = tuple(steps for steps in range(min_steps, max_steps + 1) if _startable(schemas, steps))
    if not steps:
        asked = f"{min_steps} to {max_steps} steps"
        raise ConfigError(f"no solution of {asked} starts from {', '.join(kinds)}: add kinds, or change the steps")
    generate = _Generator(split, seed, schemas, steps, distractors)
    return SeededTasks(generate, name="arithmetic", split=split, size=DEFAULT_SIZES[split] if size is None else size)


@dataclass(frozen=True, slots=True)
class _Generator:
    split: str
    seed: int
    schemas: tuple[Schema, ...]
    steps: tuple[int, ...]
    distractors: int

    def __call__(self, task_id: str, index: int) -> Task:
        rng = seeded("arithmetic", self.split, self.seed, self.steps[0], self.steps[-1], self.distractors, index)
        steps = rng.choice(self.steps)
        while True:
            schema = rng.choice(self.schemas)
            lengths = schema.lengths(steps, longest_tail=LONGEST_TAIL)
            for _ in range(DRAWS if lengths else 0):
                try:
                    return self._write(rng, task_id, schema, rng.choice(lengths), steps)
                except Unusable:
                    continue

    def _write(self, rng: random.Random, task_id: str, schema: Schema, length: int, steps: int) -> Task:
        story = Story(rng, self.split)
        result = _continue(story, schema.write(story, length), steps)
        story.sentences.append(result.ask)
        distract(story, rng.randint(0, self.distractors))
        prompt = " ".join(story.sentences)
        answer = decimal(result.value.value)
        if result.value.value in numbers(prompt):
            raise Unusable("the answer stands in the question")
        return Task(task_id, prompt, NumberGold(answer, tuple(story.solution)), schema.name)


def _schemas(kinds: Collection[str]) -> tuple[Schema, ...]:
    """Return the schemas of some names, in the order of ``SCHEMAS`` whatever the order of the names."""
    for kind in kinds:
        if kind not in KINDS:
            raise unknown_name("kind of word problem", kind, KINDS)
    if not kinds:
        raise ConfigError(f"kinds must name at least one of {', '.join(KINDS)}")
    return tuple(schema for schema in SCHEMAS if schema.name in kinds)


def _startable(schemas: tuple[Schema, ...], steps: int) -> bool:
    """Return whether a solution of so many steps starts from one of the schemas."""
    return any(schema.lengths(steps, longest_tail=LONGEST_TAIL) for schema in schemas)


def numbers(text: str) -> list[Fraction]:
    """Return the numbers of a text, in order."""
    return [Fraction(number.replace(",", "")) for number in re.findall(r"\d(?:[\d,]*\d)?(?:\.\d+)?", text)]


def _continue(story: Story, result: Result, steps: int) -> Result:
    """Append tails until the story has exactly ``steps`` steps."""
    unused = list(TAILS)
    while missing := steps - len(story.solution):
        fitting = [tail for tail in unused if tail.kind == result.kind and tail.steps <= missing]
        if not fitting:
            raise Unusable(f"nothing follows a {result.kind}")
        tail = story.pick(fitting)
        unused.remove(tail)
        result = tail.write(story, result)
    return result
