"""OpenRLHF's experience maker over steps: lays out the rows, and computes advantages across the steps of episodes."""

import logging
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import ray
import torch
from openrlhf.trainer.ppo_utils.experience import Experience
from openrlhf.trainer.ppo_utils.experience_maker import RemoteExperienceMaker

from agentgym_r1.adapters.openrlhf.advantages import DISTILLATION, EpisodeSteps, Estimator, StepTarget, estimate
from agentgym_r1.adapters.openrlhf.batch import EpisodeBatch, idle
from agentgym_r1.adapters.openrlhf.plan import Plan, plan_rows, row_weights
from agentgym_r1.adapters.openrlhf.samples import Row
from agentgym_r1.adapters.openrlhf.spec import RunSpec

logger = logging.getLogger(__name__)


class StepExperienceMaker(RemoteExperienceMaker):  # type: ignore[misc]  # OpenRLHF has no types
    """Turns episodes into the rows of a batch, with the parent's forward passes and step-level advantages."""

    def __init__(self, parent: RemoteExperienceMaker, spec: RunSpec) -> None:
        super().__init__(
            parent.actor_model_group,
            parent.critic_model_group,
            parent.reward_model_group,
            parent.initial_model_group,
            parent.kl_ctl,
            parent.strategy,
            parent.tokenizer,
        )
        self._spec = spec
        advantage = self.args.algo.advantage
        self._estimator = Estimator(
            spec.algorithm,
            gamma=advantage.gamma,
            lam=advantage.lambd,
            divide_by_std=not advantage.no_std_norm,
            anchor_weight=spec.anchor_weight,
        )
        self._batches = 0
        self.figures: dict[str, float] = {}
        self._episodes: list[EpisodeBatch] = []
        self._plan: Plan

    def make_experience_batch(self, rollout_samples: Sequence[EpisodeBatch]) -> list[Experience]:
        """Return the batch's Experiences in the order of the padding plan, and tell the workers its mini-batches."""
        self._episodes = list(rollout_samples)
        self._plan = plan_rows(
            [len(episode) for episode in self._episodes],
            batch=self.args.train.batch_size,
            ranks=_ranks(self.args),
            multiple=math.lcm(self.args.train.micro_batch_size, self.args.rollout.micro_batch_size),
            seed=self._spec.seed + self._batches,
        )
        self._batches += 1
        blank = self.tokenizer.eos_token_id
        rows = [idle(blank) if row is None else self._episodes[row[0]].row(row[1], blank) for row in self._plan.rows]
        experiences: list[Experience] = super().make_experience_batch(rows)
        for group in filter(None, (self.actor_model_group, self.critic_model_group)):
            ray.get(group.async_run_method(method_name="set_windows", windows=self._plan.windows))
        return experiences

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def compute_advantages_and_returns(self, experiences: list[Experience]) -> list[Experience]:
        """Set advantages and returns of all rows, and empty the masks of those that are not trained on."""
        places = {position: (e, i) for e in experiences for i, position in enumerate(e.index)}
        at = {row: places[position] for position, row in enumerate(self._plan.rows) if row is not None}
        trained = [i for i, episode in enumerate(self._episodes) if episode.sample.rows]
        steps = [self._steps(i, at) for i in trained]
        targets = dict(zip(trained, estimate(steps, self._estimator)))
        weights = self._weights()
        self.figures = {"rows": float(len(self._plan.rows)), "idle_rows": float(self._plan.idle)}
        self.figures |= {"mini_batches": float(self._plan.windows), "logprob_gap": self._logprob_gap(at)}
        self.figures |= {"reverse_kl": self._reverse_kl(at)} if self._distils else {}
        for e in experiences:
            e.advantages, e.returns = torch.zeros_like(e.action_log_probs), torch.zeros_like(e.action_log_probs)
            e.info["return"] = torch.zeros(len(e.index))
            e.info["kl"] = torch.nan_to_num(e.info["kl"])
        kept = self._kept()
        for position, row in enumerate(self._plan.rows):
            e, i = places[position]
            if row is not None and self._trained(row):
                _set(e, i, targets[row[0]][row[1]], weights[position])
            elif position not in kept:
                e.action_mask[i] = 0
            elif e.values is not None:
                e.returns[i] = e.values[i]
        for e in experiences:
            e.kl = None
        return experiences

    def _steps(self, index: int, at: dict[tuple[int, int], tuple[Experience, int]]) -> EpisodeSteps:
        sample = self._episodes[index].sample
        rows = [at[index, k] for k in range(len(sample.rows))]
        low, high = self.args.reward.clip_range or (-math.inf, math.inf)
        critic = rows[0][0].values is not None
        next_value = _values(*at[index, len(rows)])[0] if critic and sample.next_prompt_ids else 0.0
        return EpisodeSteps(
            group=index // self.args.rollout.n_samples_per_prompt,
            rewards=tuple(min(max(row.reward, low), high) for row in sample.rows),
            tokens=tuple(len(row.action_ids) for row in sample.rows),
            values=tuple(_values(*row) for row in rows) if critic else (),
            next_value=float(next_value),
            penalties=tuple(self._penalty(*row) for row in rows),
            anchors=tuple(row.anchor for row in sample.rows),
            token_rewards=tuple(map(self._teacher_rewards, *zip(*rows), sample.rows)) if self._distils else (),
        )

    def _penalty(self, e: Experience, i: int) -> float:
        """Return what the KL penalty takes from the reward of a step: the sum over its tokens."""
        return float(max(self.kl_ctl.value, 0.0) * (e.kl[i] * e.action_mask[i]).sum())

    @property
    def _distils(self) -> bool:
        return self._spec.algorithm == DISTILLATION

    def _token_kl(self, e: Experience, i: int, row: Row) -> Any:
        """Return the student's log-probability of each action token less the teacher's; 0 where that has no opinion."""
        mask = e.action_mask[i].bool()
        if not row.teacher:
            return e.kl[i][mask].double().numpy()
        return np.nan_to_num(e.action_log_probs[i][mask].double().numpy() - np.asarray(row.teacher), nan=0.0)

    def _teacher_rewards(self, e: Experience, i: int, row: Row) -> Any:
        """Return minus the reverse KL of each action token, times OpenRLHF's coefficient; the expert's is 1."""
        return -(1.0 if row.teacher else max(self.kl_ctl.value, 0.0)) * self._token_kl(e, i, row)

    def _reverse_kl(self, at: dict[tuple[int, int], tuple[Experience, int]]) -> float:
        """Return the mean of the sampled tokens' reverse KL."""
        own = [
            self._token_kl(*place, self._episodes[row[0]].sample.rows[row[1]])
            for row, place in at.items()
            if self._trained(row)
        ]
        return float(np.concatenate(own).mean()) if own else 0.0

    def _logprob_gap(self, at: dict[tuple[int, int], tuple[Experience, int]]) -> float:
        """Return the mean absolute difference between the engine's log-probabilities and the trainer's, a token.

        It is floating-point noise when the trained ids are the sampled ones under the same weights.
        """
        gaps = [
            (e.action_log_probs[i] - e.rollout_log_probs[i])[e.action_mask[i].bool()].abs()
            for row, (e, i) in at.items()
            if self._trained(row)
        ]
        return float(torch.cat(gaps).mean()) if gaps else 0.0

    def _weights(self) -> np.ndarray:
        """Return the weight of every position of the plan, worked out mini-batch by mini-batch."""
        weights = np.ones(len(self._plan.rows))
        per_row = self.args.actor.loss_agg_mode != "token-mean" or self.args.actor.policy_loss_type == "gspo"
        for window in range(self._plan.windows):
            own = [
                p for p, row in enumerate(self._plan.rows) if self._trained(row) and self._plan.window_of(p) == window
            ]
            if own:
                rows = [row for row in (self._plan.rows[p] for p in own) if row is not None]
                tokens = [len(self._episodes[i].sample.rows[k].action_ids) for i, k in rows]
                weights[own] = row_weights(tokens, [i for i, _ in rows], unit=self._spec.unit, mean_over_rows=per_row)
        return weights

    def _kept(self) -> set[int]:
        """Return one row of each mini-batch whose episodes all broke: its loss is a mean, which needs a token.

        The row has advantage 0 and its own value for a target.
        """
        windows = {self._plan.window_of(p) for p, row in enumerate(self._plan.rows) if self._trained(row)}
        first = {self._plan.window_of(p): p for p in reversed(range(len(self._plan.rows)))}
        return {position for window, position in first.items() if window not in windows}

    def _trained(self, row: tuple[int, int] | None) -> bool:
        return row is not None and row[1] < len(self._episodes[row[0]].sample.rows)


def _set(e: Experience, i: int, target: StepTarget, weight: float) -> None:
    mask = e.action_mask[i].bool()
    e.advantages[i, mask] = torch.as_tensor(target.advantages * weight, dtype=e.advantages.dtype)
    e.returns[i, mask] = torch.as_tensor(target.returns, dtype=e.returns.dtype)
    e.info["return"][i] = float(target.returns[0])


def _values(e: Experience, i: int) -> Any:
    return e.values[i][e.action_mask[i].bool()].double().numpy()


def _ranks(args: Any) -> int:
    """Return the number of data-parallel ranks."""
    world = args.actor.num_nodes * args.actor.num_gpus_per_node
    return int(world // args.ds.ring_attn_size // args.ds.tensor_parallel_size)
