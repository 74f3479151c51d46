r"""Reading model text in one linear pass: thoughts, blocks that hold calls, the answer tag, and escapes.

Text inside tags, and after react's labels, cannot hold every string as it is. Four escapes are therefore read there,
``\u003c`` for ``<``, ``\u005c`` for a backslash, ``\u000a`` for a newline and ``\u007b`` for ``{``, and written only
where the plain character would be taken for markup. They are JSON's, so JSON parts need no rule of their own.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from agentgym_r1.actions.base import ANSWER_IGNORED, ParsedAction, not_understood
from agentgym_r1.types import ToolCall

THINK_OPEN, THINK_CLOSE = "<think>", "</think>"
ANSWER_OPEN, ANSWER_CLOSE = "<answer>", "</answer>"
ANSWER_HINT = f"When you know the final answer, give it alone, without a call:\n{ANSWER_OPEN}the answer{ANSWER_CLOSE}"

_MARKUP = re.compile(r"<(?=[/|｜A-Za-z])")
_ESCAPE_LIKE = re.compile(r"\\(?=u00(?:3c|5c|0a|7b))", re.IGNORECASE)
_ESCAPED = re.compile(r"\\u00(3c|5c|0a|7b)", re.IGNORECASE)
_END_PIECE = re.compile(r"<[|｜][^<>\s]{1,40}[|｜]>|</s>|<eos>|<end_of_turn>")
_LONGEST_END_PIECE = 44


@dataclass(frozen=True, slots=True)
class Block:
    """What ``read`` found at an opening: text goes on at ``end``.

    Attributes:
        end: where reading goes on.
        calls: the calls of the block.
        text: what the block says besides its calls.
        problem: why the block is malformed, when it is; it then holds no calls.
        dangling: what is wrong with an opening that may as well be a mere mention of the tag.
    """

    end: int
    calls: tuple[ToolCall, ...] = ()
    text: str = ""
    problem: str = ""
    dangling: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """A response taken apart: its calls, the text outside of thoughts and blocks, and what was wrong."""

    calls: tuple[ToolCall, ...]
    rest: str
    problem: str
    dangling: str
    thinking: bool


def block_pattern(opening: str) -> re.Pattern[str]:
    """Return the pattern ``walk`` needs for blocks that begin with the expression ``opening``."""
    return re.compile(f"{THINK_OPEN}|{THINK_CLOSE}|{opening}")


_NO_BLOCKS = block_pattern(r"(?!)")


def walk(text: str, pattern: re.Pattern[str], read: Callable[[re.Match[str]], Block]) -> Reading:
    """Take a response apart from left to right.

    A thought ends at its first ``</think>``, or at the end of the text. A first ``</think>`` without an opening ends a
    thought that began in the prompt, so everything before it is dropped. After a malformed block no other is read,
    which keeps the time linear.

    Args:
        text: the response.
        pattern: made by ``block_pattern``.
        read: reads the block at a match of its opening.
    """
    blocks: list[Block] = []
    rest: list[str] = []
    position, thought, thinking = 0, False, False
    while match := pattern.search(text, position):
        rest.append(text[position : match.start()])
        position = match.end()
        if match.group() == THINK_OPEN:
            close = text.find(THINK_CLOSE, position)
            thought, thinking = True, close < 0
            position = len(text) if thinking else close + len(THINK_CLOSE)
        elif match.group() == THINK_CLOSE:
            if not thought:
                blocks, rest, thought = [], [], True
        elif not (blocks and blocks[-1].problem):
            blocks.append(read(match))
            if blocks[-1].text:
                rest.append(blocks[-1].text)
            position = blocks[-1].end
    rest.append(text[position:])
    return Reading(
        calls=tuple(call for block in blocks for call in block.calls),
        rest=" ".join(rest),
        problem=blocks[-1].problem if blocks else "",
        dangling=next((block.dangling for block in blocks if block.dangling), ""),
        thinking=thinking,
    )


def outside_thoughts(text: str) -> tuple[str, bool]:
    """Return the text outside of ``<think>`` blocks, and whether it ends inside one."""
    reading = walk(text, _NO_BLOCKS, lambda match: Block(match.end()))
    return reading.rest, reading.thinking


def conclude(reading: Reading, example: str, *, answers: bool = True) -> ParsedAction:
    """Decide what a response asks for, by the rules that ``ActionFormat.parse`` states.

    Args:
        reading: the response taken apart.
        example: a right action, shown in errors.
        answers: whether an answer tag means anything.
    """
    if reading.problem:
        return not_understood(reading.problem, example)
    answer, cut = last_answer(reading.rest) if answers else (None, False)
    if reading.calls:
        return ParsedAction(calls=reading.calls, notes=(ANSWER_IGNORED,) if cut or answer is not None else ())
    if cut:
        return not_understood(cut_off(ANSWER_CLOSE), example)
    if answer is not None:
        return ParsedAction(answer=answer)
    return not_understood(reading.dangling or nothing_found(reading.rest, thinking=reading.thinking), example)


def last_answer(text: str) -> tuple[str | None, bool]:
    """Return the text of the last closed answer tag, or None, and whether another one is open at the end.

    A tag's text ends at the first closing tag, as in Search-R1's extraction (arXiv 2503.09516), but only one that is
    not cut off counts.
    """
    answer = None
    position = 0
    while (opening := text.find(ANSWER_OPEN, position)) >= 0:
        start = opening + len(ANSWER_OPEN)
        end = text.find(ANSWER_CLOSE, start)
        if end < 0:
            return answer, True
        answer = unescape(text[start:end].strip())
        position = end + len(ANSWER_CLOSE)
    return answer, False


def cut_off(expected: str) -> str:
    """Return the complaint about a response that ends too early."""
    return f"The response ends before {expected}, so nothing in it counts. Be brief enough to finish it."


def nothing_found(rest: str, *, thinking: bool) -> str:
    """Return the complaint about a response without an action."""
    if thinking:
        return "The response ends inside <think>, so it holds no action. Think less, then act."
    return "The response holds no action." if rest.strip() else "The response is empty."


def without_end_pieces(text: str) -> str:
    """Return ``text`` without surrounding blanks and the special pieces (``<|im_end|>``, ``</s>``) at its end."""
    end = len(text.rstrip())
    while end:
        start = text.rfind("<", max(end - _LONGEST_END_PIECE, 0), end)
        if start < 0 or not _END_PIECE.fullmatch(text, start, end):
            break
        end = start
        while end and text[end - 1].isspace():
            end -= 1
    return text[:end].lstrip()


def escape(text: str) -> str:
    """Write ``text`` so that nothing in it is taken for a tag or a special piece, and ``unescape`` gives it back."""
    return _MARKUP.sub(r"\\u003c", _ESCAPE_LIKE.sub(r"\\u005c", text))


def escape_json(text: str) -> str:
    """Write JSON text so that none of its strings is taken for a tag or a special piece."""
    return _MARKUP.sub(r"\\u003c", text)


def unescape(text: str) -> str:
    """Read the escapes of this module back."""
    return _ESCAPED.sub(lambda match: chr(int(match.group(1), 16)), text)


def with_thought(thought: str, action: str) -> str:
    """Return an action with a thought in think tags before it, when there is one."""
    return f"{THINK_OPEN}{escape(thought)}{THINK_CLOSE}\n{action}" if thought else action
