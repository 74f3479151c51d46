"""Reward wrappers: each adds one itemised term to a text environment's reward; all are off unless wrapped.

They read only ``info`` (and ``potential`` or ``anchor`` of the environment), so they work over any TextEnv. The term is
added to the step's reward and to ``info["reward_terms"]`` under the wrapper's name.
"""

import hashlib
import math
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, SupportsFloat

import gymnasium as gym
from gymnasium.utils import RecordConstructorArgs

from agentgym_r1.errors import ConfigError

Step = tuple[str, SupportsFloat, bool, bool, dict[str, Any]]


class RewardTerm(gym.Wrapper[str, str, str, str], RecordConstructorArgs):
    """Base of the wrappers: adds ``_term(...)`` to every step's reward."""

    term: str

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """Reset the environment and the term's own memory."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._begin(info)
        return observation, info

    def step(self, action: str) -> Step:
        """Step the environment and add the term."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        value = self._term(info, terminated=terminated)
        terms = {**info.get("reward_terms", {}), self.term: value}
        return observation, float(reward) + value, terminated, truncated, {**info, "reward_terms": terms}

    def _begin(self, info: Mapping[str, Any]) -> None:
        """Forget the last episode; stateless terms have nothing to forget."""

    @abstractmethod
    def _term(self, info: Mapping[str, Any], *, terminated: bool) -> float:
        """Return the term of the step that ``info`` describes."""


class StepCost(RewardTerm):
    """A constant for every step, -0.01 as in Agent-R1's design card."""

    term = "step_cost"

    def __init__(self, env: gym.Env[str, str], cost: float = -0.01) -> None:
        RecordConstructorArgs.__init__(self, cost=cost)
        gym.Wrapper.__init__(self, env)
        self._cost = cost

    def _term(self, info: Mapping[str, Any], *, terminated: bool) -> float:
        return self._cost


class FormatPenalty(RewardTerm):
    """A penalty for every action that was not understood or not possible."""

    term = "format"

    def __init__(self, env: gym.Env[str, str], penalty: float = -0.1) -> None:
        RecordConstructorArgs.__init__(self, penalty=penalty)
        gym.Wrapper.__init__(self, env)
        self._penalty = penalty

    def _term(self, info: Mapping[str, Any], *, terminated: bool) -> float:
        return 0.0 if info["valid_action"] else self._penalty


class EventReward(RewardTerm):
    """``weight`` for every event of one kind that the environment counts.

    ``repeated_query`` at -0.5 is the penalty of Agent-R1's paper search; ``new_gold`` is a process reward for evidence
    found for the first time.
    """

    term = "event"

    def __init__(self, env: gym.Env[str, str], event: str, weight: float) -> None:
        RecordConstructorArgs.__init__(self, event=event, weight=weight)
        gym.Wrapper.__init__(self, env)
        self.term = event
        self._event = event
        self._weight = weight

    def _term(self, info: Mapping[str, Any], *, terminated: bool) -> float:
        return self._weight * float(info.get("events", {}).get(self._event, 0.0))


class PotentialShaping(RewardTerm):
    """Adds weight * (gamma * phi(s') - phi(s)), which leaves the optimal policy unchanged (Ng, Harada, Russell 1999).

    phi is the environment's ``potential()``, and 0 at terminal states as the theorem asks; a truncated state keeps its
    potential, since the episode could have gone on.
    """

    term = "shaping"

    def __init__(self, env: gym.Env[str, str], gamma: float = 1.0, weight: float = 1.0) -> None:
        if not 0.0 <= gamma <= 1.0:
            raise ConfigError(f"gamma must be between 0 and 1, got {gamma}")
        RecordConstructorArgs.__init__(self, gamma=gamma, weight=weight)
        gym.Wrapper.__init__(self, env)
        self._gamma = gamma
        self._weight = weight
        self._last = 0.0

    def _begin(self, info: Mapping[str, Any]) -> None:
        self._last = self._potential()

    def _term(self, info: Mapping[str, Any], *, terminated: bool) -> float:
        now = 0.0 if terminated else self._potential()
        value = self._weight * (self._gamma * now - self._last)
        self._last = now
        return value

    def _potential(self) -> float:
        return float(self.get_wrapper_attr("potential")())


class NoveltyBonus(RewardTerm):
    """``weight / sqrt(n)`` at the n-th visit of a state, counted over the wrapper's life (Strehl and Littman 2008).

    States are told apart by the hash of the environment's ``anchor()``; at most ``capacity`` are remembered.
    """

    term = "novelty"

    def __init__(self, env: gym.Env[str, str], weight: float = 0.1, capacity: int = 100_000) -> None:
        if capacity < 1:
            raise ConfigError(f"capacity must be at least 1, got {capacity}")
        RecordConstructorArgs.__init__(self, weight=weight, capacity=capacity)
        gym.Wrapper.__init__(self, env)
        self._weight = weight
        self._capacity = capacity
        self._visits: Counter[bytes] = Counter()

    def _term(self, info: Mapping[str, Any], *, terminated: bool) -> float:
        text = f"{info['task']['id']}\n{self.get_wrapper_attr('anchor')()}"
        key = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        if key not in self._visits and len(self._visits) >= self._capacity:
            return self._weight
        self._visits[key] += 1
        return self._weight / math.sqrt(self._visits[key])


class CostSignal(gym.Wrapper[str, str, str, str], RecordConstructorArgs):
    """Publishes ``info["cost"]`` for constrained RL and leaves the reward alone.

    Args:
        env: the environment.
        costs: cost of each event kind that the environment counts, for example ``{"search": 1.0}``; ``invalid`` is
            the cost of an action that was not understood or not possible.
    """

    def __init__(self, env: gym.Env[str, str], costs: Mapping[str, float]) -> None:
        RecordConstructorArgs.__init__(self, costs=dict(costs))
        gym.Wrapper.__init__(self, env)
        self._costs = dict(costs)

    def step(self, action: str) -> Step:
        """Step the environment and publish the step's cost."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        events = {**info.get("events", {}), "invalid": float(not info["valid_action"])}
        cost = sum(weight * float(events.get(event, 0.0)) for event, weight in self._costs.items())
        return observation, reward, terminated, truncated, {**info, "cost": cost}


class HumanApproval(gym.Wrapper[str, str, str, str]):
    """Asks before an action is taken; a refused action does not reach the world and costs a step.

    Args:
        env: the environment, whose ``refuse(action, reason)`` takes the step without its effect.
        needs_approval: tells from the raw action whether to ask.
        approve: asks; returns whether the action may be taken.
    """

    def __init__(
        self, env: gym.Env[str, str], needs_approval: Callable[[str], bool], approve: Callable[[str], bool]
    ) -> None:
        super().__init__(env)
        self._needs_approval = needs_approval
        self._approve = approve

    def step(self, action: str) -> Step:
        """Step the environment, or refuse the action with an observation that says so."""
        if self._needs_approval(action) and not self._approve(action):
            refused: Step = self.get_wrapper_attr("refuse")(action, "A person did not approve this action.")
            return refused
        return self.env.step(action)
