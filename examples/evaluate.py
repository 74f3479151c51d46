"""A benchmark from Python: two runs on one frozen panel, and what the paired test says about them."""

import sys
from pathlib import Path
from tempfile import mkdtemp

from agentgym_r1.bench.run import BenchConfig, run
from agentgym_r1.bench.statistics import compare_paired
from agentgym_r1.bench.summary import Tally
from agentgym_r1.trajectories import read_trajectories

OUT = Path(sys.argv[1] if len(sys.argv) > 1 else mkdtemp())
ENV = "AgentR1/WebShop-v0"


def evaluate(policy: str) -> tuple[str, dict[str, float]]:
    """Play 100 goals, print the row, and return the panel's hash and each task's score."""
    config = BenchConfig(envs=(ENV,), policies=(policy,), source="world", episodes=100, out=OUT / policy)
    results = run(config, on_plan=lambda total, done: None, on_episode=lambda trajectory: None)
    (row,) = results["rows"]
    print(f"{policy}: score {row['score']:.3f}, 95 % [{row['score_ci'][0]:.3f}, {row['score_ci'][1]:.3f}]")
    tally = Tally()
    for trajectory in read_trajectories(config.out / "trajectories.jsonl"):
        tally.add(trajectory)
    return results["panel"][ENV], tally.task_scores()


def main() -> None:
    """Compare two runs, say of a checkpoint and the one before: each task is its own control."""
    panel, first = evaluate("exploit-click")
    same, second = evaluate("exploit-first")
    if panel != same:
        sys.exit("the two runs evaluated different tasks: nothing to compare")
    comparison = compare_paired([first[task] for task in first], [second[task] for task in first])
    change = comparison.difference
    print(f"difference {change.value:+.3f}, 95 % [{change.low:+.3f}, {change.high:+.3f}], p = {comparison.p_value:.4f}")
    print(f"{comparison.pairs} pairs: {'told apart' if comparison.separated else 'not told apart'} at the 5 % level")


if __name__ == "__main__":
    main()
