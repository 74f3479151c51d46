"""The padding plan: which row goes where, so that mini-batches count episodes and not rows.

A trainer that counts rows takes more optimizer steps when episodes are longer, and its learning-rate schedule runs out
early. Here a mini-batch is a fixed number of episodes; every data-parallel rank gets equally many rows in each, filled
up with idle rows, which no loss sees.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agentgym_r1.errors import ConfigError, unknown_name

UNITS = ("token", "step", "episode")
Row = tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class Plan:
    """Where the rows of a rollout batch go.

    Attributes:
        windows: mini-batches, which is the number of optimizer steps an epoch.
        rows_per_window: rows of a rank in each window.
        rows: (ranks * windows * rows_per_window,) rank by rank, window by window: (episode, step), or None for an idle
            row.
    """

    windows: int
    rows_per_window: int
    rows: tuple[Row, ...]

    @property
    def idle(self) -> int:
        """How many rows are idle."""
        return sum(row is None for row in self.rows)

    def window_of(self, position: int) -> int:
        """Return the window that the row at ``position`` is in."""
        return position // self.rows_per_window % self.windows


def plan_rows(lengths: Sequence[int], *, batch: int, ranks: int = 1, multiple: int = 1, seed: int = 0) -> Plan:
    """Lay out the rows of episodes of different lengths.

    Args:
        lengths: rows of each episode, in order; 0 is an episode that cannot be trained on, which still counts.
        batch: episodes of a mini-batch. Fewer episodes than whole mini-batches make one smaller one at the end.
        ranks: data-parallel ranks.
        multiple: every rank's rows of a window are a multiple of this (its micro-batch).
        seed: shuffles episodes, so that a mini-batch is not one task's samples.

    Raises:
        ConfigError: no episodes, or an argument below 1.
    """
    for name, value in (("episodes", len(lengths)), ("batch", batch), ("ranks", ranks), ("multiple", multiple)):
        if value < 1:
            raise ConfigError(f"a padding plan needs {name} of at least 1, got {value}")
    windows = math.ceil(len(lengths) / batch)
    bins = _deal(lengths, windows * ranks, seed)
    longest = max(1, *(sum(lengths[episode] for episode in members) for members in bins))
    per_window = math.ceil(longest / multiple) * multiple
    rows: list[Row] = []
    for rank in range(ranks):
        for window in range(windows):
            own = [(i, k) for i in bins[window * ranks + rank] for k in range(lengths[i])]
            rows += own + [None] * (per_window - len(own))
    return Plan(windows, per_window, tuple(rows))


def _deal(lengths: Sequence[int], count: int, seed: int) -> list[list[int]]:
    """Share episodes out, equally many to each of ``count`` bins (one more or less), with rows as even as can be.

    Longest first, to the bin with the fewest rows that still has room.
    """
    order = np.random.default_rng(seed).permutation(len(lengths)).tolist()
    order.sort(key=lambda i: -lengths[i])
    small, larger = divmod(len(lengths), count)
    bins: list[list[int]] = [[] for _ in range(count)]
    loads = [0] * count
    for i in order:
        full = sum(len(members) > small for members in bins) >= larger
        open_bins = [b for b in range(count) if len(bins[b]) < small or (not full and len(bins[b]) == small)]
        target = min(open_bins, key=lambda b: (loads[b], len(bins[b])))
        bins[target].append(i)
        loads[target] += lengths[i]
    return bins


def row_weights(
    tokens: Sequence[int], episodes: Sequence[int], *, unit: str, mean_over_rows: bool = False
) -> NDArray[np.float64]:
    """Return the weight of each row's advantage that makes every ``unit`` of a mini-batch count the same.

    Args:
        tokens: (rows,) action tokens of each row of the mini-batch, idle rows left out.
        episodes: (rows,) the episode of each row.
        unit: ``token``: every token counts the same, so long episodes count more (OpenRLHF's token-mean); ``step``:
            every step; ``episode``: every episode, and its steps among themselves.
        mean_over_rows: whether the loss is a mean of the rows' means (``seq-mean-token-mean`` and gspo) instead of a
            mean over tokens.

    Returns:
        Weights whose mean, as the loss takes it, is 1.

    Raises:
        ConfigError: unknown unit.
    """
    if unit not in UNITS:
        raise unknown_name("unit", unit, UNITS)
    size = np.asarray(tokens, dtype=np.float64)
    share = np.ones(len(size)) if mean_over_rows else size
    if unit == "token":
        wanted = size
    elif unit == "step":
        wanted = np.ones(len(size))
    else:
        _, index, counts = np.unique(np.asarray(episodes), return_inverse=True, return_counts=True)
        wanted = 1.0 / counts[index]
    return np.asarray(wanted / wanted.sum() * share.sum() / share)
