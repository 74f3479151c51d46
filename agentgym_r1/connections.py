"""The HTTP connections of a client of ours: opened when first used, closed with their owner at the latest."""

import os
import threading
import weakref
from typing import Any

import httpx


class Connections:
    """A pool of connections that is safe to use from several threads and after a fork, and pickled without them.

    Whoever forgets to close it loses nothing: the connections are closed when nobody refers to it any more.

    Args:
        **settings: of ``httpx.Client``.
    """

    def __init__(self, **settings: Any) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._client: httpx.Client | None = None
        self._end: weakref.finalize[Any, Any] | None = None
        self._pid = 0

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopen, (self._settings,)

    def client(self) -> httpx.Client:
        """Return this process's client; a forked child must not use that of its parent."""
        with self._lock:
            if self._client is None or self._pid != os.getpid():
                self._forget()
                self._client, self._pid = httpx.Client(**self._settings), os.getpid()
                self._end = weakref.finalize(self, self._client.close)
            return self._client

    def close(self) -> None:
        """Close the connections; a later ``client`` opens new ones."""
        with self._lock:
            end = self._forget()
        if end is not None:
            end()

    def _forget(self) -> "weakref.finalize[Any, Any] | None":
        """Let go of the client and return what closes it; in a forked child nothing does, as it is the parent's."""
        end, self._client, self._end = self._end, None, None
        if end is not None and self._pid != os.getpid():
            end.detach()
            return None
        return end


def no_answer(what: str, url: str, err: httpx.TransportError, *, start: str) -> str:
    """Return in one line why ``what`` gave no answer at ``url``, and what to do: ``start`` is what starts one."""
    if isinstance(err, httpx.ReadTimeout):
        return f"the {what} at {url} did not answer in time"
    reason = " ".join(str(err).split()) or type(err).__name__
    return f"no {what} answers at {url} ({reason}): start `{start}`, or correct the URL"


def _reopen(settings: dict[str, Any]) -> Connections:
    return Connections(**settings)
