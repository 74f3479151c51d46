"""Running the service: in the foreground for the command line, or in a thread for a script, a test or a Ray actor."""

from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from agentgym_r1.retrieval.base import Retriever
from agentgym_r1.retrieval.opening import open_retriever
from agentgym_r1.retrieval.service.app import RetrievalApp
from agentgym_r1.retrieval.service.dispatcher import Limits
from agentgym_r1.serving import LOOPBACK, BackgroundServer, serve_app

DEFAULT_PORT = 8765


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
        AgentGymError: the address cannot be used.
    """
    app = RetrievalApp(retrievers, limits=limits)
    app.start()
    try:
        serve_app(app, host=host, port=port, lifespan=False, on_ready=on_ready)
    finally:
        app.close()


class RunningService:
    """A service in a thread of this process, until it is closed; also a context manager.

    ``agentgym_r1.ray_services`` puts one on every node of a Ray cluster.

    Args:
        retrievers: by name; retrievers, or folders of indexes to open here.
        host: where to listen.
        port: 0 takes a free one.
        limits: of each index.

    Raises:
        MissingExtra: uvicorn is not installed.
        AgentGymError: the address cannot be used.
        RetrievalError: an index cannot be opened.
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
        self._app.start()
        try:
            self._server = BackgroundServer(self._app, host=host, port=port, lifespan=False)
        except BaseException:
            self._app.close()
            raise

    def address(self) -> str:
        """Return the URL of the service."""
        return self._server.address()

    def close(self) -> None:
        """Finish the requests that are under way and stop; a second call does nothing."""
        self._server.close()
        self._app.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
