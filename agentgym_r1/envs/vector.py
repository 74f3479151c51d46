"""VectorTextEnv: many text environments stepped at once, with the tool calls of all of them in one batch."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from agentgym_r1.errors import ConfigError
from agentgym_r1.text_env import StepPlan, TextEnv
from agentgym_r1.tools.base import BoundCall, run_batch
from agentgym_r1.types import ToolResult

Batch = tuple[tuple[str, ...], NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]


class VectorTextEnv(VectorEnv[tuple[str, ...], tuple[str, ...], NDArray[Any]]):
    """``num_envs`` text environments in one process; a step costs one retrieval batch, not ``num_envs`` retrievals.

    An environment whose episode ended is reset by the next step, which ignores its action (Gymnasium's next-step mode).

    Args:
        make_envs: one factory an environment; they must have equal spaces.
    """

    metadata: dict[str, Any] = {"autoreset_mode": AutoresetMode.NEXT_STEP, "render_modes": ["ansi"]}  # noqa: RUF012 - Gymnasium's declaration

    def __init__(self, make_envs: Sequence[Callable[[], TextEnv]]) -> None:
        if not make_envs:
            raise ConfigError("num_envs must be at least 1, got 0")
        self.envs = [make() for make in make_envs]
        self.num_envs = len(self.envs)
        self.single_observation_space = self.envs[0].observation_space
        self.single_action_space = self.envs[0].action_space
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._ended = [False] * self.num_envs

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[tuple[str, ...], dict[str, Any]]:
        """Reset all environments; an integer seed gives environment i the seed ``seed + i``."""
        seeds = _seeds(seed, self.num_envs)
        planned = [env.plan_reset(seed=s, options=options) for env, s in zip(self.envs, seeds)]
        answers = _run_all(planned)
        self._ended = [False] * self.num_envs
        infos: dict[str, Any] = {}
        observations = []
        for i, (env, results) in enumerate(zip(self.envs, answers)):
            observation, info = env.finish_reset(results)
            observations.append(observation)
            infos = self._add_info(infos, info, i)
        return tuple(observations), infos

    def step(self, actions: Sequence[str]) -> Batch:
        """Step all environments.

        Raises:
            ConfigError: not one action an environment.
        """
        if len(actions) != self.num_envs:
            raise ConfigError(f"expected {self.num_envs} actions, got {len(actions)}")
        plans = [None if ended else env.plan_step(a) for env, ended, a in zip(self.envs, self._ended, actions)]
        planned = [_calls(plan) if plan else env.plan_reset() for env, plan in zip(self.envs, plans)]
        answers = _run_all(planned)
        rewards = np.zeros(self.num_envs)
        terminations, truncations = np.zeros(self.num_envs, np.bool_), np.zeros(self.num_envs, np.bool_)
        infos: dict[str, Any] = {}
        observations = []
        for i, (env, plan, results) in enumerate(zip(self.envs, plans, answers)):
            if plan is None:
                observation, info = env.finish_reset(results)
            else:
                observation, rewards[i], terminations[i], truncations[i], info = env.finish_step(plan, results)
            observations.append(observation)
            infos = self._add_info(infos, info, i)
        self._ended = list(np.logical_or(terminations, truncations))
        return tuple(observations), rewards, terminations, truncations, infos

    def render(self) -> Any:
        """Return what each environment renders: a tuple of texts, or of None without a render mode."""
        return tuple(env.render() for env in self.envs)

    def close_extras(self, **kwargs: Any) -> None:
        """Close every environment."""
        for env in self.envs:
            env.close()


def _calls(plan: StepPlan) -> tuple[BoundCall, ...]:
    return tuple(call for call in plan.calls if isinstance(call, BoundCall))


def _run_all(planned: Sequence[tuple[BoundCall, ...]]) -> list[list[ToolResult]]:
    """Run the calls of all environments in one batch and hand each its own results."""
    results = iter(run_batch([call for calls in planned for call in calls]))
    return [[next(results) for _ in calls] for calls in planned]


def _seeds(seed: int | Sequence[int | None] | None, count: int) -> list[int | None]:
    if seed is None:
        return [None] * count
    if isinstance(seed, int):
        return [seed + i for i in range(count)]
    if len(seed) != count:
        raise ConfigError(f"expected {count} seeds, got {len(seed)}")
    return list(seed)
