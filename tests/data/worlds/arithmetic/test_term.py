"""Exact numbers that print as calculator expressions."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentgym_r1.data.worlds.arithmetic.term import Term, Unusable, ceil, decimal, larger, prose, smaller, term
from agentgym_r1.tools.arithmetic import evaluate

OPERATIONS = {
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
    "/": lambda left, right: left / right,
    "//": lambda left, right: left // right,
    "%": lambda left, right: left % right,
}
terms = st.recursive(
    st.integers(1, 50).map(term),
    lambda inner: st.tuples(inner, st.sampled_from(sorted(OPERATIONS)), inner),
    max_leaves=8,
)


def build(tree: object) -> Term:
    if isinstance(tree, Term):
        return tree
    left, sign, right = tree
    return OPERATIONS[sign](build(left), build(right))


@given(terms)
def test_an_expression_has_the_value_that_the_calculator_gives_it(tree: object):
    try:
        built = build(tree)
    except Unusable:
        return
    assert built.value == evaluate(built.text)


def test_brackets_stand_only_where_they_are_needed():
    a, b, c = map(term, (7, 3, 2))
    assert (a - (b + c)).text == "7 - (3 + 2)"
    assert ((a - b) + c).text == "7 - 3 + 2"
    assert ((a + b) * c).text == "(7 + 3) * 2"
    assert (a * b / c).text == "7 * 3 / 2"
    assert ((a * b) ** c).text == "(7 * 3) ** 2"
    assert ceil(a / b).text == "ceil(7 / 3)"


def test_functions_compute():
    a, b = term(7), term(3)
    assert (ceil(a / b).value, smaller(a, b).value, larger(a, b).value) == (3, 3, 7)


def test_division_by_zero_is_unusable():
    with pytest.raises(Unusable):
        term(4) / 0


@pytest.mark.parametrize(
    ("value", "text"), [(Fraction(5, 2), "2.5"), (1250, "1250"), (Fraction(1, 4), "0.25"), (Fraction(-3, 2), "-1.5")]
)
def test_decimals_are_short(value: Fraction | int, text: str):
    assert decimal(value) == text


def test_a_third_is_no_short_decimal():
    with pytest.raises(Unusable):
        decimal(Fraction(1, 3))


def test_prose_separates_thousands():
    assert (prose(1250), prose(Fraction(25001, 2))) == ("1,250", "12,500.5")
