"""Retrieval on a Ray cluster: one service a node, an actor each, which answers the workers of its node."""

from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from agentgym_r1.errors import ConfigError, RetrievalError
from agentgym_r1.ray_pool import join
from agentgym_r1.retrieval.service import Limits, RunningService
from agentgym_r1.retrieval.service.server import DEFAULT_PORT

_RESTARTS = -1  # without limit: clients wait for the service that comes back


class NodeServices:
    """A retrieval service on every node that a cluster has now, for as long as a ``with`` block lasts.

    With one port everywhere all workers name the same ``retriever="http://127.0.0.1:PORT"`` and ask their own node's
    service; nothing crosses the network. A service that dies is started again by Ray on its node, and its clients try
    until it is there.

    Args:
        address: of the cluster, as ray.init takes it.
        indexes: folders by name, which every node has at that path; the first is the default.
        port: 0 takes a free one on each node, and another when the service is started again.
        limits: of each index.
        cpus: that each service reserves; it searches with as many threads.

    Attributes:
        addresses: the URL of each node's service, by the node's id.

    Raises:
        MissingExtra: Ray is not installed.
        ConfigError: no cluster answers there, or no index is named.
        RetrievalError: the service of a node did not start; the message says why.
    """

    def __init__(
        self,
        address: str,
        indexes: Mapping[str, str | Path],
        *,
        port: int = DEFAULT_PORT,
        limits: Limits | None = None,
        cpus: int = 1,
    ) -> None:
        if not indexes:
            raise ConfigError("a retrieval service needs at least one index")
        self._joined = join(address)
        folders = {name: str(Path(folder).resolve()) for name, folder in indexes.items()}
        self._actors = {node: _start(node, folders, port=port, limits=limits, cpus=cpus) for node in _nodes()}
        try:
            self.addresses = {node: _address(node, actor) for node, actor in self._actors.items()}
        except RetrievalError:
            self.close()
            raise

    def close(self) -> None:
        """Finish the requests that are under way and end the services; a second call does nothing."""
        import ray

        actors, self._actors = self._actors, {}
        endings = [actor.close.remote() for actor in actors.values()]
        ray.wait(endings, num_returns=len(endings), timeout=10) if endings else None
        for actor in actors.values():
            ray.kill(actor)
        if self._joined:
            self._joined = False
            ray.shutdown()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def _nodes() -> list[str]:
    import ray

    return [node["NodeID"] for node in ray.nodes() if node["Alive"]]


def _start(node: str, folders: Mapping[str, str], *, port: int, limits: Limits | None, cpus: int) -> Any:
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    pinned = NodeAffinitySchedulingStrategy(node, soft=False)
    remote = ray.remote(num_cpus=cpus, max_restarts=_RESTARTS, scheduling_strategy=pinned)(RunningService)
    return remote.remote(folders, port=port, limits=limits)


def _address(node: str, actor: Any) -> str:
    """Wait for a service to be ready and return its URL."""
    import ray

    try:
        return str(ray.get(actor.address.remote()))
    except ray.exceptions.RayActorError as err:
        reason = str(err).strip().splitlines()[-1]
        raise RetrievalError(f"the retrieval service of node {node[:8]} did not start: {reason}") from err
