"""Rows of the benchmark table: what the trajectories of one policy on one environment amount to."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agentgym_r1.bench.statistics import Comparison, Interval, bootstrap_mean, compare_paired, wilson
from agentgym_r1.types import Trajectory


@dataclass(slots=True)
class Tally:
    """What a row needs of each finished episode; it keeps no trajectory."""

    successes: list[bool] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    returns: list[float] = field(default_factory=list)
    by_task: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    by_kind: dict[str, list[bool]] = field(default_factory=lambda: defaultdict(list))
    metrics: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    steps: int = 0
    invalid: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    errors: int = 0
    first_error: str = ""
    seconds: float = 0.0

    def add(self, trajectory: Trajectory) -> None:
        """Count one episode; a broken one counts as an error, never as a score."""
        self.seconds += trajectory.seconds
        if trajectory.error:
            self.errors += 1
            self.first_error = self.first_error or trajectory.error
            return
        self.successes.append(trajectory.success)
        self.scores.append(trajectory.score)
        self.returns.append(trajectory.episode_return)
        self.by_task[trajectory.task_id].append(trajectory.score)
        self.by_kind[trajectory.task_kind].append(trajectory.success)
        for name, value in trajectory.metrics.items():
            self.metrics[name].append(value)
        self.steps += len(trajectory.transitions)
        self.invalid += sum(not transition.valid_action for transition in trajectory.transitions)
        self.prompt_tokens += sum(transition.prompt_tokens for transition in trajectory.transitions)
        self.completion_tokens += sum(transition.completion_tokens for transition in trajectory.transitions)

    def task_scores(self) -> dict[str, float]:
        """Return each task's score, averaged over its repeats."""
        return {task: sum(scores) / len(scores) for task, scores in self.by_task.items()}


def row(tally: Tally, labels: Mapping[str, Any], *, kind_names: Mapping[str, str], seed: int) -> dict[str, Any]:
    """Return the table row of a tally as JSON values; ``labels`` come first (env, policy, split, ...).

    ``kind_names`` names and orders the kinds of tasks; the others follow under their own names.
    """
    finished = len(tally.scores)
    success = wilson(sum(tally.successes), finished)
    score = bootstrap_mean(tally.scores, seed=seed)
    returns = bootstrap_mean(tally.returns, seed=seed)
    return {
        **labels,
        "episodes": finished + tally.errors,
        "success": success.value,
        "success_ci": _bounds(success),
        "score": score.value,
        "score_ci": _bounds(score),
        "return": returns.value,
        "return_ci": _bounds(returns),
        "steps": tally.steps / max(finished, 1),
        "invalid_rate": tally.invalid / max(tally.steps, 1),
        "errors": tally.errors,
        "first_error": tally.first_error,
        "prompt_tokens": tally.prompt_tokens,
        "completion_tokens": tally.completion_tokens,
        "metrics": {name: sum(values) / len(values) for name, values in sorted(tally.metrics.items())},
        "kinds": {
            kind_names.get(kind, kind): _kind(tally.by_kind[kind])
            for kind in dict.fromkeys([*kind_names, *sorted(tally.by_kind)])
            if kind and kind in tally.by_kind
        },
        "seconds": tally.seconds,
    }


def compare(tallies: Mapping[str, Tally], env: str, *, seed: int) -> list[dict[str, Any]]:
    """Return the paired comparison of every two policies of one environment, over the tasks both finished."""
    names = list(tallies)
    return [
        _comparison(env, first, second, _paired(tallies[first], tallies[second], seed))
        for i, first in enumerate(names)
        for second in names[i + 1 :]
    ]


def ranking(names: Iterable[str], comparisons: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Return the pairs (better, worse) that the paired test separates, in the order of the names."""
    known = set(names)
    pairs = []
    for comparison in comparisons:
        if comparison["separated"] and {comparison["first"], comparison["second"]} <= known:
            ordered = (comparison["first"], comparison["second"])
            pairs.append(ordered if comparison["difference"] > 0 else ordered[::-1])
    return pairs


def _paired(first: Tally, second: Tally, seed: int) -> Comparison:
    one, other = first.task_scores(), second.task_scores()
    tasks = sorted(one.keys() & other.keys())
    return compare_paired([one[task] for task in tasks], [other[task] for task in tasks], seed=seed)


def _comparison(env: str, first: str, second: str, result: Comparison) -> dict[str, Any]:
    return {
        "env": env,
        "first": first,
        "second": second,
        "difference": result.difference.value,
        "difference_ci": _bounds(result.difference),
        "p_value": result.p_value,
        "tasks": result.pairs,
        "separated": result.separated,
    }


def _kind(values: Sequence[bool]) -> dict[str, Any]:
    rate = wilson(sum(values), len(values))
    return {"episodes": len(values), "success": rate.value, "success_ci": _bounds(rate)}


def _bounds(interval: Interval) -> list[float]:
    return [interval.low, interval.high]
