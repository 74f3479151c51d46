"""Intervals and paired tests against values known from elsewhere."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentgym_r1.bench.statistics import bootstrap_mean, compare_paired, wilson
from agentgym_r1.errors import ConfigError


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [(5, 10, 0.2366, 0.7634), (0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (64, 128, 0.4146, 0.5854)],
)
def test_wilson_intervals_equal_the_published_ones(successes: int, trials: int, low: float, high: float) -> None:
    interval = wilson(successes, trials)
    assert interval.value == successes / trials
    assert interval.low == pytest.approx(low, abs=1e-4)
    assert interval.high == pytest.approx(high, abs=1e-4)


def test_no_trials_say_nothing() -> None:
    assert (wilson(0, 0).low, wilson(0, 0).high) == (0.0, 1.0)


def test_more_successes_than_trials_are_refused() -> None:
    with pytest.raises(ConfigError, match="between 0 and 3, got 4"):
        wilson(4, 3)


@given(st.lists(st.floats(-10, 10), min_size=1, max_size=60))
def test_a_bootstrap_interval_holds_its_mean(values: list[float]) -> None:
    interval = bootstrap_mean(values)
    assert interval.low - 1e-9 <= interval.value <= interval.high + 1e-9
    assert min(values) - 1e-9 <= interval.low
    assert interval.high <= max(values) + 1e-9


def test_the_bootstrap_of_a_coin_is_as_wide_as_theory_says() -> None:
    interval = bootstrap_mean([0.0, 1.0] * 200)
    assert interval.high - interval.low == pytest.approx(2 * 1.96 * 0.5 / 400**0.5, rel=0.05)


def test_equal_policies_are_not_separated() -> None:
    comparison = compare_paired([1.0, 0.0, 1.0], [1.0, 0.0, 1.0])
    assert not comparison.separated
    assert comparison.p_value == 1.0


def test_a_clear_winner_is_separated_and_a_lucky_one_is_not() -> None:
    assert compare_paired([1.0] * 20, [0.0] * 20).separated
    assert not compare_paired([1.0, 1.0, 0.0], [0.0, 0.0, 0.0]).separated


def test_the_paired_test_agrees_with_the_exact_sign_test() -> None:
    first, second = [1.0] * 7 + [0.0], [0.0] * 7 + [1.0]
    assert compare_paired(first, second).p_value == pytest.approx(2 * 9 / 256, abs=0.01)


def test_different_tasks_cannot_be_compared() -> None:
    with pytest.raises(ConfigError, match="the same tasks on both sides, got 1 and 2"):
        compare_paired([1.0], [1.0, 0.0])
