import pickle

import pytest

from agentgym_r1.data.alfworld import TASK_TYPES
from agentgym_r1.data.tasks import ListTasks
from agentgym_r1.data.worlds import household
from agentgym_r1.envs.alfworld.games import HumanGoals, Selection, compile_task, installed_games, open_game
from agentgym_r1.errors import ConfigError, DataError


@pytest.fixture(scope="module")
def world():
    made = household.tasks("valid_seen", size=12)
    return ListTasks([made[index] for index in range(12)], name="household", split="valid_seen", source="world")


def test_a_selection_keeps_the_order_and_the_ids(world):
    looks = [index for index in range(len(world)) if world[index].kind == "look_at_obj_in_light"]
    tasks = Selection(world, looks)
    assert len(tasks) == len(looks) == 2
    assert [tasks[index].id for index in range(2)] == list(tasks.ids())
    assert tasks.index_of(tasks.ids()[1]) == 1
    assert (tasks.name, tasks.split, tasks.source) == ("household", "valid_seen", "world")
    assert pickle.loads(pickle.dumps(tasks))[0] == tasks[0]


def test_a_selection_knows_nothing_else(world):
    tasks = Selection(world, [3])
    with pytest.raises(IndexError, match="1 tasks of these types, got index 1"):
        tasks[1]
    with pytest.raises(ConfigError, match="no task 'valid_seen-000000' among its 1"):
        tasks.index_of("valid_seen-000000")


def test_goals_in_peoples_words_need_people(world):
    tasks = HumanGoals(world)
    assert (len(tasks), tasks.ids(), tasks.index_of(world.ids()[4])) == (12, world.ids(), 4)
    with pytest.raises(DataError, match="has no goal in people's words"):
        tasks[0]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "not a whole file"),
        (b'{"pddl_problem": "(define', "not a whole file"),
        (b"\xff\xfe", "not a whole file"),
        (b'{"grammar": ""}', "missing required field `pddl_problem`"),
        (b'{"pddl_problem": "(define", "grammar": ""}', "truncated: 1 brackets are never closed"),
        (b'{"pddl_problem": "once upon a time", "grammar": ""}', "not a PDDL problem"),
        (
            b'{"pddl_problem": "(define (problem p) (:init (a b)) (:goal (won me)))", "grammar": ""}',
            "unknown goal form",
        ),
    ],
)
def test_a_damaged_game_file_is_named_with_the_reason(tmp_path, content, reason):
    path = tmp_path / "game.tw-pddl"
    path.write_bytes(content)
    with pytest.raises(DataError, match=rf"game\.tw-pddl.*{reason}"):
        open_game(path)


def test_a_missing_game_file_is_named(tmp_path):
    with pytest.raises(DataError, match=r"nowhere\.tw-pddl cannot be read"):
        open_game(tmp_path / "nowhere.tw-pddl")


@pytest.mark.real
def test_installed_games_can_be_chosen_by_type(installed, monkeypatch):
    monkeypatch.setenv("AGENTGYM_R1_HOME", str(installed))
    everything = installed_games("valid_unseen")
    counts = [len(installed_games("valid_unseen", task_types=[kind])) for kind in TASK_TYPES]
    assert (len(everything), counts) == (134, [24, 18, 31, 23, 21, 17])
    some = installed_games("valid_unseen", task_types=["pick_two_obj_and_place", "look_at_obj_in_light"])
    assert len(some) == 35
    assert {some[index].kind for index in range(35)} == {"pick_two_obj_and_place", "look_at_obj_in_light"}
    with pytest.raises(ConfigError, match="unknown task type 'pick'"):
        installed_games("valid_unseen", task_types=["pick"])


@pytest.mark.real
def test_installed_games_have_goals_in_peoples_words(installed, monkeypatch):
    monkeypatch.setenv("AGENTGYM_R1_HOME", str(installed))
    templates, human = installed_games("valid_seen"), installed_games("valid_seen", goals="human")
    assert templates.ids() == human.ids()
    for index in range(len(human)):
        task = human[index]
        assert task.prompt != templates[index].prompt
        assert task.prompt == task.prompt.rstrip(". ") != ""
        assert task.digest() != templates[index].digest()
    with pytest.raises(ConfigError, match="unknown kind of goal"):
        installed_games("valid_seen", goals="machine")


@pytest.mark.real
def test_an_installed_game_compiles_with_its_walkthrough(installed, monkeypatch):
    monkeypatch.setenv("AGENTGYM_R1_HOME", str(installed))
    task = installed_games("valid_seen")[0]
    assert compile_task(task).walkthrough == task.gold.walkthrough != ()
