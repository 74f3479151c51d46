import pickle
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentgym_r1.envs.alfworld.engine import CompiledEngine, Engine, Outcome, canonical
from agentgym_r1.errors import DataError


@pytest.fixture
def engine(kitchen):
    return CompiledEngine(kitchen("place"), goal="fill a drawer")


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("  look\n", "look"),
        ("put apple 1 in/on fridge 1", "move apple 1 to fridge 1"),
        (" put apple 1 in/on fridge 1 ", "move apple 1 to fridge 1"),
        ("put apple 1 on fridge 1", "put apple 1 on fridge 1"),
        ("put  in/on fridge 1", "put  in/on fridge 1"),
        ("Put apple 1 in/on fridge 1", "Put apple 1 in/on fridge 1"),
        ("move apple 1 to fridge 1", "move apple 1 to fridge 1"),
    ],
)
def test_the_older_spelling_of_move_is_understood(command, said):
    assert canonical(command) == said


def test_an_episode_ends_where_the_goal_holds(engine: Engine):
    assert engine.reset().endswith("Your task is to: fill a drawer.")
    commands = ["go to countertop 1", "take apple 1 from countertop 1", "go to drawer 1", "open drawer 1"]
    assert [engine.step(command).won for command in commands] == [False] * 4
    assert engine.step("put apple 1 in/on drawer 1") == Outcome(
        "You move the apple 1 to the drawer 1.", reward=1, won=True, accepted=True
    )


def test_an_inadmissible_command_is_answered_and_changes_nothing(engine):
    engine.reset()
    before = engine.snapshot()
    assert engine.step("fly to the moon") == Outcome("Nothing happens.", reward=0, won=False, accepted=False)
    assert engine.snapshot() == before


def test_admissible_commands_are_sorted_and_accepted(engine):
    engine.reset()
    assert engine.admissible == sorted(engine.admissible)
    assert all(engine.step(command).accepted for command in ("help", "look", "inventory"))


def test_a_snapshot_brings_everything_back(engine, kitchen):
    engine.reset()
    engine.step("go to countertop 1")
    snapshot = engine.snapshot()
    expected = [engine.step("take bowl 1 from countertop 1"), engine.admissible]
    other = CompiledEngine(kitchen("place"), goal="")
    other.restore(snapshot)
    assert [other.step("take bowl 1 from countertop 1"), other.admissible] == expected
    with pytest.raises(DataError, match="belongs to game"):
        CompiledEngine(kitchen("heat"), goal="").restore(snapshot)


def test_an_engine_pickles_in_the_middle_of_a_game_and_closes_twice(engine):
    engine.reset()
    engine.step("go to fridge 1")
    again = pickle.loads(pickle.dumps(engine))
    assert again.admissible == engine.admissible
    engine.close()
    engine.close()


@given(st.lists(st.text()))
def test_any_text_is_an_answer(kitchen, commands):
    engine = CompiledEngine(kitchen("two"), goal="")
    engine.reset()
    assert all(isinstance(engine.step(command), Outcome) for command in commands)


def test_a_hundred_thousand_odd_commands_never_raise(kitchen):
    engine = CompiledEngine(kitchen("heat"), goal="")
    rng = random.Random(0)
    words = [
        "go",
        "to",
        "take",
        "from",
        "move",
        "with",
        "in/on",
        "put",
        "apple 1",
        "fridge 1",
        "drawer 2",
        "\x00",
        "🔪",
    ]
    accepted = 0
    for number in range(100_000):
        if number % 1_000 == 0:
            engine.reset()
        kind = rng.randrange(4)
        if kind == 0:
            command = rng.choice(engine.admissible)
        elif kind == 1:
            command = " ".join(rng.choices(words, k=rng.randrange(7)))
        elif kind == 2:
            letters = list(rng.choice(engine.admissible))
            letters[rng.randrange(len(letters))] = chr(rng.randrange(0xD800))
            command = "".join(letters)
        else:
            command = "".join(chr(rng.randrange(0x110000)) for _ in range(rng.randrange(30)))
        accepted += engine.step(command).accepted
    assert accepted > 20_000
