import pickle

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentgym_r1.data.arrow_tasks import BATCH_ROWS, FORMAT, ArrowTasks, TaskWriter
from agentgym_r1.data.gold import NumberGold, QAGold
from agentgym_r1.errors import ConfigError, DataError
from agentgym_r1.types import Task, TaskSet

TASKS = [
    Task(f"t{number}", f"Was fragt № {number}?", NumberGold(str(number), (f"{number}+0",)), "sum")
    for number in range(10)
]


def write(path, tasks, gold=NumberGold):
    with TaskWriter(path, name="sums", split="train", gold=gold) as writer:
        for task in tasks:
            writer.add(task)
    return path


def test_tasks_come_back_equal_and_in_order(tmp_path):
    tasks: TaskSet = ArrowTasks(write(tmp_path / "tasks.arrow", TASKS))
    assert (tasks.name, tasks.split, tasks.source) == ("sums", "train", "real")
    assert list(tasks) == TASKS
    assert tasks.ids() == [task.id for task in TASKS]
    assert [task.digest() for task in tasks] == [task.digest() for task in TASKS]


def test_a_split_of_several_batches_is_one_sequence(tmp_path):
    count = 2 * BATCH_ROWS + 1
    many = (Task(str(number), "?", NumberGold("1", ("1",))) for number in range(count))
    tasks = ArrowTasks(write(tmp_path / "tasks.arrow", many))
    assert len(tasks) == count
    for index in (0, BATCH_ROWS - 1, BATCH_ROWS, count - 1):
        assert tasks[index].id == str(index)
        assert tasks.index_of(str(index)) == index


def test_an_index_outside_the_split_is_an_index_error(tmp_path):
    tasks = ArrowTasks(write(tmp_path / "tasks.arrow", TASKS))
    for index in (-1, 10):
        with pytest.raises(IndexError, match=f"sums/train has tasks 0 to 9, got {index}"):
            tasks[index]


def test_an_unknown_id_is_a_config_error_that_names_the_split(tmp_path):
    with pytest.raises(ConfigError, match="sums/train has no task 'nope' among its 10"):
        ArrowTasks(write(tmp_path / "tasks.arrow", TASKS)).index_of("nope")


def test_pickling_costs_the_path_and_gives_the_same_tasks(tmp_path):
    tasks = ArrowTasks(write(tmp_path / "tasks.arrow", TASKS))
    data = pickle.dumps(tasks)
    assert len(data) < 500
    assert list(pickle.loads(data)) == TASKS


def test_two_tasks_with_one_id_are_refused(tmp_path):
    with pytest.raises(DataError, match="sums/train holds the task id 't0' twice"):
        write(tmp_path / "tasks.arrow", [TASKS[0], TASKS[0]])


@settings(max_examples=30)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=3, max_size=3, unique=True))
def test_any_text_survives(tmp_path_factory, texts):
    gold = QAGold((texts[0], texts[1]), (texts[2],), (texts[0],))
    task = Task(texts[0], texts[1], gold, texts[2])
    path = write(tmp_path_factory.mktemp("tasks") / "tasks.arrow", [task], QAGold)
    assert list(ArrowTasks(path)) == [task]


def test_a_missing_file_is_told(tmp_path):
    with pytest.raises(DataError, match=r"tasks\.arrow: no such file of tasks"):
        ArrowTasks(tmp_path / "tasks.arrow")


@pytest.mark.parametrize("keep", [0, 5, 100, -1])
def test_a_truncated_file_is_told(tmp_path, keep):
    path = write(tmp_path / "tasks.arrow", TASKS)
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(DataError, match=r"tasks\.arrow is damaged .*install the data set again"):
        ArrowTasks(path)


def test_any_overwritten_stretch_is_an_error_or_harmless_but_never_a_crash(tmp_path):
    path = write(tmp_path / "tasks.arrow", TASKS)
    good = path.read_bytes()
    for start in range(0, len(good), 37):
        path.write_bytes(good[:start] + b"\xff" * 16 + good[start + 16 :])
        try:
            tasks = ArrowTasks(path)
            assert len(list(tasks)) == len(tasks)
        except DataError as err:
            assert str(path) in str(err)


def test_gold_that_is_not_json_is_told_with_the_task(tmp_path):
    path = write(tmp_path / "tasks.arrow", TASKS)
    path.write_bytes(path.read_bytes().replace(b'{"answer":"3"', b'{"answer":333'))
    with pytest.raises(DataError, match="task 3: Expected `str`, got `int`"):
        ArrowTasks(path)[3]


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ({FORMAT: "2", b"gold": b"QAGold"}, "tasks of format 2, this version reads 1: upgrade agentgym-r1"),
        ({FORMAT: "1", b"gold": b"GameGold"}, "not a file of tasks that this version knows"),
        ({}, "not a file of tasks that this version knows"),
        ({FORMAT: "1", b"gold": b"QAGold"}, "not a file of tasks that this version knows"),
        ({FORMAT: "x"}, "is damaged"),
    ],
)
def test_files_of_other_versions_and_kinds_are_told_apart(tmp_path, metadata, message):
    path = tmp_path / "tasks.arrow"
    schema = pa.schema({"id": pa.string()}, metadata=metadata)
    with pa.ipc.new_file(str(path), schema) as writer:
        writer.write_batch(pa.record_batch([["a"]], schema=schema))
    with pytest.raises(DataError, match=message):
        ArrowTasks(path)
