"""An environment that a server plays: ``agentgym-r1 serve`` on another machine, the same interface here."""

import base64
import time
from contextlib import suppress
from typing import Any

import gymnasium as gym
import httpx
import msgspec

from agentgym_r1.connections import Connections, no_answer
from agentgym_r1.errors import AgentGymError, ConfigError, EpisodeError
from agentgym_r1.spaces import FreeText

_FIRST_WAIT = 0.05
_LONGEST_WAIT = 2.0
_ERRORS: dict[int, type[AgentGymError]] = {400: ConfigError, 409: EpisodeError}


class RemoteEnv(gym.Env[str, str]):
    """Plays an environment over HTTP; observations, rewards and info are those of the environment itself.

    A connection that breaks and a server that is full are tried again until ``patience`` is spent; a step is never
    taken twice. Proxies that the environment sets are not used.

    Args:
        url: ``http://HOST:PORT`` of ``agentgym-r1 serve``.
        env: the id of the environment, for example ``AgentR1/ALFWorld-v0``.
        patience: seconds one call may take, over all attempts.
        **kwargs: of the environment, as gym.make takes them.

    Raises:
        ConfigError: the server does not know the environment or a keyword.
        EpisodeError: no server answers.
    """

    metadata = {"render_modes": ["ansi"]}  # noqa: RUF012 - Gymnasium's own form

    def __init__(
        self, url: str, env: str, *, patience: float = 60.0, render_mode: str | None = None, **kwargs: Any
    ) -> None:
        if not url.startswith(("http://", "https://")):
            raise ConfigError(f"url must be http://HOST:PORT of an environment server, got {url!r}")
        self.url, self.env_id, self.kwargs = url.rstrip("/"), env, kwargs
        self.patience = patience
        self.render_mode = render_mode
        self.observation_space = FreeText()
        self.action_space = FreeText()
        self._connections = Connections(trust_env=False)
        self._session = ""
        self._steps = 0
        self._observation = ""
        self._session = self._post("/sessions", {"env": env, "kwargs": kwargs})["session"]

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopen, (self.url, self.env_id, self.patience, self.render_mode, self.kwargs)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """Start an episode; see ``TextEnv.reset``."""
        super().reset(seed=seed)
        answer = self._post(f"/sessions/{self._session}/reset", {"seed": seed, "options": options})
        self._steps = 0
        return self._seen(answer)

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Take the policy's raw response; see ``TextEnv.step``."""
        if not isinstance(action, str):
            raise ConfigError(f"an action is a str, got {type(action).__name__}")
        answer = self._post(f"/sessions/{self._session}/step", {"action": action, "step": self._steps})
        self._steps += 1
        observation, info = self._seen(answer)
        return observation, answer["reward"], answer["terminated"], answer["truncated"], info

    def expert(self) -> str:
        """Return the expert's next action."""
        return str(self._post(f"/sessions/{self._session}/expert", {})["action"])

    def snapshot(self) -> bytes:
        """Return the state of the episode, as the environment itself would."""
        return base64.b64decode(self._post(f"/sessions/{self._session}/snapshot", {})["snapshot"])

    def restore(self, snapshot: bytes) -> None:
        """Continue from a snapshot of an environment made with the same arguments, here or there."""
        body = {"snapshot": base64.b64encode(snapshot).decode()}
        self._seen(self._post(f"/sessions/{self._session}/restore", body))
        self._steps = 0

    def render(self) -> str | None:
        """Return the current prompt in ``ansi`` mode, else None."""
        return self._observation if self.render_mode == "ansi" else None

    def close(self) -> None:
        """End the session; a server that is gone has ended it already."""
        session, self._session = self._session, ""
        if session:
            with suppress(httpx.TransportError):
                self._connections.client().delete(f"{self.url}/sessions/{session}", timeout=_LONGEST_WAIT)
        self._connections.close()

    def _seen(self, answer: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        self._observation = answer["observation"]
        return self._observation, answer["info"]

    def _post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        deadline, wait, refused = time.monotonic() + self.patience, _FIRST_WAIT, ""
        while True:
            reply, failure = self._try(path, body, deadline)
            if reply is not None and reply.is_success:
                answer: dict[str, Any] = msgspec.json.decode(reply.content)
                return answer
            if reply is not None and reply.status_code != 503:
                raise _ERRORS.get(reply.status_code, EpisodeError)(failure)
            if time.monotonic() + wait >= deadline:
                failure = failure if reply is not None or not refused else f"{failure}; before that, {refused}"
                raise EpisodeError(f"{failure} (tried for {self.patience:g} s)")
            refused = refused if reply is None else failure
            time.sleep(wait)
            wait = min(2 * wait, _LONGEST_WAIT)

    def _try(self, path: str, body: dict[str, Any], deadline: float) -> tuple[httpx.Response | None, str]:
        left = max(deadline - time.monotonic(), 0.001)
        try:
            reply = self._connections.client().post(
                f"{self.url}{path}", content=msgspec.json.encode(body), timeout=left
            )
        except httpx.TransportError as err:
            return None, no_answer("environment server", self.url, err, start="agentgym-r1 serve")
        return reply, "" if reply.is_success else f"{self.url}: {_reason(reply)}"


def _reason(reply: httpx.Response) -> str:
    try:
        return str(msgspec.json.decode(reply.content)["error"])
    except (msgspec.DecodeError, KeyError, TypeError):
        return f"answered {reply.status_code} to {reply.request.url.path}: is it an environment server?"


def _reopen(url: str, env: str, patience: float, render_mode: str | None, kwargs: dict[str, Any]) -> RemoteEnv:
    return RemoteEnv(url, env, patience=patience, render_mode=render_mode, **kwargs)
