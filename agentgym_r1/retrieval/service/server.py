"""Running the service: in the foreground for the command line, or in a thread for a script, a test or a Ray actor."""

import logging
import signal
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from agentgym_r1.errors import RetrievalError, require
from agentgym_r1.retrieval.base import Retriever
from agentgym_r1.retrieval.opening import open_retriever
from agentgym_r1.retrieval.service.app import RetrievalApp
from agentgym_r1.retrieval.service.dispatcher import Limits

logger = logging.getLogger(__name__)

LOOPBACK = "127.0.0.1"
DEFAULT_PORT = 8765
GRACE_SECONDS = 30
KEEP_ALIVE_SECONDS = 300


def serve(
    retrievers: Mapping[str, Retriever],
    *,
    host: str = LOOPBACK,
    port: int = DEFAULT_PORT,
    limits: Limits | None = None,
    on_ready: Callable[[str], object] = lambda url: None,
) -> None:
    """Answer requests until SIGINT or SIGTERM; requests that are under way are finished first.

    Args:
        retrievers: by name; the first is the default index.
        host: where to listen; only this machine can reach the default. There is no authentication.
        port: 0 takes a free one.
        limits: of each index.
        on_ready: called with the URL when requests will be answered.

    Raises:
        MissingExtra: uvicorn is not installed.
        RetrievalError: the address cannot be used.
    """
    server = _server(app := RetrievalApp(retrievers, limits=limits))
    with _bind(host, port) as listener:
        app.start()
        try:
            with _ended_by_signals(server):
                on_ready(_url(listener))
                server.run(sockets=[listener])
        finally:
            app.close()


class RunningService:
    """A service in a thread of this process, until it is closed; also a context manager.

    It is what a Ray actor holds: ``ray.remote(RunningService).remote({"wiki": "/data/wiki"}, host=node_ip)`` pinned to
    each node, whose ``address()`` the environments of that node take as their ``retriever=``.

    Args:
        retrievers: by name; retrievers, or folders of indexes to open here.
        host: where to listen.
        port: 0 takes a free one.
        limits: of each index.

    Raises:
        MissingExtra: uvicorn is not installed.
        RetrievalError: an index cannot be opened, or the address cannot be used.
    """

    def __init__(
        self,
        retrievers: Mapping[str, Retriever | str | Path],
        *,
        host: str = LOOPBACK,
        port: int = 0,
        limits: Limits | None = None,
    ) -> None:
        self._app = RetrievalApp({name: open_retriever(spec) for name, spec in retrievers.items()}, limits=limits)
        self._server = _server(self._app)
        self._listener = _bind(host, port)
        self._app.start()
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [self._listener]}, name="retrieval-service", daemon=True
        )
        self._thread.start()

    def address(self) -> str:
        """Return the URL of the service."""
        return _url(self._listener)

    def close(self) -> None:
        """Finish the requests that are under way and stop; a second call does nothing."""
        self._server.should_exit = True
        self._thread.join()
        self._app.close()
        self._listener.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


@contextmanager
def _ended_by_signals(server: Any) -> Iterator[None]:
    """End the server by a signal before uvicorn listens to signals, and quietly when it raises its own again."""

    def end(*_: object) -> None:
        server.should_exit = True

    before = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _server(app: RetrievalApp) -> Any:
    uvicorn = require("uvicorn", "serve")
    return uvicorn.Server(
        uvicorn.Config(
            app,
            lifespan="off",
            access_log=False,
            log_config=None,
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=GRACE_SECONDS,
            server_header=False,
        )
    )


def _bind(host: str, port: int) -> socket.socket:
    """Listen, so that requests queue from now on; raise RetrievalError when the address cannot be used."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=2048)
    except (OSError, OverflowError) as err:
        raise RetrievalError(f"cannot listen on {host}:{port} ({err}): choose another host or port") from err


def _url(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
