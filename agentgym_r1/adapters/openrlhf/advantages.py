"""Advantages over the steps of episodes: GAE, REINFORCE, group baselines and GiGPO, in numpy alone.

One step is one action of the Markov decision process: it has one reward and one state value, the critic's at the step's
first action token. Its advantage is the same for all its tokens, except under ``token_gae``, the comparison, which runs
over the tokens of the whole episode.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agentgym_r1.errors import ConfigError, unknown_name

Array = NDArray[np.float64]
GROUP_ALGORITHMS = ("reinforce_baseline", "rloo", "group_norm", "dr_grpo", "gigpo")
CRITIC_ALGORITHMS = ("gae", "token_gae")
DISTILLATION = "distill"
ALGORITHMS = (*CRITIC_ALGORITHMS, "reinforce", *GROUP_ALGORITHMS, DISTILLATION)
WHITENED = ("gae", "token_gae", "reinforce", "reinforce_baseline")
_EPSILON = 1e-9
_MIN_VARIANCE = 1e-8


@dataclass(frozen=True, slots=True)
class EpisodeSteps:
    """What an advantage needs of one episode.

    Attributes:
        group: the prompt; episodes of one group are the samples of one task.
        rewards: (steps,) reward of each step.
        tokens: (steps,) number of action tokens of each step, at least 1.
        values: per step, the critic's value at each of its action tokens; empty without a critic.
        next_value: V(s_{T+1}) when a limit cut the episode off (truncated), else 0: the task itself was over.
        penalties: (steps,) what a KL penalty inside the reward takes from each step; empty is none.
        anchors: (steps,) equal exactly for equal states, for GiGPO; empty elsewhere.
        token_rewards: per step, the reward of each of its action tokens, for distillation; empty elsewhere.
    """

    group: int
    rewards: tuple[float, ...]
    tokens: tuple[int, ...]
    values: tuple[Array, ...] = ()
    next_value: float = 0.0
    penalties: tuple[float, ...] = ()
    anchors: tuple[Hashable, ...] = ()
    token_rewards: tuple[Array, ...] = ()

    def __post_init__(self) -> None:
        steps = len(self.rewards)
        if steps == 0 or len(self.tokens) != steps or min(self.tokens) < 1:
            raise ConfigError(f"an episode needs a reward and at least one token a step, got {steps} steps")
        for name in ("values", "penalties", "anchors", "token_rewards"):
            if len(getattr(self, name)) not in {0, steps}:
                raise ConfigError(f"{name} must have one entry for each of {steps} steps")

    @property
    def episode_return(self) -> float:
        """The undiscounted sum of rewards, without penalties."""
        return float(sum(self.rewards))

    def net_rewards(self) -> Array:
        """Return the rewards less the penalties, (steps,)."""
        return np.asarray(self.rewards, dtype=np.float64) - self.costs()

    def costs(self) -> Array:
        """Return the penalties, (steps,)."""
        return np.asarray(self.penalties or (0.0,) * len(self.rewards), dtype=np.float64)


@dataclass(frozen=True, slots=True)
class StepTarget:
    """What the losses are computed with: advantage and critic target of each action token of a step, both (tokens,)."""

    advantages: Array
    returns: Array


@dataclass(frozen=True, slots=True)
class Estimator:
    """How advantages are estimated.

    Attributes:
        algorithm: one of ALGORITHMS.
        gamma: discount a step (a token under ``token_gae`` and ``distill``).
        lam: GAE's lambda.
        divide_by_std: whether whitening divides by the standard deviation, besides subtracting the mean.
        anchor_weight: weight of GiGPO's step-level advantage (omega of arXiv 2505.10978).
    """

    algorithm: str = "gae"
    gamma: float = 1.0
    lam: float = 1.0
    divide_by_std: bool = True
    anchor_weight: float = 1.0

    def __post_init__(self) -> None:
        if self.algorithm not in ALGORITHMS:
            raise unknown_name("algorithm", self.algorithm, ALGORITHMS)
        for name in ("gamma", "lam"):
            if not 0 <= getattr(self, name) <= 1:
                raise ConfigError(f"{name} must be between 0 and 1, got {getattr(self, name)}")


def estimate(episodes: Sequence[EpisodeSteps], estimator: Estimator) -> list[list[StepTarget]]:
    """Return the targets of every step of every episode, in order.

    gae: GAE over steps (arXiv 1506.02438), as StepPO (arXiv 2604.18401). reinforce: discounted return-to-go
    (REINFORCE++, arXiv 2501.03262). reinforce_baseline, rloo, group_norm, dr_grpo: the episode's return against its
    group's, the same for all steps (arXiv 2501.03262, 2402.14740, 2402.03300, 2503.20783). gigpo: group_norm plus the
    discounted return-to-go against those of equal anchor states in the group (arXiv 2505.10978). distill: the
    discounted rewards of the tokens from each token to its step's end, without the environment's. The WHITENED ones are
    normalised over the batch, each step counting once (each token under ``token_gae``).

    Raises:
        ConfigError: values or anchors that the algorithm needs are missing.
    """
    if not episodes:
        return []
    advantages, returns = _RAW[estimator.algorithm](episodes, estimator)
    if estimator.algorithm in WHITENED:
        advantages = _whitened(advantages, divide=estimator.divide_by_std)
    return [
        [
            StepTarget(_spread(advantage, count), _spread(target, count))
            for advantage, target, count in zip(advantages[i], returns[i], episode.tokens, strict=True)
        ]
        for i, episode in enumerate(episodes)
    ]


def discounted(rewards: Array, gamma: float, *, after: float = 0.0) -> Array:
    """Return the discounted sum of rewards from each position on; ``after`` is what follows the last one."""
    out, total = np.empty(len(rewards)), after
    for k in reversed(range(len(rewards))):
        total = rewards[k] + gamma * total
        out[k] = total
    return out


def gae(rewards: Array, values: Array, *, gamma: float, lam: float, next_value: float = 0.0) -> Array:
    """Return the generalised advantage estimate at each position (arXiv 1506.02438, equation 16).

    Args:
        rewards, values: (steps,).
        gamma, lam: discount and lambda.
        next_value: value of the state after the last one; 0 where the episode ended by itself.
    """
    following = np.append(values[1:], next_value)
    return discounted(rewards + gamma * following - values, gamma * lam)


def against_group(returns: Sequence[float], groups: Sequence[Hashable], kind: str) -> Array:
    """Return each return relative to the others of its group, (episodes,).

    Args:
        returns: one an episode.
        groups: the group of each episode.
        kind: ``mean`` subtracts the mean; ``leave_one_out`` the mean of the others; ``std`` also divides by the
            sample standard deviation. An episode alone in its group gets 0.
    """
    out = np.zeros(len(returns))
    for members in _members(groups).values():
        if len(members) < 2:
            continue
        own = np.asarray([returns[i] for i in members], dtype=np.float64)
        centred = own - own.mean()
        if kind == "leave_one_out":
            centred *= len(members) / (len(members) - 1)
        elif kind == "std":
            centred /= own.std(ddof=1) + _EPSILON
        out[members] = centred
    return out


# One function an algorithm: per episode, the advantage and the target of each step, a number or one a token.

_Raw = tuple[list[list[Array]], list[list[Array]]]


def _gae(episodes: Sequence[EpisodeSteps], estimator: Estimator) -> _Raw:
    advantages, returns = [], []
    for episode in episodes:
        values = np.asarray([step[0] for step in _values(episode, estimator)])
        own = gae(
            episode.net_rewards(), values, gamma=estimator.gamma, lam=estimator.lam, next_value=episode.next_value
        )
        advantages.append(list(own))
        returns.append(list(own + values))
    return advantages, returns


def _token_gae(episodes: Sequence[EpisodeSteps], estimator: Estimator) -> _Raw:
    """Run GAE over all action tokens of an episode; a step's reward comes with its last token."""
    advantages, returns = [], []
    for episode in episodes:
        values = np.concatenate(_values(episode, estimator))
        ends = np.cumsum(episode.tokens)
        rewards = np.zeros(len(values))
        rewards[ends - 1] = episode.net_rewards()
        own = gae(rewards, values, gamma=estimator.gamma, lam=estimator.lam, next_value=episode.next_value)
        advantages.append(np.split(own, ends[:-1]))
        returns.append(np.split(own + values, ends[:-1]))
    return advantages, returns


def _reinforce(episodes: Sequence[EpisodeSteps], estimator: Estimator) -> _Raw:
    returns = [list(discounted(episode.net_rewards(), estimator.gamma)) for episode in episodes]
    return returns, returns


def _group(kind: str) -> Callable[[Sequence[EpisodeSteps], Estimator], _Raw]:
    def raw(episodes: Sequence[EpisodeSteps], estimator: Estimator) -> _Raw:
        outcome = against_group([e.episode_return for e in episodes], [e.group for e in episodes], kind)
        advantages = [list(outcome[i] - discounted(episode.costs(), 1.0)) for i, episode in enumerate(episodes)]
        return advantages, advantages

    return raw


def _gigpo(episodes: Sequence[EpisodeSteps], estimator: Estimator) -> _Raw:
    advantages, _ = _group("std")(episodes, estimator)
    places: list[tuple[int, int]] = []
    states: list[Hashable] = []
    to_go: list[float] = []
    for i, episode in enumerate(episodes):
        if not episode.anchors:
            raise ConfigError("gigpo needs the anchor state of every step")
        places += [(i, k) for k in range(len(episode.rewards))]
        states += [(episode.group, anchor) for anchor in episode.anchors]
        to_go += discounted(np.asarray(episode.rewards), estimator.gamma).tolist()
    for (i, k), relative in zip(places, against_group(to_go, states, "std"), strict=True):
        advantages[i][k] = advantages[i][k] + estimator.anchor_weight * relative
    return advantages, advantages


def _distill(episodes: Sequence[EpisodeSteps], estimator: Estimator) -> _Raw:
    if not all(episode.token_rewards for episode in episodes):
        raise ConfigError("distill needs the teacher's reward of every token")
    advantages = [[discounted(own, estimator.gamma) for own in episode.token_rewards] for episode in episodes]
    return advantages, advantages


_RAW: dict[str, Callable[[Sequence[EpisodeSteps], Estimator], _Raw]] = {
    "gae": _gae,
    "token_gae": _token_gae,
    "reinforce": _reinforce,
    "reinforce_baseline": _group("mean"),
    "rloo": _group("leave_one_out"),
    "group_norm": _group("std"),
    "dr_grpo": _group("mean"),
    "gigpo": _gigpo,
    DISTILLATION: _distill,
}


def _values(episode: EpisodeSteps, estimator: Estimator) -> tuple[Array, ...]:
    if not episode.values:
        raise ConfigError(f"{estimator.algorithm} needs the critic's values of every step")
    return episode.values


def _members(groups: Sequence[Hashable]) -> dict[Hashable, list[int]]:
    members: dict[Hashable, list[int]] = defaultdict(list)
    for i, group in enumerate(groups):
        members[group].append(i)
    return members


def _whitened(advantages: list[list[Array]], *, divide: bool) -> list[list[Array]]:
    everything = np.concatenate([np.atleast_1d(step) for episode in advantages for step in episode])
    scale = max(float(everything.var()), _MIN_VARIANCE) ** 0.5 if divide else 1.0
    return [[(step - everything.mean()) / scale for step in episode] for episode in advantages]


def _spread(value: Array, count: int) -> Array:
    return np.array(np.broadcast_to(np.asarray(value, dtype=np.float64), (count,)))
