"""ALFWorld's games in invented releases: the two zips, a tarball, and the folder they are unpacked to."""

import json
import tarfile
import zipfile
from pathlib import Path

import pytest

from agentgym_r1.data.alfworld import (
    LOADER,
    TASK_TYPES,
    check_task_types,
    entity_names,
    read_game,
    read_tasks,
    write_game,
)
from agentgym_r1.data.get import get
from agentgym_r1.data.gold import GameGold
from agentgym_r1.data.installed import open_tasks
from agentgym_r1.data.verify import verify
from agentgym_r1.data.worlds import household
from agentgym_r1.errors import ConfigError, DataError
from agentgym_r1.types import Task

LOGIC = {"pddl_domain": "(define (domain alfred))", "grammar": '{"task": [{"rhs": "Your task is to: UNKNOWN GOAL."}]}'}
CUP = "pick_and_place_simple-Cup-None-Shelf-7/trial_T1"


def game(goal="put the cup away", **changes):
    return {
        "pddl_domain": "(define (domain alfred))",
        "grammar": f'{{"task": [{{"rhs": "Your task is to: {goal}."}}]}}',
        "pddl_problem": "(define (problem cups))",
        "walkthrough": ["look"],
        "solvable": True,
        **changes,
    }


def said(*descriptions):
    return {"turk_annotations": {"anns": [{"task_desc": text, "votes": [1]} for text in descriptions]}}


FILES = {
    f"train/{CUP}/game.tw-pddl": game(),
    f"train/{CUP}/traj_data.json": said("Shelve the cup. ", "Cup to shelf"),
    "train/look_at_obj_in_light-Pen-None-DeskLamp-9/trial_T2/game.tw-pddl": game("see the pen"),
    "train/look_at_obj_in_light-Pen-None-DeskLamp-9/trial_T3/game.tw-pddl": game("see the pen", solvable=False),
    "train/pick_and_place_simple-AppleSliced-None-Shelf-7/trial_T4/game.tw-pddl": game(),
    "train/pick_and_place_with_movable_recep-Pen-Cup-Shelf-7/trial_T5/game.tw-pddl": game(),
    "train/pick_heat_then_place_in_recep-Egg-None-Shelf-7/trial_T6/traj_data.json": said("Warm an egg"),
    "valid_seen/pick_two_obj_and_place-Pen-None-Desk-9/trial_T7/game.tw-pddl": game("two pens", pddl_problem="(other)"),
    "valid_train/pick_two_obj_and_place-Pen-None-Desk-9/trial_T8/game.tw-pddl": game(),
}


@pytest.fixture
def release(tmp_path: Path) -> Path:
    """The unpacked release."""
    folder = tmp_path / "release"
    for name, content in FILES.items():
        path = folder / "json_2.1.1" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content), encoding="utf-8")
    return folder


@pytest.fixture
def zips(release: Path, tmp_path: Path) -> Path:
    """A folder with the two zips: trajectories in one, games in the other."""
    folder = tmp_path / "zips"
    folder.mkdir()
    for name, suffix in (("json_2.1.1_json.zip", "*.json"), ("json_2.1.3_tw-pddl.zip", "*.tw-pddl")):
        with zipfile.ZipFile(folder / name, "w") as archive:
            for path in release.rglob(suffix):
                archive.write(path, path.relative_to(release).as_posix())
    return folder


@pytest.fixture
def tarball(release: Path, tmp_path: Path) -> Path:
    """A folder with one tarball."""
    folder = tmp_path / "tarball"
    folder.mkdir()
    with tarfile.open(folder / "games.tar.xz", "w:xz") as archive:
        archive.add(release / "json_2.1.1", "json_2.1.1")
    return folder


EXPECTED = [
    Task(
        "look_at_obj_in_light-Pen-None-DeskLamp-9/trial_T2",
        "see the pen",
        GameGold("(define (problem cups))", ("look",), ()),
        "look_at_obj_in_light",
    ),
    Task(
        CUP,
        "put the cup away",
        GameGold("(define (problem cups))", ("look",), ("Shelve the cup.", "Cup to shelf")),
        "pick_and_place_simple",
    ),
]


@pytest.mark.parametrize("form", ["release", "zips", "tarball"])
def test_every_form_of_a_release_gives_the_same_games(form, request):
    folder = request.getfixturevalue(form)
    paths = [folder] if form == "release" else sorted(folder.iterdir())
    assert list(read_tasks(paths, "train")) == EXPECTED
    assert [task.id for task in read_tasks(paths, "valid_seen")] == ["pick_two_obj_and_place-Pen-None-Desk-9/trial_T7"]
    assert list(read_tasks(paths, "valid_unseen")) == []


@pytest.mark.parametrize("form", ["release", "zips", "tarball"])
def test_every_form_of_a_release_can_be_installed_and_verified(form, request, tmp_path):
    folder = request.getfixturevalue(form)
    get("alfworld", source=folder, home=tmp_path / "home")
    assert list(open_tasks("alfworld", "train", home=tmp_path / "home")) == EXPECTED
    report = verify("alfworld", home=tmp_path / "home")
    assert report.ok
    assert report.tasks == {"valid_seen": 1, "train": 2}


def test_a_game_to_evaluate_on_that_is_trained_on_is_found(release, tmp_path):
    twin = json.dumps(game("put the cup away", pddl_problem="(define (problem other)\n(:init (a b)))"))
    for split, trial in (("train", "trial_T1"), ("valid_seen", "trial_T9")):
        path = release / "json_2.1.1" / split / "pick_and_place_simple-Cup-None-Shelf-7" / trial / "game.tw-pddl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(twin.replace("other", trial), encoding="utf-8")
    get("alfworld", source=release, home=tmp_path / "home")
    (problem,) = verify("alfworld", home=tmp_path / "home").problems
    assert problem.startswith("valid_seen: 1 tasks have the question and answer of a train task")


def test_a_folder_without_games_is_refused(tmp_path):
    with pytest.raises(DataError, match="holds no games: expected ALFWorld's zips"):
        LOADER.find(tmp_path)


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.zip", b"PK\x03\x04 cut"), ("a.tar.xz", b"\xfd7zXZ cut"), ("a.tar.xz", b""), ("a.tar", b"noise" * 200)],
)
def test_a_damaged_archive_is_named(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(DataError, match=rf"{name} cannot be read as a folder, zip or tarball of games"):
        list(read_tasks([path], "train"))


def test_an_archive_cut_short_is_named(tarball):
    path = tarball / "games.tar.xz"
    path.write_bytes(path.read_bytes()[:-60])
    with pytest.raises(DataError, match=r"games\.tar\.xz cannot be read"):
        list(read_tasks([path], "train"))


def test_a_damaged_member_of_a_zip_is_named(zips):
    path = zips / "json_2.1.3_tw-pddl.zip"
    path.write_bytes(path.read_bytes().replace(b"put the cup", b"put the dog"))
    with pytest.raises(DataError, match=rf"tw-pddl\.zip: json_2\.1\.1/train/{CUP}/game\.tw-pddl cannot be read"):
        list(read_tasks([path], "train"))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("{", "not a whole file"),
        ('{"grammar": ""}', "missing required field `pddl_problem`"),
        (json.dumps(game(walkthrough=3)), "not a whole file"),
        (json.dumps(game(grammar="nothing to do")), "does not say the task"),
    ],
)
def test_a_damaged_game_is_named(release, content, reason):
    (release / "json_2.1.1" / "train" / CUP / "game.tw-pddl").write_text(content, encoding="utf-8")
    with pytest.raises(DataError, match=rf"{CUP}/game\.tw-pddl.*{reason}"):
        list(read_tasks([release], "train"))


def test_a_damaged_trajectory_is_named(release):
    (release / "json_2.1.1" / "train" / CUP / "traj_data.json").write_text("{}", encoding="utf-8")
    with pytest.raises(DataError, match=rf"{CUP}/traj_data\.json is not a whole file"):
        list(read_tasks([release], "train"))


def test_generated_games_are_written_as_they_are_read(tmp_path):
    made = household.tasks("train", size=6)
    tasks = [made[index] for index in range(6)]
    folders = [write_game(task, tmp_path / "train", logic=LOGIC) for task in tasks]
    assert sorted(path.name for path in folders[0].iterdir()) == ["game.tw-pddl", "traj_data.json"]
    read = {task.id: task for task in read_tasks([tmp_path], "train")}
    for task in tasks:
        again = read[f"{task.kind}/{task.id}"]
        assert (again.prompt, again.gold, again.kind) == (task.prompt, task.gold, task.kind)


def test_published_games_are_written_where_they_were(release, tmp_path):
    tasks = list(read_tasks([release], "train"))
    for task in tasks:
        write_game(task, tmp_path / "again" / "train", logic=LOGIC)
    assert list(read_tasks([tmp_path / "again"], "train")) == tasks


def test_a_written_game_file_has_everything_that_textworld_reads(tmp_path):
    task = household.tasks("train", size=1)[0]
    data = (write_game(task, tmp_path, logic=LOGIC) / "game.tw-pddl").read_bytes()
    assert set(json.loads(data)) == {"pddl_domain", "grammar", "pddl_problem", "walkthrough", "solvable"}
    assert read_game(data, name="game").goal == task.prompt


def test_entities_are_numbered_downwards_and_basins_are_told_from_sinks():
    identifiers = [
        "cup_bar_1",
        "cup_bar_3",
        "cup_bar_2",
        "sink_bar_1_bar_sinkbasin",
        "sink_bar_2",
        "agent1",
        "cup_bar_1",
    ]
    assert entity_names(identifiers) == {
        "cup_bar_1": "cup 3",
        "cup_bar_2": "cup 2",
        "cup_bar_3": "cup 1",
        "sink_bar_1_bar_sinkbasin": "sinkbasin 1",
        "sink_bar_2": "sink 1",
    }


def test_task_types_are_checked_and_put_in_the_order_of_the_papers():
    assert check_task_types(["pick_two_obj_and_place", "look_at_obj_in_light"]) == (TASK_TYPES[1], TASK_TYPES[5])
    with pytest.raises(ConfigError, match="unknown task type"):
        check_task_types(["pick_two"])
    with pytest.raises(ConfigError, match="at least one"):
        check_task_types([])


@pytest.mark.real
@pytest.mark.parametrize(("split", "count"), [("train", 120), ("valid_seen", 140), ("valid_unseen", 134)])
def test_the_published_games_are_read(samples, split, count):
    tasks = list(read_tasks([samples / "data" / "alfworld" / "sample.tar.xz"], split))
    assert len(tasks) == count
    assert {task.kind for task in tasks} == set(TASK_TYPES)
    assert [task.id for task in tasks] == sorted(task.id for task in tasks)
    assert all(len(task.gold.annotations) >= 3 and task.gold.walkthrough and task.prompt for task in tasks)
