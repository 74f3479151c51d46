"""Paper search on the real samples: figures that were measured, and one that was published."""

import math
from pathlib import Path
from typing import Any

import pytest

from agentgym_r1.bench.run import BenchConfig, run
from agentgym_r1.data.get import get
from agentgym_r1.data.installed import open_papers_of, open_tasks
from agentgym_r1.retrieval import open_retriever

pytestmark = pytest.mark.real
ID = "AgentR1/PaperSearch-v0"


@pytest.fixture(params=["acl", "scifact"])
def installed(request: pytest.FixtureRequest, samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("AGENTGYM_R1_HOME", str(tmp_path / "home"))
    get(request.param, source=samples / "data" / "paper_search" / request.param)
    return request.param


def bench(out: Path, *policies: str, **kwargs: Any) -> dict[str, dict[str, Any]]:
    config = BenchConfig((ID,), policies, out, source="real", **kwargs)
    results = run(config, on_plan=lambda total, done: None, on_episode=lambda trajectory: None)
    return {row["policy"]: row for row in results["rows"]}


@pytest.mark.parametrize("installed", ["acl"], indirect=True)
def test_the_expert_finds_every_covered_paper_of_pasas_queries(installed: str, tmp_path: Path) -> None:
    rows = bench(tmp_path / "run", "expert", "bm25")
    assert (rows["expert"]["episodes"], rows["expert"]["success"], rows["expert"]["score"]) == (131, 1.0, 1.0)
    assert rows["bm25"]["score"] == pytest.approx(0.349, abs=0.001)


@pytest.mark.parametrize("installed", ["acl"], indirect=True)
def test_the_retrieval_protocol_gives_the_recall_of_a_ranking_of_100(installed: str, tmp_path: Path) -> None:
    metrics = bench(tmp_path / "run", "bm25", protocol="retrieval")["bm25"]["metrics"]
    measured = {"recall@20": 0.439, "recall@50": 0.539, "recall@100": 0.644}
    assert {name: metrics[name] for name in measured} == pytest.approx(measured, abs=0.001)


@pytest.mark.parametrize("installed", ["scifact"], indirect=True)
def test_bm25_on_scifact_is_the_published_one(installed: str, tmp_path: Path) -> None:
    """Recall@10 by bm25s (results of MTEB) is 0.8187; nDCG@10 and recall@100 are Anserini's for BEIR (flat)."""
    rows = bench(tmp_path / "run", "bm25", "expert", split="dev")
    assert rows["bm25"]["episodes"] == 300
    assert rows["bm25"]["score"] == pytest.approx(0.8187, abs=0.02)
    assert rows["expert"]["success"] == 1.0
    tasks = open_tasks("scifact", "dev")
    found = open_retriever("bm25", corpus=open_papers_of("scifact").documents)
    rankings = found.search([task.prompt for task in tasks], k=100)
    pairs = [([p.id for p in ranking], set(task.gold.papers)) for ranking, task in zip(rankings, tasks)]
    assert sum(len(gold & set(ids)) / len(gold) for ids, gold in pairs) / 300 == pytest.approx(0.9253, abs=5e-5)
    assert sum(ndcg(ids[:10], gold) for ids, gold in pairs) / 300 == pytest.approx(0.6789, abs=5e-5)


def ndcg(ids: list[str], gold: set[str]) -> float:
    gains = [1 / math.log2(rank + 2) for rank in range(10)]
    return sum(gain for gain, paper in zip(gains, ids) if paper in gold) / sum(gains[: len(gold)])
