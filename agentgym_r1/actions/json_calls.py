"""Tool calls as JSON: read from untrusted text, and written."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from agentgym_r1.actions.text import escape_json
from agentgym_r1.types import ToolCall, ToolSchema, well_formed

MAX_DEPTH = 32
_BLANKS = re.compile(r"\s*")


def read_json(text: str, start: int = 0) -> tuple[Any, int]:
    """Read the JSON value at ``start``; return it and the position behind it.

    Newlines in strings are accepted, lone surrogates replaced.

    Raises:
        ValueError: not JSON, a number that is not finite, or nested more than 32 levels.
    """
    try:
        value, end = _DECODER.raw_decode(text, start)
    except RecursionError as err:
        raise ValueError(f"nested more than {MAX_DEPTH} levels") from err
    return _cleaned(value, MAX_DEPTH), end


def ends_early(error: ValueError, text: str) -> bool:
    """Return whether ``read_json`` failed because ``text`` ends inside the value."""
    if not isinstance(error, json.JSONDecodeError):
        return False
    return error.msg.startswith("Unterminated string") or error.pos >= len(text.rstrip())


def skip_blanks(text: str, start: int) -> int:
    """Return the position of the first character at or after ``start`` that is not blank."""
    match = _BLANKS.match(text, start)
    return match.end() if match else start


def read_call(value: Any) -> ToolCall:
    """Return the call that a decoded object ``{"name", "arguments"}`` stands for; arguments may be a JSON string.

    Raises:
        ValueError: it is not such an object.
    """
    if not isinstance(value, dict):
        raise ValueError('expected an object with "name" and "arguments"')
    name, call_id = value.get("name"), value.get("id", "")
    if not isinstance(name, str) or not name.strip():
        raise ValueError('"name" must be the name of a tool')
    return ToolCall(name.strip(), read_arguments(value.get("arguments")), call_id if isinstance(call_id, str) else "")


def read_arguments(value: Any) -> Mapping[str, Any]:
    """Return call arguments: an object, the same as JSON text, or nothing.

    Raises:
        ValueError: they are something else.
    """
    if isinstance(value, str) and value.strip():
        text = value.strip()
        value, end = read_json(text)
        if end != len(text):
            raise ValueError(f'text after the object of "arguments" at character {end + 1}')
    if value is None or value == "":
        return {}
    if not isinstance(value, dict):
        raise ValueError('"arguments" must be an object')
    return value


def write_json(value: Any) -> str:
    """Write a JSON value on one line, readable, with markup escaped inside its strings."""
    return escape_json(json.dumps(value, ensure_ascii=False))


def schema_lines(tools: Sequence[ToolSchema]) -> str:
    """Return the schemas of the tools, one a line, in the OpenAI format."""
    return "\n".join(json.dumps(tool.to_openai(), ensure_ascii=False) for tool in tools)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"the number {text[:20]} is too large")
    return number


def _refuse_constant(text: str) -> Any:
    raise ValueError(f"{text} is not a JSON number")


def _cleaned(value: Any, depth: int) -> Any:
    if depth < 0:
        raise ValueError(f"nested more than {MAX_DEPTH} levels")
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, dict):
        return {well_formed(key): _cleaned(item, depth - 1) for key, item in value.items()}
    if isinstance(value, list):
        return [_cleaned(item, depth - 1) for item in value]
    return value


_DECODER = json.JSONDecoder(strict=False, parse_float=_finite, parse_constant=_refuse_constant)
