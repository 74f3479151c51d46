"""The goals of a split as tasks."""

import pickle
from pathlib import Path

import pytest

from agentgym_r1.data.gold import ShopGold
from agentgym_r1.data.webshop import Catalogue, Goals, ShopTasks, build_catalogue
from agentgym_r1.data.webshop.nouns import WordNouns
from agentgym_r1.data.worlds.shop import WorldShop
from agentgym_r1.errors import ConfigError
from agentgym_r1.types import TaskSet, panel_hash


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Catalogue:
    return build_catalogue(WorldShop(200), tmp_path_factory.mktemp("tasks") / "shop", nouns=WordNouns())


@pytest.fixture(scope="module")
def tasks(shop: Catalogue) -> ShopTasks:
    return ShopTasks(Goals(shop), split="test")


def test_a_split_is_a_task_set(tasks: ShopTasks) -> None:
    as_protocol: TaskSet = tasks
    assert (as_protocol.name, as_protocol.split, as_protocol.source) == ("webshop", "test", "world")
    assert len(tasks) == len(list(tasks.ids())) > 10


def test_a_task_is_its_goal(tasks: ShopTasks) -> None:
    task, goal = tasks[3], tasks.goal(3)
    assert (task.id, task.prompt, task.gold, task.kind) == (goal.id, goal.instruction, goal.gold, goal.category)
    assert isinstance(task.gold, ShopGold)


def test_a_goal_is_found_by_hash_and_by_position(tasks: ShopTasks) -> None:
    positions = tasks.goals.positions("test")
    for index in range(0, len(tasks), 7):
        assert tasks.index_of(tasks[index].id) == index
        assert tasks.index_of(f"goal:{positions[index]}") == index


def test_a_goal_of_another_split_is_unknown(shop: Catalogue, tasks: ShopTasks) -> None:
    train = ShopTasks(Goals(shop), split="train")
    elsewhere = train.goals.positions("train")[0]
    for task_id in (train[0].id, f"goal:{elsewhere}", "goal:", "goal:-1", "goal:1.5", "goal:99999999", "nothing", ""):
        with pytest.raises(ConfigError, match="webshop/test has no task"):
            tasks.index_of(task_id)


def test_an_index_outside_is_an_index_error(tasks: ShopTasks) -> None:
    with pytest.raises(IndexError, match="webshop/test has tasks 0 to"):
        tasks[len(tasks)]


def test_a_split_without_goals_is_refused(tmp_path: Path) -> None:
    shop = build_catalogue(WorldShop(2, seed=3), tmp_path / "tiny", nouns=WordNouns())
    with pytest.raises(ConfigError, match="holds no human goals"):
        ShopTasks(Goals(shop, kind="human"), split="test")


def test_the_panel_is_frozen(tasks: ShopTasks, tmp_path: Path) -> None:
    again = build_catalogue(WorldShop(200), tmp_path / "again", nouns=WordNouns(), part_rows=50)
    other = [ShopTasks(Goals(again), split="test")[index] for index in range(len(tasks))]
    assert panel_hash(other) == panel_hash([tasks[index] for index in range(len(tasks))])


def test_tasks_pickle_small(tasks: ShopTasks) -> None:
    again = pickle.loads(pickle.dumps(ShopTasks(tasks.goals, split="dev")))
    assert again[0] == ShopTasks(tasks.goals, split="dev")[0]
