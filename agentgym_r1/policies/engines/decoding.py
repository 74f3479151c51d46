"""Sample the responses of many prompts at once, each as if it were alone.

Hugging Face's ``generate`` draws a whole batch from one random generator, so that a response depends on its
neighbours. Here every request has its own generator, temperature, length and stop strings; what neighbours share is the
forward pass.
"""

import inspect
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

from agentgym_r1.policies.engines.base import Sampling

Decode = Callable[[Sequence[int]], str]
_SPARE_TOKENS = 4


@dataclass(frozen=True, slots=True)
class Sampled:
    """One response: the token ids, the end token included, their log-probabilities, the text and why it ended.

    The text ends right after its stop string, where the last token may say more; it does not show the end token.
    """

    ids: tuple[int, ...]
    logprobs: tuple[float, ...]
    text: str
    finish_reason: str


class _Row:
    """One response in the making."""

    def __init__(self, sampling: Sampling, decode: Decode, ends: Collection[int]) -> None:
        import torch

        self._sampling = sampling
        self._decode = decode
        self._ends = ends
        self._generator = torch.Generator()
        if sampling.seed is None:
            self._generator.seed()
        else:
            self._generator.manual_seed(sampling.seed)
        self._window = max((len(string.encode()) for string in sampling.stop), default=0) + _SPARE_TOKENS
        self._ids: list[int] = []
        self._logprobs: list[float] = []
        self.finish_reason = ""

    def take(self, logits: Any) -> int:
        """Draw the next token from ``logits`` (float32, vocabulary) and note whether it ends the response."""
        token, logprob = draw(logits, self._sampling, self._generator)
        self._ids.append(token)
        self._logprobs.append(logprob)
        if token in self._ends or self._stopped():
            self.finish_reason = "stop"
        elif len(self._ids) >= self._sampling.max_tokens:
            self.finish_reason = "length"
        return token

    def result(self) -> Sampled:
        """Return the finished response."""
        shown = self._ids[:-1] if self._ids[-1] in self._ends else self._ids
        text = self._decode(shown)
        ends = [text.find(string) + len(string) for string in self._sampling.stop if string in text]
        return Sampled(
            tuple(self._ids), tuple(self._logprobs), text[: min(ends, default=len(text))], self.finish_reason
        )

    def _stopped(self) -> bool:
        """Return whether a stop string is complete; every token before the newest was looked at already."""
        if not self._sampling.stop:
            return False
        tail = self._decode(self._ids[-self._window :])
        return any(string in tail for string in self._sampling.stop)


def draw(logits: Any, sampling: Sampling, generator: Any) -> tuple[int, float]:
    """Draw a token.

    Args:
        logits: float32, one a token of the vocabulary.
        sampling: temperature 0 takes the likeliest token, whose log-probability is the model's own (temperature 1).
            Otherwise the log-probability is that of the distribution drawn from.
        generator: a torch generator on the CPU, so that a seed means the same on every device.

    Returns:
        The token and its log-probability.
    """
    import torch

    if sampling.temperature == 0:
        token = int(logits.argmax())
        return token, float(torch.log_softmax(logits, dim=-1)[token])
    scores = torch.log_softmax(logits / sampling.temperature, dim=-1)
    if sampling.top_p < 1:
        order = scores.argsort(descending=True, stable=True)
        before = scores[order].exp().cumsum(-1).roll(1)
        before[0] = 0.0
        scores[order[before >= sampling.top_p]] = -torch.inf
        scores = torch.log_softmax(scores, dim=-1)
    # The exponential race: argmax(p / e) is distributed as p when e is exponential.
    noise = torch.empty(len(scores)).exponential_(generator=generator).log_().to(scores.device)
    token = int((scores - noise).argmax())
    return token, float(scores[token])


def sample(
    model: Any,
    prompts: Sequence[Sequence[int]],
    samplings: Sequence[Sampling],
    *,
    decode: Decode,
    ends: Collection[int],
) -> list[Sampled]:
    """Sample a response to every prompt in one padded batch.

    Args:
        model: a transformers causal language model.
        prompts: token ids, at least one a prompt.
        samplings: one a prompt.
        decode: turns token ids into text, special tokens included; for stop strings and texts.
        ends: the ids of the tokens that end a response.
    """
    import torch

    rows = [_Row(sampling, decode, ends) for sampling in samplings]
    ids, mask = _left_padded(prompts, model.device)
    positions = (mask.cumsum(-1) - 1).clamp(min=0)
    accepted = inspect.signature(model.forward).parameters
    last_only = {"logits_to_keep": 1} if "logits_to_keep" in accepted else {}
    slot = "cache" if "cache" in accepted else "past_key_values"  # renamed in transformers 5.24
    cache = None
    with torch.inference_mode():
        while True:
            given = {slot: cache, "use_cache": True, **last_only}
            out = model(input_ids=ids, attention_mask=mask, position_ids=positions, **given)
            cache = out[slot]
            logits = out.logits[:, -1].float()
            tokens = [0 if row.finish_reason else row.take(scores) for row, scores in zip(rows, logits)]
            if all(row.finish_reason for row in rows):
                return [row.result() for row in rows]
            ids = torch.tensor(tokens, device=ids.device)[:, None]
            mask = torch.cat([mask, mask.new_ones(len(rows), 1)], dim=-1)
            positions = positions[:, -1:] + 1


def _left_padded(prompts: Sequence[Sequence[int]], device: Any) -> tuple[Any, Any]:
    """Return ids and attention mask, both (prompts, longest), the ids at the right end; padding is id 0, masked."""
    import torch

    width = max(map(len, prompts))
    ids = [[0] * (width - len(prompt)) + list(prompt) for prompt in prompts]
    mask = [[0] * (width - len(prompt)) + [1] * len(prompt) for prompt in prompts]
    return torch.tensor(ids, device=device), torch.tensor(mask, device=device)
