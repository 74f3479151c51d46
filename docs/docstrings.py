"""Reads `first, second: text` in a docstring as two entries with the same text, which Griffe would take for one."""

import re
from typing import Any

import griffe

_SHARED = re.compile(r"^( +)((?:\w+, )+\w+): (.*(?:\n\1 +.*)*)", re.MULTILINE)


class SharedEntries(griffe.Extension):
    """Gives each name of a shared entry an entry of its own."""

    def on_object(self, *, obj: Any, **_: Any) -> None:
        """Rewrite the object's docstring."""
        if obj.docstring is not None:
            obj.docstring.value = _SHARED.sub(_separate, obj.docstring.value)


def _separate(entry: re.Match[str]) -> str:
    indent, names, text = entry.groups()
    return "\n".join(f"{indent}{name}: {text}" for name in names.split(", "))
