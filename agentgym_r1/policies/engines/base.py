"""The engine protocol: a prompt and how to sample go in, a response comes out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from agentgym_r1.errors import ConfigError
from agentgym_r1.types import Message, Response


@dataclass(frozen=True, slots=True)
class Sampling:
    """How the tokens of a response are drawn.

    Attributes:
        temperature: 0.0 takes the likeliest token at every position.
        top_p: probability mass of the likeliest tokens that are drawn from, in (0, 1].
        max_tokens: the longest response, in tokens.
        stop: the response ends right after the first of these strings, which stays in it.
        seed: makes the draw repeatable, as far as the engine can; None draws a new one each time.
    """

    temperature: float = 0.0
    top_p: float = 1.0
    max_tokens: int = 512
    stop: tuple[str, ...] = ()
    seed: int | None = None

    def __post_init__(self) -> None:
        if self.temperature < 0:
            raise ConfigError(f"temperature must be at least 0, got {self.temperature}")
        if not 0 < self.top_p <= 1:
            raise ConfigError(f"top_p must be in (0, 1], got {self.top_p}")
        if self.max_tokens < 1:
            raise ConfigError(f"max_tokens must be at least 1, got {self.max_tokens}")
        if "" in self.stop:
            raise ConfigError("a stop string must not be empty")


class Engine(Protocol):
    """A language model. Any number of ``generate`` calls may run at the same time, also from several event loops."""

    @property
    def name(self) -> str:
        """The model's name in tables and files."""
        ...

    async def check(self) -> None:
        """Raise EngineError, with what to do about it, when the engine cannot answer; cheap and repeatable."""
        ...

    async def generate(
        self, messages: Sequence[Message], *, tools: Sequence[Mapping[str, Any]] = (), sampling: Sampling
    ) -> Response:
        """Answer a chat.

        Args:
            messages: the prompt.
            tools: JSON schemas in the OpenAI format, for a model that calls tools natively; the calls come back inside
                ``Response.text`` in the ``native`` action format.
            sampling: how to draw the response.

        Raises:
            EngineError: when there is no usable answer.
            ConfigError: when this engine cannot do what is asked.
        """
        ...

    def count_tokens(self, text: str) -> int | None:
        """Return the length of ``text`` in the model's tokens, or None where the engine cannot tell."""
        ...

    async def aclose(self) -> None:
        """Let go of connections and threads. Closing twice is fine."""
        ...


def plain_prompt(messages: Sequence[Message]) -> str:
    """Return the prompt of a model without chat format: the contents, a blank line between them."""
    return "\n\n".join(message.content for message in messages)
