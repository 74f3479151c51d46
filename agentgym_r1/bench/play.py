"""Where the episodes of a benchmark are played.

Scripted policies play in worker processes, or in the Ray actors of a cluster. Language-model policies play in this
process, with many episodes in flight, the engine's batch; with Ray their environments are in the actors.
"""

import asyncio
import multiprocessing
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import gymnasium as gym

from agentgym_r1.errors import AgentGymError
from agentgym_r1.policies.registry import is_model_policy, make_policy
from agentgym_r1.ray_pool import Pool
from agentgym_r1.rollout import Episode, MakeEnv, rollout_async, rollout_many, run_sync
from agentgym_r1.types import Policy, Trajectory

CHUNK = 16
_THREADS = 4


@dataclass(frozen=True, slots=True)
class Cell:
    """One policy on one environment: everything a worker process needs to play it."""

    env_id: str
    policy: str
    kwargs: tuple[tuple[str, Any], ...]

    def __hash__(self) -> int:
        return hash((self.env_id, self.policy))  # the values may be lists

    def make_env(self) -> gym.Env[str, str]:
        """Make the cell's environment."""
        return gym.make(self.env_id, **dict(self.kwargs))


Work = Sequence[tuple[Cell, Sequence[Episode]]]


def play(
    work: Work, policy_of: Callable[[str], Policy], *, workers: int, pool: Pool | None = None
) -> Iterator[Trajectory]:
    """Play everything, in no fixed order.

    Args:
        work: cells with the episodes of each.
        policy_of: the policy of a spec, for what is played in this process.
        workers: processes, and episodes in flight of a language model.
        pool: Ray actors that play or, for language models, hold the environments; they stand for the processes.

    Raises:
        AgentGymError: a process died, or several actors of the same episodes.
    """
    models = [(cell, episodes) for cell, episodes in work if is_model_policy(cell.policy)]
    others = [(cell, episodes) for cell, episodes in work if not is_model_policy(cell.policy)]
    if pool is not None:
        for trajectories in pool.run(play_chunk, _chunks(others)):
            yield from trajectories
    elif workers > 1 and others:
        yield from _play_in_processes(others, workers)
    else:
        for cell, episodes in others:
            yield from _play_here(cell.make_env, policy_of(cell.policy), episodes, concurrency=1, threads=0)
    for cell, episodes in models:
        make = cell.make_env if pool is None else partial(pool.make_env, cell.env_id, dict(cell.kwargs))
        threads = _THREADS if pool is None else max(_THREADS, workers)  # a remote environment's thread waits
        policy = policy_of(cell.policy)
        yield from _play_here(make, policy, episodes, concurrency=workers, threads=threads)


def _play_here(
    make_env: MakeEnv, policy: Policy, episodes: Sequence[Episode], *, concurrency: int, threads: int
) -> Iterator[Trajectory]:
    """Drive the asynchronous rollout from synchronous code, one trajectory at a time."""
    stream = rollout_many(make_env, policy, episodes, concurrency=concurrency, threads=threads)
    with asyncio.Runner() as runner:
        while (trajectory := runner.run(_next(stream))) is not None:
            yield trajectory


async def _next(stream: AsyncIterator[Trajectory]) -> Trajectory | None:
    return await anext(stream, None)


def _chunks(work: Work) -> list[tuple[Cell, Sequence[Episode]]]:
    return [(cell, episodes[i : i + CHUNK]) for cell, episodes in work for i in range(0, len(episodes), CHUNK)]


def _play_in_processes(work: Work, workers: int) -> Iterator[Trajectory]:
    """Play chunks of all cells in one pool, whose processes start once and keep their environments."""
    chunks = _chunks(work)
    pool = ProcessPoolExecutor(min(workers, len(chunks)), mp_context=multiprocessing.get_context("spawn"))
    try:
        running: set[Future[list[Trajectory]]] = {pool.submit(play_chunk, cell, chunk) for cell, chunk in chunks}
        while running:
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                yield from future.result()
    except BrokenProcessPool as err:
        raise AgentGymError("a worker process died; finished episodes are kept: run again with --resume") from err
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def play_chunk(cell: Cell, episodes: Sequence[Episode]) -> list[Trajectory]:
    """Play episodes one after the other in a worker process, which keeps its environments between chunks."""
    return run_sync(_collect(cell, episodes))


async def _collect(cell: Cell, episodes: Sequence[Episode]) -> list[Trajectory]:
    env, policy = _env(cell), make_policy(cell.policy)
    return [await rollout_async(env, policy, task=e.task_id, seed=e.seed, repeat=e.repeat) for e in episodes]


@lru_cache(maxsize=8)
def _env(cell: Cell) -> gym.Env[str, str]:
    return cell.make_env()
