import random
from collections import deque
from dataclasses import replace
from pathlib import Path

import pytest

from agentgym_r1.data.alfworld import SPLITS, read_tasks
from agentgym_r1.data.worlds import household
from agentgym_r1.envs.alfworld.games import compile_task
from agentgym_r1.envs.alfworld.model import members
from agentgym_r1.envs.alfworld.planner import plan
from agentgym_r1.envs.alfworld.state import admissible, step, won

FORMS = ("place", "look", "clean", "heat", "cool", "two")
EAGER = {"take": 6, "move": 4, "open": 4, "heat": 6, "cool": 6, "clean": 6, "slice": 4, "use": 4}


def wander(game, rng, steps):
    """Return the state after random commands that rather do something than walk about."""
    state = game.start
    for _ in range(steps):
        commands = admissible(game, state)
        weights = [EAGER.get(command.partition(" ")[0], 0.5) for command in commands]
        state, _ = step(game, state, rng.choices(commands, weights)[0])
    return state


def assert_wins(game, state, commands):
    """Check that the commands are admissible and that the goal first holds after the last."""
    assert won(game, state) == (not commands)
    for number, command in enumerate(commands, start=1):
        assert command in admissible(game, state), command
        state, _ = step(game, state, command)
        assert won(game, state) == (number == len(commands)), commands


def stuck(game, state):
    """Whether the hand holds something that fits nowhere and that a look goal does not ask for."""
    return any(not any(mask >> number & 1 for mask in game.accepts) for number in members(state.held))


def shortest(game, state):
    """Return the length of the shortest plan by looking at every state, or None."""
    reached, todo = {state}, deque([(state, 0)])
    while todo:
        here, length = todo.popleft()
        if won(game, here):
            return length
        for command in admissible(game, here):
            after, _ = step(game, here, command)
            if not command.startswith(("close", "slice")) and after not in reached:
                reached.add(after)
                todo.append((after, length + 1))
    return None


@pytest.mark.parametrize("form", FORMS)
def test_plans_win_from_the_start(kitchen, form):
    game = kitchen(form)
    assert_wins(game, game.start, plan(game, game.start))


@pytest.mark.parametrize("form", FORMS)
def test_a_plan_is_found_from_every_state_that_has_one(kitchen, form):
    game = kitchen(form)
    rng = random.Random(form)
    for _ in range(150):
        state = wander(game, rng, rng.randrange(60))
        commands = plan(game, state)
        if commands is None:
            assert stuck(game, state)
            assert not won(game, state)
        else:
            assert_wins(game, state, commands)


@pytest.mark.parametrize("form", ["place", "clean", "cool", "look"])
def test_plans_are_about_as_short_as_can_be(kitchen, form):
    game = kitchen(form)
    best = shortest(game, game.start)
    assert best is not None
    assert best <= len(plan(game, game.start)) <= best + 1


def test_where_nothing_helps_there_is_no_plan(kitchen):
    game = kitchen("place")
    state, _ = step(game, game.start, "go to drawer 1")
    for command in ("open drawer 1", "take teddybear 1 from drawer 1"):
        state, _ = step(game, state, command)
    assert plan(game, state) is None
    assert shortest(game, state) is None


def test_the_plan_from_the_start_of_a_recorded_game_is_its_walkthrough(kitchen):
    recorded = ("look", "go to fridge 1")
    game = replace(kitchen("place"), walkthrough=recorded)
    assert plan(game, game.start) == recorded
    elsewhere, _ = step(game, game.start, "go to fridge 1")
    assert_wins(game, elsewhere, plan(game, elsewhere))


def test_a_won_game_needs_no_plan(kitchen):
    game = kitchen("place")
    state = game.start
    for command in plan(game, state):
        state, _ = step(game, state, command)
    assert plan(game, state) == ()


@pytest.mark.parametrize("split", SPLITS)
def test_every_state_of_the_household_world_has_a_plan(split):
    tasks = household.tasks(split, size=60)
    for index in range(60):
        game = compile_task(tasks[index])
        state = wander(game, random.Random(index), index)
        assert_wins(game, state, plan(game, state))


@pytest.mark.real
@pytest.mark.parametrize("split", SPLITS)
def test_official_games_are_won_from_200_random_states(sample_games: Path, split: str):
    rng = random.Random(split)
    games = [compile_task(task) for task in read_tasks([sample_games], split)]
    won_from = 0
    while won_from < 200:
        game = rng.choice(games)
        state = wander(game, rng, rng.randrange(50))
        commands = plan(game, state)
        if commands is None:
            assert stuck(game, state)
        else:
            assert_wins(game, state, commands)
            won_from += 1
