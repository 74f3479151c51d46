"""Task sets that are generated on demand."""

import pickle

import pytest

from agentgym_r1.data.worlds.seeded import SPLITS, SeededTasks, check_split, owner, seeded
from agentgym_r1.errors import ConfigError
from agentgym_r1.types import Task


def make(task_id: str, index: int) -> Task:
    return Task(task_id, f"What is {index}?", str(index))


def test_ids_lead_back_to_their_position():
    tasks = SeededTasks(make, name="numbers", split="dev", size=50)
    assert [tasks.index_of(tasks[index].id) for index in range(len(tasks))] == list(range(50))


@pytest.mark.parametrize("task_id", ["dev-000050", "train-000001", "dev-1", "dev-", "", "dev-00000١", "dev--00001"])
def test_an_id_outside_the_split_is_named_in_the_error(task_id: str):
    tasks = SeededTasks(make, name="numbers", split="dev", size=50)
    with pytest.raises(ConfigError, match=r"numbers/dev has no task"):
        tasks.index_of(task_id)


@pytest.mark.parametrize("index", [-1, 50])
def test_an_index_outside_the_split_is_an_index_error(index: int):
    with pytest.raises(IndexError, match="tasks 0 to 49"):
        SeededTasks(make, name="numbers", split="dev", size=50)[index]


def test_a_size_below_one_is_refused():
    with pytest.raises(ConfigError, match="size must be at least 1, got 0"):
        SeededTasks(make, name="numbers", split="dev", size=0)


def test_an_unknown_split_is_answered_with_the_known_ones():
    with pytest.raises(ConfigError, match="did you mean 'dev'"):
        check_split("deb", name="numbers")


def test_task_sets_survive_pickling():
    tasks = pickle.loads(pickle.dumps(SeededTasks(make, name="numbers", split="dev", size=3)))
    assert (len(tasks), tasks[2]) == (3, make("dev-000002", 2))


def test_every_word_has_one_owner_whatever_its_case():
    words = [f"word{number}" for number in range(300)]
    assert {owner(word) for word in words} == set(SPLITS)
    assert all(owner(word) == owner(word.upper()) for word in words)


def test_randomness_is_the_same_on_every_platform():
    assert [seeded("a", 1).randrange(1000) for _ in range(2)] == [seeded("a", 1).randrange(1000)] * 2
    assert seeded("a", 1).sample(range(100), 5) == [42, 81, 72, 88, 18]
