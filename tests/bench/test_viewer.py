"""The web viewer of a run."""

from dataclasses import replace
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from toy import GuessEnv

from agentgym_r1.bench.run import BenchConfig, run
from agentgym_r1.bench.viewer import RunFolder, create_app
from agentgym_r1.errors import DataError
from agentgym_r1.policies import ExpertPolicy, ScriptedPolicy
from agentgym_r1.rollout import rollout
from agentgym_r1.trajectories import TrajectoryWriter, encode


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "run"
    config = BenchConfig(("AgentR1/GSM8K-v0",), ("expert", "random"), out, source="world", episodes=5)
    run(config, on_plan=lambda total, done: None, on_episode=lambda trajectory: None)
    return out


def test_the_overview_shows_the_table_and_the_episodes(folder: Path) -> None:
    page = TestClient(create_app(folder)).get("/").text
    assert "AgentR1/GSM8K-v0" in page
    assert "1.000" in page
    assert "10 episodes" in page
    assert 'href="/episode/9"' in page


def test_episodes_are_filtered_by_policy_and_outcome(folder: Path) -> None:
    client = TestClient(create_app(folder))
    assert "5 episodes" in client.get("/", params={"policy": "expert"}).text
    assert "0 episodes" in client.get("/", params={"policy": "expert", "outcome": "lost"}).text


def test_an_episode_shows_prompt_action_feedback_and_reward(folder: Path) -> None:
    page = TestClient(create_app(folder)).get("/episode/0").text
    assert "Step 1" in page
    assert "&lt;tool_call&gt;" in page
    assert "reward 1" in page
    assert "terminated" in page


def test_a_missing_episode_is_a_page_that_says_so(folder: Path) -> None:
    answer = TestClient(create_app(folder)).get("/episode/10")
    assert answer.status_code == 404
    assert "episodes 0 to 9" in answer.text


def test_what_a_model_wrote_is_shown_and_never_run(tmp_path: Path) -> None:
    attack = "<script>alert(1)</script>{{ 7 * 7 }}"
    with TrajectoryWriter(tmp_path / "trajectories.jsonl") as writer:
        writer.write(rollout(GuessEnv(), ScriptedPolicy([attack]), task="n7"))
        writer.write(replace(rollout(GuessEnv(), ExpertPolicy(), task="n7"), error="policy: <b>gone</b>"))
    client = TestClient(create_app(tmp_path))
    page = client.get("/episode/0").text
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;{{ 7 * 7 }}" in page
    assert "&lt;b&gt;gone&lt;/b&gt;" in client.get("/episode/1").text
    assert "has not ended yet" in client.get("/").text


def test_a_half_written_last_line_is_left_out(tmp_path: Path) -> None:
    line = encode(rollout(GuessEnv(), ExpertPolicy(), task="n7"))
    (tmp_path / "trajectories.jsonl").write_bytes(line + b"\n" + line[:50])
    assert len(RunFolder(tmp_path).episodes) == 1


def test_a_folder_without_a_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"holds no trajectories\.jsonl"):
        create_app(tmp_path)
