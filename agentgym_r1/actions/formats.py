"""The action formats by name."""

from collections.abc import Callable, Mapping, Sequence

from agentgym_r1.actions.base import ActionFormat
from agentgym_r1.actions.hermes import HermesFormat
from agentgym_r1.actions.native import NativeFormat
from agentgym_r1.actions.plain import plain_commands
from agentgym_r1.actions.react import ReActFormat
from agentgym_r1.actions.tags import action_tags, search_tags
from agentgym_r1.errors import unknown_name
from agentgym_r1.types import ToolSchema

_MAKERS: Mapping[str, Callable[[tuple[ToolSchema, ...]], ActionFormat]] = {
    "hermes": HermesFormat,
    "tags": search_tags,
    "react": ReActFormat,
    "native": NativeFormat,
    "plain": plain_commands,
    "action_tags": action_tags,
}
FORMATS = tuple(_MAKERS)


def get_format(name: str, tools: Sequence[ToolSchema] = ()) -> ActionFormat:
    """Return an action format.

    Args:
        name: ``hermes``, ``tags``, ``react``, ``native``, ``plain`` or ``action_tags``.
        tools: what the policy may call; the examples in errors come from it. Formats that do not write argument names
            take them from it: without tools ``tags`` stands for ``search(query)``, and ``plain`` and ``action_tags``
            for ``env_step(command)``.

    Raises:
        ConfigError: unknown name, or the format cannot write calls of these tools.
    """
    if name not in _MAKERS:
        raise unknown_name("action format", name, FORMATS)
    return _MAKERS[name](tuple(tools))
