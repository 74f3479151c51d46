"""Constrained RL's signal: reward and cost side by side, and a multiplier that keeps the cost within a budget.

Two policies stand for what training would move between: one searches for every fact, one answers at once.
"""

from typing import Any

import gymnasium as gym

from agentgym_r1 import rollout
from agentgym_r1.policies import make_policy
from agentgym_r1.rewards import CostSignal

BUDGET, RATE, EPISODES = 1.0, 0.1, 60


class Metered(CostSignal):
    """Adds up info["cost"] of the episode."""

    def reset(self, **kwargs: Any) -> tuple[str, dict[str, Any]]:
        """Start an episode that has cost nothing."""
        self.spent = 0.0
        return super().reset(**kwargs)

    def step(self, action: str) -> Any:
        """Step and count."""
        result = super().step(action)
        self.spent += result[4]["cost"]
        return result


def main() -> None:
    """Raise the multiplier while more is spent than the budget allows, and lower it otherwise (dual ascent)."""
    env = Metered(gym.make("AgentR1/MuSiQue-v0", source="world"), costs={"searches": 1.0, "invalid": 1.0})
    policies = [make_policy("expert"), make_policy("exploit-yes")]
    multiplier, costs, rewards = 0.0, [], []
    for seed in range(EPISODES):
        played = []
        for policy in policies:
            reward = rollout(env, policy, seed=seed).episode_return
            played.append((reward - multiplier * env.spent, reward, env.spent))
        _, reward, cost = max(played)
        multiplier = max(multiplier + RATE * (cost - BUDGET), 0.0)
        costs.append(cost)
        rewards.append(reward)
    env.close()
    half = EPISODES // 2
    print(f"unconstrained at first: reward {rewards[0]:.0f} for {costs[0]:.0f} searches")
    print(f"second half: {sum(rewards[half:]) / half:.2f} for {sum(costs[half:]) / half:.2f}, budget {BUDGET:.0f}")


if __name__ == "__main__":
    main()
