"""Where data sets, indexes and caches live: $AGENTGYM_R1_HOME, else the user's cache folder."""

import os
from pathlib import Path


def home() -> Path:
    """Return the folder of everything this library stores.

    The folder is not created here; whoever writes makes its own sub-folder (``data/NAME``, ``index/NAME``).
    """
    chosen = os.environ.get("AGENTGYM_R1_HOME")
    if chosen:
        return Path(chosen).expanduser()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "agentgym-r1"
