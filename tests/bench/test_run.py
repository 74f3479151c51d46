"""The benchmark: rows, resume, workers, errors."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

from agentgym_r1.bench.panel import choose_panel
from agentgym_r1.bench.run import BenchConfig, plan, run, summarise
from agentgym_r1.data.tasks import ListTasks
from agentgym_r1.data.worlds import arithmetic
from agentgym_r1.errors import ConfigError, DataError
from agentgym_r1.policies.scripted import ExpertPolicy
from agentgym_r1.registration import ENTRIES
from agentgym_r1.rollout import rollout
from agentgym_r1.trajectories import read_trajectories, replay
from agentgym_r1.types import Task, Trajectory, panel_hash

GSM8K = "AgentR1/GSM8K-v0"
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
OWN = "custom_environment:Examples/Shelf-v0"


def config(out: Path, **changes: Any) -> BenchConfig:
    base = BenchConfig(envs=(GSM8K,), policies=("expert", "random"), out=out, source="world", episodes=6)
    return replace(base, **changes)


def bench(configuration: BenchConfig) -> dict[str, Any]:
    return run(configuration, on_plan=lambda total, done: None, on_episode=lambda trajectory: None)


def timeless(folder: Path) -> tuple[list[Any], Any]:
    lines = [json.loads(line) for line in (folder / "trajectories.jsonl").read_bytes().splitlines()]
    results = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    return [line | {"seconds": 0} for line in lines], [row | {"seconds": 0} for row in results["rows"]]


def test_rows_hold_what_the_command_line_promises(tmp_path: Path) -> None:
    results = bench(config(tmp_path, repeats=2))
    expert, chance = results["rows"]
    assert (expert["env"], expert["policy"], expert["split"], expert["source"]) == (GSM8K, "expert", "test", "world")
    assert (expert["episodes"], expert["success"], expert["score"], expert["errors"]) == (12, 1.0, 1.0, 0)
    assert expert["protocol"] == "agent-r1"
    assert expert["success_ci"][1] == 1.0
    assert 0.7 < expert["success_ci"][0] < 0.8
    assert chance["success"] < 0.5
    assert len(results["panel"][GSM8K]) == 64
    (comparison,) = results["comparisons"]
    assert comparison["tasks"] == 6
    assert comparison["difference"] == pytest.approx(expert["score"] - chance["score"])


def test_without_names_each_environment_plays_the_policies_that_fit_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AGENTGYM_R1_ENGINE", raising=False)
    results = bench(config(tmp_path, envs=(GSM8K, "AgentR1/WebShop-v0"), policies=(), episodes=2))
    played = {(row["env"], row["policy"]) for row in results["rows"]}
    assert played == {
        (entry.id, policy)
        for entry in ENTRIES
        if entry.id in {GSM8K, "AgentR1/WebShop-v0"}
        for policy in ("random", "expert", *entry.exploits)
    }
    assert [row["errors"] for row in results["rows"]] == [0] * len(played)


@pytest.mark.parametrize("workers", [1, 2])
def test_an_environment_of_ones_own_plays_beside_the_suites(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: int
) -> None:
    monkeypatch.delenv("AGENTGYM_R1_ENGINE", raising=False)
    monkeypatch.syspath_prepend(str(EXAMPLES))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(EXAMPLES), os.environ.get("PYTHONPATH", "")]))
    own = config(tmp_path, envs=(OWN, GSM8K), policies=(), source="auto", episodes=4, workers=workers)
    results = bench(own)
    rows = {(row["env"], row["policy"]): row for row in results["rows"]}
    shelf = {policy: row for (env, policy), row in rows.items() if env == "Examples/Shelf-v0"}
    assert set(shelf) == {"random", "expert"}
    assert shelf["expert"]["success"] == 1.0 > shelf["random"]["success"]
    assert {row["errors"] for row in shelf.values()} == {0}
    assert (shelf["expert"]["split"], shelf["expert"]["protocol"]) == ("test", "")
    assert set(results["panel"]) == {"Examples/Shelf-v0", GSM8K}
    assert bench(replace(own, resume=True)) == results


def test_one_environment_under_two_names_is_an_error(tmp_path: Path) -> None:
    twice = config(tmp_path / "run", envs=(GSM8K, f"agentgym_r1:{GSM8K}"))
    with pytest.raises(ConfigError, match="expert on AgentR1/GSM8K-v0 is asked for 2 times, under different names"):
        bench(twice)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("env", "message"),
    [
        ("no_such_module:Own-v0", "cannot make no_such_module:Own-v0: No module named 'no_such_module'"),
        ("custom_environment:Examples/Shelves-v0", "cannot make custom_environment:Examples/Shelves-v0: "),
        ("CartPole-v1", "CartPole"),
        (OWN, "custom_environment:Examples/Shelf-v0 does not take the arguments shelves: .*'shelves'"),
    ],
)
def test_what_cannot_be_played_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, env: str, message: str
) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    with pytest.raises(ConfigError, match=message):
        bench(config(tmp_path / "run", envs=(env,), source="auto", env_args={"shelves": 2} if env == OWN else {}))
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("workers", [2, 3])
def test_workers_change_nothing_but_the_times(tmp_path: Path, workers: int) -> None:
    bench(config(tmp_path / "one", episodes=40))
    bench(config(tmp_path / "many", episodes=40, workers=workers))
    assert timeless(tmp_path / "one") == timeless(tmp_path / "many")


def test_a_run_replays_without_difference(tmp_path: Path) -> None:
    bench(config(tmp_path))
    assert set(replay(read_trajectories(tmp_path / "trajectories.jsonl"))) == {None}


def test_resume_plays_only_what_is_missing(tmp_path: Path) -> None:
    bench(config(tmp_path / "whole"))
    played: list[Trajectory] = []
    part = config(tmp_path / "part")
    run(part, on_plan=lambda total, done: None, on_episode=played.append)
    path = tmp_path / "part" / "trajectories.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[1:5]) + lines[7][:40])
    played.clear()
    plans: list[tuple[int, int]] = []
    run(
        replace(part, resume=True, workers=2),
        on_plan=lambda total, done: plans.append((total, done)),
        on_episode=played.append,
    )
    assert plans == [(12, 4)]
    assert len(played) == 8
    assert timeless(tmp_path / "part") == timeless(tmp_path / "whole")


def test_a_killed_run_loses_no_finished_episode_and_repeats_none(tmp_path: Path) -> None:
    script = (
        "import sys\nfrom pathlib import Path\nfrom agentgym_r1.bench.run import BenchConfig, run\n"
        f"run(BenchConfig(envs=({GSM8K!r},), policies=('expert', 'random'), out=Path(sys.argv[1]), source='world',"
        " episodes=300), on_plan=lambda t, d: None, on_episode=lambda t: None)\n"
    )
    out = tmp_path / "killed"
    process = subprocess.Popen([sys.executable, "-c", script, str(out)], env=dict(os.environ))
    journal = out / "trajectories.jsonl"
    deadline = time.monotonic() + 120
    while (not journal.exists() or journal.stat().st_size < 200_000) and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = [(t.policy, t.task_id) for t in read_trajectories(journal, partial=True)]
    assert 0 < len(before) < 600
    played: list[Trajectory] = []
    continued = BenchConfig(
        envs=(GSM8K,), policies=("expert", "random"), out=out, source="world", episodes=300, resume=True, workers=2
    )
    run(continued, on_plan=lambda total, done: None, on_episode=played.append)
    after = [(t.policy, t.task_id) for t in played]
    assert len(before) + len(after) == 600
    assert not set(before) & set(after)


def test_a_run_with_other_settings_cannot_be_resumed(tmp_path: Path) -> None:
    bench(config(tmp_path))
    with pytest.raises(ConfigError, match="was run with seed 0, now 1"):
        bench(config(tmp_path, seed=1, resume=True))
    with pytest.raises(ConfigError, match="already holds a run: add --resume"):
        bench(config(tmp_path))


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(ConfigError, match="not empty and not a run"):
        bench(config(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_folder_that_cannot_be_made_is_a_data_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(DataError, match="cannot use"):
        bench(config(tmp_path / "file" / "run"))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"envs": ("AgentR1/GSM8K-v1",)}, "unknown environment 'AgentR1/GSM8K-v1'; did you mean 'AgentR1/GSM8K-v0'"),
        ({"policies": ("expret",)}, "unknown policy 'expret'; did you mean 'expert'"),
        ({"policies": ("tool_calling",)}, "needs a language model"),
        ({"split": "validation"}, "split"),
        ({"protocol": "agent-r2"}, "did you mean 'agent-r1'"),
        ({"repeats": 0}, "repeats must be at least 1"),
        ({"policies": ("expert", "expert")}, "given twice"),
    ],
)
def test_a_wrong_name_fails_before_anything_is_written(tmp_path: Path, changes: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        bench(config(tmp_path / "run", **changes))
    assert not (tmp_path / "run").exists()


def test_a_broken_episode_is_recorded_and_the_run_goes_on(tmp_path: Path) -> None:
    settings = config(tmp_path, policies=("failing@spec",))
    plans = plan(config(tmp_path))
    sound = rollout(gym.make(GSM8K, source="world"), ExpertPolicy(), seed=0)
    broken = replace(sound, success=False, score=0.0, error="policy: EngineError: gone", transitions=())
    (row, _) = summarise(settings, plans, iter([sound, broken, sound]))["rows"]
    assert (row["episodes"], row["errors"], row["success"], row["score"]) == (3, 1, 1.0, 1.0)
    assert row["first_error"] == "policy: EngineError: gone"


def test_resume_plays_broken_episodes_again(tmp_path: Path) -> None:
    bench(config(tmp_path / "whole"))
    bench(config(tmp_path / "part"))
    path = tmp_path / "part" / "trajectories.jsonl"
    first, *rest = path.read_bytes().splitlines(keepends=True)
    record = json.loads(first) | {"error": "policy: EngineError: gone", "transitions": []}
    path.write_bytes(json.dumps(record).encode() + b"\n" + b"".join(rest))
    bench(config(tmp_path / "part", resume=True))
    assert timeless(tmp_path / "part") == timeless(tmp_path / "whole")


def test_a_smaller_panel_is_part_of_a_larger_one() -> None:
    tasks = arithmetic.tasks("dev", size=200)
    small, large = choose_panel(tasks, episodes=20), choose_panel(tasks, episodes=50)
    assert large.task_ids[:20] == small.task_ids
    assert choose_panel(tasks, episodes=20, seed=1).task_ids != small.task_ids
    assert set(choose_panel(tasks).task_ids) == set(tasks.ids())


def test_the_panel_does_not_depend_on_the_order_of_the_split() -> None:
    tasks = [Task(f"t{n}", f"question {n}", {"answer": n}) for n in range(30)]
    one = choose_panel(ListTasks(tasks, name="x", split="dev", source="world"), episodes=10)
    other = choose_panel(ListTasks(tasks[::-1], name="x", split="dev", source="world"), episodes=10)
    assert one == other
    assert panel_hash(tasks) == panel_hash(tasks[::-1])
    assert panel_hash(tasks) != panel_hash([replace(tasks[0], prompt="else"), *tasks[1:]])
