"""Tools whose whole input is one text, which formats without JSON arguments need."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from agentgym_r1.actions.base import DEFAULT_COMMAND
from agentgym_r1.errors import ConfigError
from agentgym_r1.types import ToolCall, ToolSchema


def input_names(tool: ToolSchema) -> tuple[str, ...]:
    """Return the arguments a call must give: the required ones, or all when none is required."""
    return tuple(tool.parameters.get("required", ()) or tool.parameters.get("properties", ()))


def only_argument(tool: ToolSchema) -> str | None:
    """Return the one argument that a call of the tool gives, None when it takes none.

    Raises:
        ConfigError: the tool needs several.
    """
    names = input_names(tool)
    if len(names) > 1:
        raise ConfigError(
            f"tool {tool.name!r} takes {', '.join(names)}, but this action format writes one text a call: "
            "choose hermes, react or native"
        )
    return names[0] if names else None


def command_tool(tools: Sequence[ToolSchema]) -> tuple[ToolCall, str]:
    """Return a right call of the one tool that takes commands, and its argument; without tools, env_step(command).

    Raises:
        ConfigError: there are several tools, or the tool does not take one argument.
    """
    if not tools:
        return DEFAULT_COMMAND, next(iter(DEFAULT_COMMAND.arguments))
    argument = only_argument(tools[0])
    if len(tools) > 1 or argument is None:
        names = ", ".join(tool.name for tool in tools)
        raise ConfigError(f"this action format needs one tool with one argument, got {names}: choose hermes or react")
    return tools[0].example, argument


def arguments_of(argument: str | None, text: str) -> Mapping[str, Any]:
    """Return the arguments of a call whose input is ``text``."""
    return {} if argument is None else {argument: text}


def text_of(call: ToolCall, argument: str | None) -> str:
    """Return the one text that stands for a call's arguments; what is not text is written as JSON.

    Raises:
        ConfigError: the call has other arguments.
    """
    expected = [] if argument is None else [argument]
    if sorted(call.arguments) != expected:
        raise ConfigError(f"a call of {call.name!r} takes the arguments {expected}, got {sorted(call.arguments)}")
    if argument is None:
        return ""
    value = call.arguments[argument]
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
