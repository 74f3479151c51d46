import hashlib
import pickle
from collections import Counter

import pytest

from agentgym_r1.data.alfworld import SPLITS, TASK_TYPES
from agentgym_r1.data.worlds import household
from agentgym_r1.envs.alfworld.games import compile_task
from agentgym_r1.envs.alfworld.model import members
from agentgym_r1.envs.alfworld.planner import plan
from agentgym_r1.envs.alfworld.state import admissible, step, won
from agentgym_r1.errors import ConfigError

KNOBS = [
    {},
    {"room_size": "small"},
    {"room_size": "large"},
    {"receptacles": 8, "distractors": 0},
    {"receptacles": 60, "distractors": 60},
]


def made(count, split="train", **knobs):
    tasks = household.tasks(split, size=count, **knobs)
    return [tasks[index] for index in range(count)]


@pytest.mark.parametrize("knobs", KNOBS)
@pytest.mark.parametrize("split", SPLITS)
def test_every_walkthrough_wins_at_its_last_step(split, knobs):
    for task in made(60, split, **knobs):
        game = compile_task(task)
        state = game.start
        for number, command in enumerate(task.gold.walkthrough, start=1):
            assert command in admissible(game, state), (task.id, command)
            state, _ = step(game, state, command)
            assert won(game, state) == (number == len(task.gold.walkthrough)), task.id


def test_walkthroughs_are_about_as_long_as_the_plans_of_the_planner():
    for task in made(60):
        game = compile_task(task)
        assert len(plan(game, game.start)) <= len(task.gold.walkthrough) <= 14


@pytest.mark.parametrize("split", SPLITS)
def test_the_six_task_types_come_in_turn(split):
    assert Counter(task.kind for task in made(60, split)) == dict.fromkeys(TASK_TYPES, 10)


def test_the_types_can_be_chosen():
    kinds = [task.kind for task in made(4, task_types=["pick_two_obj_and_place", "look_at_obj_in_light"])]
    assert kinds == ["look_at_obj_in_light", "pick_two_obj_and_place"] * 2


@pytest.mark.parametrize(
    ("knobs", "receptacles", "things"),
    [
        ({"room_size": "small"}, 10, range(9, 13)),
        ({"room_size": "medium"}, 18, range(19, 23)),
        ({"room_size": "large"}, 30, range(33, 37)),
        ({"receptacles": 40, "distractors": 5}, 40, range(6, 10)),
        ({"receptacles": 8, "distractors": 0}, 8, range(1, 5)),
    ],
)
def test_the_knobs_set_the_size(knobs, receptacles, things):
    for task in made(24, **knobs):
        game = compile_task(task)
        assert len(game.receptacles) == receptacles
        assert len(game.objects) in things


def test_whatever_can_be_taken_can_be_put_down_again():
    for task in made(120):
        game = compile_task(task)
        accepted = 0
        for mask in game.accepts:
            accepted |= mask
        assert not game.pickupable & ~accepted


def test_the_games_have_the_traps_of_the_published_ones():
    games = [compile_task(task) for task in made(120)]
    assert any(len(here) > 1 for game in games for here in game.receptacles_at)
    assert any(game.start.cool for game in games)
    assert any(game.contents for game in games)
    assert all(not game.receptacles_at[game.start.place] for game in games)
    assert any(game.knives and game.sliceable for game in games)


def test_no_needed_object_lies_where_it_belongs():
    for task in made(120):
        game = compile_task(task)
        placed = [
            game.start.inside[receptacle] & game.target.objects for receptacle in members(game.target.receptacles)
        ]
        assert not any(placed)


def errand(task):
    """Return the floor plan (its furniture and where it stands), the goal and the type of a task."""
    furniture = sorted(line for line in task.gold.problem.splitlines() if line.startswith("(receptacleAtLocation"))
    return hashlib.sha256("".join(furniture).encode()).hexdigest(), task.gold.problem.partition("(:goal")[2]


def test_splits_share_floor_plans_as_alfworlds_do_and_no_errands():
    errands = {split: {errand(task) for task in made(600, split)} for split in SPLITS}
    plans = {split: {plan for plan, _ in found} for split, found in errands.items()}
    assert not errands["train"] & errands["valid_seen"]
    assert len(plans["train"] & plans["valid_seen"]) > 50
    assert not plans["valid_unseen"] & (plans["train"] | plans["valid_seen"])


def test_games_of_a_split_differ():
    tasks = made(300)
    assert len({task.gold.problem.partition("(:init")[2] for task in tasks}) == 300
    assert len({task.prompt for task in tasks}) > 150


def test_a_task_depends_on_the_seed_and_the_knobs_but_not_on_the_size():
    assert made(3, seed=1) == made(30, seed=1)[:3] != made(3, seed=2)
    assert made(3, receptacles=9)[0] != made(3)[0]


def test_games_are_the_same_on_every_platform():
    digests = [task.digest() for task in made(12, seed=5)]
    assert (
        hashlib.sha256("".join(digests).encode()).hexdigest()
        == "7d0d2e7abcd059ea851cc92f8b0f7ec24aac73c6b0eb7f2c80953942fc63cc05"
    )


def test_sizes_and_names_are_those_of_a_task_set():
    tasks = household.tasks("valid_unseen")
    assert (tasks.name, tasks.split, tasks.source, len(tasks)) == ("household", "valid_unseen", "world", 134)
    assert [len(household.tasks(split)) for split in SPLITS] == [3_600, 140, 134]
    assert pickle.loads(pickle.dumps(tasks))[7] == tasks[7]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"split": "test"}, "unknown split of household 'test'"),
        ({"room_size": "huge"}, "unknown room size 'huge'"),
        ({"receptacles": 7}, "receptacles must be from 8 to 60, got 7"),
        ({"receptacles": 61}, "got 61"),
        ({"distractors": -1}, "distractors must be from 0 to 60, got -1"),
        ({"task_types": ["juggle"]}, "unknown task type 'juggle'"),
    ],
)
def test_what_is_out_of_range_is_refused(arguments, reason):
    with pytest.raises(ConfigError, match=reason):
        household.tasks(**arguments)
