"""Action formats: how a policy's response is read as tool calls or an answer, and how actions are written."""

from agentgym_r1.actions.base import ActionFormat, ParsedAction
from agentgym_r1.actions.formats import FORMATS, get_format

__all__ = ["FORMATS", "ActionFormat", "ParsedAction", "get_format"]
