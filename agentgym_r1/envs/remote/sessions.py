"""Environments that a server holds for its clients, one a session.

A session that nobody used for a while is closed, so that clients which died do not fill the server up.
"""

import secrets
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import gymnasium as gym

from agentgym_r1.errors import AgentGymError, ConfigError, EpisodeError, unknown_name
from agentgym_r1.registration import ENTRIES


@dataclass(frozen=True, slots=True)
class SessionLimits:
    """What a server allows.

    Attributes:
        sessions: environments held at once, at least 1.
        idle: seconds without a call after which a session may be closed, above 0.
    """

    sessions: int = 1024
    idle: float = 3600.0

    def __post_init__(self) -> None:
        if self.sessions < 1 or self.idle <= 0:
            raise ConfigError(f"sessions must be at least 1 and idle above 0, got {self.sessions} and {self.idle}")


class UnknownSession(AgentGymError):
    """There is no such session: it was closed, or idle for too long."""


class Full(AgentGymError):
    """The server holds as many sessions as it may, and none of them is idle."""


@dataclass(slots=True)
class Session:
    """One environment and its place in the episode.

    Attributes:
        env: the environment.
        lock: held while the environment works: calls of one session are answered one by one.
        used: when it was used last, by the clock of the sessions.
        steps: steps taken since the last reset or restore; -1 before the first.
        last: the answer to the last step, for a client whose connection broke before it came.
    """

    env: gym.Env[str, str]
    used: float
    lock: threading.Lock = field(default_factory=threading.Lock)
    steps: int = -1
    last: dict[str, Any] = field(default_factory=dict)

    @property
    def world(self) -> Any:
        """The environment without Gymnasium's wrappers."""
        return self.env.unwrapped


class Sessions:
    """Opens, plays and closes environments by session name. Safe to use from several threads.

    Args:
        ids: the environments that may be opened; by default all of this library's.
        limits: see SessionLimits.
        clock: seconds, always growing.

    Raises:
        ConfigError: an id is not one of this library's.
    """

    def __init__(
        self,
        ids: tuple[str, ...] = (),
        *,
        limits: SessionLimits | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        known = tuple(entry.id for entry in ENTRIES)
        for env_id in ids:
            if env_id not in known:
                raise unknown_name("environment", env_id, known)
        self.ids = ids or known
        self.limits = limits or SessionLimits()
        self._clock = clock
        self._held: dict[str, Session] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._held)

    def open(self, env_id: str, kwargs: Mapping[str, Any]) -> str:
        """Make an environment and return the name of its session.

        Raises:
            ConfigError: unknown id or keyword.
            Full: no session is free.
        """
        if env_id not in self.ids:
            raise unknown_name("environment", env_id, self.ids)
        self._make_room()
        try:
            env = gym.make(env_id, disable_env_checker=True, **kwargs)
        except TypeError as err:
            raise ConfigError(f"cannot make {env_id}: {err}") from err
        name = secrets.token_urlsafe(16)
        with self._lock:
            if len(self._held) < self.limits.sessions:
                self._held[name] = Session(env, self._clock())
                return name
        env.close()
        raise self._full()

    def reset(self, name: str, *, seed: int | None, options: dict[str, Any] | None) -> dict[str, Any]:
        """Start an episode; see ``TextEnv.reset``."""
        session = self._find(name)
        with session.lock:
            session.steps, session.last = -1, {}
            observation, info = session.env.reset(seed=seed, options=options)
            session.steps = 0
        return {"observation": observation, "info": info}

    def step(self, name: str, action: str, *, number: int) -> dict[str, Any]:
        """Take a step, once: the same ``number`` again returns the answer that was given.

        Args:
            name: the session.
            action: the policy's raw response.
            number: steps taken before this one since the reset or the restored snapshot.

        Raises:
            EpisodeError: no episode is running, or it is at another step.
        """
        session = self._find(name)
        with session.lock:
            if number == session.steps - 1:
                return session.last
            if number != session.steps:
                raise EpisodeError(f"the session is at step {session.steps}, got step {number}: call reset first")
            observation, reward, terminated, truncated, info = session.env.step(action)
            session.steps += 1
            session.last = {
                "observation": observation,
                "reward": reward,
                "terminated": terminated,
                "truncated": truncated,
                "info": info,
            }
            return session.last

    def expert(self, name: str) -> dict[str, Any]:
        """Return the expert's next action."""
        session = self._find(name)
        with session.lock:
            return {"action": session.world.expert()}

    def snapshot(self, name: str) -> bytes:
        """Return the state of the episode; see ``TextEnv.snapshot``."""
        session = self._find(name)
        with session.lock:
            taken: bytes = session.world.snapshot()
            return taken

    def restore(self, name: str, snapshot: bytes) -> dict[str, Any]:
        """Continue from a snapshot and return its observation and info; steps count from here."""
        session = self._find(name)
        with session.lock:
            session.world.restore(snapshot)
            session.steps, session.last = 0, {}
            observation, info = session.world.last()
        return {"observation": observation, "info": info}

    def close(self, name: str) -> None:
        """Close a session; one that is gone is no error."""
        with self._lock:
            session = self._held.pop(name, None)
        if session is not None:
            with session.lock:
                session.env.close()

    def close_idle(self) -> int:
        """Close the sessions that nobody used for too long and return how many."""
        latest = self._clock() - self.limits.idle
        idle = [name for name, session in list(self._held.items()) if session.used < latest]
        for name in idle:
            self.close(name)
        return len(idle)

    def close_all(self) -> None:
        """Close every session."""
        for name in list(self._held):
            self.close(name)

    def _find(self, name: str) -> Session:
        with self._lock:
            session = self._held.get(name)
            if session is None:
                raise UnknownSession(
                    f"there is no session {name!r}: it was closed, or idle for {self.limits.idle:g} s; open another"
                )
            session.used = self._clock()
            return session

    def _make_room(self) -> None:
        if len(self._held) >= self.limits.sessions and not self.close_idle():
            raise self._full()

    def _full(self) -> Full:
        return Full(f"{len(self._held)} sessions are open, which is all: close some, or serve with more --sessions")
