"""The notebook a word problem is written in: sentences, solution steps, and draws from the vocabulary."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeVar

from agentgym_r1.data.worlds.arithmetic.term import Term, Unusable, prose, term
from agentgym_r1.data.worlds.arithmetic.vocabulary import PEOPLE, Noun, Person

T = TypeVar("T")
Kind = Literal["money", "cost", "items", "distance", "time", "final"]
LARGEST = 100_000


@dataclass(frozen=True, slots=True)
class Part:
    """A fraction in words, for example "two thirds of"."""

    words: str
    top: int
    bottom: int

    def of(self, whole: Term) -> Term:
        """Return this part of the whole."""
        return whole / self.bottom if self.top == 1 else whole * self.top / self.bottom

    def __str__(self) -> str:
        return self.words


PARTS = (
    Part("half of", 1, 2),
    Part("a third of", 1, 3),
    Part("two thirds of", 2, 3),
    Part("a quarter of", 1, 4),
    Part("three quarters of", 3, 4),
    Part("a fifth of", 1, 5),
    Part("two fifths of", 2, 5),
    Part("three fifths of", 3, 5),
    Part("a sixth of", 1, 6),
    Part("an eighth of", 1, 8),
    Part("three eighths of", 3, 8),
)
TIMES = {2: "twice", 3: "three times", 4: "four times", 5: "five times"}
ITEM = Noun("item", "items")


@dataclass(frozen=True, slots=True)
class Result:
    """Where a story stands: the quantity that was worked out last, which a tail may carry further.

    Attributes:
        kind: what the quantity is: ``money`` or ``items`` that ``who`` has, a ``cost`` that ``who`` pays, a ``time`` in
            minutes, a ``distance`` in kilometers; ``final`` cannot be continued.
        value: the quantity.
        ask: the question that asks for it.
        who: the person it belongs to, or the main person of the story.
        noun: what the items are, for ``items``.
        label: how the next sentence refers to the money or the items, for example "this change".
    """

    kind: Kind
    value: Term
    ask: str
    who: Person
    noun: Noun = ITEM
    label: str = ""


@dataclass(frozen=True, slots=True)
class Schema:
    """A kind of problem.

    Attributes:
        write: writes the problem into a story in exactly the given number of steps; raises Unusable on unlucky draws.
        steps: the numbers of steps it can be written in.
        ends: those of them after which no tail can follow, because the result is final.
    """

    write: "Callable[[Story, int], Result]"
    steps: tuple[int, ...]
    ends: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        """The name of the schema, which is the kind of its tasks."""
        return self.write.__name__

    def lengths(self, wanted: int, *, longest_tail: int) -> list[int]:
        """Return the numbers of steps from which tails can lead to ``wanted`` steps."""
        return [
            steps
            for steps in self.steps
            if steps == wanted or (steps not in self.ends and wanted - longest_tail <= steps < wanted)
        ]


class Story:
    """One word problem in the making.

    Args:
        rng: the only source of randomness.
        split: whose names are used.
    """

    def __init__(self, rng: random.Random, split: str) -> None:
        self.rng = rng
        self.sentences: list[str] = []
        self.solution: list[str] = []
        self._people = list(PEOPLE[split])
        self._used: set[Noun] = set()

    def say(self, *variants: str) -> None:
        """Write one of the variants, which mean the same, as the next sentence."""
        self.sentences.append(sentence(self.pick(variants)))

    def ask(self, *variants: str) -> str:
        """Return one of the variants of a question."""
        return sentence(self.pick(variants))

    def step(self, computed: Term) -> Term:
        """Write the expression down as a step of the solution and return its value as a plain number.

        Raises:
            Unusable: the value is not positive, too large, or no short decimal.
        """
        if not 0 < computed.value <= LARGEST:
            raise Unusable(f"{computed.text} is out of range")
        self.solution.append(computed.text)
        return term(computed.value)

    def whole(self, computed: Term) -> Term:
        """Like ``step``, for things that are counted: raise Unusable when the value is not an integer."""
        if computed.value.denominator != 1:
            raise Unusable(f"{computed.text} is not whole")
        return self.step(computed)

    def number(self, low: int, high: int, *, by: int = 1) -> Term:
        """Draw a multiple of ``by`` from low to high."""
        return term(self.rng.randint(-(-low // by), high // by) * by)

    def price(self, low: int, high: int) -> Term:
        """Draw a price in dollars: mostly whole, sometimes with quarters or halves."""
        cents = self.rng.choice((0, 0, 0, 25, 50, 50, 75))
        dollars = self.rng.randint(low, high)
        return term(dollars + Fraction(cents, 100) if cents else dollars)

    def percent(self, *, low: int = 5, high: int = 60) -> Term:
        """Draw a percentage that is a multiple of 5."""
        return self.number(low, high, by=5)

    def part(self, whole: Term) -> Part:
        """Draw a fraction that leaves a whole number of the things there are."""
        fitting = [part for part in PARTS if part.of(whole).value.denominator == 1]
        if not fitting:
            raise Unusable(f"{whole} has no simple part")
        return self.pick(fitting)

    def times(self, low: int = 2, high: int = 5) -> tuple[Term, str]:
        """Draw a factor with its words, for example (3, "three times")."""
        factor = self.rng.randint(low, high)
        return term(factor), TIMES[factor]

    def pick(self, choices: Sequence[T]) -> T:
        """Draw one of the choices."""
        return self.rng.choice(choices)

    def person(self) -> Person:
        """Draw somebody who is not in the story yet."""
        return self._people.pop(self.rng.randrange(len(self._people)))

    def noun(self, nouns: Sequence[Noun]) -> Noun:
        """Draw a thing that is not in the story yet."""
        chosen = self.pick([noun for noun in nouns if noun not in self._used])
        self._used.add(chosen)
        return chosen


def money(amount: Term) -> str:
    """Return a sum as it stands in a sentence: $12 or $12.50."""
    text = prose(amount.value)
    return f"${text}0" if len(text.partition(".")[2]) == 1 else f"${text}"


def sentence(text: str) -> str:
    """Return the text with a capital first letter."""
    return text[:1].upper() + text[1:]


def listing(parts: Sequence[str]) -> str:
    """Return "a, b and c"."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
