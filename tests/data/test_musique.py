import json

import pytest

from agentgym_r1.data import musique
from agentgym_r1.data.passages import Passages
from agentgym_r1.errors import DataError

RECORD = {
    "id": "3hop1__10_20_30",
    "question": "When did the river that runs past the birthplace of the baker of Oat Lane last flood?",
    "answer": "1704",
    "answer_aliases": ["the year 1704", "1704", ""],
    "answerable": True,
    "question_decomposition": [
        {"id": 10, "question": "Oat Lane >> baker", "answer": "Ann Rye", "paragraph_support_idx": 3},
        {"id": 20, "question": "#1 >> birthplace", "answer": "Lower Mill", "paragraph_support_idx": 0},
        {"id": 30, "question": "When did the river of #2 flood?", "answer": "1704", "paragraph_support_idx": 2},
    ],
    "paragraphs": [
        {"idx": 0, "title": "Ann Rye", "paragraph_text": "Born in Lower Mill.", "is_supporting": True},
        {"idx": 1, "title": "Lower Mill", "paragraph_text": "A village.", "is_supporting": False},
        {"idx": 2, "title": "Lower Mill", "paragraph_text": "The river flooded in 1704.", "is_supporting": True},
        {"idx": 3, "title": "Oat Lane", "paragraph_text": "Ann Rye bakes here.", "is_supporting": True},
    ],
}


def read(path, *records):
    if records:
        path.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    passages = Passages()
    return list(musique.LOADER.read(path, passages)), passages.drain()


def test_the_evidence_follows_the_decomposition_also_where_titles_are_shared(tmp_path):
    (task,), documents = read(tmp_path / "a.jsonl", RECORD)
    assert task.id == "3hop1__10_20_30"
    assert task.kind == "3hop1"
    assert task.gold.answers == ("1704", "the year 1704")
    assert task.gold.supporting == ("Oat Lane", "Ann Rye", "Lower Mill#2")
    assert task.gold.supporting_titles == ("Oat Lane", "Ann Rye", "Lower Mill")
    assert [document.id for document in documents] == ["Ann Rye", "Lower Mill", "Lower Mill#2", "Oat Lane"]


def test_a_hop_without_a_paragraph_falls_back_to_the_marked_ones(tmp_path):
    hops = [{"paragraph_support_idx": None}, {"paragraph_support_idx": 2}]
    (task,), _ = read(tmp_path / "a.jsonl", {**RECORD, "question_decomposition": hops})
    assert task.gold.supporting == ("Lower Mill#2", "Ann Rye", "Oat Lane")


def test_an_unanswerable_question_of_the_full_set_is_refused(tmp_path):
    paragraphs = [{**paragraph, "is_supporting": False} for paragraph in RECORD["paragraphs"]]
    hops = [{"paragraph_support_idx": None}]
    record = {**RECORD, "paragraphs": paragraphs, "question_decomposition": hops, "answerable": False}
    with pytest.raises(DataError, match=r"record 2 .3hop1__10_20_30.: no supporting fact"):
        read(tmp_path / "a.jsonl", RECORD, record)


@pytest.mark.real
@pytest.mark.parametrize(
    ("name", "count"), [("musique_ans_dev_sample_200.jsonl", 200), ("musique_train_sample_100.jsonl", 100)]
)
def test_real_records_are_read_with_one_paragraph_a_hop(samples, name, count):
    tasks, documents = read(samples / "data" / "musique" / name)
    assert len(tasks) == count
    known = {document.id for document in documents}
    for task in tasks:
        assert known.issuperset(task.gold.supporting)
        assert len(task.gold.supporting) == int(task.kind[0])
