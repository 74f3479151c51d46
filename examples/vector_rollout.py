"""A batched loop: 32 environments, one policy call a step for all of them, retrieval in one batch."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium as gym
import numpy as np

import agentgym_r1  # noqa: F401 - registers the environments

NUM_ENVS, STEPS = 32, 12


def generate(observations: Sequence[str], infos: Mapping[str, Any]) -> tuple[str, ...]:
    """Stand in for a language model: one call with all prompts gives one response each.

    infos["messages"][i] is the chat of environment i, infos["stop"][i] where its response ends. This model searches
    the question once more, then guesses.
    """
    searched = infos.get("events", {}).get("searches", np.zeros(NUM_ENVS))
    return tuple("<answer>yes</answer>" if done else search(prompt) for done, prompt in zip(searched, observations))


def search(prompt: str) -> str:
    """Write a call that searches the question."""
    question = prompt.rpartition("Question: ")[2].split("\n")[0]
    return f"<tool_call>{json.dumps({'name': 'search', 'arguments': {'query': question}})}</tool_call>"


def main() -> None:
    """Count finished episodes; an environment whose episode ended is reset by the next step, which takes no action."""
    envs = gym.make_vec(
        "AgentR1/HotpotQA-v0", num_envs=NUM_ENVS, vectorization_mode="vector_entry_point", source="world"
    )
    observations, infos = envs.reset(seed=0)
    returns, successes, running = [], [], np.zeros(NUM_ENVS)
    for _ in range(STEPS):
        observations, rewards, terminations, truncations, infos = envs.step(generate(observations, infos))
        running += rewards
        for i in np.flatnonzero(terminations | truncations):
            returns.append(running[i])
            successes.append(bool(infos["success"][i]))
            running[i] = 0.0
    envs.close()
    print(f"{len(returns)} episodes, {np.mean(returns):.3f} mean return, {sum(successes)} successes")


if __name__ == "__main__":
    main()
