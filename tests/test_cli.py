"""The command line: output, exit codes, and one line for every error."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import gymnasium as gym
import pytest

from agentgym_r1 import cli
from agentgym_r1.policies import ExpertPolicy
from agentgym_r1.registration import ENTRIES
from agentgym_r1.rollout import rollout
from agentgym_r1.trajectories import TrajectoryWriter

GSM8K = "AgentR1/GSM8K-v0"


def run(*arguments: object, cwd: Path | None = None, **env: str) -> subprocess.CompletedProcess[str]:
    root = Path(__file__).resolve().parents[1]
    path = os.pathsep.join([str(root), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, "-m", "agentgym_r1.cli", *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": path, "COLUMNS": "160", **env},
        timeout=120,
    )


def test_envs_lists_every_environment() -> None:
    found = run("envs")
    assert found.returncode == 0
    assert GSM8K in found.stdout
    rows = json.loads(run("envs", "--json").stdout)
    assert {"id", "summary", "data", "world", "split", "protocols", "extras"} <= set(rows[0])


def test_bench_prints_a_table_on_stdout_and_writes_the_run(tmp_path: Path) -> None:
    out = tmp_path / "run"
    found = run("bench", "--env", GSM8K, "--policy", "expert", "--source", "world", "--episodes", 3, "--out", out)
    assert found.returncode == 0, found.stderr
    assert "1.000" in found.stdout
    assert "panel" in found.stdout
    assert {path.name for path in out.iterdir()} == {"config.json", "results.json", "trajectories.jsonl"}
    replayed = run("replay", out / "trajectories.jsonl")
    assert replayed.stdout.strip().endswith("3 episodes replayed, 0 differ")
    assert replayed.returncode == 0


def test_bench_json_is_one_document(tmp_path: Path) -> None:
    found = run(
        *("bench", "--env", GSM8K, "--policy", "expert", "--policy", "random", "--source", "world", "--episodes", 3),
        *("--json", "--out", tmp_path / "run"),
    )
    document = json.loads(found.stdout)
    assert [row["policy"] for row in document["rows"]] == ["expert", "random"]
    assert set(document["panel"]) == {GSM8K}


def test_a_record_of_ones_own_environment_is_replayed_with_the_module_that_registers_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    examples = Path(__file__).resolve().parents[1] / "examples"
    monkeypatch.syspath_prepend(str(examples))
    env = gym.make("custom_environment:Examples/Shelf-v0")
    with TrajectoryWriter(tmp_path / "t.jsonl") as writer:
        writer.write(rollout(env, ExpertPolicy(), seed=1))
    lost = run("replay", tmp_path / "t.jsonl")
    assert (lost.returncode, lost.stderr.count("\n")) == (1, 1)
    assert "replay --import MODULE" in lost.stderr
    found = run(
        "replay", tmp_path / "t.jsonl", "--import", "custom_environment", PYTHONPATH=f"{examples.parent}:{examples}"
    )
    assert found.stdout.strip().endswith("1 episodes replayed, 0 differ")
    unknown = run("replay", tmp_path / "t.jsonl", "--import", "no_such_module")
    assert "cannot import no_such_module" in unknown.stderr


def test_a_changed_record_fails_the_replay(tmp_path: Path) -> None:
    out = tmp_path / "run"
    run("bench", "--env", GSM8K, "--policy", "expert", "--source", "world", "--episodes", 2, "--out", out)
    path = out / "trajectories.jsonl"
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    lines[1]["transitions"][0]["reward"] = 5.0
    path.write_text("\n".join(map(json.dumps, lines)) + "\n", encoding="utf-8")
    found = run("replay", path)
    assert found.returncode == 1
    assert "reward was '5.0', is '0.0'" in found.stdout
    assert "2 episodes replayed, 1 differ" in found.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("bench", "--env", "AgentR1/GSM8K"), 2, "unknown environment 'AgentR1/GSM8K'; did you mean"),
        (("bench", "--env", GSM8K, "--split", "dve", "--source", "world"), 2, "did you mean 'dev'"),
        (("bench", "--env", GSM8K, "--policy", "exprt", "--source", "world"), 2, "did you mean 'expert'"),
        (("bench", "--env", GSM8K, "--policy", "exploit-first", "--source", "world"), 2, "exploit-first does not fit"),
        (("bench", "--env", GSM8K, "--policy", "react"), 2, "needs a language model"),
        (("bench", "--env", GSM8K, "--source", "real"), 1, "agentgym-r1 data get gsm8k"),
        (("bench", "--env", GSM8K, "--source", "wrld"), 2, "auto, real or world"),
        (("bench", "--env", GSM8K, "--resume"), 2, "--resume needs --out"),
        (("bench", "--env", GSM8K, "--episodes", "0"), 2, "--episodes"),
        (("replay", "none.jsonl"), 1, "cannot read none.jsonl"),
        (("data", "get", "gsm9k"), 2, "did you mean 'gsm8k'"),
        (("data", "verify", "gsm8k"), 1, "data get gsm8k"),
        (("doctor", "AgentR1/Nothing-v0"), 2, "unknown environment"),
        (("play", "AgentR1/GSM8K-v9"), 2, "unknown environment"),
        (("play", GSM8K, "--source", "world", "--web"), 2, "only AgentR1/WebShop-v0 has a web page"),
        (("nonsense",), 2, "nonsense"),
    ],
)
def test_an_error_is_one_line_with_its_exit_code(
    arguments: tuple[str, ...], code: int, message: str, tmp_path: Path
) -> None:
    found = run(*arguments, cwd=tmp_path, AGENTGYM_R1_HOME=str(tmp_path / "home"), AGENTGYM_R1_ENGINE="")
    assert found.returncode == code, found.stderr
    assert message in found.stderr
    assert "Traceback" not in found.stderr
    assert list(tmp_path.iterdir()) == []
    if found.stderr.startswith("error: "):
        assert found.stderr.count("\n") == 1


def test_an_output_folder_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    found = run("bench", "--env", GSM8K, "--source", "world", "--out", tmp_path / "file" / "run")
    assert found.returncode == 1
    assert found.stderr.startswith("error: cannot use")


def test_an_endpoint_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    found = run(
        *("bench", "--env", GSM8K, "--source", "world", "--episodes", 1, "--out", tmp_path / "run"),
        *("--policy", "tool_calling@http://127.0.0.1:9/v1#none"),
    )
    assert found.returncode == 1
    assert found.stderr.startswith("error: ")
    assert "127.0.0.1:9" in found.stderr
    assert found.stderr.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_doctor_reports_point_by_point() -> None:
    found = run("doctor", GSM8K, "--source", "world", "--resets", 200)
    assert found.returncode == 0, found.stdout
    assert "hostile actions never raise" in found.stdout
    points = json.loads(run("doctor", GSM8K, "--source", "world", "--resets", 200, "--json").stdout)
    assert {point["status"] for point in points} == {"pass"}


def test_a_game_can_be_played_by_hand() -> None:
    found = subprocess.run(
        [sys.executable, "-m", "agentgym_r1.cli", "play", GSM8K, "--source", "world"],
        input="nonsense\n<answer>0</answer>\n",
        capture_output=True,
        text=True,
        cwd=Path(__file__).resolve().parents[1],
        timeout=120,
    )
    assert found.returncode == 0, found.stderr
    assert "the episode ended: success False" in found.stdout


def test_a_world_of_commands_takes_them_as_they_are() -> None:
    found = subprocess.run(
        [sys.executable, "-m", "agentgym_r1.cli", "play", "AgentR1/WebShop-v0", "--source", "world"],
        input="search[cup]\nclick[back to search]\n\n",
        capture_output=True,
        text=True,
        cwd=Path(__file__).resolve().parents[1],
        timeout=120,
    )
    assert found.returncode == 0, found.stderr
    assert "1. search[cup]\n2. click[back to search]" in found.stdout
    assert "(not carried out)" not in found.stdout


def test_version_is_printed() -> None:
    assert run("--version").stdout.strip()


def test_a_world_is_written_as_json_lines(tmp_path: Path) -> None:
    found = run("data", "make", "arithmetic", "--size", 5, "--out", tmp_path / "world")
    assert found.returncode == 0, found.stderr
    assert "5 tasks, panel" in found.stdout
    (tasks,) = (tmp_path / "world").iterdir()
    assert len(tasks.read_text(encoding="utf-8").splitlines()) == 5


def test_a_data_set_is_installed_from_a_folder_and_verified(tmp_path: Path) -> None:
    folder, home = tmp_path / "files", str(tmp_path / "home")
    folder.mkdir()
    for name, question in (("train", "One and one?"), ("test", "One and two?")):
        row = {"question": question, "answer": f"Add. <<1+{len(name) - 3}={len(name) - 2}>>\n#### {len(name) - 2}"}
        (folder / f"{name}.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    found = run("data", "get", "gsm8k", "--from", folder, AGENTGYM_R1_HOME=home)
    assert found.returncode == 0, found.stderr
    assert "test 1, train 1" in found.stdout
    assert "sound" in run("data", "verify", "gsm8k", AGENTGYM_R1_HOME=home).stdout
    rows = json.loads(run("data", "list", "--json", AGENTGYM_R1_HOME=home).stdout)
    assert {row["name"]: row["installed"] for row in rows}["gsm8k"] == {"train": 1, "test": 1}
    played = run(
        *("bench", "--env", GSM8K, "--policy", "expert", "--source", "real", "--out", tmp_path / "run", "--json"),
        AGENTGYM_R1_HOME=home,
    )
    assert json.loads(played.stdout)["rows"][0]["success"] == 1.0


def test_an_environment_that_cannot_be_made_here_is_left_out_of_the_default_bench(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    entries = (ENTRIES[0], replace(ENTRIES[1], needs=("no_such_module",), extras=("nothing",)))
    monkeypatch.setattr(cli, "ENTRIES", entries)
    assert cli._playable() == [ENTRIES[0].id]
    assert capsys.readouterr().err == f"{ENTRIES[1].id} is left out: pip install 'agentgym-r1[nothing]'\n"


def test_environments_are_served_until_a_signal_ends_it_cleanly() -> None:
    root = Path(__file__).resolve().parents[1]
    command = [sys.executable, "-m", "agentgym_r1.cli", "serve", "--env", GSM8K, "--port", "0"]
    with subprocess.Popen(
        command, cwd=root, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"}
    ) as server:
        assert server.stdout is not None
        url = server.stdout.readline().split()[-1]
        env = gym.make("AgentR1/Remote-v0", url=url, env=GSM8K, source="world")
        trajectory = rollout(env, ExpertPolicy(), seed=0)
        server.terminate()
        assert server.wait(timeout=60) == 0
    assert trajectory.success
    env.close()


def test_an_environment_that_is_not_ours_is_not_served() -> None:
    found = run("serve", "--env", "CartPole-v1")
    assert (found.returncode, found.stderr.count("\n")) == (2, 1)
    assert "unknown environment 'CartPole-v1'" in found.stderr


def test_arguments_of_the_environment_reach_bench_play_and_doctor(tmp_path: Path) -> None:
    limit = ("--source", "world", "--env-arg", "max_steps=1")
    bench = run(
        "bench", "--env", GSM8K, "--policy", "expert", "--episodes", 5, *limit, "--json", "--out", tmp_path / "run"
    )
    assert json.loads(bench.stdout)["rows"][0]["steps"] == 1.0
    lines = (tmp_path / "run" / "trajectories.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(lines[0])["env_kwargs"]["max_steps"] == 1
    assert run("replay", tmp_path / "run" / "trajectories.jsonl").returncode == 0
    again = run(
        "bench",
        "--env",
        GSM8K,
        "--policy",
        "expert",
        "--episodes",
        5,
        "--source",
        "world",
        "--resume",
        "--out",
        tmp_path / "run",
    )
    assert (again.returncode, "env_args" in again.stderr) == (2, True)
    assert run("doctor", GSM8K, "--resets", 100, "--source", "world", "--env-arg", "max_steps=4").returncode == 0
    wrong = run("bench", "--env", GSM8K, "--env-arg", "colour=red", "--out", tmp_path / "other")
    assert (wrong.returncode, "colour" in wrong.stderr, "Traceback" in wrong.stderr) == (2, True, False)


def test_a_list_reaches_environments_in_other_processes(tmp_path: Path) -> None:
    levels = 'task_types=["Pick", "Look"]'
    found = run(
        *("bench", "--env", "AgentR1/ALFWorld-v0", "--policy", "expert", "--source", "world", "--episodes", 6),
        *("--env-arg", levels, "--workers", 2, "--json", "--out", tmp_path / "run"),
    )
    assert set(json.loads(found.stdout)["rows"][0]["kinds"]) == {"Pick", "Look"}
