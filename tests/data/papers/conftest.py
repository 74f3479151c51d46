"""Invented libraries in the official formats."""

import json
import tarfile
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest


def write_lines(path: Path, rows: list[dict]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


@pytest.fixture
def own_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "own"
    papers = [
        {"id": "k1", "title": "Kites", "abstract": "On kites.", "year": 2001, "authors": ["Ann Oak"]},
        {"id": "k2", "title": "Larger kites", "abstract": "Larger.", "references": ["k1", "elsewhere"]},
        {"id": "s1", "title": "Sails", "abstract": "On sails.", "venue": "Windy Letters"},
    ]
    queries = [
        {"qid": "q1", "question": "Who writes about kites?", "gold": ["k1", "k2"], "split": "flying"},
        {"id": "q2", "question": "Sails?", "gold": ["s1"], "answer": ["SAILS", "Masts"]},
        {"question": "Oars?", "gold": ["o1"]},
    ]
    write_lines(folder / "papers.jsonl", papers)
    write_lines(folder / "queries.jsonl", queries)
    return folder


@pytest.fixture
def scifact_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "scifact" / "data"
    corpus = [{"doc_id": 7, "title": "Salt", "abstract": ["It is white. ", "It tastes."], "structured": False}]
    claims = {
        "train": [{"id": 1, "claim": "Salt is white.", "evidence": {}, "cited_doc_ids": [7]}],
        "dev": [{"id": 2, "claim": "Salt tastes.", "evidence": {"7": []}, "cited_doc_ids": [7]}],
    }
    write_lines(folder / "corpus.jsonl", corpus)
    for split, rows in claims.items():
        write_lines(folder / f"claims_{split}.jsonl", rows)
    return folder.parent


@pytest.fixture
def scifact_archive(scifact_folder: Path, tmp_path: Path) -> Path:
    archive = tmp_path / "archive" / "data.tar.gz"
    archive.parent.mkdir()
    with tarfile.open(archive, "w:gz") as packed:
        packed.add(scifact_folder / "data", "data")
    return archive.parent


@pytest.fixture
def pasa_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "pasa"

    def query(qid: str, titles: list[str], ids: list[str]) -> dict:
        return {"qid": qid, "question": f"Papers of {qid}?", "answer": titles, "answer_arxiv_id": ids}

    write_lines(folder / "AutoScholarQuery" / "train.jsonl", [query("t0", ["On Rope"], ["1901.00001"])])
    dev = [
        query("d0", ["On rope!", "Lost"], ["1901.99999", "1901.88888"]),
        query("d1", ["Lost"], ["1901.88888"]),
        query("d2", ["Knots"], ["cs/9912001"]),
    ]
    write_lines(folder / "AutoScholarQuery" / "dev.jsonl", dev)
    database = folder / "paper_database"
    database.mkdir()
    names = {"1901.00001": "On Rope", "cs/9912001": "Knots"}
    (database / "id2paper.json").write_text(json.dumps(names), encoding="utf-8")
    members = {
        "onrope": {"title": "On\n Rope", "abstract": "Rope.", "sections": {"1 Start": ["Knots", "Unknown"]}},
        "knots": {"title": "Knots", "abstract": "Knots.", "sections": ""},
        "bows": {"title": "Bows", "abstract": "Bows.", "sections": [["On Rope"], "Knots"]},
    }
    with zipfile.ZipFile(database / "cs_paper_2nd.zip", "w") as packed:
        for name, record in members.items():
            packed.writestr(name, json.dumps(record))
    return folder


@pytest.fixture
def litsearch_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "litsearch"
    (folder / "query").mkdir(parents=True)
    (folder / "corpus_clean").mkdir()
    queries = [{"query_set": "inline", "query": "Bells?", "specificity": 1, "quality": 2, "corpusids": [11, 12]}]
    pq.write_table(pa.Table.from_pylist(queries), folder / "query" / "full-00000-of-00001.parquet")
    shards = [
        [{"corpusid": 11, "title": "Bells", "abstract": None, "citations": [12, 99], "full_paper": "..."}],
        [{"corpusid": 12, "title": "Gongs", "abstract": "Gongs.", "citations": [], "full_paper": "..."}],
    ]
    for number, rows in enumerate(shards):
        pq.write_table(pa.Table.from_pylist(rows), folder / "corpus_clean" / f"full-0000{number}-of-00002.parquet")
    return folder
