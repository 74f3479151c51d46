"""The error tree: every exception this library raises on purpose derives from AgentGymError.

    AgentGymError
    |- ConfigError          a wrong argument, unknown name or bad option (command line: exit 2)
    |- MissingExtra         an optional dependency is not installed
    |- DataError            a data file or folder is missing, corrupt or of another version
    |- RetrievalError       an index cannot be opened, built or reached
    |- EngineError          a language model cannot be loaded, reached or understood
    |- EpisodeError         an episode cannot go on (a step after its end, a dead worker)
    |- ReplayError          a recorded trajectory and the environment disagree

A message says what was expected, what came, and what to do next, on one line.
"""

import difflib
import importlib
from collections.abc import Iterable
from types import ModuleType


class AgentGymError(Exception):
    """Base of every error raised on purpose by agentgym_r1."""


class ConfigError(AgentGymError, ValueError):
    """An argument, name or option is wrong."""


class MissingExtra(AgentGymError, ImportError):
    """An optional dependency is needed and not installed."""


class DataError(AgentGymError):
    """A data file or folder is missing, corrupt or of another version."""


class RetrievalError(AgentGymError):
    """An index cannot be opened, built or reached."""


class EngineError(AgentGymError):
    """A language-model engine cannot be loaded, reached or understood."""


class EpisodeError(AgentGymError):
    """An episode cannot go on."""


class ReplayError(AgentGymError):
    """A recorded trajectory and the environment disagree."""


def require(module: str, extra: str) -> ModuleType:
    """Import ``module`` or raise MissingExtra with the exact install line.

    Args:
        module: dotted name of the module to import.
        extra: the extra of this package that brings it.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as err:
        if err.name is not None and not module.startswith(err.name.split(".")[0]):
            raise MissingExtra(
                f"{module} is installed but its dependency {err.name} is not: pip install 'agentgym-r1[{extra}]'"
            ) from err
        raise MissingExtra(f"{module} is not installed: pip install 'agentgym-r1[{extra}]'") from err


def unknown_name(kind: str, got: str, known: Iterable[str]) -> ConfigError:
    """Return the error for a name that is not among ``known``, with the closest match when there is one."""
    names = sorted(known)
    close = difflib.get_close_matches(got, names, n=1)
    hint = f"; did you mean {close[0]!r}?" if close else "."
    return ConfigError(f"unknown {kind} {got!r}{hint} Known: {', '.join(names)}")
