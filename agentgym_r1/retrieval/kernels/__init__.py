"""Compiled loops: once a machine compiles them, and everyone else waits for that.

numba's cache knows the source of a module alone, so that the modules import no compiled function of each other.
"""

import hashlib
import importlib
import sys
from functools import cache
from pathlib import Path
from typing import Any, Literal

from filelock import FileLock

from agentgym_r1.errors import RetrievalError
from agentgym_r1.home import home


@cache
def load_kernels(name: Literal["rank", "terms", "exact"]) -> Any:
    """Import a module of compiled functions: seconds when numba has to compile them, 0.1 s from its cache on disk.

    The first one also imports numba, in 0.3 s. The first process of a machine compiles while others that start with
    it wait; a file then says that there is no need to wait any more.

    Raises:
        RetrievalError: the home folder cannot be written.
    """
    import numba

    source = Path(__file__).with_name(f"{name}.py").read_bytes()
    key = hashlib.sha256(source + f"{numba.__version__} {sys.version}".encode()).hexdigest()[:16]
    compiled = home() / "numba" / f"{key}.compiled"
    if compiled.is_file():
        return _import(name)
    try:
        compiled.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(compiled.with_suffix(".lock")):
            module = _import(name)
            compiled.touch()
            return module
    except OSError as err:
        raise RetrievalError(f"{compiled.parent}: cannot be written ({err.strerror}); set AGENTGYM_R1_HOME") from err


def _import(name: str) -> Any:
    return importlib.import_module(f"{__name__}.{name}")
