import json
from pathlib import Path

import pytest

from agentgym_r1.data.get import get
from agentgym_r1.data.gold import NumberGold, QAGold
from agentgym_r1.data.verify import content_of, verify
from agentgym_r1.errors import DataError
from agentgym_r1.types import Task


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def change(folder, name, edit):
    path = folder / name
    records = json.loads(path.read_text(encoding="utf-8"))
    edit(records)
    path.write_text(json.dumps(records), encoding="utf-8")


def test_a_sound_set_passes_and_a_sample_is_called_one(home, hotpotqa_folder, gsm8k_folder):
    for name, folder in (("hotpotqa", hotpotqa_folder), ("gsm8k", gsm8k_folder)):
        get(name, source=folder, home=home)
        report = verify(name, home=home)
        assert report.ok
        assert report.problems == ()
    assert report.tasks == {"test": 2, "train": 3}
    assert report.notes == ("test: 2 of the 1319 published tasks", "train: 3 of the 7473 published tasks")


def test_a_task_of_train_in_dev_fails_whatever_its_id_and_spelling(home, hotpotqa_folder):
    def leak(records):
        records[0]["question"] = "in which VALLEY was the clockmaker, of tower 2, born"
        records[0]["answer"] = "valley  2."

    change(hotpotqa_folder, "hotpot_dev_distractor_v1.json", leak)
    get("hotpotqa", source=hotpotqa_folder, home=home)
    report = verify("hotpotqa", home=home)
    assert not report.ok
    assert report.problems == ("dev: 1 tasks have the question and answer of a train task: q10",)


def test_a_shared_id_fails(home, hotpotqa_folder):
    change(hotpotqa_folder, "hotpot_dev_distractor_v1.json", lambda records: records[0].update(_id="q1"))
    get("hotpotqa", source=hotpotqa_folder, home=home)
    assert verify("hotpotqa", home=home).problems == ("dev: 1 tasks have the id of a train task: q1",)


def test_repeats_inside_a_split_are_counted_and_pass(home, hotpotqa_folder):
    def repeat(records):
        records[1]["question"] = records[2]["question"] = records[0]["question"]
        records[1]["answer"] = records[0]["answer"].upper()

    change(hotpotqa_folder, "hotpot_train_v1.1.json", repeat)
    get("hotpotqa", source=hotpotqa_folder, home=home)
    report = verify("hotpotqa", home=home)
    assert report.ok
    assert report.notes[-2:] == (
        "train: 1 tasks repeat an earlier task's question and answer",
        "train: 1 tasks repeat an earlier task's question with another answer",
    )


def test_a_split_alone_passes(home, hotpotqa_folder):
    (hotpotqa_folder / "hotpot_train_v1.1.json").unlink()
    get("hotpotqa", source=hotpotqa_folder, home=home)
    assert verify("hotpotqa", home=home).ok


@pytest.mark.parametrize("name", ["tasks-dev.arrow", "corpus.arrow"])
def test_a_changed_or_missing_file_is_named(home, hotpotqa_folder, name):
    folder = get("hotpotqa", source=hotpotqa_folder, home=home)
    data = bytearray((folder / name).read_bytes())
    data[len(data) // 2] ^= 1
    (folder / name).write_bytes(data)
    problem = f"{name} is missing or was changed: agentgym-r1 data get hotpotqa"
    assert verify("hotpotqa", home=home).problems == (problem,)
    (folder / name).unlink()
    assert verify("hotpotqa", home=home).problems == (problem,)


def test_a_panel_hash_that_does_not_fit_is_told(home, hotpotqa_folder):
    folder = get("hotpotqa", source=hotpotqa_folder, home=home)
    change(folder, "manifest.json", lambda manifest: manifest["splits"]["dev"].update(panel="0" * 64))
    (problem,) = verify("hotpotqa", home=home).problems
    assert problem.startswith("dev: the panel's hash is ")


def test_a_set_that_is_not_installed_is_a_data_error(home):
    with pytest.raises(DataError, match="agentgym-r1 data get gsm8k"):
        verify("gsm8k", home=home)


def test_content_is_question_and_answer_without_case_and_punctuation():
    first = Task("a", "How far is it -- to Ry?", QAGold(("Two miles!", "2"), ("Ry",), ("Ry",)))
    second = Task("b", " how far  is it to ry", QAGold(("two miles",), (), ()))
    assert content_of(first) == content_of(second)
    assert content_of(Task("c", "1.5?", NumberGold("1", ()))) != content_of(Task("c", "15?", NumberGold("1", ())))


@pytest.mark.real
@pytest.mark.parametrize(
    ("name", "tasks", "documents"),
    [
        ("gsm8k", {"test": 1319, "train": 7473}, None),
        ("hotpotqa", {"dev": 298, "train": 595}, 8770),
        ("2wiki", {"dev": 164, "train": 500}, 4209),
        ("musique", {"dev": 200, "train": 100}, 5021),
    ],
)
def test_the_real_samples_install_and_are_sound(samples, home, name, tasks, documents):
    folder = get(name, source=samples / "data" / name, home=home)
    report = verify(name, home=home)
    assert report.problems == ()
    assert report.tasks == tasks
    corpus = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["corpus"]
    assert (corpus and corpus["documents"]) == documents
