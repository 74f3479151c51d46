"""Episodes as OpenRLHF's Experiences, one a step."""

from collections.abc import Sequence

import torch
from openrlhf.trainer.ppo_utils.experience import Experience

from agentgym_r1.adapters.openrlhf.samples import EpisodeSample


class EpisodeBatch:
    """An episode where OpenRLHF expects one sample a rollout: counted, sliced, filtered and evaluated as one.

    Attributes:
        sample: the episode.
        scores: what dynamic filtering reads, (1,); None when the episode broke, which is no score.
        prompts, rewards, response_length, truncated: what evaluation reads.
    """

    def __init__(self, sample: EpisodeSample) -> None:
        self.sample = sample
        trajectory = sample.trajectory
        self.scores = None if trajectory.error else torch.tensor([trajectory.score])
        self.prompts = [sample.prompt]
        self.rewards = torch.tensor([trajectory.score])
        self.response_length = torch.tensor(float(sum(len(row.action_ids) for row in sample.rows)))
        self.truncated = torch.tensor(any(row.cut for row in sample.rows))

    def row(self, step: int, blank: int) -> Experience:
        """Return the Experience of a step; the one after the last carries the state after a cut, for its value."""
        if step == len(self.sample.rows):
            return experience(self.sample.next_prompt_ids, (blank,), (0.0,), 0.0)
        row = self.sample.rows[step]
        return experience(row.prompt_ids, row.action_ids, row.logprobs, row.reward, cut=row.cut)

    def __len__(self) -> int:
        """How many rows the episode takes in the padding plan."""
        return len(self.sample.rows) + bool(self.sample.next_prompt_ids)


def experience(
    prompt: Sequence[int], action: Sequence[int], logprobs: Sequence[float], reward: float, *, cut: bool = False
) -> Experience:
    """Return one sample: the ids as the engine was given and sampled them, and the mask over the action's."""
    ids = torch.tensor([[*prompt, *action]], dtype=torch.long)
    mask = torch.zeros_like(ids)
    mask[0, len(prompt) :] = 1
    behind = torch.tensor([[0.0] * (len(prompt) - 1) + list(logprobs)])
    return Experience(
        sequences=ids,
        attention_mask=torch.ones_like(ids),
        action_mask=mask[:, 1:],
        rollout_log_probs=behind,
        prompts=[""],
        labels=[None],
        images=[None],
        mm_train_inputs=[None],
        rewards=torch.tensor([reward]),
        scores=torch.tensor([reward]),
        response_length=torch.tensor([float(len(action))]),
        truncated=torch.tensor([cut]),
        total_length=torch.tensor([float(ids.shape[1])]),
        info={"reward": torch.tensor([reward])},
    )


def idle(blank: int) -> Experience:
    """Return a row that fills a mini-batch up. Its mask is emptied before training, so that no loss sees it."""
    return experience((blank,), (blank,), (0.0,), 0.0)
