"""Episode-level figures of a batch or an evaluation, for logs: OpenRLHF's own means count rows."""

from collections.abc import Sequence

from agentgym_r1.bench.statistics import bootstrap_mean, wilson
from agentgym_r1.types import Trajectory


def batch_figures(trajectories: Sequence[Trajectory]) -> dict[str, float]:
    """Return means over the finished episodes of a batch, and how many broke."""
    finished = [t for t in trajectories if not t.error]
    count = max(len(finished), 1)
    steps = [step for t in finished for step in t.transitions]
    return {
        "episode/return": sum(t.episode_return for t in finished) / count,
        "episode/success": sum(t.success for t in finished) / count,
        "episode/score": sum(t.score for t in finished) / count,
        "episode/steps": len(steps) / count,
        "episode/invalid_rate": sum(not step.valid_action for step in steps) / max(len(steps), 1),
        "episode/truncated": sum(bool(t.transitions and t.transitions[-1].truncated) for t in finished) / count,
        "episode/prompt_tokens": sum(step.prompt_tokens for step in steps) / max(len(steps), 1),
        "episode/action_tokens": sum(step.completion_tokens for step in steps) / max(len(steps), 1),
        "episode/count": float(len(trajectories)),
        "episode/broken": float(len(trajectories) - len(finished)),
    }


def evaluation_figures(trajectories: Sequence[Trajectory], *, seed: int = 0) -> dict[str, float]:
    """Return success and score of an evaluation with 95 % intervals, as the benchmark computes them."""
    finished = [t for t in trajectories if not t.error]
    success = wilson(sum(t.success for t in finished), len(finished))
    score = bootstrap_mean([t.score for t in finished], seed=seed)
    return {
        "eval_success": success.value,
        "eval_success_low": success.low,
        "eval_success_high": success.high,
        "eval_score": score.value,
        "eval_score_low": score.low,
        "eval_score_high": score.high,
        "eval_return": sum(t.episode_return for t in finished) / max(len(finished), 1),
        "eval_steps": sum(len(t.transitions) for t in finished) / max(len(finished), 1),
        "eval_episodes": float(len(trajectories)),
        "eval_broken": float(len(trajectories) - len(finished)),
    }
