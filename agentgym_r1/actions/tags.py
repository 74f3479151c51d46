"""The ``tags`` format of Search-R1 (arXiv 2503.09516) and the ``action_tags`` format of GiGPO (arXiv 2505.10978).

The tag says which tool is called and its text is the tool's only argument, without surrounding blanks.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agentgym_r1.actions.base import DEFAULT_EXAMPLE, ParsedAction
from agentgym_r1.actions.single import arguments_of, command_tool, only_argument, text_of
from agentgym_r1.actions.text import (
    ANSWER_CLOSE,
    ANSWER_HINT,
    ANSWER_OPEN,
    Block,
    block_pattern,
    conclude,
    cut_off,
    escape,
    unescape,
    walk,
    with_thought,
)
from agentgym_r1.errors import ConfigError
from agentgym_r1.types import ToolCall, ToolSchema

RESERVED = ("think", "answer", "information")


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag that stands for a call: ``name`` as written, the ``tool`` called and its only ``argument``, if any."""

    name: str
    tool: str
    argument: str | None


@dataclass(frozen=True, slots=True)
class TagsFormat:
    """Calls as ``<TOOL>text</TOOL>``, thoughts in ``<think>``, the answer in ``<answer>`` tags.

    Every text without surrounding blanks can be written; a value that is not text is read back as its JSON text.

    Attributes:
        name: the name that selects it.
        tags: the tags that are calls.
        example: a right call.
        answers: whether an answer tag means anything.
    """

    name: str
    tags: tuple[Tag, ...]
    example: ToolCall
    answers: bool

    @property
    def stop(self) -> tuple[str, ...]:
        """The closing tags: an action ends with them."""
        closings = tuple(f"</{tag.name}>" for tag in self.tags)
        return (*closings, ANSWER_CLOSE) if self.answers else closings

    def parse(self, response: str) -> ParsedAction:
        """Read a response; see ActionFormat. A tag that is never closed counts only when nothing else was found."""
        by_name = {tag.name: tag for tag in self.tags}
        pattern = block_pattern(f"<(?P<tag>{'|'.join(map(re.escape, by_name))})>")
        unclosed: set[str] = set()
        reading = walk(response, pattern, lambda match: _read(match, by_name[match["tag"]], unclosed))
        return conclude(reading, self.call(self.example), answers=self.answers)

    def instructions(self, tools: Sequence[ToolSchema], *, answers: bool) -> str:
        """Return the tools and how to call them; see ActionFormat.

        Raises:
            ConfigError: no tag stands for one of the tools, or the task ends with an answer and the format has none.
        """
        if answers and not self.answers:
            raise self._no_answers()
        lines = [
            "Think first, between <think> and </think>. Then act with one of these tags:",
            *(f"{_shape(self._tag(tool.name))}: {tool.description}" for tool in tools),
            "For example:",
            self.call(self.example),
        ]
        return "\n".join([*lines, ANSWER_HINT] if answers else lines)

    def call(self, *calls: ToolCall, thought: str = "") -> str:
        """Write calls; see ActionFormat.

        Raises:
            ConfigError: no tag stands for a tool, or a call has other arguments than its tag can carry.
        """
        return with_thought(thought, "\n".join(map(self._block, calls)))

    def answer(self, text: str, *, thought: str = "") -> str:
        """Write the answer; see ActionFormat."""
        if not self.answers:
            raise self._no_answers()
        return with_thought(thought, f"{ANSWER_OPEN}{escape(text)}{ANSWER_CLOSE}")

    def feedback(self, text: str) -> str:
        """Wrap the environment's answer; see ActionFormat."""
        return f"<information>{text}</information>" if self.answers else text

    def _no_answers(self) -> ConfigError:
        return ConfigError(f"the {self.name} format has no final answer: choose hermes, tags, react or native")

    def _block(self, call: ToolCall) -> str:
        tag = self._tag(call.name)
        return f"<{tag.name}>{escape(text_of(call, tag.argument))}</{tag.name}>"

    def _tag(self, tool: str) -> Tag:
        for tag in self.tags:
            if tag.tool == tool:
                return tag
        known = ", ".join(tag.tool for tag in self.tags)
        raise ConfigError(f"no tag stands for the tool {tool!r}: make the format with its schema. Known: {known}")


def search_tags(tools: Sequence[ToolSchema]) -> TagsFormat:
    """Return the ``tags`` format for tools with at most one argument each; without tools, for ``search(query)``.

    Raises:
        ConfigError: a tool takes several arguments, or has the name of another tag.
    """
    tags = tuple(Tag(tool.name, tool.name, only_argument(tool)) for tool in tools) or (
        Tag("search", "search", "query"),
    )
    for tag in tags:
        if tag.name in RESERVED:
            raise ConfigError(f"a tool cannot be named {tag.name!r} in the tags format, which uses that tag itself")
    return TagsFormat("tags", tags, tools[0].example if tools else DEFAULT_EXAMPLE, answers=True)


def action_tags(tools: Sequence[ToolSchema]) -> TagsFormat:
    """Return the ``action_tags`` format: the only tool's input between <action> tags; by default env_step(command)."""
    example, argument = command_tool(tools)
    return TagsFormat("action_tags", (Tag("action", example.name, argument),), example, answers=False)


def _read(match: re.Match[str], tag: Tag, unclosed: set[str]) -> Block:
    """Read the tag that ``match`` opens; ``unclosed`` remembers tags that nothing closes any more."""
    closing = f"</{tag.name}>"
    start = match.end()
    end = -1 if tag.name in unclosed else match.string.find(closing, start)
    if end < 0:
        unclosed.add(tag.name)
        return Block(start, dangling=cut_off(closing))
    arguments = arguments_of(tag.argument, unescape(match.string[start:end].strip()))
    return Block(end + len(closing), (ToolCall(tag.tool, arguments),))


def _shape(tag: Tag) -> str:
    return f"<{tag.name}>{tag.argument or ''}</{tag.name}>"
