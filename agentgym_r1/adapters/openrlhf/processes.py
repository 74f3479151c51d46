"""Long commands that end with whoever started them, however that ends."""

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import IO, Any

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def run_to_end(command: Sequence[str], variables: Mapping[str, str], *, output: IO[Any] | None = None) -> int:
    """Run a command to its end and return its exit code.

    On Linux the command is told to end (SIGTERM) when this process ends first, by a signal that leaves it no time to do
    so itself too: a trainer must not go on writing into a run folder that nobody watches.

    Args:
        command: the program and its arguments.
        variables: environment variables besides those of this process.
        output: where its messages go; by default where this process's go.
    """
    done = subprocess.run(  # noqa: S603 - our own commands
        list(command),
        env={**os.environ, **variables},
        stdout=output,
        stderr=output,
        check=False,
        preexec_fn=_end_with(os.getpid()) if _LIBC is not None else None,
    )
    return done.returncode


def _end_with(parent: int) -> Any:
    def tether() -> None:
        assert _LIBC is not None
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:  # it ended before the call
            os.kill(os.getpid(), signal.SIGTERM)

    return tether
