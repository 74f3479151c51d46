"""Intervals and paired tests, so that a table says what its numbers can tell apart."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from agentgym_r1.errors import ConfigError

Z95 = 1.959963984540054
RESAMPLES = 10_000
ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with its 95 % interval."""

    value: float
    low: float
    high: float


def wilson(successes: int, trials: int) -> Interval:
    """Return a rate with its Wilson score interval (Wilson 1927); (0, 0, 1) without trials.

    Raises:
        ConfigError: successes outside 0..trials.
    """
    if not 0 <= successes <= trials:
        raise ConfigError(f"successes must be between 0 and {trials}, got {successes}")
    if trials == 0:
        return Interval(0.0, 0.0, 1.0)
    rate = successes / trials
    shrink = 1.0 + Z95**2 / trials
    centre = (rate + Z95**2 / (2 * trials)) / shrink
    half = Z95 * ((rate * (1 - rate) + Z95**2 / (4 * trials)) / trials) ** 0.5 / shrink
    return Interval(rate, max(centre - half, 0.0), min(centre + half, 1.0))


def bootstrap_mean(values: Sequence[float], *, seed: int = 0) -> Interval:
    """Return the mean with its percentile bootstrap interval (10,000 resamples); zeros without values."""
    if not values:
        return Interval(0.0, 0.0, 0.0)
    data = np.asarray(values, dtype=np.float64)
    mean = float(data.mean())
    if data.min() == data.max():
        return Interval(mean, mean, mean)
    low, high = np.percentile(_resampled_means(data, seed), [2.5, 97.5])
    return Interval(mean, float(low), float(high))


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two policies on the same tasks: the mean score difference, its interval, and whether they are told apart."""

    difference: Interval
    p_value: float
    pairs: int

    @property
    def separated(self) -> bool:
        """Whether the paired test tells the policies apart at the 5 % level."""
        return self.p_value < ALPHA


def compare_paired(first: Sequence[float], second: Sequence[float], *, seed: int = 0) -> Comparison:
    """Compare scores of the same tasks in the same order by a sign-flip permutation test of the mean difference.

    Args:
        first, second: one score a task, averaged over repeats; equal lengths.
        seed: of the permutations and of the bootstrap.

    Raises:
        ConfigError: different lengths.
    """
    if len(first) != len(second):
        raise ConfigError(f"a paired comparison needs the same tasks on both sides, got {len(first)} and {len(second)}")
    if not first:
        return Comparison(Interval(0.0, 0.0, 0.0), 1.0, 0)
    difference = np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64)
    return Comparison(bootstrap_mean(difference.tolist(), seed=seed), _sign_flip(difference, seed), len(first))


def _sign_flip(difference: np.ndarray, seed: int) -> float:
    """Return the two-sided p-value of the mean under random signs of the non-zero differences."""
    changed = difference[difference != 0]
    if changed.size == 0:
        return 1.0
    observed = abs(changed.sum())
    rng = np.random.default_rng(seed)
    extreme = 0
    for size in _chunks(RESAMPLES, changed.size):
        signs = rng.integers(0, 2, (size, changed.size), dtype=np.int8) * 2 - 1
        extreme += int((np.abs(signs @ changed) >= observed - 1e-12).sum())
    return (extreme + 1) / (RESAMPLES + 1)


def _resampled_means(data: np.ndarray, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    parts = [data[rng.integers(0, data.size, (size, data.size))].mean(axis=1) for size in _chunks(RESAMPLES, data.size)]
    return np.concatenate(parts)


def _chunks(total: int, width: int) -> list[int]:
    """Split ``total`` rows into chunks of at most about four million cells."""
    rows = max(4_000_000 // width, 1)
    return [min(rows, total - start) for start in range(0, total, rows)]
