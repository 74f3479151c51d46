import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentgym_r1.envs.alfworld.planner import plan
from agentgym_r1.envs.alfworld.progress import progress
from agentgym_r1.envs.alfworld.state import admissible, step, won

FORMS = ("place", "look", "clean", "heat", "cool", "two")


def along(game, commands):
    """Return the progress at the start and after every command."""
    state = game.start
    shares = [progress(game, state)]
    for command in commands:
        state, _ = step(game, state, command)
        shares.append(progress(game, state))
    return shares


@pytest.mark.parametrize("form", FORMS)
def test_a_plan_leads_from_nothing_to_everything_without_a_step_back(kitchen, form):
    game = kitchen(form)
    shares = along(game, plan(game, game.start))
    assert (shares[0], shares[-1]) == (0, 1)
    assert shares == sorted(shares)
    assert max(shares[:-1]) < 1


@settings(deadline=None)
@given(st.sampled_from(FORMS), st.integers(0, 2**32))
def test_progress_is_a_share_and_whole_only_at_the_goal(kitchen, form, seed):
    game = kitchen(form)
    rng, state = random.Random(seed), game.start
    for _ in range(40):
        state, _ = step(game, state, rng.choice(admissible(game, state)))
        assert 0 <= progress(game, state) <= 1
        assert (progress(game, state) == 1) == won(game, state)


def test_the_steps_of_a_treatment_count_a_third_each(kitchen):
    commands = ["go to countertop 1", "take apple 1 from countertop 1", "clean apple 1 with sinkbasin 1"]
    assert along(kitchen("clean"), commands) == [0, 0, 1 / 3, 2 / 3]


def test_putting_the_object_down_elsewhere_loses_what_holding_it_gave(kitchen):
    commands = ["go to countertop 1", "take apple 1 from countertop 1", "move apple 1 to sinkbasin 1"]
    assert along(kitchen("place"), commands) == [0, 0, 1 / 2, 0]


def test_a_pair_counts_only_in_one_receptacle(kitchen):
    game = kitchen("two")
    first = ["go to countertop 1", "take apple 1 from countertop 1", "go to drawer 1", "open drawer 1", "open drawer 2"]
    commands = [*first, "move apple 1 to drawer 1", "go to fridge 1", "open fridge 1", "take apple 2 from fridge 1"]
    shares = along(game, [*commands, "go to drawer 1", "move apple 2 to drawer 2"])
    assert shares[-6:] == [1 / 2, 1 / 2, 1 / 2, 3 / 4, 3 / 4, 1 / 2]
