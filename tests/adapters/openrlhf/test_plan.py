"""The padding plan: mini-batches of episodes, equal rows a rank, and what a row weighs."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentgym_r1.adapters.openrlhf.plan import plan_rows, row_weights
from agentgym_r1.errors import ConfigError


def members(plan, ranks):
    """The episodes of each (rank, window)."""
    per = plan.rows_per_window
    cells = [plan.rows[i : i + per] for i in range(0, len(plan.rows), per)]
    assert len(cells) == plan.windows * ranks
    return [{row[0] for row in cell if row is not None} for cell in cells]


def test_two_long_and_two_short_episodes_share_two_mini_batches_evenly():
    plan = plan_rows([50, 1, 50, 1], batch=2)
    assert (plan.windows, plan.rows_per_window, plan.idle) == (2, 51, 0)
    assert sorted(sorted(cell & {0, 2}) for cell in members(plan, 1)) == [[0], [2]]


def test_an_episode_of_one_step_beside_one_of_fifty_makes_one_optimizer_step_each():
    plan = plan_rows([50, 1], batch=1)
    assert (plan.windows, plan.rows_per_window, plan.idle) == (2, 50, 49)


def test_an_episode_without_rows_still_counts():
    assert plan_rows([2, 0, 0, 0], batch=2).windows == 2
    nothing = plan_rows([0], batch=1, multiple=4)
    assert nothing.rows == (None,) * 4


def test_a_window_knows_its_rows():
    plan = plan_rows([2, 2], batch=1, ranks=1)
    assert [plan.window_of(i) for i in range(4)] == [0, 0, 1, 1]


def test_no_episodes_is_an_error():
    with pytest.raises(ConfigError, match="episodes of at least 1, got 0"):
        plan_rows([], batch=1)


lengths = st.lists(st.integers(0, 9), min_size=1, max_size=24)


@given(lengths, st.integers(1, 8), st.integers(1, 3), st.integers(1, 4), st.integers(0, 3))
def test_every_step_has_one_row_and_the_optimizer_steps_depend_on_the_episodes_alone(
    lengths, batch, ranks, multiple, seed
):
    plan = plan_rows(lengths, batch=batch, ranks=ranks, multiple=multiple, seed=seed)
    rows = Counter(row for row in plan.rows if row is not None)
    assert rows == Counter((i, k) for i, n in enumerate(lengths) for k in range(n))
    assert plan.windows == -(-len(lengths) // batch)
    assert plan.rows_per_window % multiple == 0
    assert len(plan.rows) == ranks * plan.windows * plan.rows_per_window


@given(st.lists(st.integers(1, 9), min_size=1, max_size=24), st.integers(1, 4), st.integers(1, 3))
def test_an_episode_stays_in_one_mini_batch_and_mini_batches_hold_equally_many(lengths, batch, ranks):
    cells = members(plan_rows(lengths, batch=batch, ranks=ranks), ranks)
    assert sum(map(len, cells)) == len(lengths)
    assert max(map(len, cells)) - min(map(len, cells)) <= 1


@given(
    st.lists(st.tuples(st.integers(1, 30), st.integers(0, 3)), min_size=1, max_size=12),
    st.sampled_from(["token", "step", "episode"]),
    st.booleans(),
)
def test_weights_give_every_unit_the_same_share_and_a_mean_of_one(rows, unit, mean_over_rows):
    tokens, episodes = (np.array(column) for column in zip(*rows))
    weights = row_weights(tokens, episodes, unit=unit, mean_over_rows=mean_over_rows)
    share = weights * (np.ones(len(tokens)) if mean_over_rows else tokens)
    assert share.sum() == pytest.approx(len(tokens) if mean_over_rows else tokens.sum())
    totals = {
        "token": share / tokens,
        "step": share,
        "episode": [share[episodes == e].sum() for e in np.unique(episodes)],
    }[unit]
    np.testing.assert_allclose(totals, totals[0])


def test_weighting_by_tokens_leaves_a_token_mean_as_it_is():
    assert row_weights([3, 1], [0, 0], unit="token").tolist() == [1.0, 1.0]


def test_an_unknown_unit_is_named():
    with pytest.raises(ConfigError, match="unknown unit 'row'"):
        row_weights([1], [0], unit="row")
