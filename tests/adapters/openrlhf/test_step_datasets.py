"""OpenRLHF's data sets over exported steps: the same token ids, and loss on the action alone."""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import gymnasium as gym
import pytest

from agentgym_r1.errors import ConfigError
from agentgym_r1.exports import export
from agentgym_r1.exports.tokens import encode_action, encode_step, load_tokenizer
from agentgym_r1.policies.scripted import ExpertPolicy, ScriptedPolicy
from agentgym_r1.rollout import rollout
from agentgym_r1.trajectories import TrajectoryWriter

pytestmark = pytest.mark.openrlhf
ENV = "AgentR1/GSM8K-v0"
ROOT = Path(__file__).resolve().parents[3]


class Strategy:
    """What the data sets use of OpenRLHF's strategy."""

    def __init__(self, **data):
        self.args = SimpleNamespace(data=SimpleNamespace(**data), use_ms=False)
        self.said = []

    def print(self, *words):
        self.said.append(" ".join(map(str, words)))

    def is_rank_0(self):
        return True


@pytest.fixture(scope="module")
def episodes():
    env = gym.make(ENV, source="world", split="train")
    return [rollout(env, ExpertPolicy(), task=task) for task in list(env.unwrapped.tasks.ids())[:3]]


@pytest.fixture(scope="module")
def folder(episodes, tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    with TrajectoryWriter(folder / "trajectories.jsonl") as writer:
        for episode in episodes:
            writer.write(episode)
    return folder


@pytest.fixture(scope="module")
def model(tiny_model):
    return str(tiny_model(ENV))


@pytest.fixture(scope="module")
def tokenizer(model):
    return load_tokenizer(model)


@pytest.fixture(scope="module", params=["", "model"], ids=["without ids", "with ids"])
def sft_file(request, folder, model, tmp_path_factory):
    out = tmp_path_factory.mktemp("export") / "sft.jsonl"
    export("sft", [folder], out, tokenizer=model if request.param else "")
    return out


def load(path):
    """Read a file as OpenRLHF's commands do."""
    from openrlhf.datasets.utils import blending_datasets

    return blending_datasets(str(path), strategy=Strategy())


def step_sft(path, tokenizer, limit=4096):
    from agentgym_r1.adapters.openrlhf.step_datasets import StepSFTDataset

    strategy = Strategy()
    return StepSFTDataset(load(path), tokenizer, limit, strategy, pretrain_mode=False, multiturn=False), strategy


def test_the_trainer_reads_the_token_ids_of_the_steps(episodes, sft_file, tokenizer):
    data, _ = step_sft(sft_file, tokenizer)
    steps = [step for episode in episodes for step in episode.transitions]
    assert len(data) == len(steps)
    for (ids, attention, _), step in zip(data, steps):
        expected = encode_step(tokenizer, step)
        assert ids.tolist() == [[*expected.prompt, *expected.action]] and attention.min() == 1


def test_the_loss_is_that_of_the_actions_tokens(episodes, sft_file, tokenizer):
    data, _ = step_sft(sft_file, tokenizer)
    for (ids, _, mask), step in zip(data, [s for e in episodes for s in e.transitions]):
        predicted = ids[0, 1:][mask[0, :-1].bool()]  # position t of the mask is the loss of token t + 1
        assert tuple(predicted.tolist()) == encode_step(tokenizer, step).action
        assert mask[0, -1] == 0


def test_openrlhfs_own_data_set_reads_the_same_ids_where_the_template_ends_with_the_end_token(sft_file, tokenizer):
    from openrlhf.datasets import SFTDataset

    keys = Strategy(input_key="prompt", output_key="completion", apply_chat_template=True)
    stock = SFTDataset(load(sft_file), tokenizer, 4096, keys, num_processors=1)
    ours, _ = step_sft(sft_file, tokenizer)
    assert len(stock) == len(ours)
    for theirs, mine in zip(stock, ours):
        assert theirs[0].tolist() == mine[0].tolist() and theirs[2].tolist() == mine[2].tolist()


def test_a_row_that_is_too_long_is_left_out_and_counted(sft_file, tokenizer):
    everything, _ = step_sft(sft_file, tokenizer)
    lengths = sorted(ids.shape[1] for ids, _, _ in everything)
    limit = lengths[len(lengths) // 2]
    data, strategy = step_sft(sft_file, tokenizer, limit)
    assert max(ids.shape[1] for ids, _, _ in data) == limit
    assert f"{len(everything) - len(data)} of {len(everything)} rows are longer than {limit} tokens" in strategy.said[0]
    with pytest.raises(ConfigError, match="raise --data.max_len"):
        step_sft(sft_file, tokenizer, 10)


def test_a_weight_is_the_weight_of_the_rows_tokens_in_openrlhfs_loss(model):
    shim = ROOT / "agentgym_r1" / "adapters" / "openrlhf" / "shim"
    path = os.pathsep.join(map(str, (shim, ROOT, ROOT / "tests")))
    command = [sys.executable, str(ROOT / "tests" / "training_weights.py"), model]
    done = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, timeout=300, check=True
    )
    figures = json.loads(done.stdout.splitlines()[-1])
    assert figures["loss"] == pytest.approx(figures["expected"])


def test_a_file_of_another_tokenizer_is_refused(folder, word_model, tokenizer, tmp_path):
    out = tmp_path / "sft.jsonl"
    export("sft", [folder], out, tokenizer=str(word_model))
    with pytest.raises(ConfigError, match="another tokenizer than the model's"):
        step_sft(out, tokenizer)


def test_a_file_that_is_no_export_is_refused(tokenizer):
    from agentgym_r1.adapters.openrlhf.step_datasets import StepSFTDataset

    with pytest.raises(ConfigError, match="a file that agentgym-r1 export wrote"):
        StepSFTDataset([{"input": "a", "output": "b"}], tokenizer, 4096, Strategy())


@pytest.fixture(scope="module", params=["", "model"], ids=["without ids", "with ids"])
def dpo_file(request, episodes, model, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pairs")
    env = gym.make(ENV, source="world", split="train")
    wrong = ScriptedPolicy(["<answer>-1</answer>"])
    with TrajectoryWriter(folder / "trajectories.jsonl") as writer:
        for episode in episodes:
            writer.write(episode)
            writer.write(rollout(env, wrong, task=episode.task_id))
    export("dpo", [folder], folder / "dpo.jsonl", tokenizer=model if request.param else "")
    return folder / "dpo.jsonl"


def test_the_preference_trainer_reads_the_token_ids_of_both_answers(episodes, dpo_file, tokenizer):
    from agentgym_r1.adapters.openrlhf.step_datasets import StepPairDataset

    data = StepPairDataset(load(dpo_file), tokenizer, 4096, Strategy(), input_template=None, is_dpo=True)
    assert len(data) == len(episodes)
    for (chosen, _, rejected, _, prompt), episode in zip(data, episodes):
        step = encode_step(tokenizer, episode.transitions[0])
        assert prompt == len(step.prompt)
        assert chosen.tolist() == [[*step.prompt, *step.action]]
        assert rejected.tolist() == [[*step.prompt, *encode_action(tokenizer, "<answer>-1</answer>")]]


def test_openrlhfs_own_preference_data_set_reads_the_same_ids(dpo_file, tokenizer):
    from openrlhf.datasets import RewardDataset

    from agentgym_r1.adapters.openrlhf.step_datasets import StepPairDataset

    keys = Strategy(prompt_key="prompt", chosen_key="chosen", rejected_key="rejected", apply_chat_template=True)
    stock = RewardDataset(load(dpo_file), tokenizer, 4096, keys, is_dpo=True, num_processors=1)
    ours = StepPairDataset(load(dpo_file), tokenizer, 4096, Strategy())
    for theirs, mine in zip(stock, ours, strict=True):
        assert (theirs[0].tolist(), theirs[2].tolist(), theirs[4]) == (mine[0].tolist(), mine[2].tolist(), mine[4])
