"""The goals of a catalogue: made when they are read, from the instructions and the option choices of their products."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from agentgym_r1.data.gold import ShopGold
from agentgym_r1.data.webshop.draws import limit_clause, seeded_limit, seeded_price
from agentgym_r1.data.webshop.splits import RANGES, SPLITS, check_split, request_of
from agentgym_r1.data.webshop.store import KINDS, Catalogue, Kind
from agentgym_r1.errors import unknown_name
from agentgym_r1.types import digest

Sampling = Literal["seeded", "original"]
SAMPLINGS: tuple[Sampling, ...] = ("seeded", "original")
ID_DIGITS = 16


@dataclass(frozen=True, slots=True)
class Goal:
    """One shopping goal.

    Attributes:
        id: hash of its product, instruction and option choice.
        row: the catalogue row of the product it was made from.
        instruction: what the agent reads, the price limit included.
        category: the product's department.
        gold: what the reward needs.
    """

    id: str
    row: int
    instruction: str
    category: str
    gold: ShopGold


class Goals:
    """All goals of one kind, in order.

    A generated instruction has one goal for each choice of the product's options, a person's has one; they stand in an
    order shuffled as WebShop does. Original goals have WebShop's prices and limits (see ``draws``). Seeded goals have
    their own, and those are left out that nobody can meet, as the reward does not recognise some option values (7 % of
    the goals of WebShop's 1,000 products); but where splits are ranges of positions, they too are all goals.

    Args:
        catalogue: where they come from.
        kind: "synthetic" or "human".
        sampling: "seeded" or "original".

    Raises:
        ConfigError: an unknown kind or sampling.
    """

    def __init__(self, catalogue: Catalogue, *, kind: Kind = "synthetic", sampling: Sampling = "seeded") -> None:
        if kind not in KINDS:
            raise unknown_name("kind of goals", kind, KINDS)
        if sampling not in SAMPLINGS:
            raise unknown_name("goal_sampling", sampling, SAMPLINGS)
        self.catalogue, self.kind, self.sampling = catalogue, kind, sampling
        self._instructions = catalogue.table(kind)
        self._meetable = sampling == "seeded" and catalogue.manifest.splits == "hash"
        counted = "meetable" if self._meetable else "combinations"
        self._combinations = self._instructions.column(counted).to_numpy()
        self._ends = np.cumsum(self._combinations)
        self._order = catalogue.array(f"{kind}_{counted}_order")
        self._prices = catalogue.array("original_prices") if sampling == "original" else None

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopen, (self.catalogue, self.kind, self.sampling)

    def __len__(self) -> int:
        return int(self._ends[-1]) if len(self._ends) else 0

    def __iter__(self) -> Iterator[Goal]:
        return (self[position] for position in range(len(self)))

    def __getitem__(self, position: int) -> Goal:
        """Return the goal at a position of the whole list; raise IndexError outside 0..len-1."""
        if not 0 <= position < len(self):
            raise IndexError(f"the shop has {self.kind} goals 0 to {len(self) - 1}, got {position}")
        generated = int(self._order[position])
        number = int(np.searchsorted(self._ends, generated, side="right"))
        first = int(self._ends[number] - self._combinations[number])
        (instruction,) = self._instructions.slice(number, 1).to_pylist()
        return self._goal(instruction, generated - first)

    def positions(self, split: str) -> npt.NDArray[np.int64]:
        """Return the positions of a split's goals, ascending; raise ConfigError for an unknown split."""
        check_split(split)
        if self.catalogue.manifest.splits == "ranges":
            return np.arange(len(self))[RANGES[split]]
        generated = np.repeat(self._instructions.column("split").to_numpy(), self._combinations)
        return np.flatnonzero(generated[self._order] == SPLITS.index(split))

    def requests(self, split: str) -> set[str]:
        """Return what the goals of a split ask for: the words of their instructions, without options and price."""
        generated = self._order[self.positions(split)]
        numbers = np.unique(np.searchsorted(self._ends, generated, side="right"))
        return set(map(request_of, self._instructions.column("text").take(numbers).to_pylist()))

    def price(self, row: int) -> float:
        """Return what the product at a catalogue row costs."""
        if self._prices is not None:
            return float(self._prices[row])
        product = self.catalogue.product(row)
        return seeded_price(product.asin, product.prices)

    def weights(self) -> npt.NDArray[np.float64]:
        """Return how often the original draws each goal, by position: rare attributes weigh more, human goals 1."""
        if self.kind == "human":
            return np.ones(len(self))
        attributes = self._instructions.column("attributes").to_pylist()
        counts: Counter[str] = Counter()
        for names, combinations in zip(attributes, self._combinations.tolist(), strict=True):
            for name in names:
                counts[name] += combinations
        weights = [sum(1.0 / max(counts[name], 1) for name in names) / len(names) for names in attributes]
        ordered: npt.NDArray[np.float64] = np.repeat(weights, self._combinations)[self._order]
        return ordered

    def _goal(self, instruction: dict[str, Any], combination: int) -> Goal:
        row, number = instruction["row"], instruction["number"]
        product = self.catalogue.product(row)
        price_upper = instruction["original_limit"]
        if self.sampling == "seeded":
            price_upper = seeded_limit(product.asin, number, seeded_price(product.asin, product.prices))
        if self.kind == "human":
            text, options = instruction["text"].strip("."), tuple(instruction["options"])
        else:
            names, values = zip(*sorted(product.options), strict=True) if product.options else ((), ())
            options = _choice(names, instruction["choosable"] if self._meetable else values, combination)
            text = instruction["text"] + _options_clause(options)
        gold = ShopGold(
            asin=product.asin,
            query=product.query,
            product_category=product.product_category,
            nouns=product.nouns,
            attributes=tuple(instruction["attributes"]),
            options=options,
            price_upper=price_upper,
        )
        text += limit_clause(price_upper)
        goal_id = digest([self.kind, product.asin, number, combination, text])[:ID_DIGITS]
        return Goal(goal_id, row, text, product.category, gold)


def _reopen(catalogue: Catalogue, kind: Kind, sampling: Sampling) -> Goals:
    return Goals(catalogue, kind=kind, sampling=sampling)


def _choice(names: Sequence[str], values: Sequence[Sequence[str]], combination: int) -> tuple[tuple[str, str], ...]:
    """Return the n-th choice of values, the last option varying fastest."""
    choice: list[tuple[str, str]] = []
    for name, choices in zip(reversed(names), reversed(values), strict=True):
        combination, place = divmod(combination, len(choices))
        choice.append((name, choices[place]))
    return tuple(reversed(choice))


def _options_clause(options: Sequence[tuple[str, str]]) -> str:
    return " with " + ", and ".join(f"{name}: {value}" for name, value in options) if options else ""
