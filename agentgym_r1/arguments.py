"""Arguments of environments as a command line gives them."""

import json
from collections.abc import Sequence
from typing import Any

from agentgym_r1.errors import ConfigError


def read_arguments(pairs: Sequence[str]) -> dict[str, Any]:
    """Return KEY=VALUE pairs as keyword arguments; a value that is no JSON is text.

    Raises:
        ConfigError: a pair has no ``=``, or its key is no name.
    """
    arguments: dict[str, Any] = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not equals or not key.isidentifier():
            raise ConfigError(f"--env-arg takes KEY=VALUE, for example max_steps=5, got {pair!r}")
        try:
            arguments[key] = json.loads(text)
        except ValueError:
            arguments[key] = text
    return arguments
