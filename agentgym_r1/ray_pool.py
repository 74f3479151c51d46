"""A pool of Ray actors that hold environments, many each: training steps them from afar, the benchmark plays there.

An actor that dies is started again by Ray. It takes the episodes in it along: the next step of each raises
EpisodeError, and its environment is made anew at the next reset. Work that was given to ``Pool.run`` is done again.
"""

import itertools
import os
import socket
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import gymnasium as gym
from gymnasium.envs.registration import EnvSpec

import agentgym_r1
from agentgym_r1.errors import AgentGymError, ConfigError, EpisodeError, require
from agentgym_r1.spaces import FreeText

FORWARDED = ("AGENTGYM_R1_", "HF_", "PYTHONPATH")
_RESTARTS = -1  # without limit: a broken environment must not end a long run
_DEATHS = 3  # of workers on one piece of work, after which the work is at fault
_ATTEMPTS = 6
_FIRST_WAIT = 0.25
_PATIENCE = 10.0  # seconds


class Lost(EpisodeError):
    """The worker that held the environment died, and the episode with it."""


class Holder:
    """Many environments in one process, by name; what a Ray actor of the pool is."""

    def __init__(self) -> None:
        self._envs: dict[str, gym.Env[str, str]] = {}

    def make(self, name: str, env_id: str, kwargs: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        """Make an environment and return the id and the arguments of its spec."""
        self._envs[name] = gym.make(env_id, **kwargs)
        spec = self._envs[name].spec
        return (spec.id, dict(spec.kwargs)) if spec is not None else (env_id, dict(kwargs))

    def reset(self, name: str, seed: int | None, options: dict[str, Any] | None) -> tuple[str, dict[str, Any]]:
        """Reset an environment; its anchor comes with the info."""
        env = self._held(name)
        observation, info = env.reset(seed=seed, options=options)
        return observation, _with_anchor(env, info)

    def step(self, name: str, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Step an environment; its anchor comes with the info."""
        env = self._held(name)
        observation, reward, terminated, truncated, info = env.step(action)
        return observation, float(reward), terminated, truncated, _with_anchor(env, info)

    def close(self, name: str) -> None:
        """Close an environment and forget it."""
        self._held(name).close()
        del self._envs[name]

    def run(self, function: Callable[..., Any], *args: Any) -> Any:
        """Return what a function returns in this process."""
        return function(*args)

    def _held(self, name: str) -> gym.Env[str, str]:
        if name not in self._envs:  # another process stands in the place of the one that held it
            raise Lost("the worker that held the environment died; a new one is started")
        return self._envs[name]


class RemoteEnv(gym.Env[str, str]):
    """An environment in a Ray actor of the pool; the calls wait, so call them from threads.

    Args:
        env_id, kwargs: what gym.make gets in the actor.
        worker: which actor of the pool; it is started when there is none.
    """

    def __init__(self, env_id: str, kwargs: Mapping[str, Any], *, worker: int) -> None:
        self.observation_space = FreeText()
        self.action_space = FreeText()
        self._made = (env_id, dict(kwargs))
        self._holder = holder(worker)
        self._name: str | None = None
        spec_id, spec_kwargs = self._make()
        self.spec = EnvSpec(spec_id, entry_point=f"{__name__}:RemoteEnv", kwargs=spec_kwargs)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """Reset; see gym.Env. An environment whose actor has died is made anew first."""
        super().reset(seed=seed)
        try:
            observation, info = self._call("reset", self._name, seed, options)
        except Lost:
            self._make()
            observation, info = self._call("reset", self._name, seed, options)
        return observation, info

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Step; see gym.Env.

        Raises:
            EpisodeError: the actor died.
        """
        outcome: tuple[str, float, bool, bool, dict[str, Any]] = self._call("step", self._name, action)
        return outcome

    def close(self) -> None:
        """Close the environment in the actor, unless that died."""
        if self._name is None:
            return
        name, self._name = self._name, None
        try:
            self._call("close", name)
        except Lost:
            return

    def _make(self) -> tuple[str, dict[str, Any]]:
        """Make the environment, under a name that no actor before or after has had; wait for an actor that starts."""
        self._name = uuid.uuid4().hex
        for attempt in range(_ATTEMPTS):
            try:
                made: tuple[str, dict[str, Any]] = self._call("make", self._name, *self._made)
            except Lost:
                time.sleep(_FIRST_WAIT * 2**attempt)
            else:
                return made
        raise EpisodeError(f"the workers died {_ATTEMPTS} times while they made {self._made[0]}: see Ray's log for why")

    def _call(self, method: str, *args: Any) -> Any:
        import ray

        try:
            return ray.get(getattr(self._holder, method).remote(*args))
        except ray.exceptions.RayTaskError as err:
            raise err.cause from err
        except ray.exceptions.RayActorError as err:
            raise Lost("the worker that held the environment died; a new one is started") from err


class Pool:
    """Actors of a running cluster for as long as a ``with`` block lasts.

    Args:
        address: the cluster's, as ray.init takes it.
        workers: how many actors.

    Raises:
        MissingExtra: Ray is not installed.
        ConfigError: no cluster answers there.
    """

    def __init__(self, address: str, *, workers: int) -> None:
        self._joined = join(address)
        self._holders = [holder(worker) for worker in range(workers)]
        self._slots = itertools.count()

    def __enter__(self) -> "Pool":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, err: BaseException | None, trace: TracebackType | None
    ) -> None:
        import ray

        for actor in self._holders:
            ray.kill(actor)
        if self._joined:
            ray.shutdown()

    def make_env(self, env_id: str, kwargs: Mapping[str, Any]) -> RemoteEnv:
        """Make an environment in the next actor."""
        return RemoteEnv(env_id, kwargs, worker=next(self._slots) % len(self._holders))

    def run(self, function: Callable[..., Any], work: Iterable[Sequence[Any]]) -> Iterator[Any]:
        """Yield what a function returns for each piece of work (its arguments), in no fixed order.

        Raises:
            AgentGymError: several workers died of the same piece of work.
        """
        import ray

        waiting = deque((piece, 0) for piece in work)
        free = list(self._holders)
        running: dict[Any, tuple[Any, Sequence[Any], int]] = {}
        while waiting or running:
            while waiting and free:
                actor, (piece, deaths) = free.pop(), waiting.popleft()
                running[actor.run.remote(function, *piece)] = actor, piece, deaths
            (done,), _ = ray.wait(list(running))
            actor, piece, deaths = running.pop(done)
            free.append(actor)
            try:
                yield ray.get(done)
            except ray.exceptions.RayTaskError as err:
                raise err.cause from err
            except ray.exceptions.RayActorError as err:
                if deaths + 1 == _DEATHS:
                    raise AgentGymError(
                        f"{_DEATHS} Ray workers died of the same episodes: see Ray's log for why"
                    ) from err
                time.sleep(_FIRST_WAIT)
                waiting.appendleft((piece, deaths + 1))


def holder(worker: int) -> Any:
    """Return the actor of a number, the same one everywhere in a Ray job; it is started when there is none."""
    import ray

    remote = ray.remote(num_cpus=0, max_restarts=_RESTARTS, scheduling_strategy="SPREAD")(Holder)
    return remote.options(name=f"agentgym_r1_env_{worker}", get_if_exists=True).remote()


def join(address: str) -> bool:
    """Join a running cluster and return whether this process had not joined one before.

    Raises:
        MissingExtra: Ray is not installed.
        ConfigError: no cluster answers there.
    """
    ray = require("ray", "ray")
    if ray.is_initialized():
        return False
    check_address(address)
    try:
        ray.init(address=address, runtime_env={"env_vars": forwarded()}, logging_level="warning")
    except (ConnectionError, ValueError, RuntimeError) as err:
        raise _no_cluster(address, err) from err
    return True


def check_address(address: str) -> None:
    """Check that something listens at ``HOST:PORT``, which ray.init would wait minutes for; other forms pass.

    Raises:
        ConfigError: nothing does.
    """
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or "/" in host:
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_PATIENCE).close()
    except (OSError, OverflowError) as err:
        raise _no_cluster(address, err) from err


def _no_cluster(address: str, err: Exception) -> ConfigError:
    reason = " ".join(str(err).split()) or type(err).__name__
    return ConfigError(f"no Ray cluster answers at {address!r} ({reason}): start one with `ray start --head`")


def forwarded(prefixes: tuple[str, ...] = FORWARDED) -> dict[str, str]:
    """Return the environment variables that the actors need of this process, this package's folder on the path."""
    found = {key: value for key, value in os.environ.items() if key.startswith(prefixes)}
    folder = str(Path(agentgym_r1.__file__).resolve().parents[1])
    parts = [folder, *found.get("PYTHONPATH", "").split(os.pathsep)]
    return {**found, "PYTHONPATH": os.pathsep.join(dict.fromkeys(filter(None, parts)))}


def _with_anchor(env: gym.Env[str, str], info: dict[str, Any]) -> dict[str, Any]:
    inner = env.unwrapped
    return {**info, "anchor": inner.anchor()} if hasattr(inner, "anchor") else info
