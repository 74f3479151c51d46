"""The token ids of a recorded step, by one rule for exports and trainers.

The prompt is rendered as a rollout engine renders it. Recorded action ids are kept where the recorded prompt ids are
those of this tokenizer: then the same model family sampled them. Elsewhere (an expert's demonstration, another model's
run) the action's text is tokenized by itself, so that no token straddles prompt and action, and the end token follows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentgym_r1.errors import ConfigError, require
from agentgym_r1.policies.engines.base import plain_prompt
from agentgym_r1.types import Message, Transition


@dataclass(frozen=True, slots=True)
class StepIds:
    """A step in tokens: what the engine is given, and what the policy is trained to say, its end token included."""

    prompt: tuple[int, ...]
    action: tuple[int, ...]


def load_tokenizer(model: str) -> Any:
    """Return the Hugging Face tokenizer of a model: a folder, a hub name, or ``smollm2``.

    Raises:
        MissingExtra: transformers is not installed.
        ConfigError: there is no tokenizer there, or it has no end token.
    """
    transformers = require("transformers", "lm")
    from agentgym_r1.policies.engines.transformers import find_model

    source = find_model(model)
    where, options = str(source), {}
    if isinstance(source, Path) and source.suffix == ".gguf":
        where, options = str(source.parent), {"gguf_file": source.name}
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(where, **options)
    except (OSError, ValueError, KeyError) as err:
        raise ConfigError(f"cannot load the tokenizer of {model}: {' '.join(str(err).split())[:300]}") from err
    if tokenizer.eos_token_id is None:
        raise ConfigError(f"the tokenizer of {model} has no end token: an action must be able to end")
    return tokenizer


def render_prompt(tokenizer: Any, messages: Sequence[Message]) -> tuple[int, ...]:
    """Return the ids of a chat: the chat template's, or for a model without one the plain text's."""
    if tokenizer.chat_template:
        chat = [message.to_dict() for message in messages]
        text = tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
    else:
        text = plain_prompt(messages)
    return tuple(tokenizer(text=text, add_special_tokens=False)["input_ids"])


def encode_step(tokenizer: Any, step: Transition) -> StepIds:
    """Return the ids of a recorded step; see the module's rule."""
    prompt = render_prompt(tokenizer, prompt_messages(step))
    if step.prompt_ids == prompt and step.action_ids:
        return StepIds(prompt, step.action_ids)
    return StepIds(prompt, encode_action(tokenizer, step.action))


def encode_action(tokenizer: Any, text: str) -> tuple[int, ...]:
    """Return the ids of an action that nobody sampled, with the end token."""
    return (*tokenizer(text=text, add_special_tokens=False)["input_ids"], tokenizer.eos_token_id)


def prompt_messages(step: Transition) -> tuple[Message, ...]:
    """Return the prompt as chat messages; an environment that gives none has its observation sent as the user's."""
    return step.messages or (Message("user", step.observation),)


def messages_of(row: Sequence[Mapping[str, str]]) -> tuple[Message, ...]:
    """Return chat messages from an export's JSON."""
    return tuple(Message(message["role"], message["content"]) for message in row)  # type: ignore[arg-type]  # as written
