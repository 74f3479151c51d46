from dataclasses import replace

import pytest

from agentgym_r1.envs.alfworld import text


@pytest.mark.parametrize(
    ("names", "said"),
    [([], "nothing"), (["a"], "a"), (["a", "b"], "a, and b"), (["a", "b", "c"], "a, b, and c")],
)
def test_lists_read_as_the_grammar_writes_them(names, said):
    assert text.enumeration(names) == said


def test_the_first_text_shows_the_room_and_the_task(kitchen):
    game = kitchen("place")
    assert text.intro(game, game.start, goal="do it") == (
        "-= Welcome to TextWorld, ALFRED! =-\n\n"
        "You are in the middle of a room. Looking quickly around you, you see a countertop 1, a drawer 2, a drawer 1, "
        "a fridge 1, a microwave 1, and a sinkbasin 1.\n\n"
        "Your task is to: do it."
    )


def test_looking_again_from_the_middle_shows_nothing(kitchen):
    game = kitchen("place")
    assert text.look(game, game.start).endswith("you see nothing.")


@pytest.mark.parametrize(
    ("states", "said"),
    [
        ((), "There's nothing special about apple 2."),
        (("hot",), "This is a hot apple 2."),
        (("clean",), "This is a clean apple 2."),
        (("cool",), "This is a cold apple 2."),
        (("sliced",), "This is a sliced apple 2."),
        (("hot", "sliced"), "This is a hot sliced apple 2."),
        (("cool", "sliced"), "This is a cool sliced apple 2."),
        (("clean", "sliced"), "This is a clean sliced apple 2."),
        (("clean", "hot"), "This is a hot and clean apple 2."),
        (("clean", "cool"), "This is a cool and clean apple 2."),
        (("clean", "hot", "sliced"), "This is a hot and clean sliced apple 2."),
        (("clean", "cool", "sliced"), "This is a cool and clean sliced apple 2."),
    ],
)
def test_an_object_is_called_by_what_was_done_to_it(kitchen, states, said):
    game = kitchen("place")
    apple = game.object_numbers["apple 2"]
    state = replace(game.start, **dict.fromkeys(states, 1 << apple))
    assert text.examined(game, state, apple) == said


def test_a_bowl_shows_what_lies_in_it_whatever_was_done_to_it(kitchen):
    game = kitchen("place")
    bowl = game.object_numbers["bowl 1"]
    state = replace(game.start, clean=1 << bowl)
    assert text.examined(game, state, bowl) == "This is a normal bowl 1. In it, you see a apple 1."


def test_a_lamp_in_hand_is_on_or_nothing_special(kitchen):
    game = kitchen("look")
    lamp = game.object_numbers["desklamp 1"]
    assert text.examined(game, game.start, lamp) == "There's nothing special about desklamp 1."
    assert text.examined(game, replace(game.start, lit=1 << lamp), lamp) == "This desklamp 1 is on."
