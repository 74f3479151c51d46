"""Load the compiled kernels of BM25, once a machine compiles them and everyone else waits for that."""

import hashlib
import sys
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from filelock import FileLock

from agentgym_r1.errors import RetrievalError
from agentgym_r1.home import home


class Kernels(NamedTuple):
    """What ``rank_kernel`` and ``term_kernel`` compile."""

    rank: Any
    term: Any


@cache
def load_kernels() -> Kernels:
    """Import the compiled kernels: 5 s when numba has to compile them, 0.5 s from numba's cache on disk.

    The first process of a machine compiles while others that start with it wait; a file then says that there is no
    need to wait any more.
    """
    import numba

    sources = b"".join(Path(__file__).with_name(f"{name}_kernel.py").read_bytes() for name in Kernels._fields)
    key = hashlib.sha256(sources + f"{numba.__version__} {sys.version}".encode()).hexdigest()[:16]
    compiled = home() / "numba" / f"{key}.compiled"
    if compiled.is_file():
        return _import_kernels()
    try:
        compiled.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(compiled.with_suffix(".lock")):
            kernels = _import_kernels()
            compiled.touch()
            return kernels
    except OSError as err:
        raise RetrievalError(f"{compiled.parent}: cannot be written ({err.strerror}); set AGENTGYM_R1_HOME") from err


def _import_kernels() -> Kernels:
    from agentgym_r1.retrieval.rank_kernel import rank
    from agentgym_r1.retrieval.term_kernel import count_terms

    return Kernels(rank=rank, term=count_terms)
