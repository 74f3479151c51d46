"""The OpenRLHF adapter: Ray PPO on step-level transitions, with OpenRLHF's own trainer, engines and actors.

Importing this package loads neither ray nor torch. ``advantages`` and ``plan`` are pure; ``launch`` starts a run.
"""

from agentgym_r1.adapters.openrlhf.advantages import ALGORITHMS, EpisodeSteps, Estimator, StepTarget, estimate
from agentgym_r1.adapters.openrlhf.plan import UNITS, Plan, plan_rows, row_weights

__all__ = [
    "ALGORITHMS",
    "UNITS",
    "EpisodeSteps",
    "Estimator",
    "Plan",
    "StepTarget",
    "estimate",
    "plan_rows",
    "row_weights",
]
