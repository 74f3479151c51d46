"""Task sets of levels."""

import pickle

import pytest

from agentgym_r1.envs.minigrid.tasks import FIRST_SEEDS, LEVELS, LevelTasks
from agentgym_r1.errors import ConfigError

pytest.importorskip("minigrid", reason="needs minigrid: pip install 'agentgym-r1[minigrid]'")
OBJ, DOOR = "BabyAI-GoToObj-v0", "BabyAI-OpenDoor-v0"


def test_levels_take_turns_and_splits_have_their_own_seeds() -> None:
    tasks = LevelTasks([OBJ, DOOR], split="dev")
    assert len(tasks) == 100
    assert tasks.ids()[:3] == (f"{OBJ}:1000000", f"{DOOR}:1000000", f"{OBJ}:1000001")
    assert [tasks.index_of(task_id) for task_id in tasks.ids()] == list(range(100))
    assert len(set(FIRST_SEEDS.values())) == 3


def test_a_task_is_the_mission_of_its_layout() -> None:
    task = LevelTasks([OBJ, DOOR], split="test")[1]
    assert (task.id, task.kind) == (f"{DOOR}:2000000", DOOR)
    assert task.prompt.startswith("open ")
    assert (task.gold.level, task.gold.seed, len(task.gold.layout)) == (DOOR, 2_000_000, 64)


def test_a_task_is_the_same_however_often_and_wherever_it_is_read() -> None:
    tasks = LevelTasks(split="dev")
    other = pickle.loads(pickle.dumps(tasks))
    backwards = [tasks[index] for index in reversed(range(20))]
    assert [other[index] for index in range(20)] == backwards[::-1]


def test_the_ten_levels_hardly_repeat_a_layout() -> None:
    tasks = LevelTasks(split="test")
    assert len(LEVELS) == 10
    seen = {(tasks[index].gold.level, tasks[index].gold.layout) for index in range(len(tasks))}
    assert len(seen) > 0.99 * len(tasks) == 990


@pytest.mark.parametrize("task_id", ["", OBJ, f"{OBJ}:17", f"{OBJ}:01000000", f"{OBJ}:1000050", f"{DOOR}:1000000"])
def test_an_id_outside_the_split_is_an_error(task_id: str) -> None:
    with pytest.raises(ConfigError, match="minigrid/dev has no task"):
        LevelTasks([OBJ], split="dev").index_of(task_id)


def test_an_index_outside_the_split_is_an_index_error() -> None:
    with pytest.raises(IndexError, match="tasks 0 to 49, got 50"):
        LevelTasks([OBJ], split="dev")[50]


def test_an_unknown_split_is_answered_with_the_known_ones() -> None:
    with pytest.raises(ConfigError, match="unknown split of minigrid"):
        LevelTasks([OBJ], split="validation")
