import json
import logging

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from agentgym_r1.data import hotpotqa
from agentgym_r1.data.gold import QAGold
from agentgym_r1.data.passages import Passages
from agentgym_r1.errors import DataError
from agentgym_r1.types import Document, Task


def write(path, records):
    path.write_text(json.dumps(records), encoding="utf-8")
    return path


def read(path):
    passages = Passages()
    return list(hotpotqa.LOADER.read(path, passages)), passages.drain()


def hub_row(record):
    """The same record as the Parquet files of the hub have it: columns instead of pairs."""
    facts, context = record["supporting_facts"], record["context"]
    return {
        **{key: record[key] for key in ("question", "answer", "type", "level")},
        "id": record["_id"],
        "supporting_facts": {"title": [title for title, _ in facts], "sent_id": [number for _, number in facts]},
        "context": {"title": [title for title, _ in context], "sentences": [sentences for _, sentences in context]},
    }


@pytest.fixture
def records(hotpotqa_folder):
    return json.loads((hotpotqa_folder / "hotpot_train_v1.1.json").read_text(encoding="utf-8"))


def test_a_record_becomes_a_task_with_its_evidence_in_the_order_of_the_facts(tmp_path, records):
    (task,), documents = read(write(tmp_path / "a.json", records[:1]))
    titles = ("Tower 0", "Clockmaker 0")
    gold = QAGold(("Valley 0",), supporting=titles, supporting_titles=titles)
    assert task == Task("q0", "In which valley was the clockmaker of tower 0 born?", gold, "bridge")
    assert documents == [
        Document("Common ground", "Common ground", "Grass grows. Sheep eat it."),
        Document("Clockmaker 0", "Clockmaker 0", "A quiet life. Born in Valley 0."),
        Document("Tower 0", "Tower 0", "Its clock is by Clockmaker 0."),
    ]


def test_paragraphs_of_several_questions_are_one_document(tmp_path, records):
    _, documents = read(write(tmp_path / "a.json", records))
    assert [document.title for document in documents].count("Common ground") == 1
    assert len(documents) == 1 + 2 * len(records)


def test_the_parquet_files_of_the_hub_give_the_same_as_the_official_json(tmp_path, records):
    pq.write_table(pa.Table.from_pylist(list(map(hub_row, records))), tmp_path / "a.parquet")
    assert read(tmp_path / "a.parquet") == read(write(tmp_path / "a.json", records))


def test_the_evidence_is_the_paragraph_of_this_question_where_titles_are_shared(tmp_path, records):
    first, second = records[:2]
    first["context"].append(["Tower 1", ["Another tower of that name."]])
    tasks, _ = read(write(tmp_path / "a.json", [first, second]))
    assert tasks[1].gold.supporting == ("Tower 1#2", "Clockmaker 1")
    assert tasks[1].gold.supporting_titles == ("Tower 1", "Clockmaker 1")


def test_a_supporting_title_outside_the_context_is_logged_and_left_out(tmp_path, records, caplog):
    records[0]["supporting_facts"].insert(0, ["Nowhere", 0])
    with caplog.at_level(logging.WARNING):
        tasks, _ = read(write(tmp_path / "a.json", records))
    assert tasks[0].gold.supporting == ("Tower 0", "Clockmaker 0")
    assert "question q0: the supporting titles ['Nowhere'] are not in its context" in caplog.text


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"supporting_facts": [["Nowhere", 0]]}, "no supporting fact is among the 3 paragraphs"),
        ({"supporting_facts": []}, "no supporting fact"),
        ({"answer": " "}, "field answer: expected text, got none"),
        ({"question": ""}, "field question: expected text, got none"),
        ({"context": [["Tower 1", "one text"]]}, r"Expected `array`, got `str` - at `\$.context\[0\]\[1\]`"),
        ({"_id": 3}, r"Expected `str`, got `int` - at `\$._id`"),
    ],
)
def test_a_record_that_cannot_be_a_task_is_named(tmp_path, records, change, message):
    records[1].update(change)
    with pytest.raises(DataError, match=rf"a\.json, record 2.*{message}"):
        read(write(tmp_path / "a.json", records))


def test_a_parquet_file_of_another_set_is_refused(tmp_path):
    pq.write_table(pa.Table.from_pylist([{"text": "x"}]), tmp_path / "train-0.parquet")
    with pytest.raises(DataError, match=r"train-0\.parquet, record 1: not the set's official format"):
        read(tmp_path / "train-0.parquet")


@pytest.mark.real
@pytest.mark.parametrize(
    ("name", "count", "kinds"),
    [
        ("hotpot_dev_distractor_sample_298.json", 298, {"bridge": 217, "comparison": 81}),
        ("hotpot_train_distractor_sample_595.json", 595, {"bridge": 482, "comparison": 113}),
    ],
)
def test_real_records_are_read_with_all_their_evidence(samples, name, count, kinds):
    tasks, documents = read(samples / "data" / "hotpotqa" / name)
    assert len(tasks) == count
    assert {kind: sum(task.kind == kind for task in tasks) for kind in kinds} == kinds
    known = {document.id for document in documents}
    assert all(len(task.gold.supporting) == 2 and known.issuperset(task.gold.supporting) for task in tasks)
