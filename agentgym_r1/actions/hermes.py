"""The ``hermes`` format: JSON calls between <tool_call> tags, as in the Hermes and Qwen chat templates."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from agentgym_r1.actions.base import ParsedAction, example_call
from agentgym_r1.actions.json_calls import read_call, read_json, schema_lines, skip_blanks, write_json
from agentgym_r1.actions.text import (
    ANSWER_CLOSE,
    ANSWER_HINT,
    ANSWER_OPEN,
    Block,
    block_pattern,
    conclude,
    cut_off,
    escape,
    walk,
)
from agentgym_r1.types import ToolCall, ToolSchema

OPEN, CLOSE = "<tool_call>", "</tool_call>"
_PATTERN = block_pattern(rf"{OPEN}\s*")
_NEXT_TAG = re.compile(f"{OPEN}|{CLOSE}")


@dataclass(frozen=True, slots=True)
class HermesFormat:
    """Calls as ``<tool_call>{"name": ..., "arguments": {...}}</tool_call>``, the answer in ``<answer>`` tags.

    Every call and answer can be written. A call's id is not.
    """

    tools: tuple[ToolSchema, ...] = ()
    name: ClassVar[str] = "hermes"
    stop: ClassVar[tuple[str, ...]] = ("<tool_response>",)

    def parse(self, response: str) -> ParsedAction:
        """Read a response; see ActionFormat."""
        return conclude(walk(response, _PATTERN, _read), self.call(example_call(self.tools)))

    def instructions(self, tools: Sequence[ToolSchema], *, answers: bool) -> str:
        """Return the schemas and how to call; see ActionFormat."""
        lines = [
            "You act by calling tools. These are the tools, each with the JSON schema of its arguments:",
            f"<tools>\n{schema_lines(tools)}\n</tools>",
            "To call one, write a JSON object with its name and arguments between tags, for example:",
            self.call(example_call(tools)),
        ]
        return "\n".join([*lines, ANSWER_HINT] if answers else lines)

    def call(self, *calls: ToolCall, thought: str = "") -> str:
        """Write calls, the thought as plain text before them; see ActionFormat."""
        blocks = [f"{OPEN}\n{write_json({'name': c.name, 'arguments': dict(c.arguments)})}\n{CLOSE}" for c in calls]
        return "\n".join([escape(thought), *blocks] if thought else blocks)

    def answer(self, text: str, *, thought: str = "") -> str:
        """Write the answer; see ActionFormat."""
        answer = f"{ANSWER_OPEN}{escape(text)}{ANSWER_CLOSE}"
        return f"{escape(thought)}\n{answer}" if thought else answer

    def feedback(self, text: str) -> str:
        """Wrap the environment's answer; see ActionFormat."""
        return f"<tool_response>\n{text}\n</tool_response>"


def _read(match: re.Match[str]) -> Block:
    """Read the block whose opening tag ``match`` is."""
    text, start = match.string, match.end()
    if not text.startswith("{", start):
        return _not_an_object(match)
    try:
        value, end = read_json(text, start)
        call = read_call(value)
    except ValueError as err:
        if text.find(CLOSE, start) < 0:
            return Block(start, problem=cut_off(CLOSE))
        return Block(start, problem=f"The text between {OPEN} and {CLOSE} is not a right call: {err}.")
    end = skip_blanks(text, end)
    if end == len(text):
        return Block(end, problem=cut_off(CLOSE))
    if not text.startswith(CLOSE, end):
        return Block(end, problem=f"The JSON object after {OPEN} must be followed by {CLOSE} and nothing else.")
    return Block(end + len(CLOSE), (call,))


def _not_an_object(match: re.Match[str]) -> Block:
    """Tell a malformed call, whose tag is closed, from a tag that is only mentioned or cut off."""
    following = _NEXT_TAG.search(match.string, match.end())
    if following and following.group() == CLOSE:
        return Block(match.end(), problem=f"Between {OPEN} and {CLOSE} a JSON object is expected.")
    return Block(match.end(), dangling=cut_off(CLOSE))
