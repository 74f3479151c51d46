"""Plays the episodes of a rollout engine: the core's own rollout loop over OpenRLHF's tokens."""

import asyncio
import functools
import itertools
import logging
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import gymnasium as gym

from agentgym_r1.adapters.openrlhf.advantages import CRITIC_ALGORITHMS
from agentgym_r1.adapters.openrlhf.distill import EXPERT
from agentgym_r1.adapters.openrlhf.engine import RolloutEngine
from agentgym_r1.adapters.openrlhf.samples import EpisodeSample, Watch, rows_of
from agentgym_r1.adapters.openrlhf.spec import Job, Phase, RunSpec
from agentgym_r1.errors import AgentGymError, ConfigError
from agentgym_r1.policies.lm import ToolCallingPolicy
from agentgym_r1.ray_pool import RemoteEnv
from agentgym_r1.rollout import episode_seed, rollout_async
from agentgym_r1.types import Trajectory

logger = logging.getLogger(__name__)
MakeEnv = Callable[[Phase], gym.Env[str, str]]
_slots = itertools.count()


class Player:
    """Holds the environments of an engine and plays one episode a call, any number at the same time.

    Environments are made when they are needed, stepped in threads so that the engine's event loop never waits for one,
    and used again. One that raised is closed and replaced.

    Args:
        spec: the run.
        make_env: makes an environment for a phase; by default the run's, here or in its Ray actors.
    """

    def __init__(self, spec: RunSpec, *, make_env: MakeEnv | None = None) -> None:
        self._spec = spec
        self._make = make_env or functools.partial(make_environment, spec)
        self._idle: dict[Phase, list[Watch]] = defaultdict(list)
        self._threads = ThreadPoolExecutor(spec.threads, thread_name_prefix="env")

    async def play(self, prompt: str, job: Job, engine: RolloutEngine) -> EpisodeSample:
        """Play one episode; one that breaks is returned with its error and without rows.

        The samples of a prompt get the same environment seed: they start in the same state.

        Raises:
            ConfigError, gym.error.Error: the environment cannot be made, or does not know the task.
        """
        try:
            sample = await self._play(prompt, job, engine)
        except (ConfigError, gym.error.Error):
            raise
        except Exception:
            logger.warning("the reset of %s failed, once more in a new environment", job.task, exc_info=True)
            sample = await self._play_or_fail(prompt, job, engine)
        if sample.trajectory.error:
            logger.warning("episode of %s is left out of training: %s", job.task, sample.trajectory.error)
        return sample

    async def _play_or_fail(self, prompt: str, job: Job, engine: RolloutEngine) -> EpisodeSample:
        try:
            return await self._play(prompt, job, engine)
        except Exception as err:
            return EpisodeSample(prompt, _never_began(self._spec, job, err), ())

    async def _play(self, prompt: str, job: Job, engine: RolloutEngine) -> EpisodeSample:
        env = await self._take(job.phase)
        try:
            trajectory = await rollout_async(
                env,
                ToolCallingPolicy(engine, sampling=engine.sampling),
                task=job.task,
                seed=episode_seed(self._spec.seed, job.task, 0),
                executor=self._threads,
            )
        except BaseException:
            await self._close(env)
            raise
        sample = EpisodeSample(
            prompt,
            trajectory,
            rows_of(trajectory, env.anchors, self._verdicts(trajectory, env, engine)),
            self._next_prompt(trajectory, env, engine),
        )
        if trajectory.error.startswith("environment"):
            await self._close(env)
        else:
            self._idle[job.phase].append(env)
        return sample

    def _verdicts(self, trajectory: Trajectory, env: Watch, engine: RolloutEngine) -> list[tuple[float, ...]]:
        """Return what the expert, where it is the teacher, thinks of the sampled tokens of each step."""
        return [
            engine.expert_logprobs(transition.action_ids, advice)
            for transition, advice in zip(trajectory.transitions, env.advice)
        ]

    def _next_prompt(self, trajectory: Trajectory, env: Watch, engine: RolloutEngine) -> tuple[int, ...]:
        """Return the prompt whose value stands for the rest of an episode that a limit cut off."""
        wanted = self._spec.bootstrap and self._spec.algorithm in CRITIC_ALGORITHMS
        if not wanted or trajectory.error or not trajectory.transitions[-1].truncated:
            return ()
        try:
            return engine.prompt_ids(env.messages())
        except AgentGymError as err:
            logger.warning("%s was cut off and is not bootstrapped: %s", trajectory.task_id, err)
            return ()

    async def _take(self, phase: Phase) -> Watch:
        if self._idle[phase]:
            return self._idle[phase].pop()
        env = await asyncio.get_running_loop().run_in_executor(self._threads, self._make, phase)
        return Watch(env, expert=self._spec.teacher == EXPERT and phase == "train")

    async def _close(self, env: Watch) -> None:
        try:
            await asyncio.get_running_loop().run_in_executor(self._threads, env.close)
        except Exception:
            logger.warning("an environment did not close", exc_info=True)


def make_environment(spec: RunSpec, phase: Phase) -> gym.Env[str, str]:
    """Make an environment of the run for a phase: in this process, or in the next of the run's Ray actors."""
    if spec.workers == 0:
        return gym.make(spec.env, **spec.kwargs(phase))
    return RemoteEnv(spec.env, spec.kwargs(phase), worker=next(_slots) % spec.workers)


def _never_began(spec: RunSpec, job: Job, err: Exception) -> Trajectory:
    return Trajectory(
        env_id=spec.env,
        env_kwargs=spec.kwargs(job.phase),
        task_id=job.task,
        task_kind="",
        task_digest="",
        split=str(spec.kwargs(job.phase).get("split", "")),
        source="",
        policy="openrlhf",
        seed=episode_seed(spec.seed, job.task, 0),
        repeat=0,
        transitions=(),
        final_observation="",
        success=False,
        score=0.0,
        metrics={},
        error=f"environment: {type(err).__name__}: {' '.join(str(err).split())}",
    )
