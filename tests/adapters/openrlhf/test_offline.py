"""Phases without rollouts: the commands, and the real OpenRLHF on the CPU."""

import json
import random

import gymnasium as gym
import pytest
from typer.testing import CliRunner

from agentgym_r1.bench.evaluate import maker, play_panel, summarise_file
from agentgym_r1.cli import app
from agentgym_r1.errors import ConfigError, DataError
from agentgym_r1.policies.engines.base import Sampling
from agentgym_r1.policies.engines.transformers import TransformersEngine
from agentgym_r1.policies.lm import ToolCallingPolicy
from agentgym_r1.rollout import episode_seed, rollout, run_sync
from agentgym_r1.trajectories import TrajectoryWriter
from agentgym_r1.types import Response


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


def test_weighted_regression_is_the_supervised_trainer_on_weighted_rows(data, tmp_path):
    options = ("--model", "M", "--data", data, "--out", tmp_path / "run", "--dry-run")
    shown = invoke("offline", "--method", "awr", *options, *SMALL)
    assert "offline_driver train_sft" in shown and f"--data.dataset {tmp_path / 'run' / 'weighted.jsonl'}" in shown
    assert "offline_driver train_dpo" in invoke("offline", *options, *SMALL)
    assert not (tmp_path / "run").exists()
    assert "unknown offline method 'ppo'" in invoke("offline", "--method", "ppo", *options)
    assert "unknown algorithm over a log 'gae'" in invoke("offline", "--method", "awr", "--algorithm", "gae", *options)


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


def losses(folder, name="train/loss_mean"):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    (run,) = (folder / "tensorboard").iterdir()
    return [event.value for event in EventAccumulator(str(run)).Reload().Scalars(name)]


@pytest.mark.openrlhf
@pytest.mark.timeout(400)
@pytest.mark.parametrize("processes", [1, 2])
def test_a_policy_learns_the_colours_from_demonstrations(
    colour_demonstrations, word_model, launched, processes, tmp_path
):
    launched("export", "sft", colour_demonstrations, "--out", tmp_path / "sft.jsonl")
    flags = "--train.batch_size 32 --train.micro_batch_size 16 --data.max_len 64 --train.max_epochs 4 --adam.lr 3e-3"
    data = ("--data", tmp_path / "sft.jsonl", "--device", "cpu", "--processes", processes, "--out", tmp_path)
    launched("train", "sft", "--model", word_model, *data, "--", *flags.split())
    curve = losses(tmp_path)
    assert len(curve) == 48  # 384 rows in batches of 32, four times
    assert curve[0] > 1.0 and curve[-1] < 0.1
    assert (tmp_path / "model" / "model.safetensors").exists()


class Guesser:
    """Says left or right at random: what a log of good and bad actions is made of."""

    name = "guesser"

    def begin(self, env, *, seed):
        draws = random.Random(seed)

        class Agent:
            async def act(self, observation, info):
                return Response(draws.choice(["left", "right"]))

        return Agent()


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    import training_worlds  # noqa: F401 - registers the world

    folder, env = tmp_path_factory.mktemp("log"), gym.make("Worlds/Colours-v0")
    with TrajectoryWriter(folder / "trajectories.jsonl") as writer:
        for task in list(env.unwrapped.tasks.ids())[:64]:
            for repeat in range(4):
                writer.write(rollout(env, Guesser(), task=task, seed=episode_seed(0, task, repeat)))
    return folder


def score(model, tmp_path):
    """The mean score of a policy on held-out tasks, greedily."""
    engine = TransformersEngine(str(model), max_batch=32)
    policy = ToolCallingPolicy(engine, sampling=Sampling(max_tokens=1))
    make = maker("training_worlds:Worlds/Colours-v0", {"split": "held"})
    play_panel(make, policy, tmp_path / "played.jsonl", tasks=32, concurrency=32)
    run_sync(engine.aclose())
    return summarise_file(tmp_path / "played.jsonl")["score"]


OFFLINE = "--train.batch_size 32 --train.micro_batch_size 32 --data.max_len 64 --adam.lr 3e-3 --train.max_epochs 3"


@pytest.mark.openrlhf
@pytest.mark.timeout(400)
def test_a_policy_learns_from_a_guessers_log_by_weighted_regression(log, word_model, launched, tmp_path):
    launched("export", "sft", log, "--out", tmp_path / "log.jsonl")
    options = ("--method", "awr", "--gamma", "0", "--beta", "0.3", "--data", tmp_path / "log.jsonl")
    launched(
        *("train", "offline", "--model", word_model, *options, "--device", "cpu", "--out", tmp_path),
        *("--", *OFFLINE.split()),
    )
    assert score(tmp_path / "model", tmp_path) > 0.9


@pytest.mark.openrlhf
@pytest.mark.timeout(400)
def test_a_policy_learns_from_a_guessers_log_by_preferences(log, word_model, launched, tmp_path):
    launched("export", "dpo", log, "--pairs", "both", "--out", tmp_path / "log.jsonl")
    data = ("--data", tmp_path / "log.jsonl")
    launched(
        *("train", "offline", "--model", word_model, *data, "--device", "cpu", "--out", tmp_path),
        *("--", *OFFLINE.split()),
    )
    accuracy = losses(tmp_path, "train/acc_mean")
    assert accuracy[-1] > accuracy[0] and accuracy[-1] > 0.7
