"""Best of n with snapshots: from the state reached, play n short random futures, and go on from the best state seen.

How good a state is, the environment's own potential tells: here the share of sub-goals that hold, which uses gold. With
a model in place of the random moves, and a critic in place of the potential, it is the same loop.
"""

import random

import gymnasium as gym

from agentgym_r1 import ToolCall

FUTURES, DEPTH, ROUNDS = 60, 8, 12


def play_on(env: gym.Env, rng: random.Random) -> tuple[float, bytes, bool]:
    """Take random legal moves, and return the best potential on the way, the state there, and whether it was won."""
    best, where, won = -1.0, b"", False
    _, info = env.unwrapped.last()
    for _ in range(DEPTH):
        _, _, terminated, truncated, info = env.step(say(env, rng.choice(info["available_actions"])))
        if (value := env.unwrapped.potential()) > best:
            best, where, won = value, env.unwrapped.snapshot(), terminated and info["success"]
        if terminated or truncated:
            break
    return best, where, won


def say(env: gym.Env, command: str) -> str:
    """Write a command in the environment's action format."""
    return env.unwrapped.format.call(ToolCall("env_step", {"command": command}))


def search(env: gym.Env, seed: int) -> tuple[bool, int]:
    """Return whether the game was won, and after how many steps on the path that was kept."""
    rng = random.Random(seed)
    env.reset(seed=seed)
    here, reached, steps = env.unwrapped.snapshot(), env.unwrapped.potential(), 0
    for _ in range(ROUNDS):
        futures = []
        for _ in range(FUTURES):
            env.unwrapped.restore(here)
            futures.append(play_on(env, rng))
        best, where, won = max(futures, key=lambda future: future[0])
        if best > reached:
            here, reached = where, best
            env.unwrapped.restore(here)
            steps = env.unwrapped.steps
        if won:
            return True, steps
    return False, steps


if __name__ == "__main__":
    options = {"source": "world", "room_size": "small", "task_types": "Pick", "max_steps": 200}
    with gym.make("AgentR1/ALFWorld-v0", **options) as env:
        for seed in range(3):
            won, steps = search(env, seed)
            print(f"game {seed}: {'won' if won else 'not won'} after {steps} steps of the kept path")
