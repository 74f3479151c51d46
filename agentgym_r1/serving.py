"""Running an ASGI application on uvicorn: in the foreground for the command line, or in a thread of this process."""

import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self

from agentgym_r1.errors import AgentGymError, require

LOOPBACK = "127.0.0.1"
LOCAL = (LOOPBACK, "localhost", "::1")
GRACE_SECONDS = 30
KEEP_ALIVE_SECONDS = 300


def serve_app(
    app: Any, *, host: str, port: int, lifespan: bool = True, on_ready: Callable[[str], object] = lambda url: None
) -> None:
    """Answer requests until SIGINT or SIGTERM; requests that are under way are finished first.

    Args:
        app: an ASGI application.
        host: where to listen.
        port: 0 takes a free one.
        lifespan: whether the application starts and stops itself by ASGI's lifespan.
        on_ready: called with the URL when requests will be answered.

    Raises:
        MissingExtra: uvicorn is not installed.
        AgentGymError: the address cannot be used.
    """
    server = _server(app, lifespan=lifespan)
    with _bind(host, port) as listener, _ended_by_signals(server):
        on_ready(_url(listener))
        server.run(sockets=[listener])


class BackgroundServer:
    """An application served in a thread of this process until it is closed; also a context manager.

    Args:
        app: an ASGI application.
        host: where to listen.
        port: 0 takes a free one.
        lifespan: whether the application starts and stops itself by ASGI's lifespan.

    Raises:
        MissingExtra: uvicorn is not installed.
        AgentGymError: the address cannot be used.
    """

    def __init__(self, app: Any, *, host: str = LOOPBACK, port: int = 0, lifespan: bool = True) -> None:
        self._server = _server(app, lifespan=lifespan)
        self._listener = _bind(host, port)
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [self._listener]}, name="http-server", daemon=True
        )
        self._thread.start()

    def address(self) -> str:
        """Return the URL."""
        return _url(self._listener)

    def close(self) -> None:
        """Finish the requests that are under way and stop; a second call does nothing."""
        while self._thread.is_alive() and not self._server.started:
            time.sleep(0.01)  # uvicorn forgets a wish to stop that comes before it has started
        self._server.should_exit = True
        self._thread.join()
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


def _server(app: Any, *, lifespan: bool) -> Any:
    uvicorn = require("uvicorn", "serve")
    return uvicorn.Server(
        uvicorn.Config(
            app,
            lifespan="on" if lifespan else "off",
            access_log=False,
            log_config=None,
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=GRACE_SECONDS,
            server_header=False,
        )
    )


def _bind(host: str, port: int) -> socket.socket:
    """Listen, so that requests queue from now on; raise AgentGymError when the address cannot be used."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=2048)
    except (OSError, OverflowError) as err:
        raise AgentGymError(f"cannot listen on {host}:{port} ({err}): choose another host or port") from err


def _url(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
