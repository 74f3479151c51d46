"""The one rollout loop: an environment and a policy become a trajectory, in benchmarks and in training alike."""

import asyncio
import hashlib
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import gymnasium as gym

from agentgym_r1.errors import ConfigError
from agentgym_r1.types import Agent, Message, Policy, Response, Trajectory, Transition, well_formed

MakeEnv = Callable[[], gym.Env[str, str]]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Episode:
    """One evaluation of one task: ``seed`` goes to the environment's reset and to the policy."""

    task_id: str
    seed: int
    repeat: int = 0


@dataclass(frozen=True, slots=True)
class _Verdict:
    success: bool = False
    score: float = 0.0
    metrics: Mapping[str, float] | None = None
    error: str = ""


def episode_seed(seed: int, task_id: str, repeat: int) -> int:
    """Return the 31-bit seed of an episode; it depends on the run's seed, the task and the repeat, on nothing else."""
    key = f"{seed}\n{task_id}\n{repeat}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.sha256(key).digest()[:4], "big") >> 1


def rollout(
    env: gym.Env[str, str], policy: Policy, *, task: str | None = None, seed: int = 0, repeat: int = 0
) -> Trajectory:
    """Play one episode and return it; the synchronous face of ``rollout_async``.

    Args:
        env: a text environment, as gym.make returns it.
        policy: who plays.
        task: the task's id; by default the environment draws one with ``seed``.
        seed: seed of the environment's reset and of the policy.
        repeat: recorded in the trajectory.
    """
    return run_sync(rollout_async(env, policy, task=task, seed=seed, repeat=repeat))


async def rollout_async(
    env: gym.Env[str, str],
    policy: Policy,
    *,
    task: str | None = None,
    seed: int = 0,
    repeat: int = 0,
    executor: ThreadPoolExecutor | None = None,
) -> Trajectory:
    """Play one episode and return it.

    An exception of the environment or of the policy after the reset ends the episode: it is recorded in
    ``Trajectory.error`` with the side that raised it, and the steps so far are kept. It is never turned into a reward.

    Args:
        env, policy, task, seed, repeat: see ``rollout``.
        executor: where ``env.reset`` and ``env.step`` run; by default in the event loop, which is right for an
            environment that neither waits nor computes for long.

    Raises:
        ConfigError: the environment does not know the task.
    """
    started = time.perf_counter()
    options = None if task is None else {"task": task}
    observation, info = await _run(executor, partial(env.reset, seed=seed, options=options))
    transitions: list[Transition] = []
    identity = _identity(env, info)
    verdict = await _steps(env, policy.begin(env, seed=seed), (observation, info), transitions, executor)
    return Trajectory(
        **identity,
        policy=policy.name,
        seed=seed,
        repeat=repeat,
        transitions=tuple(transitions),
        final_observation=verdict[1],
        success=verdict[0].success,
        score=verdict[0].score,
        metrics=verdict[0].metrics or {},
        error=verdict[0].error,
        seconds=time.perf_counter() - started,
    )


async def rollout_many(
    make_env: MakeEnv,
    policy: Policy,
    episodes: Sequence[Episode],
    *,
    concurrency: int = 1,
    threads: int = 0,
) -> AsyncIterator[Trajectory]:
    """Play many episodes, ``concurrency`` at a time, and yield each trajectory as it ends (in no fixed order).

    Args:
        make_env: makes one environment; ``concurrency`` of them are made at most, and closed at the end.
        policy: plays all episodes.
        episodes: what to play; each is played exactly once.
        concurrency: episodes in flight, which is the batch a language-model engine sees.
        threads: threads that step environments; 0 steps them in the event loop.

    Raises:
        ConfigError: concurrency below 1 or threads below 0.
    """
    if concurrency < 1 or threads < 0:
        raise ConfigError(f"concurrency must be at least 1 and threads at least 0, got {concurrency} and {threads}")
    executor = ThreadPoolExecutor(threads, thread_name_prefix="env") if threads else None
    waiting = iter(episodes)
    finished: asyncio.Queue[Trajectory | BaseException | None] = asyncio.Queue()
    count = min(concurrency, len(episodes))
    workers = [asyncio.create_task(_work(make_env, policy, waiting, finished, executor)) for _ in range(count)]
    try:
        running = len(workers)
        while running:
            item = await finished.get()
            if isinstance(item, BaseException):
                raise item
            if item is None:
                running -= 1
            else:
                yield item
    finally:
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
        if executor is not None:
            executor.shutdown(wait=False, cancel_futures=True)


async def _work(
    make_env: MakeEnv,
    policy: Policy,
    waiting: Iterator[Episode],
    finished: asyncio.Queue[Trajectory | BaseException | None],
    executor: ThreadPoolExecutor | None,
) -> None:
    """Play waiting episodes in one environment until there are none; None says that this worker is through."""
    env: gym.Env[str, str] | None = None
    try:
        for episode in waiting:
            env = env if env is not None else make_env()
            finished.put_nowait(await _episode(env, policy, episode, executor))
            await asyncio.sleep(0)  # a policy that never waits would otherwise keep the consumer from every episode
    except BaseException as err:
        finished.put_nowait(err)
        raise
    finally:
        if env is not None:
            env.close()
        finished.put_nowait(None)


def run_sync(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end, also where an event loop is already running (a notebook): then in a thread."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    with ThreadPoolExecutor(1) as executor:
        return executor.submit(asyncio.run, coroutine).result()


async def _episode(
    env: gym.Env[str, str], policy: Policy, episode: Episode, executor: ThreadPoolExecutor | None
) -> Trajectory:
    return await rollout_async(
        env, policy, task=episode.task_id, seed=episode.seed, repeat=episode.repeat, executor=executor
    )


async def _steps(
    env: gym.Env[str, str],
    agent: Agent,
    start: tuple[str, Mapping[str, Any]],
    transitions: list[Transition],
    executor: ThreadPoolExecutor | None,
) -> tuple[_Verdict, str]:
    observation, info = start
    while True:
        side = "policy"
        try:
            response = await agent.act(observation, info)
            response = replace(response, text=well_formed(response.text))
            side = "environment"
            after = await _run(executor, partial(env.step, response.text))
        except Exception as err:
            return _Verdict(error=_one_line(side, err)), observation
        transitions.append(_transition(observation, info, response, after))
        observation, _, terminated, truncated, info = after
        if terminated or truncated:
            success, score = bool(info.get("success", False)), float(info.get("score", 0.0))
            return _Verdict(success, score, info.get("metrics", {})), observation


def _transition(
    observation: str,
    info: Mapping[str, Any],
    response: Response,
    after: tuple[str, Any, bool, bool, dict[str, Any]],
) -> Transition:
    _, reward, terminated, truncated, outcome = after
    return Transition(
        observation=observation,
        messages=tuple(Message(m["role"], m["content"]) for m in info.get("messages", ())),
        action=response.text,
        reward=float(reward),
        feedback=str(outcome.get("feedback", "")),
        terminated=bool(terminated),
        truncated=bool(truncated),
        valid_action=bool(outcome.get("valid_action", True)),
        reward_terms=dict(outcome.get("reward_terms", {})),
        context=dict(info.get("context", {})),
        prompt_ids=response.prompt_ids,
        action_ids=response.action_ids,
        logprobs=response.logprobs,
        prompt_tokens=response.prompt_tokens,
        completion_tokens=response.completion_tokens,
        finish_reason=response.finish_reason,
    )


def _identity(env: gym.Env[str, str], info: Mapping[str, Any]) -> dict[str, Any]:
    task = info.get("task", {})
    return {
        "env_id": env.spec.id if env.spec is not None else type(env.unwrapped).__name__,
        "env_kwargs": plain_kwargs(env.spec.kwargs if env.spec is not None else {}),
        "task_id": str(task.get("id", "")),
        "task_kind": str(task.get("kind", "")),
        "task_digest": str(task.get("digest", "")),
        "split": str(task.get("split", "")),
        "source": str(task.get("source", "")),
    }


def plain_kwargs(kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Return keyword arguments as JSON values; an object becomes ``"<ClassName>"``, which replay refuses to guess."""
    return {key: _plain(value) for key, value in kwargs.items()}


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return f"<{type(value).__name__}>"


def _one_line(side: str, err: Exception) -> str:
    return f"{side}: {type(err).__name__}: {' '.join(str(err).split())}"


async def _run(executor: ThreadPoolExecutor | None, call: Callable[[], T]) -> T:
    if executor is None:
        return call()
    return await asyncio.get_running_loop().run_in_executor(executor, call)
