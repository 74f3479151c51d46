"""What an action format is: it reads responses, and writes actions, instructions and feedback."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from agentgym_r1.types import ToolCall, ToolSchema

ANSWER_IGNORED = "The final answer was ignored because the same response calls a tool: answer when no call is needed."
DEFAULT_EXAMPLE = ToolCall("search", {"query": "Ada Lovelace"})
DEFAULT_COMMAND = ToolCall("env_step", {"command": "look"})


@dataclass(frozen=True, slots=True)
class ParsedAction:
    """What a response asks for: tool calls, or a final answer, or neither.

    Attributes:
        calls: the tool calls, in order; when there are any, ``answer`` is None.
        answer: the final answer without surrounding blanks (it may be empty), or None.
        error: why nothing could be understood, with one right example; empty when something was.
        notes: what was understood and left aside, for the policy to read.
    """

    calls: tuple[ToolCall, ...] = ()
    answer: str | None = None
    error: str = ""
    notes: tuple[str, ...] = ()


class ActionFormat(Protocol):
    """A way to write actions as text; an immutable value, made by ``get_format``."""

    @property
    def name(self) -> str:
        """The name that selects it."""
        ...

    @property
    def stop(self) -> tuple[str, ...]:
        """Strings after which an engine should stop; they stay in the response."""
        ...

    def parse(self, response: str) -> ParsedAction:
        """Read a response; never raises, and takes time linear in its length.

        Thoughts (``<think>`` blocks) are left out. Calls win over an answer in the same response, a malformed call
        makes the whole response not understood, and of several answers the last counts.
        """
        ...

    def instructions(self, tools: Sequence[ToolSchema], *, answers: bool) -> str:
        """Return what a policy must know to act.

        Args:
            tools: what may be called.
            answers: whether the task ends with a final answer.
        """
        ...

    def call(self, *calls: ToolCall, thought: str = "") -> str:
        """Write an action that ``parse`` reads back as the same calls.

        Raises:
            ConfigError: the format cannot write these calls (see each format).
        """
        ...

    def answer(self, text: str, *, thought: str = "") -> str:
        """Write an action that ``parse`` reads back as the same answer, without surrounding blanks.

        Raises:
            ConfigError: the format has no final answer.
        """
        ...

    def feedback(self, text: str) -> str:
        """Wrap what the environment answered to the last action."""
        ...


def example_call(tools: Sequence[ToolSchema]) -> ToolCall:
    """Return the right call that instructions and errors show: the first tool's example."""
    return tools[0].example if tools else DEFAULT_EXAMPLE


def not_understood(reason: str, example: str) -> ParsedAction:
    """Return the outcome of a response that asks for nothing: the reason and one right example."""
    return ParsedAction(error=f"{reason} A right example:\n{example}")
