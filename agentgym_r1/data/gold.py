"""What scoring needs to know of a task, one frozen dataclass a task family; the policy never sees any of it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class QAGold:
    """Gold of a question.

    Attributes:
        answers: accepted answers, the canonical one first, at least one.
        supporting: ids, in the set's own corpus, of the passages that hold the evidence, in reasoning order.
        supporting_titles: titles of the same passages, for corpora with other ids (wiki-18, fullwiki).
    """

    answers: tuple[str, ...]
    supporting: tuple[str, ...]
    supporting_titles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NumberGold:
    """Gold of a word problem.

    Attributes:
        answer: the number as text, without thousands separators, for example "18" or "-2.5".
        solution: calculator expressions that lead to it, in order; the last one gives the answer.
    """

    answer: str
    solution: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ShopGold:
    """Gold of a shopping goal.

    Attributes:
        asin: the product that the goal was made from; another one may earn the full reward too.
        query, product_category: the product's, for the type match.
        nouns: lower-cased nouns of the product's title, in order, with repeats.
        attributes: the properties asked for.
        options: the choices asked for: (name, value) pairs of a generated goal, plain values of a person's.
        price_upper: the most it may cost.
    """

    asin: str
    query: str
    product_category: str
    nouns: tuple[str, ...]
    attributes: tuple[str, ...]
    options: tuple[tuple[str, str], ...] | tuple[str, ...]
    price_upper: float


@dataclass(frozen=True, slots=True)
class GameGold:
    """Gold of a household game.

    Attributes:
        problem: the PDDL problem: where everything is, and the goal.
        walkthrough: commands that win from the start, in order; empty when none are recorded.
        annotations: the goal in the words of people, possibly none.
    """

    problem: str
    walkthrough: tuple[str, ...]
    annotations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PaperGold:
    """Gold of a literature query.

    Attributes:
        papers: ids, in the set's own library, of the papers that satisfy it, as published; empty without a library.
        titles: titles of the same papers, for other libraries.
        absent: titles (or ids) of the papers that satisfy it and that the library does not hold.
    """

    papers: tuple[str, ...]
    titles: tuple[str, ...]
    absent: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LevelGold:
    """What lays a MiniGrid level out: its Gymnasium id and the seed, and the hash of the layout that comes of it."""

    level: str
    seed: int
    layout: str
