"""Levels of the minigrid package and what is said about them."""

import subprocess
import sys

import pytest

from agentgym_r1.envs.minigrid.level import DONE, MOVES, Level, Step
from agentgym_r1.envs.minigrid.text import describe
from agentgym_r1.errors import ConfigError

pytest.importorskip("minigrid", reason="needs minigrid: pip install 'agentgym-r1[minigrid]'")


@pytest.fixture
def room() -> Level:
    """A room of 3 by 3 cells with the goal in the far corner; the agent begins in the near one and faces east."""
    level = Level("MiniGrid-Empty-5x5-v0")
    level.reset(0)
    return level


def put(level: Level, thing: str, color: str, place: tuple[int, int], **state: bool) -> None:
    """Put a thing of the package into the grid."""
    from minigrid.core import world_object

    level.grid_world.put_obj(getattr(world_object, thing)(color, **state), *place)


def test_a_level_pays_less_the_longer_it_took(room: Level) -> None:
    moves = ["go forward", "go forward", "turn right", "go forward", "go forward"]
    steps = [room.move(move) for move in moves]
    assert steps[:-1] == [Step(0.0, over=False, changed=True)] * 4
    assert steps[-1] == Step(1 - 0.9 * 5 / room.limit, over=True, changed=True)


def test_a_move_into_a_wall_changes_nothing(room: Level) -> None:
    room.move("turn left")
    before = room.layout()
    assert room.move("go forward") == Step(0.0, over=False, changed=False)
    assert room.move("toggle") == Step(0.0, over=False, changed=False)
    assert room.layout() == before


def test_the_view_tells_facing_things_and_walls_by_distance(room: Level) -> None:
    put(room, "Ball", "red", (2, 1))
    put(room, "Box", "blue", (3, 2))
    assert describe(room) == "\n".join(
        [
            "You face east and carry nothing.",
            "You see:",
            "- a red ball 1 step ahead",
            "- a blue box 2 steps ahead and 1 step to the right",
            "- a green goal 2 steps ahead and 2 steps to the right",
            "- a wall 3 steps ahead",
            "- a wall 1 step to the left",
            "- a wall 3 steps to the right",
        ]
    )
    room.move("pick up")
    room.move("turn right")
    assert describe(room).startswith("You face south and carry a red ball.\nYou see:\n- a blue box 1 step ahead and 2")


@pytest.mark.parametrize(
    ("state", "words"),
    [({}, "a closed red door"), ({"is_open": True}, "an open red door"), ({"is_locked": True}, "a locked red door")],
)
def test_doors_are_open_closed_or_locked(room: Level, state: dict[str, bool], words: str) -> None:
    put(room, "Door", "red", (2, 1), **state)
    assert f"- {words} 1 step ahead" in describe(room)


def test_a_layout_depends_on_the_seed_only() -> None:
    one, other = Level("BabyAI-GoToLocal-v0"), Level("BabyAI-GoToLocal-v0")
    one.reset(3)
    other.reset(9)
    assert one.layout() != other.layout()
    other.reset(3)
    assert (one.layout(), one.mission, describe(one)) == (other.layout(), other.mission, describe(other))


def test_a_copy_goes_its_own_way(room: Level) -> None:
    twin = room.copy()
    twin.move("go forward")
    assert twin.layout() != room.layout()
    room.move("go forward")
    assert twin.layout() == room.layout()


def test_only_moves_that_mean_something_are_offered() -> None:
    assert Level("BabyAI-GoToObj-v0").moves == MOVES
    assert Level("MiniGrid-GoToDoor-5x5-v0").moves == (*MOVES, DONE)
    assert Level("MiniGrid-Dynamic-Obstacles-5x5-v0").moves == MOVES[:3]


def test_done_is_a_move_where_it_is_offered() -> None:
    level = Level("MiniGrid-GoToDoor-5x5-v0")
    level.reset(0)
    assert level.move(DONE).over


def test_an_unknown_level_is_answered_with_the_closest() -> None:
    with pytest.raises(ConfigError, match="did you mean 'BabyAI-GoToObj-v0'"):
        Level("BabyAI-GoToObject-v0")


def test_nothing_is_written_to_standard_output() -> None:
    code = (
        "from agentgym_r1.envs.minigrid.level import Level\n"
        "level = Level('BabyAI-PutNextLocal-v0')\n"
        "for seed in range(30): level.reset(seed)\n"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == ""
