"""Parquet: every step comes back as it was recorded."""

import importlib.util
import json
from dataclasses import replace

import pyarrow.parquet as pq
import pytest

from agentgym_r1.exports import Filters, export
from agentgym_r1.exports.parquet import SCHEMA


@pytest.fixture
def sampled(expert):
    """Episodes with token ids, and one without."""
    steps = tuple(
        replace(step, prompt_ids=(1, 2**17, k), action_ids=(7, k), logprobs=(-0.5, -1e-300))
        for k, step in enumerate(expert[0].transitions)
    )
    return [replace(expert[0], transitions=steps), expert[1]]


def test_every_step_comes_back_as_it_was_recorded(run, sampled, tmp_path):
    out = tmp_path / "steps.parquet"
    export("parquet", [run(sampled)], out, filters=Filters(split=None))
    table = pq.read_table(out)
    assert table.schema.equals(SCHEMA)
    rows = table.to_pylist()
    steps = [(t, step) for t in sampled for step in t.transitions]
    assert len(rows) == len(steps)
    for row, (episode, step) in zip(rows, steps):
        assert tuple(row["prompt_ids"]) == step.prompt_ids and tuple(row["completion_ids"]) == step.action_ids
        assert tuple(row["logprobs"]) == step.logprobs
        assert row["prompt"] == [message.to_dict() for message in step.messages]
        assert (row["action"], row["reward"], row["feedback"]) == (step.action, step.reward, step.feedback)
        assert json.loads(row["env_kwargs"]) == dict(episode.env_kwargs)
        assert json.loads(row["reward_terms"]) == dict(step.reward_terms)
        assert (row["success"], row["score"], row["return"]) == (episode.success, episode.score, episode.episode_return)


def test_the_return_to_go_is_what_follows_from_the_step_on(run, expert, tmp_path):
    steps = tuple(replace(step, reward=float(k + 1)) for k, step in enumerate(expert[0].transitions))
    export("parquet", [run([replace(expert[0], transitions=steps)])], tmp_path / "f.parquet")
    rewards = [step.reward for step in steps]
    found = pq.read_table(tmp_path / "f.parquet").column("return_to_go").to_pylist()
    assert found == [sum(rewards[k:]) for k in range(len(rewards))]


def test_every_split_is_taken_and_named_unless_asked_otherwise(run, expert, evaluated, tmp_path):
    from typer.testing import CliRunner

    from agentgym_r1.cli import app

    out = tmp_path / "f.parquet"
    command = ["export", "parquet", str(run(expert, evaluated)), "--out", str(out)]
    assert CliRunner().invoke(app, command).exit_code == 0
    assert set(pq.read_table(out).column("split").to_pylist()) == {"train", "test"}
    assert CliRunner().invoke(app, [*command, "--split", "test"]).exit_code == 0
    assert set(pq.read_table(out).column("split").to_pylist()) == {"test"}


@pytest.mark.openrlhf
@pytest.mark.skipif(importlib.util.find_spec("datasets") is None, reason="needs Hugging Face datasets: make train-env")
def test_hugging_face_datasets_loads_it(run, sampled, tmp_path):
    from datasets import load_dataset

    out = tmp_path / "steps.parquet"
    export("parquet", [run(sampled)], out)
    data = load_dataset("parquet", data_files=str(out), cache_dir=str(tmp_path / "cache"))["train"]
    expected = [list(step.action_ids) for t in sampled for step in t.transitions]
    assert list(data["completion_ids"]) == expected
