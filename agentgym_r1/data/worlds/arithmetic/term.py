"""Numbers that remember how they were computed: exact values with the calculator expression beside them."""

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

Number = int | Fraction

SUM, PRODUCT, POWER, ATOM = 1, 2, 3, 4
_OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
}
_DIVISIONS = frozenset({"/", "//", "%"})


class Unusable(Exception):
    """The drawn numbers make no sensible problem (half a child, a negative change); draw again."""


@dataclass(frozen=True, slots=True)
class Term:
    """An exact number and the expression that gives it.

    Arithmetic on terms builds longer expressions with brackets where they are needed. In an f-string a term prints as
    prose, with thousands separators.

    Attributes:
        value: the exact value, an int where it is whole.
        text: a calculator expression for it.
        rank: how tightly the outermost operator binds (SUM, PRODUCT, POWER or ATOM).
    """

    value: Number
    text: str
    rank: int = ATOM

    def __add__(self, other: "Term | int") -> "Term":
        return _join(self, "+", term(other), SUM)

    def __sub__(self, other: "Term | int") -> "Term":
        return _join(self, "-", term(other), SUM)

    def __mul__(self, other: "Term | int") -> "Term":
        return _join(self, "*", term(other), PRODUCT)

    def __truediv__(self, other: "Term | int") -> "Term":
        return _join(self, "/", term(other), PRODUCT)

    def __floordiv__(self, other: "Term | int") -> "Term":
        return _join(self, "//", term(other), PRODUCT)

    def __mod__(self, other: "Term | int") -> "Term":
        return _join(self, "%", term(other), PRODUCT)

    def __pow__(self, other: "Term | int") -> "Term":
        return _join(self, "**", term(other), POWER)

    def __str__(self) -> str:
        return prose(self.value)


def term(value: "Term | Number") -> Term:
    """Return ``value`` as a term that prints as a number."""
    return value if isinstance(value, Term) else Term(value, decimal(value))


def total(parts: Sequence[Term]) -> Term:
    """Return the sum of at least one term."""
    return sum(parts[1:], parts[0])


def ceil(number: Term) -> Term:
    """Return the number rounded up."""
    return Term(-(-number.value // 1), f"ceil({number.text})")


def smaller(left: Term, right: Term) -> Term:
    """Return the minimum of two numbers."""
    return Term(min(left.value, right.value), f"min({left.text}, {right.text})")


def larger(left: Term, right: Term) -> Term:
    """Return the maximum of two numbers."""
    return Term(max(left.value, right.value), f"max({left.text}, {right.text})")


def decimal(value: Number) -> str:
    """Return the number as a decimal of at most two places; raise Unusable when that is not exact."""
    if isinstance(value, int):
        return str(value)
    cents = value * 100
    if cents.denominator != 1:
        raise Unusable(f"{value} is not a short decimal")
    whole, rest = divmod(abs(cents.numerator), 100)
    places = f".{rest:02d}".rstrip("0") if rest else ""
    return f"{'-' if value < 0 else ''}{whole}{places}"


def prose(value: Number) -> str:
    """Return the number as it stands in a sentence: 1,250 or 2.5."""
    if isinstance(value, int):
        return f"{value:,}"
    whole, point, places = decimal(value).partition(".")
    return f"{int(whole):,}{point}{places}"


def _join(left: Term, sign: str, right: Term, rank: int) -> Term:
    first = left.text if (left.rank >= rank and sign != "**") or left.rank == ATOM else f"({left.text})"
    second = right.text if right.rank > rank else f"({right.text})"
    return Term(_apply(left.value, sign, right.value), f"{first} {sign} {second}", rank)


def _apply(left: Number, sign: str, right: Number) -> Number:
    if sign in _DIVISIONS and right == 0:
        raise Unusable("division by zero")
    value: Number = Fraction(left) / right if sign == "/" else _OPERATIONS[sign](left, right)
    return value.numerator if value.denominator == 1 else value
