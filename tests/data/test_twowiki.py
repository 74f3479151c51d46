import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from agentgym_r1.data import twowiki
from agentgym_r1.data.passages import Passages


def record(number: int, *, answer_id: str | None = "Q7") -> dict:
    """An invented record in the official JSON format."""
    return {
        "_id": f"w{number}",
        "type": "compositional",
        "question": f"Which country does the captain of ship {number} come from?",
        "answer": "Norlund",
        "supporting_facts": [[f"Ship {number}", 0], [f"Captain {number}", 0]],
        "evidences": [[f"Ship {number}", "captain", f"Captain {number}"], [f"Captain {number}", "country", "Norlund"]],
        "context": [
            [f"Captain {number}", ["A captain of Norlund.", "She sails."]],
            ["Harbour", ["Ships rest."]],
            ["Harbour", ["Ships rest."]],
            [f"Ship {number}", [f"Captain {number} commands it."]],
        ],
        "answer_id": answer_id,
    }


def read(path):
    passages = Passages()
    return list(twowiki.LOADER.read(path, passages)), passages.drain()


def write(path, records):
    path.write_text(json.dumps(records), encoding="utf-8")
    return path


def test_sentences_are_joined_by_a_blank_and_a_repeated_paragraph_is_one(tmp_path):
    (task,), documents = read(write(tmp_path / "dev.json", [record(1)]))
    assert task.id == "w1"
    assert task.kind == "compositional"
    assert task.gold.answers == ("Norlund",)
    assert task.gold.supporting == ("Ship 1", "Captain 1")
    assert [document.text for document in documents] == [
        "A captain of Norlund. She sails.",
        "Ships rest.",
        "Captain 1 commands it.",
    ]


def test_parquet_with_json_in_its_columns_gives_the_same_as_the_official_json(tmp_path):
    records = [record(1), record(2)]
    rows = [
        {key: json.dumps(value) if isinstance(value, list) else value for key, value in row.items()} for row in records
    ]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "dev.parquet")
    assert read(tmp_path / "dev.parquet") == read(write(tmp_path / "dev.json", records))


def test_the_aliases_file_beside_the_split_adds_answers(tmp_path):
    entities = [
        {"Q_id": "Q7", "aliases": ["Kingdom of Norlund", "Norlund"], "demonyms": ["Norlunder"]},
        {"Q_id": "Q8", "aliases": ["Elsewhere"], "demonyms": []},
    ]
    (tmp_path / "id_aliases.json").write_text("\n".join(map(json.dumps, entities)), encoding="utf-8")
    tasks, _ = read(write(tmp_path / "dev.json", [record(1), record(2, answer_id=None), record(3, answer_id="Q9")]))
    assert [task.gold.answers for task in tasks] == [
        ("Norlund", "Kingdom of Norlund", "Norlunder"),
        ("Norlund",),
        ("Norlund",),
    ]


@pytest.mark.real
@pytest.mark.parametrize(("split", "count"), [("dev", 164), ("train", 500)])
def test_real_records_are_read_with_all_their_evidence(samples, split, count):
    tasks, documents = read(samples / "data" / "2wiki" / f"2wiki_{split}_sample_{count}.json")
    assert len(tasks) == count
    known = {document.id for document in documents}
    assert all(len(task.gold.supporting) >= 2 and known.issuperset(task.gold.supporting) for task in tasks)


@pytest.mark.real
def test_the_corpus_of_the_real_samples_is_the_published_one(samples):
    folder = samples / "data" / "2wiki"
    passages = Passages()
    for name in ("2wiki_dev_sample_164.json", "2wiki_train_sample_500.json"):
        list(twowiki.LOADER.read(folder / name, passages))
    expected = json.loads((folder / "2wiki_sample_corpus.json").read_text(encoding="utf-8"))
    assert {(document.title, document.text) for document in passages.drain()} == {
        (passage["title"], passage["text"]) for passage in expected
    }
