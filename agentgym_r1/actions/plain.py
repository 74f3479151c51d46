"""The ``plain`` format: the whole response is one command of the world."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from agentgym_r1.actions.base import ParsedAction, not_understood
from agentgym_r1.actions.single import arguments_of, command_tool, text_of
from agentgym_r1.actions.text import escape, nothing_found, outside_thoughts, unescape, with_thought, without_end_pieces
from agentgym_r1.errors import ConfigError
from agentgym_r1.types import ToolCall, ToolSchema


@dataclass(frozen=True, slots=True)
class PlainFormat:
    """A command without anything around it, after an optional ``<think>`` block.

    Surrounding blanks and the special pieces at the end are dropped; every other command but the empty one can be
    written.

    Attributes:
        example: a right call of the tool that takes commands.
        argument: the name of its argument.
    """

    example: ToolCall
    argument: str
    name: ClassVar[str] = "plain"
    stop: ClassVar[tuple[str, ...]] = ()

    def parse(self, response: str) -> ParsedAction:
        """Read a response; see ActionFormat."""
        text, thinking = outside_thoughts(response)
        command = without_end_pieces(text)
        if not command:
            return not_understood(nothing_found("", thinking=thinking), self.call(self.example))
        return ParsedAction((ToolCall(self.example.name, arguments_of(self.argument, unescape(command))),))

    def instructions(self, tools: Sequence[ToolSchema], *, answers: bool) -> str:
        """Return how to give commands; see ActionFormat.

        Raises:
            ConfigError: the task ends with an answer, or ``tools`` is not the one tool that takes commands.
        """
        if answers:
            raise _no_answers()
        example, _ = command_tool(tools)
        description = f"{tools[0].description}\n" if tools else ""
        return f"{description}Answer with one command and nothing else, for example:\n{self.call(example)}"

    def call(self, *calls: ToolCall, thought: str = "") -> str:
        """Write a command; see ActionFormat.

        Raises:
            ConfigError: not exactly one call, or one of another tool.
        """
        if [call.name for call in calls] != [self.example.name]:
            names = [call.name for call in calls]
            raise ConfigError(f"the plain format writes one call of {self.example.name!r}, got {names}")
        return with_thought(thought, escape(text_of(calls[0], self.argument)))

    def answer(self, text: str, *, thought: str = "") -> str:
        """Raise ConfigError: commands are all that this format has."""
        raise _no_answers()

    def feedback(self, text: str) -> str:
        """Return the world's answer as it is."""
        return text


def plain_commands(tools: Sequence[ToolSchema]) -> PlainFormat:
    """Return the format whose commands go to the only tool; without tools, to ``env_step(command)``."""
    return PlainFormat(*command_tool(tools))


def _no_answers() -> ConfigError:
    return ConfigError("the plain format has no final answer: choose hermes, tags, react or native")
