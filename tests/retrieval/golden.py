"""The rankings that Lucene itself gave (Anserini, on the real sample corpora), and how near another comes to them."""

import json
import lzma
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agentgym_r1.corpus import Corpus, MemoryCorpus, open_corpus
from agentgym_r1.types import Document

K = 10
Cell = tuple[str, float, float]
"""A corpus with k1 and b."""


def read_rankings(samples: Path) -> dict[Cell, list[dict[str, Any]]]:
    """Return the recorded rows of each corpus and setting."""
    rows: dict[Cell, list[dict[str, Any]]] = defaultdict(list)
    with lzma.open(samples / "golden" / "lucene_rankings.jsonl.xz", "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            rows[row["corpus"], row["k1"], row["b"]].append(row)
    return dict(rows)


def read_corpus(data: Path, name: str) -> Corpus:
    if name == "webshop":
        return MemoryCorpus(open_corpus(data / "webshop" / "resources_1k_documents.jsonl"))
    if name == "scifact":
        return MemoryCorpus(scifact(data / "paper_search" / "scifact" / "corpus.jsonl"))
    file = {"hotpotqa": "hotpot", "2wiki": "2wiki"}[name]
    return open_corpus(data / name / f"{file}_sample_corpus.json")


def scifact(path: Path) -> Iterator[Document]:
    with path.open(encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            yield Document(str(row["doc_id"]), "", f"{row['title']} {' '.join(row['abstract'])}")


def overlap(expected: list[str], found: list[str]) -> float:
    """Return the share of the first K ids that both rankings have."""
    first, second = set(expected[:K]), set(found[:K])
    return len(first & second) / max(len(first), len(second), 1)


def same_first(expected: list[str], found: list[str]) -> bool:
    return expected[:1] == found[:1]
