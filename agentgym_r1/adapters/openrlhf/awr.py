"""Advantage-weighted regression (arXiv 1910.00177) over logged steps: a weight for every row of an ``export sft`` file.

The weight of a step is exp(A / beta), cut at a limit, with A its advantage over the log: the discounted return-to-go
(``reinforce``) or a group baseline over the episodes of a task. OpenRLHF's supervised trainer then does the
regression: its loss is a mean over tokens that a loss mask weighs. Algorithms with a critic are left out: a log has no
values.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from agentgym_r1.adapters.openrlhf.advantages import GROUP_ALGORITHMS, EpisodeSteps, Estimator, estimate
from agentgym_r1.errors import ConfigError, DataError, unknown_name
from agentgym_r1.types import digest

LOG_ALGORITHMS = ("reinforce", *GROUP_ALGORITHMS)
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Weighting:
    """How weights are made.

    Attributes:
        algorithm: one of LOG_ALGORITHMS.
        gamma: discount a step.
        beta: temperature; small follows the best steps, large is plain imitation.
        limit: the largest weight, 20 in the paper.
    """

    algorithm: str = "reinforce"
    gamma: float = 1.0
    beta: float = 1.0
    limit: float = 20.0

    def __post_init__(self) -> None:
        if self.algorithm not in LOG_ALGORITHMS:
            raise unknown_name("algorithm over a log", self.algorithm, LOG_ALGORITHMS)
        if self.beta <= 0 or self.limit <= 0:
            raise ConfigError(f"beta and limit must be above 0, got {self.beta} and {self.limit}")


def weigh(rows: Sequence[Row], weighting: Weighting) -> list[dict[str, Any]]:
    """Return the rows with ``advantage`` and ``weight``.

    Raises:
        DataError: the rows are not whole episodes in order, as ``export sft`` writes them.
    """
    episodes = _episodes(rows)
    tasks = {task: number for number, task in enumerate(dict.fromkeys(_task(episode[0]) for episode in episodes))}
    steps = [
        EpisodeSteps(
            group=tasks[_task(episode[0])],
            rewards=tuple(float(row["reward"]) for row in episode),
            tokens=(1,) * len(episode),
            anchors=tuple(digest(row["prompt"]) for row in episode),
        )
        for episode in episodes
    ]
    targets = estimate(steps, Estimator(weighting.algorithm, gamma=weighting.gamma))
    weighted = []
    for row, target in zip(rows, (target for episode in targets for target in episode), strict=True):
        advantage = float(target.advantages[0])
        weight = float(np.exp(min(advantage / weighting.beta, np.log(weighting.limit))))
        weighted.append({**row, "advantage": advantage, "weight": weight})
    return weighted


def weigh_file(source: Path, out: Path, weighting: Weighting) -> int:
    """Write the weighted rows of an ``export sft`` file, whole or not at all, and return how many there are.

    Raises:
        DataError: the file cannot be read or written, or is no such export.
    """
    draft = out.with_name(out.name + ".tmp")
    try:
        rows = weigh([json.loads(line) for line in source.read_text(encoding="utf-8").splitlines()], weighting)
        draft.parent.mkdir(parents=True, exist_ok=True)
        draft.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
        draft.replace(out)
    except OSError as err:
        raise DataError(f"cannot weigh {source}: {err.strerror or err}") from err
    except json.JSONDecodeError as err:
        raise DataError(f"{source} is not JSON Lines: {err}") from err
    return len(rows)


def _task(row: Row) -> tuple[str, str]:
    return str(row["env"]), str(row["task"])


def _episodes(rows: Sequence[Row]) -> list[list[Row]]:
    episodes: list[list[Row]] = []
    try:
        for row in rows:
            if row["step"] == 0:
                episodes.append([])
            place = len(episodes) - 1, len(episodes[-1]) if episodes else 0
            if (row["episode"], row["step"]) != place:
                raise DataError(
                    f"row {place} is missing: weights need whole episodes, as agentgym-r1 export sft writes"
                )
            episodes[-1].append(row)
    except (KeyError, TypeError) as err:
        raise DataError(f"a row has no {err}: weights need a file that agentgym-r1 export sft wrote") from err
    return episodes
