"""Prices and price limits."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentgym_r1.data.webshop.draws import (
    NO_LIMIT,
    limit,
    limit_clause,
    original_order,
    price,
    seeded_limit,
    seeded_price,
)


@given(st.text(), st.integers(0, 9), st.floats(0, 2000))
def test_a_limit_is_the_second_to_fourth_multiple_of_ten_above_the_cost(asin: str, number: int, cost: float) -> None:
    drawn = seeded_limit(asin, number, cost)
    above = [10.0 * tens for tens in range(1, 100) if 10.0 * tens > cost][:4]
    assert drawn in above[1:] if len(above) >= 2 else drawn == NO_LIMIT
    assert seeded_limit(asin, number, cost) == drawn


@given(st.text(), st.floats(1, 500), st.floats(0, 500))
def test_a_price_lies_in_its_range_and_does_not_change(asin: str, low: float, width: float) -> None:
    drawn = seeded_price(asin, (low, low + width))
    assert low <= drawn <= low + width
    assert seeded_price(asin, (low, low + width)) == drawn
    assert seeded_price(asin, (low,)) == low


def test_one_price_takes_nothing_from_the_stream() -> None:
    rng = random.Random(1)
    state = rng.getstate()
    assert price(rng, (3.0,)) == 3.0
    assert rng.getstate() == state


def test_seeded_draws_are_the_same_everywhere() -> None:
    assert seeded_price("B000000001", (1.0, 2.0)) == 1.0 + 1.0 * random.Random("price/B000000001").random()
    assert [seeded_limit(f"B{number}", 0, 12.5) for number in range(8)] == [50, 50, 50, 30, 50, 50, 40, 30]


@pytest.mark.parametrize(("limit_", "clause"), [(40.0, ", and price lower than 40.00 dollars"), (NO_LIMIT, "")])
def test_an_instruction_states_the_limit_where_there_is_one(limit_: float, clause: str) -> None:
    assert limit_clause(limit_) == clause


def test_costs_near_the_end_have_no_limit() -> None:
    assert limit(random.Random(0), 979.99) == 990.0
    assert limit(random.Random(0), 980.0) == NO_LIMIT


def test_the_original_order_is_a_permutation_that_depends_on_the_number_only() -> None:
    assert sorted(original_order(100)) == list(range(100))
    assert original_order(100) == original_order(100)
