"""The ``react`` format: Thought, Action, Action Input and Final Answer lines (after ReAct, arXiv 2210.03629)."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from agentgym_r1.actions.base import ANSWER_IGNORED, ParsedAction, example_call, not_understood
from agentgym_r1.actions.json_calls import ends_early, read_arguments, read_json, schema_lines, write_json
from agentgym_r1.actions.single import input_names
from agentgym_r1.actions.text import cut_off, escape, nothing_found, outside_thoughts, unescape, without_end_pieces
from agentgym_r1.types import ToolCall, ToolSchema

_NAMES = r"(?P<label>Thought|Action Input|Action|Observation|Final Answer)(?: \d{1,3})?:"
_LABEL = re.compile(rf"^[ \t]*{_NAMES}", re.MULTILINE)
_LABEL_NEXT = re.compile(rf"\n(?=[ \t]*{_NAMES})")
_ANSWER_HINT = "When you know the final answer, give it alone, without an action:\nFinal Answer: the answer"


@dataclass(frozen=True, slots=True)
class ReActFormat:
    """Calls as an ``Action:`` line with the tool's name and an ``Action Input:`` with a JSON object.

    A plain text is taken as the input of a tool with one argument, when the format knows its schema. What the policy
    writes from ``Observation:`` on is left out. Every call and answer can be written.
    """

    tools: tuple[ToolSchema, ...] = ()
    name: ClassVar[str] = "react"
    stop: ClassVar[tuple[str, ...]] = ("\nObservation:",)

    def parse(self, response: str) -> ParsedAction:
        """Read a response; see ActionFormat. An answer that is cut off cannot be told from a whole one."""
        text, thinking = outside_thoughts(response)
        segments = list(_segments(without_end_pieces(text)))
        example = self.call(example_call(self.tools))
        try:
            calls = tuple(self._calls(segments))
        except ValueError as err:
            return not_understood(str(err), example)
        answers = [content for label, content in segments if label == "Final Answer"]
        if calls:
            return ParsedAction(calls, notes=(ANSWER_IGNORED,) if answers else ())
        if answers:
            return ParsedAction(answer=unescape(answers[-1]))
        return not_understood(nothing_found(text, thinking=thinking), example)

    def instructions(self, tools: Sequence[ToolSchema], *, answers: bool) -> str:
        """Return the schemas and how to call; see ActionFormat."""
        lines = [
            "You act by calling tools. These are the tools, each with the JSON schema of its arguments:",
            schema_lines(tools),
            "Write your reasoning, the tool's name and its arguments as a JSON object, each on a line of its own:",
            self.call(example_call(tools), thought="why this call helps"),
        ]
        return "\n".join([*lines, _ANSWER_HINT] if answers else lines)

    def call(self, *calls: ToolCall, thought: str = "") -> str:
        """Write calls; see ActionFormat."""
        return "\n".join([*_thought(thought), *map(_action, calls)])

    def answer(self, text: str, *, thought: str = "") -> str:
        """Write the answer; see ActionFormat."""
        return "\n".join([*_thought(thought), f"Final Answer: {_escape(text)}"])

    def feedback(self, text: str) -> str:
        """Wrap the environment's answer; see ActionFormat."""
        return f"Observation: {text}"

    def _calls(self, segments: Sequence[tuple[str, str]]) -> Iterator[ToolCall]:
        """Yield the calls; raise ValueError with the complaint about the first malformed one."""
        name = ""
        for label, content in segments:
            if label in {"Action", "Final Answer"} and name:
                yield ToolCall(name, {})
            if label == "Action":
                name = content
                if not name:
                    raise ValueError("Action: must be followed by the name of a tool.")
            elif label == "Action Input":
                if not name:
                    raise ValueError("Action Input: must follow an Action: line with the name of a tool.")
                yield ToolCall(name, self._arguments(name, content))
            if label in {"Action Input", "Final Answer"}:
                name = ""
        if name:
            yield ToolCall(name, {})

    def _arguments(self, name: str, content: str) -> Mapping[str, Any]:
        if not content or content.startswith("{"):
            return _object(content)
        names = next((input_names(tool) for tool in self.tools if tool.name == name), ())
        if len(names) == 1:
            return {names[0]: unescape(content)}
        raise ValueError("Action Input: must be followed by the arguments as a JSON object.")


def _object(content: str) -> Mapping[str, Any]:
    try:
        return read_arguments(read_json(content)[0] if content else None)
    except ValueError as err:
        if ends_early(err, content):
            raise ValueError(cut_off("the end of the JSON object after Action Input:")) from err
        raise ValueError(f"The text after Action Input: is not a right JSON object: {err}.") from err


def _segments(text: str) -> Iterator[tuple[str, str]]:
    """Yield label and content, up to the first Observation."""
    labels = list(_LABEL.finditer(text))
    for match, following in zip(labels, [*labels[1:], None]):
        if match["label"] == "Observation":
            return
        yield match["label"], text[match.end() : following.start() if following else len(text)].strip()


def _action(call: ToolCall) -> str:
    return f"Action: {call.name}\nAction Input: {write_json(dict(call.arguments))}"


def _thought(thought: str) -> list[str]:
    return [f"Thought: {_escape(thought)}"] if thought else []


def _escape(text: str) -> str:
    """Escape text after a label, also where a line of it would begin with another label."""
    return _LABEL_NEXT.sub(r"\\u000a", escape(text.strip()))
