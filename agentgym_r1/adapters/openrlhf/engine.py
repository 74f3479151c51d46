"""OpenRLHF's rollout engine behind the core's Engine protocol: token ids go in, token ids come out.

The request's own random generator stays untouched: the samples of one prompt must differ, so ``Sampling.seed`` is not
used. Tool schemas for native tool calls are left out: what the model writes is text.
"""

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any

from agentgym_r1.adapters.openrlhf.distill import expert_logprobs
from agentgym_r1.errors import ConfigError, EngineError
from agentgym_r1.exports.tokens import encode_action, render_prompt
from agentgym_r1.policies.engines.base import Sampling
from agentgym_r1.types import Message, Response


class RolloutEngine:
    """One call of OpenRLHF's executor: its engine, tokenizer, sampling parameters and length limit.

    Args:
        engine: has ``async generate(prompt_token_ids, sampling_params)``, vLLM's request output comes back.
        tokenizer: the policy's Hugging Face tokenizer.
        params: vLLM's SamplingParams, shared between the samples of a prompt: copied for each call, never changed.
        max_length: tokens of prompt and response together, of one step.
    """

    name = "openrlhf"

    def __init__(self, engine: Any, tokenizer: Any, params: Any, *, max_length: int) -> None:
        self._engine = engine
        self._tokenizer = tokenizer
        self._params = params
        self._max_length = max_length

    @property
    def sampling(self) -> Sampling:
        """The parameters as the core's policies take them; the length is bounded by ``max_length`` when open."""
        return Sampling(
            temperature=self._params.temperature,
            top_p=self._params.top_p,
            max_tokens=self._params.max_tokens or self._max_length,
        )

    async def check(self) -> None:
        """Do nothing: OpenRLHF has started the engine."""

    async def aclose(self) -> None:
        """Do nothing: OpenRLHF ends the engine."""

    def count_tokens(self, text: str) -> int:
        """Return the length of ``text`` in the policy's tokens."""
        return len(self._tokenizer(text=text, add_special_tokens=False)["input_ids"])

    def expert_logprobs(self, sampled: Sequence[int], advice: str) -> tuple[float, ...]:
        """Return the expert's log-probability of each sampled token, ``advice`` being what it would have said."""
        return expert_logprobs(sampled, encode_action(self._tokenizer, advice), vocabulary=len(self._tokenizer))

    def prompt_ids(self, messages: Sequence[Message]) -> tuple[int, ...]:
        """Return the ids of a chat: the chat template's, or for a model without one the plain text's.

        Raises:
            EngineError: the prompt leaves no room for a response.
        """
        ids = render_prompt(self._tokenizer, messages)
        if 0 < len(ids) < self._max_length:
            return ids
        raise EngineError(
            f"the prompt has {len(ids)} tokens and a step takes 1 to {self._max_length - 1}: "
            "raise --data.max_len or lower --env-arg context_budget"
        )

    async def generate(
        self, messages: Sequence[Message], *, tools: Sequence[Mapping[str, Any]] = (), sampling: Sampling
    ) -> Response:
        """Answer a chat; see Engine.

        Raises:
            EngineError: the prompt is too long, or the engine gave no tokens.
            ConfigError: ``tools``: the environment must be made with a text action format.
        """
        if tools:
            raise ConfigError("training has no native tool calls: make the environment with action_format='hermes'")
        prompt = self.prompt_ids(messages)
        output = await self._engine.generate(list(prompt), self._request(sampling, len(prompt)))
        if output is None or not output.outputs or not output.outputs[0].token_ids:
            raise EngineError("the engine returned an empty response")
        return self._response(prompt, output.outputs[0])

    def _request(self, sampling: Sampling, prompt_length: int) -> Any:
        params = copy(self._params)  # its fields are replaced below, never changed; the engine copies what is inside
        params.max_tokens = min(sampling.max_tokens, self._max_length - prompt_length)
        params.min_tokens = 0  # OpenRLHF asks for 1, which would sample another policy than the one that is trained
        params.stop = list(sampling.stop)
        params.include_stop_str_in_output = True
        params.logprobs = 0 if params.logprobs is None else params.logprobs  # 0: the sampled token's alone
        params.output_kind = type(params.output_kind).FINAL_ONLY  # nobody reads an answer before its end
        return params

    def _response(self, prompt: tuple[int, ...], answer: Any) -> Response:
        ids = tuple(answer.token_ids)
        return Response(
            text=self._without_end(answer.text, ids[-1]),
            prompt_ids=prompt,
            action_ids=ids,
            logprobs=tuple(entry[token].logprob for token, entry in zip(ids, answer.logprobs or ())),
            finish_reason=answer.finish_reason or "",
            prompt_tokens=len(prompt),
            completion_tokens=len(ids),
        )

    def _without_end(self, text: str, last: int) -> str:
        """Take the end token off the text, which shows it since stop strings are to stay in it."""
        if last != self._tokenizer.eos_token_id:
            return text
        return text.removesuffix(self._tokenizer.decode([last]))
