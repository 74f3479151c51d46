"""Run by test_batch.py in a process with the CPU shim: the rows of real episodes through OpenRLHF's own loss.

Prints one JSON document: how many tokens are masked in, where the policy loss has a gradient, and what every algorithm
writes into the batch.
"""

import json
import sys
from types import SimpleNamespace as Space

import torch
from openrlhf.models import PolicyLoss
from openrlhf.models.utils import log_probs_from_logits
from training_models import make_word_model
from training_worlds import WORDS
from transformers import LlamaForCausalLM

from agentgym_r1.adapters.openrlhf.advantages import ALGORITHMS
from agentgym_r1.adapters.openrlhf.batch import EpisodeBatch
from agentgym_r1.adapters.openrlhf.maker import StepExperienceMaker
from agentgym_r1.adapters.openrlhf.samples import EpisodeSample, Row
from agentgym_r1.adapters.openrlhf.spec import RunSpec
from agentgym_r1.types import Trajectory

REWARDS = ((1.0, 0.0, 2.0), (0.0,), (0.5, 1.5), (4.0, -1.0))  # two groups of two episodes
ANCHORS = "sst"


class Maker(StepExperienceMaker):
    """The experience maker without workers: one model in this process stands for the policy, zeros for the critic."""

    def make_experience(self, samples_list):
        for e in samples_list:
            e.action_log_probs = torch.zeros_like(e.action_mask, dtype=torch.float)
            e.values = 0.5 * e.action_mask
            e.kl = 0.5 * e.action_mask * e.sequences[:, 1:]  # the teacher's verdict: half the id of the token
            e.info["kl"] = torch.zeros(len(e.index))
        return samples_list


def episode(steps, *, error="", cut=False):
    rows = tuple(
        Row((5, 6, 7)[: 1 + k % 3], (3, 4, 1)[: 1 + k % 2], (-1.0,) * (1 + k % 2), 1.0, "", False) for k in range(steps)
    )
    trajectory = Trajectory("E", {}, "t", "", "", "", "", "p", 0, 0, (), "", False, 0.0, {}, error)
    return EpisodeBatch(EpisodeSample("p", trajectory, () if error else rows, (5, 6) if cut else ()))


def arguments(samples=1):
    return Space(
        train=Space(batch_size=2, micro_batch_size=2, dynamic_batch_enable=False),
        rollout=Space(micro_batch_size=2, n_samples_per_prompt=samples),
        actor=Space(num_nodes=1, num_gpus_per_node=1, loss_agg_mode="token-mean", policy_loss_type="ppo"),
        ds=Space(ring_attn_size=1, tensor_parallel_size=1),
        reward=Space(clip_range=(-10, 10)),
        algo=Space(advantage=Space(estimator="gae", gamma=1.0, lambd=1.0, no_std_norm=False)),
    )


def maker(spec, samples=1):
    parent = Space(
        actor_model_group=None,
        critic_model_group=None,
        reward_model_group=None,
        initial_model_group=None,
        kl_ctl=Space(value=2.0 if spec.algorithm == "distill" else 0.0),
        strategy=Space(args=arguments(samples)),
        tokenizer=Space(eos_token_id=1, pad_token_id=0),
    )
    return Maker(parent, spec)


def main(folder):
    whole = {
        "some": [episode(5), episode(1, cut=True), episode(3, error="x"), episode(2)],
        "none": [episode(3, error="x"), episode(2, error="x")],
    }
    plain = maker(RunSpec(env="E", out=""))
    found = {name: examine(plain, episodes, folder) for name, episodes in whole.items()}
    found["targets"] = {algorithm: targets(algorithm) for algorithm in ALGORITHMS}
    print(json.dumps(found))


def targets(algorithm):
    """What the batch of an algorithm holds for each step: its advantages and returns, and where its mask is."""
    steps = maker(RunSpec(env="E", out="", algorithm=algorithm), samples=2)
    episodes = [marked(i, rewards) for i, rewards in enumerate(REWARDS)]
    found = {}
    for e in steps.make_experience_batch(episodes):
        for i, ids in enumerate(e.sequences.tolist()):
            mask = e.action_mask[i].bool()
            if any(mark in ids for mark in range(100, 104)):
                step = next(f"{mark - 100}-{ids[ids.index(mark) + 1]}" for mark in range(100, 104) if mark in ids)
                found[step] = {"advantages": e.advantages[i][mask].tolist(), "returns": e.returns[i][mask].tolist()}
    return found


def marked(number, rewards):
    """An episode whose prompts say which episode and step they are; the steps have one token and two in turn."""
    rows = tuple(
        Row((100 + number, k, 7), (3, 4)[: 1 + k % 2], (-1.0,) * (1 + k % 2), reward, ANCHORS[k], False)
        for k, reward in enumerate(rewards)
    )
    trajectory = Trajectory("E", {}, "t", "", "", "", "", "p", 0, 0, (), "", False, 0.0, {}, "")
    return EpisodeBatch(EpisodeSample("p", trajectory, rows, ()))


def examine(maker, episodes, folder):
    batch = maker.make_experience_batch(episodes)
    sampled = sum(len(row.action_ids) for e in episodes for row in e.sample.rows)
    network = LlamaForCausalLM.from_pretrained(make_word_model(folder, WORDS))
    outside = inside = 0.0
    for e in batch:
        logits = network(e.sequences, attention_mask=e.attention_mask).logits.float()
        logits.retain_grad()
        taken = log_probs_from_logits(logits[:, :-1], e.sequences[:, 1:])
        loss, *_ = PolicyLoss()(taken, taken.detach(), e.advantages, action_mask=e.action_mask, batch_num_tokens=1.0)
        loss.backward()
        size = logits.grad[:, :-1].abs().sum(-1)
        inside += float((size * e.action_mask).sum())
        outside += float((size * (1 - e.action_mask)).sum() + logits.grad[:, -1].abs().sum())
    masked = sum(int(e.action_mask.sum()) for e in batch)
    rows = sum(len(e.index) for e in batch)
    return {"sampled": sampled, "masked": masked, "inside": inside, "outside": outside, "rows": rows}


if __name__ == "__main__":
    main(sys.argv[1])
