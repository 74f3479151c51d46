"""Where an environment's tasks come from: the installed real set, or the embedded world."""

import functools
import logging

from agentgym_r1.data.installed import is_installed
from agentgym_r1.errors import ConfigError, DataError
from agentgym_r1.types import Source

logger = logging.getLogger(__name__)


def choose_source(name: str, source: Source) -> bool:
    """Return whether to use the real set ``name`` (else the world); ``auto`` warns once when it takes the world.

    Raises:
        ConfigError: source is not auto, real or world.
        DataError: the real set is asked for and not installed.
    """
    check_source(source)
    if source == "world":
        return False
    if is_installed(name):
        return True
    if source == "real":
        raise DataError(f"{name} is not installed: agentgym-r1 data get {name} (or --from DIR)")
    _warn_once(name)
    return False


def check_source(source: Source) -> None:
    """Raise ConfigError when source is not auto, real or world."""
    if source not in {"auto", "real", "world"}:
        raise ConfigError(f"source must be 'auto', 'real' or 'world', got {source!r}")


@functools.cache
def _warn_once(name: str) -> None:
    logger.warning("%s is not installed, so its embedded world is used: agentgym-r1 data get %s", name, name)
