"""The ``native`` format: the OpenAI tool_calls structure, for engines that are given the schemas."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from agentgym_r1.actions.base import ParsedAction, example_call
from agentgym_r1.actions.json_calls import ends_early, read_call, read_json, write_json
from agentgym_r1.actions.text import (
    ANSWER_CLOSE,
    ANSWER_HINT,
    ANSWER_OPEN,
    Block,
    block_pattern,
    conclude,
    cut_off,
    escape,
    outside_thoughts,
    walk,
)
from agentgym_r1.types import ToolCall, ToolSchema

_PATTERN = block_pattern(r'(?m:^)\{\s*"(?:role|content|tool_calls)"\s*:')
_LINE_OBJECT = re.compile(r"^\{", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class NativeFormat:
    """The assistant message of the OpenAI chat format.

    A response is the message's content as text, then, when it calls tools, on a new line ``{"tool_calls": [{"id": ...,
    "type": "function", "function": {"name": ..., "arguments": "JSON text"}}]}``; a whole message object with ``role``
    and ``content`` is read as well. The answer stands in ``<answer>`` tags in the content. Every call, with its id, and
    every answer can be written.
    """

    tools: tuple[ToolSchema, ...] = ()
    name: ClassVar[str] = "native"
    stop: ClassVar[tuple[str, ...]] = ()

    def parse(self, response: str) -> ParsedAction:
        """Read a response; see ActionFormat."""
        return conclude(walk(response, _PATTERN, _read), self.call(example_call(self.tools)))

    def instructions(self, tools: Sequence[ToolSchema], *, answers: bool) -> str:
        """Return how to answer; the engine is given the schemas apart."""
        return "\n".join(["You act by calling the tools you are given.", *([ANSWER_HINT] if answers else [])])

    def call(self, *calls: ToolCall, thought: str = "") -> str:
        """Write calls, the thought as content before them; see ActionFormat."""
        message = write_json({"tool_calls": [_entry(call) for call in calls]})
        return f"{_escape(thought)}\n{message}" if thought else message

    def answer(self, text: str, *, thought: str = "") -> str:
        """Write the answer; see ActionFormat."""
        answer = f"{ANSWER_OPEN}{_escape(text)}{ANSWER_CLOSE}"
        return f"{_escape(thought)}\n{answer}" if thought else answer

    def feedback(self, text: str) -> str:
        """Return the environment's answer as it is: the chat message around it says what it is."""
        return text


def _escape(text: str) -> str:
    """Escape content, also where a line of it would begin a message object."""
    return _LINE_OBJECT.sub(r"\\u007b", escape(text))


def _entry(call: ToolCall) -> dict[str, Any]:
    arguments = json.dumps(dict(call.arguments), ensure_ascii=False)
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}}


def _read(match: re.Match[str]) -> Block:
    """Read the message object that begins at ``match``."""
    text, start = match.string, match.start()
    try:
        message, end = read_json(text, start)
        calls = tuple(_call(entry) for entry in _entries(message.get("tool_calls")))
    except ValueError as err:
        if ends_early(err, text):
            return Block(match.end(), problem=cut_off("the end of the message object"))
        return Block(match.end(), problem=f'The "tool_calls" of the message are not right: {err}.')
    content = message.get("content")
    return Block(end, calls, text=outside_thoughts(content)[0] if isinstance(content, str) else "")


def _entries(value: Any) -> list[Any]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise ValueError('"tool_calls" must be a list')
    return value


def _call(entry: Any) -> ToolCall:
    if not isinstance(entry, dict) or not isinstance(entry.get("function"), dict):
        raise ValueError('each of them needs a "function" object')
    return read_call({**entry["function"], "id": entry.get("id", "")})
