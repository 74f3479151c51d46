"""Environments of a run: in the engine's process, or held by a pool of Ray actors and stepped from afar.

A Ray actor holds many environments. One that dies takes its episodes with it: each of their next calls raises, the
episode is recorded as broken, and the next environment is made in an actor that Ray has started again.
"""

import itertools
from typing import Any

import gymnasium as gym
from gymnasium.envs.registration import EnvSpec

from agentgym_r1.adapters.openrlhf.spec import Phase, RunSpec
from agentgym_r1.errors import EpisodeError
from agentgym_r1.spaces import FreeText

_RESTARTS = -1  # without limit: a broken environment must not end a long run
_slots = itertools.count()


def make_environment(spec: RunSpec, phase: Phase) -> gym.Env[str, str]:
    """Make an environment of the run for a phase: here, or in one of its Ray actors."""
    import agentgym_r1  # noqa: F401 - registers the environments in this process

    if spec.workers == 0:
        return gym.make(spec.env, **spec.kwargs(phase))
    return RemoteEnv(spec.env, spec.kwargs(phase), worker=next(_slots) % spec.workers)


class Holder:
    """Many environments in one process, by number; what a Ray actor of the pool is."""

    def __init__(self) -> None:
        self._envs: dict[int, gym.Env[str, str]] = {}
        self._numbers = itertools.count()

    def make(self, env_id: str, kwargs: dict[str, Any]) -> int:
        """Make an environment and return its number."""
        import agentgym_r1  # noqa: F401 - registers the environments in this process

        number = next(self._numbers)
        self._envs[number] = gym.make(env_id, **kwargs)
        return number

    def reset(self, number: int, seed: int | None, options: dict[str, Any] | None) -> tuple[str, dict[str, Any]]:
        """Reset an environment; its anchor comes with the info."""
        observation, info = self._envs[number].reset(seed=seed, options=options)
        return observation, self._with_anchor(number, info)

    def step(self, number: int, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Step an environment; its anchor comes with the info."""
        observation, reward, terminated, truncated, info = self._envs[number].step(action)
        return observation, float(reward), terminated, truncated, self._with_anchor(number, info)

    def close(self, number: int) -> None:
        """Close an environment and forget it."""
        self._envs.pop(number).close()

    def _with_anchor(self, number: int, info: dict[str, Any]) -> dict[str, Any]:
        inner = self._envs[number].unwrapped
        return {**info, "anchor": inner.anchor()} if hasattr(inner, "anchor") else info


class RemoteEnv(gym.Env[str, str]):
    """An environment in a Ray actor of the pool; the calls wait, so call them from threads.

    Args:
        env_id, kwargs: what gym.make gets in the actor.
        worker: which actor of the pool; it is started when there is none.
    """

    def __init__(self, env_id: str, kwargs: dict[str, Any], *, worker: int) -> None:
        self.spec = EnvSpec(env_id.rpartition(":")[2], entry_point=f"{__name__}:RemoteEnv", kwargs=kwargs)
        self.observation_space = FreeText()
        self.action_space = FreeText()
        self._holder = _holder(worker)
        self._number: int | None = self._call("make", env_id, kwargs)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """Reset; see gym.Env."""
        super().reset(seed=seed)
        observation, info = self._call("reset", self._number, seed, options)
        return observation, info

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Step; see gym.Env.

        Raises:
            EpisodeError: the actor died.
        """
        outcome: tuple[str, float, bool, bool, dict[str, Any]] = self._call("step", self._number, action)
        return outcome

    def close(self) -> None:
        """Close the environment in the actor, unless that died."""
        if self._number is None:
            return
        number, self._number = self._number, None
        try:
            self._call("close", number)
        except (EpisodeError, KeyError):
            return

    def _call(self, method: str, *args: Any) -> Any:
        import ray

        try:
            return ray.get(getattr(self._holder, method).remote(*args))
        except ray.exceptions.RayTaskError as err:
            raise err.cause from err
        except ray.exceptions.RayActorError as err:
            raise EpisodeError("the worker that held the environment died; a new one is started") from err


def _holder(worker: int) -> Any:
    import ray

    remote = ray.remote(num_cpus=0, max_restarts=_RESTARTS)(Holder)
    return remote.options(name=f"agentgym_r1_env_{worker}", get_if_exists=True).remote()
