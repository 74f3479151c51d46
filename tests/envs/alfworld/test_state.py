import json
import random
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentgym_r1.envs.alfworld.state import admissible, anchor, load, save, step, won
from agentgym_r1.errors import DataError

NOTHING = "Nothing happens."
TOOK_APPLE = ("go to countertop 1", "take apple 1 from countertop 1")
TOOK_KNIFE = ("go to drawer 2", "open drawer 2", "take knife 1 from drawer 2")


def play(game, *commands, state=None):
    """Return the state and the text after some commands."""
    state, said = state or game.start, ""
    for command in commands:
        state, said = step(game, state, command)
    return state, said


def says(game, *commands):
    return play(game, *commands)[1]


def wander(game, rng, steps):
    state = game.start
    for _ in range(steps):
        state, _ = step(game, state, rng.choice(admissible(game, state)))
    return state


def test_going_shows_what_is_there(kitchen):
    game = kitchen("place")
    assert says(game, "go to drawer 1") == "You arrive at drawer 1. The drawer 1 is closed."
    assert says(game, "go to countertop 1") == (
        "You arrive at countertop 1. On the countertop 1, you see a apple 1, a bowl 1, and a desklamp 1."
    )


def test_going_to_where_one_is_does_nothing_also_through_a_neighbour(kitchen):
    game = kitchen("place")
    assert says(game, "go to countertop 1", "go to countertop 1") == NOTHING
    assert says(game, "go to countertop 1", "go to sinkbasin 1") == NOTHING


def test_facing_a_place_names_all_its_receptacles(kitchen):
    assert says(kitchen("place"), "go to countertop 1", "look") == (
        "You are facing the countertop 1, and sinkbasin 1. Next to it, you see nothing."
    )


def test_only_what_moved_between_neighbours_lies_next_to_them(kitchen):
    game = kitchen("place")
    moved = (*TOOK_APPLE, "move apple 1 to sinkbasin 1")
    assert says(game, *moved, "look").endswith("Next to it, you see a apple 1.")
    back = ("take apple 1 from sinkbasin 1", "move apple 1 to countertop 1")
    assert says(game, *moved, *back, "look").endswith("Next to it, you see a apple 1.")
    assert says(game, *moved, "take apple 1 from sinkbasin 1", "look").endswith("Next to it, you see nothing.")
    assert says(game, *TOOK_APPLE, "move apple 1 to countertop 1", "look").endswith("Next to it, you see nothing.")


def test_a_door_hides_what_is_inside_until_it_is_opened(kitchen):
    game = kitchen("place")
    assert says(game, "go to fridge 1", "examine fridge 1") == "The fridge 1 is closed."
    assert says(game, "go to fridge 1", "take apple 2 from fridge 1") == NOTHING
    assert says(game, "go to fridge 1", "open fridge 1") == (
        "You open the fridge 1. The fridge 1 is open. In it, you see a apple 2."
    )
    assert says(game, "go to fridge 1", "open fridge 1", "open fridge 1") == NOTHING
    assert says(game, "go to fridge 1", "open fridge 1", "close fridge 1") == "You close the fridge 1."
    assert says(game, "go to fridge 1", "close fridge 1") == NOTHING


def test_only_what_is_held_can_be_examined(kitchen):
    game = kitchen("place")
    assert says(game, "go to countertop 1", "examine apple 1") == NOTHING
    assert says(game, *TOOK_APPLE, "examine apple 1") == "There's nothing special about apple 1."


def test_the_hand_holds_one_thing(kitchen):
    game = kitchen("place")
    assert says(game, "inventory") == "You are not carrying anything."
    assert says(game, *TOOK_APPLE, "inventory") == "You are carrying: a apple 1."
    assert says(game, *TOOK_APPLE, "take bowl 1 from countertop 1") == NOTHING


def test_things_go_only_where_they_fit(kitchen):
    game = kitchen("place")
    assert says(game, *TOOK_KNIFE, "go to fridge 1", "open fridge 1", "move knife 1 to fridge 1") == NOTHING


@pytest.mark.parametrize(
    ("verb", "appliance", "attribute"),
    [("heat", "microwave 1", "hot"), ("cool", "fridge 1", "cool"), ("clean", "sinkbasin 1", "clean")],
)
def test_appliances_work_with_the_door_closed(kitchen, verb, appliance, attribute):
    game = kitchen("place")
    state, said = play(game, *TOOK_APPLE, f"go to {appliance}", f"{verb} apple 1 with {appliance}")
    assert said == f"You {verb} the apple 1 using the {appliance}."
    assert getattr(state, attribute) == 1 << game.object_numbers["apple 1"]
    assert says(game, f"go to {appliance}", f"{verb} apple 1 with {appliance}") == NOTHING
    assert says(game, *TOOK_APPLE, "go to drawer 1", f"{verb} apple 1 with drawer 1") == NOTHING


def test_heat_undoes_cold_and_cold_undoes_heat(kitchen):
    game = kitchen("place")
    cooled = (*TOOK_APPLE, "go to fridge 1", "cool apple 1 with fridge 1")
    heated = (*cooled, "go to microwave 1", "heat apple 1 with microwave 1")
    assert says(game, *cooled, "examine apple 1") == "This is a cold apple 1."
    assert says(game, *heated, "examine apple 1") == "This is a hot apple 1."
    again = ("go to fridge 1", "cool apple 1 with fridge 1", "examine apple 1")
    assert says(game, *heated, *again) == "This is a cold apple 1."


def test_use_always_turns_on(kitchen):
    game = kitchen("look")
    use = ("go to countertop 1", "use desklamp 1")
    assert says(game, *use) == says(game, *use, "use desklamp 1") == "You turn on the desklamp 1."
    assert says(game, "use desklamp 1") == NOTHING
    assert says(game, "go to countertop 1", "use bowl 1") == NOTHING


def test_slicing_needs_a_knife_in_hand_and_the_thing_at_this_place(kitchen):
    game = kitchen("place")
    assert says(game, *TOOK_KNIFE, "slice apple 1 with knife 1") == NOTHING
    assert says(game, "go to countertop 1", "slice apple 1 with knife 1") == NOTHING
    assert says(game, *TOOK_KNIFE, "go to countertop 1", "slice bowl 1 with knife 1") == NOTHING
    assert says(game, *TOOK_KNIFE, "go to countertop 1", "slice apple 1 with knife 1") == (
        "You sliced the apple 1 with the knife 1."
    )
    assert says(game, *TOOK_KNIFE, "go to fridge 1", "slice apple 2 with knife 1").startswith("You sliced")


def test_help_has_no_leading_newline(kitchen):
    assert says(kitchen("place"), "help").startswith("Available commands:\n  look:")


@pytest.mark.parametrize(
    "command",
    ["", "Look", "look around", "go fridge 1", "go to", "take", "take apple 1", "LOOK", "go  to fridge 1", "dance"],
)
def test_commands_match_to_the_letter(kitchen, command):
    game = kitchen("place")
    assert step(game, game.start, command) == (game.start, NOTHING)


def test_a_win_can_be_undone(kitchen):
    game = kitchen("place")
    before, _ = play(game, *TOOK_APPLE, "go to drawer 1", "open drawer 1")
    placed, _ = play(game, "move apple 1 to drawer 1", state=before)
    taken, _ = play(game, "take apple 1 from drawer 1", state=placed)
    assert [won(game, state) for state in (before, placed, taken)] == [False, True, False]


@pytest.mark.parametrize(
    ("goal", "treat"),
    [
        ("clean", ["clean apple 1 with sinkbasin 1", "go to fridge 1", "open fridge 1", "move apple 1 to fridge 1"]),
        (
            "heat",
            ["go to microwave 1", "heat apple 1 with microwave 1", *TOOK_APPLE[:1], "move apple 1 to countertop 1"],
        ),
    ],
)
def test_a_treated_object_must_also_be_placed(kitchen, goal, treat):
    game = kitchen(goal)
    assert won(game, play(game, *TOOK_APPLE, *treat)[0])
    assert not won(game, play(game, *TOOK_APPLE, *treat[:-1])[0])
    assert not won(game, play(game, *TOOK_APPLE, *(say for say in treat if not say.startswith(goal)))[0])


def test_two_must_lie_in_the_same_receptacle(kitchen):
    game = kitchen("two")
    first = (*TOOK_APPLE, "go to drawer 1", "open drawer 1", "open drawer 2", "move apple 1 to drawer 1")
    fetch = ("go to fridge 1", "open fridge 1", "take apple 2 from fridge 1", "go to drawer 1")
    assert not won(game, play(game, *first, *fetch, "move apple 2 to drawer 2")[0])
    assert won(game, play(game, *first, *fetch, "move apple 2 to drawer 1")[0])


def test_looking_at_needs_the_thing_in_hand_and_a_lit_lamp_at_this_place(kitchen):
    game = kitchen("look")
    lit, _ = play(game, *TOOK_KNIFE, "go to countertop 1", "use desklamp 1")
    assert won(game, lit)
    assert not won(game, play(game, "go to fridge 1", state=lit)[0])
    assert not won(game, play(game, "go to countertop 1", "use desklamp 1")[0])


@settings(deadline=None)
@given(st.integers(0, 2**32), st.integers(0, 60))
def test_exactly_the_admissible_commands_are_carried_out(kitchen, seed, steps):
    game = kitchen("place")
    state = wander(game, random.Random(seed), steps)
    everything = [*game.receptacles, *game.objects, "nothing 1"]
    commands = {"look", "inventory", "help"}
    commands |= {f"{verb} {name}" for verb in ("go to", "open", "close", "examine", "use") for name in everything}
    patterns = [("take", "from"), ("move", "to"), *((verb, "with") for verb in ("heat", "cool", "clean", "slice"))]
    commands |= {
        f"{verb} {one} {word} {other}" for verb, word in patterns for one, other in product(everything, everything)
    }
    carried_out = sorted(command for command in commands if step(game, state, command)[1] != NOTHING)
    assert carried_out == admissible(game, state)


@given(st.integers(0, 2**32), st.integers(0, 60))
def test_a_saved_state_comes_back_equal(kitchen, seed, steps):
    game = kitchen("heat")
    state = wander(game, random.Random(seed), steps)
    assert load(game, save(game, state)) == state


def test_equal_states_have_equal_anchors_and_others_have_not(kitchen):
    game = kitchen("place")
    there_and_back, _ = play(game, "go to fridge 1", "open fridge 1", "close fridge 1", "go to drawer 1")
    assert anchor(game, there_and_back) == anchor(game, play(game, "go to drawer 1")[0])
    assert anchor(game, there_and_back) != anchor(game, game.start)
    assert anchor(game, game.start) != anchor(kitchen("heat"), game.start)


@pytest.mark.parametrize("data", [b"", b"\xff", b"{", b"3", b"null", b"[]"])
def test_bytes_that_are_no_state_are_refused(kitchen, data):
    with pytest.raises(DataError, match="saved state"):
        load(kitchen("place"), data)


def test_the_state_of_another_game_is_refused(kitchen):
    game = kitchen("place")
    with pytest.raises(DataError, match=f"belongs to game '{game.key}'"):
        load(kitchen("heat"), save(game, game.start))


@pytest.mark.parametrize("change", [lambda values: values[:-1], lambda values: [*values[:4], [0], *values[5:]]])
def test_a_damaged_state_is_refused(kitchen, change):
    game = kitchen("place")
    values = change(json.loads(save(game, game.start)))
    with pytest.raises(DataError, match="damaged"):
        load(game, json.dumps(values).encode())
