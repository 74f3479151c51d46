"""Evaluates one policy in one environment with any arguments: the benchmark's panel, rollout loop and row."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import gymnasium as gym

from agentgym_r1.bench.panel import Panel, choose_panel
from agentgym_r1.bench.summary import Tally, row
from agentgym_r1.policies.scripted import text_env
from agentgym_r1.rollout import MakeEnv, rollout_many
from agentgym_r1.trajectories import TrajectoryWriter, read_trajectories
from agentgym_r1.types import Policy, Trajectory

OnEpisode = Callable[[Trajectory], None]


def play_panel(
    make_env: MakeEnv,
    policy: Policy,
    out: Path,
    *,
    tasks: int | None = None,
    repeats: int = 1,
    seed: int = 0,
    concurrency: int = 1,
    on_episode: OnEpisode = lambda trajectory: None,
) -> Panel:
    """Play a panel of the environment's split into a JSONL file, which appears when all has been played.

    Args:
        make_env: makes the environment; its split is what is played.
        policy: who plays.
        out: the file.
        tasks: how many tasks, chosen as the benchmark chooses them; None takes all.
        repeats: how often each is played.
        seed: chooses the tasks and seeds the episodes.
        concurrency: episodes in flight, the batch that a language model sees.
        on_episode: called after each episode.
    """
    env = make_env()
    try:
        panel = choose_panel(text_env(env).tasks, episodes=tasks, seed=seed)
    finally:
        env.close()
    draft = out.with_name(out.name + ".tmp")
    draft.unlink(missing_ok=True)
    episodes = panel.episodes(seed=seed, repeats=repeats)
    stream = rollout_many(make_env, policy, episodes, concurrency=concurrency)
    with TrajectoryWriter(draft) as writer, asyncio.Runner() as runner:
        while (trajectory := runner.run(_next(stream))) is not None:
            writer.write(trajectory)
            on_episode(trajectory)
    draft.replace(out)
    return panel


def summarise_file(path: Path, *, panel: str = "", seed: int = 0) -> dict[str, Any]:
    """Return the benchmark's row of a file's episodes: success and score with 95 % intervals, and the rest."""
    tally = Tally()
    for trajectory in read_trajectories(path):
        tally.add(trajectory)
    return row(tally, {"panel": panel}, kind_names={}, seed=seed)


def maker(env_id: str, kwargs: dict[str, Any]) -> MakeEnv:
    """Return what makes an environment."""
    return lambda: gym.make(env_id, **kwargs)


async def _next(stream: AsyncIterator[Trajectory]) -> Trajectory | None:
    return await anext(stream, None)
