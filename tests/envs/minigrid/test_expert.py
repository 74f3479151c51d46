"""Who knows the way through a level."""

import random

import pytest

from agentgym_r1.envs.minigrid.expert import Expert, search
from agentgym_r1.envs.minigrid.level import MOVES, Level

pytest.importorskip("minigrid", reason="needs minigrid: pip install 'agentgym-r1[minigrid]'")
SEARCHED = (
    "MiniGrid-Empty-Random-5x5-v0",
    "MiniGrid-DoorKey-6x6-v0",
    "MiniGrid-BlockedUnlockPickup-v0",
    "MiniGrid-KeyCorridorS3R2-v0",
    "MiniGrid-LavaGapS7-v0",
    "MiniGrid-MemoryS7-v0",
    "MiniGrid-RedBlueDoors-6x6-v0",
    "MiniGrid-PutNear-6x6-N2-v0",
    "MiniGrid-Fetch-6x6-N2-v0",
    "MiniGrid-GoToDoor-6x6-v0",
    "MiniGrid-GoToObject-6x6-N2-v0",
    "MiniGrid-ObstructedMaze-1Dlh-v0",
    "MiniGrid-Dynamic-Obstacles-5x5-v0",
)
BOTS = ("BabyAI-GoToObjDoor-v0", "BabyAI-UnblockPickup-v0", "BabyAI-GoToSeqS5R2-v0", "BabyAI-MiniBossLevel-v0")


def laid_out(level_id: str, seed: int) -> Level:
    level = Level(level_id)
    level.reset(seed)
    return level


def play(level_id: str, seed: int, begin: tuple[str, ...] = ()) -> tuple[bool, list[str]]:
    """Make some moves, then the expert's; return whether the level was won, and all moves."""
    level, expert, moves = laid_out(level_id, seed), Expert(laid_out(level_id, seed)), []
    for step in range(level.limit):
        move = begin[step] if step < len(begin) else expert.next(moves)
        done = level.move(move)
        moves.append(move)
        if done.over:
            return done.reward > 0, moves
    return False, moves


@pytest.mark.parametrize("level_id", [*SEARCHED, *BOTS])
def test_levels_are_won(level_id: str) -> None:
    assert [play(level_id, seed)[0] for seed in range(3)] == [True] * 3


def test_a_search_finds_a_shortest_way() -> None:
    assert search(laid_out("MiniGrid-Empty-5x5-v0", 0)) == [*["go forward"] * 2, "turn right", *["go forward"] * 2]


def test_a_search_leaves_the_level_as_it_is() -> None:
    level = laid_out("MiniGrid-DoorKey-5x5-v0", 1)
    before = level.layout()
    assert search(level)
    assert level.layout() == before


def test_a_search_gives_up() -> None:
    assert search(laid_out("MiniGrid-FourRooms-v0", 0), most=10) == []
    expert = Expert(laid_out("MiniGrid-Playground-v0", 0))
    expert._lost = True
    assert expert.next([]) == "turn left"


@pytest.mark.parametrize("level_id", ["MiniGrid-DoorKey-6x6-v0", "BabyAI-PutNextLocal-v0", "BabyAI-UnlockLocal-v0"])
def test_the_expert_goes_on_from_wherever_others_led(level_id: str) -> None:
    wins = 0
    for seed in range(6):
        moves = tuple(random.Random(seed).choices(MOVES[:3] + MOVES[4:], k=6))
        wins += play(level_id, seed, moves)[0]
    assert wins >= 5


def test_a_box_that_was_opened_does_not_stop_the_bot() -> None:
    from minigrid.core.world_object import Box

    level = laid_out("BabyAI-GoToObj-v0", 3)
    world = level.grid_world
    assert world.grid.get(*world.front_pos) is None
    world.put_obj(Box("grey"), *world.front_pos)
    expert = Expert(level)
    moves: list[str] = []
    for move in ("turn left", "turn right", "toggle"):
        assert expert.next(moves) in MOVES
        moves.append(move)
    for _ in range(20):
        moves.append(expert.next(moves))
    assert set(moves[3:]) <= set(MOVES)
