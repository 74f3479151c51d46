"""The evaluation of one policy is the benchmark's: same panel, same episodes, same row."""

from pathlib import Path

import pytest

from agentgym_r1.bench.evaluate import maker, play_panel, summarise_file
from agentgym_r1.bench.run import BenchConfig, run
from agentgym_r1.policies.scripted import ExpertPolicy, RandomPolicy
from agentgym_r1.trajectories import read_trajectories
from agentgym_r1.types import Trajectory

ENV = "AgentR1/GSM8K-v0"
KWARGS = {"source": "world", "split": "test"}


@pytest.mark.parametrize("policy", [ExpertPolicy(), RandomPolicy()], ids=lambda policy: policy.name)
def test_it_gives_the_benchmarks_row(policy: ExpertPolicy | RandomPolicy, tmp_path: Path) -> None:
    config = BenchConfig(
        (ENV,), (policy.name,), tmp_path / "bench", source="world", split="test", episodes=6, repeats=2, seed=3
    )
    results = run(config, on_plan=lambda total, done: None, on_episode=lambda trajectory: None)
    panel = play_panel(maker(ENV, KWARGS), policy, tmp_path / "own.jsonl", tasks=6, repeats=2, seed=3, concurrency=4)
    assert panel.hash == results["panel"][ENV]
    row = summarise_file(tmp_path / "own.jsonl", seed=3)
    (theirs,) = results["rows"]
    for name in ("episodes", "success", "success_ci", "score", "return", "steps", "invalid_rate", "errors"):
        assert row[name] == pytest.approx(theirs[name]), name
    played = {(t.task_id, t.repeat): t.transitions for t in read_trajectories(tmp_path / "own.jsonl")}
    assert played == {
        (t.task_id, t.repeat): t.transitions for t in read_trajectories(tmp_path / "bench" / "trajectories.jsonl")
    }


def test_the_file_appears_when_all_has_been_played(tmp_path: Path) -> None:
    out, seen = tmp_path / "own.jsonl", []

    def look(trajectory: Trajectory) -> None:
        seen.append(out.exists())

    (tmp_path / "own.jsonl.tmp").write_text("half of an episode that was killed", encoding="utf-8")
    play_panel(maker(ENV, KWARGS), ExpertPolicy(), out, tasks=3, on_episode=look)
    assert seen == [False] * 3 and len(list(read_trajectories(out))) == 3
    assert not (tmp_path / "own.jsonl.tmp").exists()
