import pytest

from agentgym_r1.envs.alfworld.compile import compile_game
from agentgym_r1.envs.alfworld.model import members
from agentgym_r1.errors import DataError


def names(game, mask):
    return [game.objects[number] for number in members(mask)]


def test_names_are_numbered_downwards_in_the_order_of_the_identifiers(kitchen):
    game = kitchen("place")
    assert game.receptacles == ("countertop 1", "drawer 2", "drawer 1", "fridge 1", "microwave 1", "sinkbasin 1")
    assert game.objects == ("apple 2", "apple 1", "bowl 1", "desklamp 1", "knife 1", "teddybear 1")


def test_receptacles_know_their_place_and_what_they_hold(kitchen):
    game = kitchen("place")
    fridge, counter, basin = (game.receptacle_numbers[name] for name in ("fridge 1", "countertop 1", "sinkbasin 1"))
    assert names(game, game.accepts[fridge]) == ["apple 2", "apple 1", "bowl 1"]
    assert names(game, game.start.inside[fridge]) == ["apple 2"]
    assert game.receptacles_at[game.place_of[counter]] == (counter, basin)


def test_the_target_of_a_treatment_is_what_can_be_treated(problem, goals):
    text = problem(goals["heat"]).replace("(heatable Apple_bar_1)", "")
    game = compile_game(text, name="kitchen")
    assert names(game, game.target.objects) == ["apple 1"]


def test_the_lamp_of_a_look_goal_can_be_turned_on(kitchen):
    game = kitchen("look")
    assert names(game, game.target.lamps) == ["desklamp 1"]
    assert names(game, game.target.objects) == ["knife 1"]
    assert game.target.receptacles == 0


def test_initial_properties_are_kept(kitchen):
    game = kitchen("place", "(isCool Apple_bar_1)", "(opened Fridge_bar_1)", "(isToggled DeskLamp_bar_1)")
    assert names(game, game.start.cool) == ["apple 2"]
    assert names(game, game.start.lit) == ["desklamp 1"]
    assert [game.receptacles[number] for number in members(game.start.opened)] == ["fridge 1"]


def test_the_key_tells_games_apart_and_is_stable(kitchen):
    assert kitchen("place").key == kitchen("place").key != kitchen("heat").key


@pytest.mark.parametrize(
    ("fact", "reason"),
    [
        ("(holds agent1 Apple_bar_1)", "do not start with: holds"),
        ("(flies Apple_bar_1)", "do not start with: flies"),
        ("(openable Fridge_bar_1 now)", "openable takes 1 names, got 2"),
        ("(inReceptacle Apple_bar_1)", "inreceptacle takes 2 names, got 1"),
        ("(atLocation agent1 loc_bar_1)", "start the agent at one location, got 2"),
        ("(inReceptacle Ghost_bar_1 Fridge_bar_1)", "has no type: ghost_bar_1"),
        ("(inReceptacle Apple_bar_1 Shelf_bar_1)", "has no type: shelf_bar_1"),
        ("(receptacleType Shelf_bar_1 ShelfType)", "7 receptacles but locations for 6"),
        ("(objectType Pear PearType)", "without coordinates in its identifier: pear"),
    ],
)
def test_facts_that_no_game_has_are_refused_with_the_reason(problem, goals, fact, reason):
    with pytest.raises(DataError, match=f"^kitchen.*{reason}"):
        compile_game(problem(goals["place"], fact), name="kitchen")


def test_facts_without_effect_and_untyped_things_are_let_pass(kitchen):
    odd = ("(wasInReceptacle Apple_bar_1 Fridge_bar_1)", "(pickupable Ghost_bar_1)", "(full Fridge_bar_1)")
    assert kitchen("place", *odd).start == kitchen("place").start
