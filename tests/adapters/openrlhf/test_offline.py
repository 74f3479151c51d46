"""Phases without rollouts: the commands, and the real OpenRLHF on the CPU."""

import json

import gymnasium as gym
import pytest
from typer.testing import CliRunner

from agentgym_r1.cli import app
from agentgym_r1.errors import ConfigError, DataError
from agentgym_r1.policies.scripted import ExpertPolicy
from agentgym_r1.rollout import rollout
from agentgym_r1.trajectories import TrajectoryWriter


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "sft.jsonl"
    row = {
        "prompt": [{"role": "user", "content": "red"}],
        "completion": [{"role": "assistant", "content": "left"}],
    }
    path.write_text((json.dumps(row) + "\n") * 8, encoding="utf-8")
    return path


def invoke(*arguments):
    result = CliRunner().invoke(app, ["train", *map(str, arguments)])
    if isinstance(result.exception, ConfigError | DataError):
        return str(result.exception)
    assert result.exit_code == 0, result.output
    return result.stdout


SMALL = ("--", "--train.batch_size", "4", "--train.micro_batch_size", "2")


def test_a_dry_run_prints_the_whole_command(data, tmp_path):
    shown = invoke("sft", "--model", "M", "--data", data, "--out", tmp_path / "run", "--dry-run", *SMALL)
    assert "offline_driver train_sft" in shown and f"--data.dataset {data}" in shown
    assert shown.rstrip().endswith("--train.micro_batch_size 2") and not (tmp_path / "run").exists()
    assert "/shim" not in shown
    assert "/shim" in invoke("sft", "--model", "M", "--data", data, "--device", "cpu", "--dry-run", *SMALL)


def test_an_unknown_device_is_one_clear_line(data):
    assert "unknown device 'tpu'" in invoke("sft", "--model", "M", "--data", data, "--device", "tpu", "--dry-run")


@pytest.mark.openrlhf
@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--train.batch_size", "16", "--train.micro_batch_size", "2"], "has 8 rows and a batch takes 16"),
        (["--train.batch_size", "5", "--train.micro_batch_size", "2"], "must be a multiple of 2"),
        (["--bogus", "1"], "unrecognized arguments: --bogus 1"),
    ],
)
def test_a_wrong_flag_is_one_clear_line(data, flags, message):
    assert message in invoke("sft", "--model", "M", "--data", data, "--device", "cpu", "--dry-run", "--", *flags)


@pytest.mark.openrlhf
def test_a_missing_file_is_one_clear_line(tmp_path):
    missing = tmp_path / "none.jsonl"
    assert "agentgym-r1 export writes such files" in invoke("sft", "--model", "M", "--data", missing, "--dry-run")


@pytest.fixture(scope="module")
def demonstrations(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demonstrations")
    import training_worlds  # noqa: F401 - registers the world

    env = gym.make("Worlds/Colours-v0")
    with TrajectoryWriter(folder / "trajectories.jsonl") as writer:
        for task in list(env.unwrapped.tasks.ids())[:128]:
            writer.write(rollout(env, ExpertPolicy(), task=task))
    return folder


def losses(folder, name="train/loss_mean"):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    (run,) = (folder / "tensorboard").iterdir()
    return [event.value for event in EventAccumulator(str(run)).Reload().Scalars(name)]


@pytest.mark.openrlhf
@pytest.mark.timeout(400)
def test_a_policy_learns_the_colours_from_demonstrations(demonstrations, word_model, launched, tmp_path):
    launched("export", "sft", demonstrations, "--out", tmp_path / "sft.jsonl")
    flags = "--train.batch_size 32 --train.micro_batch_size 32 --data.max_len 64 --train.max_epochs 4 --adam.lr 3e-3"
    data = ("--data", tmp_path / "sft.jsonl")
    launched("train", "sft", "--model", word_model, *data, "--device", "cpu", "--out", tmp_path, "--", *flags.split())
    curve = losses(tmp_path)
    assert len(curve) == 48  # 384 rows in batches of 32, four times
    assert curve[0] > 1.0 and curve[-1] < 0.1
    assert (tmp_path / "model" / "model.safetensors").exists()
