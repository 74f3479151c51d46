"""Live libraries by name, one object a process, with their answers kept under ``home()/scholar``."""

import functools
from pathlib import Path

from agentgym_r1.disk_cache import DiskCache
from agentgym_r1.errors import unknown_name
from agentgym_r1.home import home
from agentgym_r1.retrieval.library import Library
from agentgym_r1.retrieval.scholar import openalex, semantic_scholar

SERVICES = ("semantic-scholar", "openalex")


def open_library(name: str, *, offline: bool = False) -> Library:
    """Return a live library.

    Args:
        name: ``semantic-scholar`` or ``openalex``.
        offline: answer only what was asked before on this machine; nothing else is known then.

    Raises:
        ConfigError: there is no such service.
    """
    if name not in SERVICES:
        raise unknown_name("live library", name, SERVICES)
    return _open(name, home() / "scholar" / f"{name}.db", offline)


@functools.lru_cache(maxsize=8)
def _open(name: str, place: Path, offline: bool) -> Library:
    cache = DiskCache(place)
    if name == openalex.OpenAlex.name:
        return openalex.OpenAlex(openalex.connect(cache=cache, offline=offline))
    return semantic_scholar.SemanticScholar(semantic_scholar.connect(cache=cache, offline=offline))
