"""OpenRLHF's supervised and preference data sets over recorded steps: token ids in, the same token ids out.

OpenRLHF's own tokenize prompt and response as one text again, where a token may straddle the border, cut what is too
long, and put the end token over the last one. These take the ids by the rule of exports.tokens instead, and leave out
what is too long. A loss mask of OpenRLHF's supervised trainer is a weight: its loss is the tokens' weighted mean.
"""

from collections.abc import Mapping
from typing import Any

import torch
from openrlhf.datasets import RewardDataset, SFTDataset

from agentgym_r1.errors import ConfigError
from agentgym_r1.exports.rows import PROMPT_IDS
from agentgym_r1.exports.tokens import StepIds, encode_action, messages_of, render_prompt

Row = Mapping[str, Any]


class StepSFTDataset(SFTDataset):  # type: ignore[misc]  # OpenRLHF has no types
    """The steps of an ``export sft`` file; ``weight``, where a row has one, is the weight of its tokens in the loss."""

    def __init__(self, dataset: Any, tokenizer: Any, max_length: int, strategy: Any, **unused: Any) -> None:
        self.tokenizer = tokenizer
        rows = [(step_ids(tokenizer, row, "completion"), float(row.get("weight") or 1.0)) for row in dataset]
        self._rows = [(ids, weight) for ids, weight in rows if len(ids.prompt) + len(ids.action) <= max_length]
        tell_left_out(len(rows), len(self._rows), max_length, strategy)

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return ids, attention mask and loss mask, each (1, tokens); position t of the last is the loss of t + 1."""
        ids, weight = self._rows[index]
        inputs = torch.tensor([[*ids.prompt, *ids.action]])
        loss = torch.zeros(inputs.shape)
        loss[0, len(ids.prompt) - 1 : -1] = weight
        return inputs, torch.ones_like(inputs), loss


class StepPairDataset(RewardDataset):  # type: ignore[misc]  # OpenRLHF has no types
    """The pairs of an ``export dpo`` file."""

    def __init__(self, dataset: Any, tokenizer: Any, max_length: int, strategy: Any, **unused: Any) -> None:
        self.tokenizer = tokenizer
        self.is_dpo = True
        rows = [tuple(step_ids(tokenizer, row, side) for side in ("chosen", "rejected")) for row in dataset]
        self._rows = [pair for pair in rows if all(len(side.prompt) + len(side.action) <= max_length for side in pair)]
        tell_left_out(len(rows), len(self._rows), max_length, strategy)

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, int]:
        """Return ids and attention mask of both sides, each (1, tokens), and the length of their prompt."""
        chosen, rejected = (torch.tensor([[*side.prompt, *side.action]]) for side in self._rows[index])
        prompt = len(self._rows[index][0].prompt)
        return chosen, torch.ones_like(chosen), rejected, torch.ones_like(rejected), prompt


def step_ids(tokenizer: Any, row: Row, side: str) -> StepIds:
    """Return the ids of a row's prompt and of one of its answers (``completion``, ``chosen`` or ``rejected``).

    Raises:
        ConfigError: the file was exported with another tokenizer, or is no such export.
    """
    try:
        prompt, text = render_prompt(tokenizer, messages_of(row["prompt"])), row[side][0]["content"]
    except (KeyError, IndexError, TypeError) as err:
        raise ConfigError(
            f"a row has no prompt and {side} messages: give a file that agentgym-r1 export wrote"
        ) from err
    recorded = row.get(f"{side}_ids")
    if recorded is None:
        return StepIds(prompt, encode_action(tokenizer, text))
    if tuple(row[PROMPT_IDS]) != prompt:
        raise ConfigError(
            "the file holds token ids of another tokenizer than the model's: export it again with --tokenizer MODEL"
        )
    return StepIds(prompt, tuple(recorded))


def tell_left_out(rows: int, kept: int, limit: int, strategy: Any) -> None:
    """Say how many rows are too long.

    Raises:
        ConfigError: all are.
    """
    if not kept:
        raise ConfigError(f"all {rows} rows are longer than {limit} tokens: raise --data.max_len")
    if kept < rows:
        strategy.print(f"{rows - kept} of {rows} rows are longer than {limit} tokens and are left out")
