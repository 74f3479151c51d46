"""Which recorded episodes an export takes, and the rule that keeps held-out tasks out of training data."""

from collections.abc import Iterator
from dataclasses import dataclass

from agentgym_r1.errors import ConfigError
from agentgym_r1.types import Trajectory

TRAINING_SPLIT = "train"


@dataclass(frozen=True, slots=True)
class Filters:
    """What an episode must be to be taken; broken episodes never are.

    Attributes:
        split: the split it was played on; None takes every split.
        success: only episodes that succeeded (True) or failed (False).
        min_score, max_score: bounds of the score, both included.
        max_steps: the longest episode, in steps.
        tasks: only these task ids; empty takes all.
        envs: only these environments; empty takes all.
        policies: only these policies; empty takes all.
    """

    split: str | None = TRAINING_SPLIT
    success: bool | None = None
    min_score: float | None = None
    max_score: float | None = None
    max_steps: int | None = None
    tasks: tuple[str, ...] = ()
    envs: tuple[str, ...] = ()
    policies: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        low, high = self.min_score, self.max_score
        if low is not None and high is not None and low > high:
            raise ConfigError(f"min_score must not be above max_score, got {low} and {high}")
        if self.max_steps is not None and self.max_steps < 1:
            raise ConfigError(f"max_steps must be at least 1, got {self.max_steps}")

    def refusal(self, trajectory: Trajectory) -> str:
        """Return the first reason not to take an episode, or an empty string."""
        return next((reason for reason, refused in self._tests(trajectory) if refused), "")

    def _tests(self, t: Trajectory) -> Iterator[tuple[str, bool]]:
        yield "broken", bool(t.error) or not t.transitions
        yield "environment", bool(self.envs) and t.env_id not in self.envs
        yield "split", self.split is not None and t.split != self.split
        yield "policy", bool(self.policies) and t.policy not in self.policies
        yield "task", bool(self.tasks) and t.task_id not in self.tasks
        yield "success", self.success is not None and t.success != self.success
        yield "score", self.min_score is not None and t.score < self.min_score
        yield "score", self.max_score is not None and t.score > self.max_score
        yield "steps", self.max_steps is not None and len(t.transitions) > self.max_steps


def is_held_out(split: str) -> bool:
    """Return whether tasks of a split must stay out of training data: of every split but those named train..."""
    return not split.startswith(TRAINING_SPLIT)
