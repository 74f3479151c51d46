"""The rollout loop: what it records, what it does with faults, and that order and concurrency change nothing."""

import asyncio
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import gymnasium as gym
import pytest
from toy import GuessEnv

from agentgym_r1.errors import ConfigError, EngineError
from agentgym_r1.policies.scripted import ExpertPolicy, RandomPolicy, ScriptedPolicy
from agentgym_r1.rollout import Episode, episode_seed, rollout, rollout_async, rollout_many
from agentgym_r1.types import Agent, Response, Trajectory


def without_time(trajectory: Trajectory) -> dict[str, Any]:
    from dataclasses import asdict

    return {key: value for key, value in asdict(trajectory).items() if key != "seconds"}


async def collect(policy: Any, episodes: list[Episode], **kwargs: Any) -> list[Trajectory]:
    return [trajectory async for trajectory in rollout_many(GuessEnv, policy, episodes, **kwargs)]


def test_an_episode_is_recorded_with_everything_replay_needs() -> None:
    trajectory = rollout(GuessEnv(), ExpertPolicy(), task="n3", seed=4, repeat=2)
    assert (trajectory.task_id, trajectory.seed, trajectory.repeat) == ("n3", 4, 2)
    assert (trajectory.policy, trajectory.split, trajectory.source) == ("expert", "test", "world")
    assert trajectory.success
    assert trajectory.episode_return == 1.0
    assert len(trajectory.transitions) == 2
    first, last = trajectory.transitions
    assert "3 is right" in first.feedback
    assert not first.terminated
    assert last.terminated
    assert last.observation != first.observation
    assert last.reward_terms == {"outcome": 1.0}
    assert first.messages[0].role == "system"


def test_the_final_step_is_recorded_once() -> None:
    trajectory = rollout(GuessEnv(), ExpertPolicy(), task="n3")
    assert [t.reward for t in trajectory.transitions] == [0.0, 1.0]


def test_token_ids_and_logprobs_are_kept_as_the_engine_gave_them() -> None:
    response = Response("<answer>7</answer>", (1, 2), (3, 4), (-0.5, -0.25), "stop", 2, 2)

    class Engine:
        name = "engine"

        def begin(self, env: gym.Env[str, str], *, seed: int) -> Agent:
            return self

        async def act(self, observation: str, info: Mapping[str, Any]) -> Response:
            return response

    (step,) = rollout(GuessEnv(), Engine(), task="n7").transitions
    assert (step.prompt_ids, step.action_ids, step.logprobs) == ((1, 2), (3, 4), (-0.5, -0.25))
    assert (step.finish_reason, step.prompt_tokens, step.completion_tokens) == ("stop", 2, 2)


class Failing:
    """Fails at its second step."""

    name = "failing"

    def begin(self, env: gym.Env[str, str], *, seed: int) -> Agent:
        return _Failing()


class _Failing:
    said = 0

    async def act(self, observation: str, info: Mapping[str, Any]) -> Response:
        self.said += 1
        if self.said > 1:
            raise EngineError("the server\nwent away")
        return Response("hello")


def test_a_failing_policy_is_an_error_of_the_episode_and_no_reward() -> None:
    trajectory = rollout(GuessEnv(), Failing())
    assert trajectory.error == "policy: EngineError: the server went away"
    assert len(trajectory.transitions) == 1
    assert (trajectory.success, trajectory.score) == (False, 0.0)


class BreaksOnStep(GuessEnv):
    def step(self, action: str) -> Any:
        raise RuntimeError("boom")


def test_a_failing_environment_is_told_apart_from_a_failing_policy() -> None:
    assert rollout(BreaksOnStep(), ExpertPolicy()).error == "environment: RuntimeError: boom"


def test_an_unknown_task_is_the_callers_fault() -> None:
    with pytest.raises(ConfigError, match="no task 'n99'"):
        rollout(GuessEnv(), ExpertPolicy(), task="n99")


@pytest.mark.parametrize("threads", [0, 2])
@pytest.mark.parametrize("concurrency", [1, 3, 8])
def test_concurrency_and_threads_change_nothing_but_the_order(concurrency: int, threads: int) -> None:
    episodes = [Episode(f"n{n}", episode_seed(0, f"n{n}", r), r) for n in (7, 3, 12, 5) for r in range(3)]
    alone = asyncio.run(collect(RandomPolicy(), episodes))
    together = asyncio.run(collect(RandomPolicy(), episodes, concurrency=concurrency, threads=threads))
    key = lambda trajectory: (trajectory.task_id, trajectory.repeat)  # noqa: E731
    assert [without_time(t) for t in sorted(together, key=key)] == [without_time(t) for t in sorted(alone, key=key)]


def test_environments_are_closed_also_when_the_consumer_stops() -> None:
    closed = []

    class Closes(GuessEnv):
        def close(self) -> None:
            closed.append(1)

    async def take_one() -> None:
        stream = rollout_many(Closes, ExpertPolicy(), [Episode("n7", 0)] * 20, concurrency=2)
        await anext(stream)
        await stream.aclose()

    asyncio.run(take_one())
    assert len(closed) == 2


def test_episodes_are_handed_over_as_they_end_also_by_a_policy_that_never_waits() -> None:
    played = []

    class Counts(GuessEnv):
        def reset(self, **kwargs: Any) -> Any:
            played.append(1)
            return super().reset(**kwargs)

    async def take_one() -> int:
        stream = rollout_many(Counts, ExpertPolicy(), [Episode("n7", 0)] * 20)
        await anext(stream)
        count = len(played)
        await stream.aclose()
        return count

    assert asyncio.run(take_one()) <= 2


def test_an_environment_that_cannot_be_made_stops_the_run() -> None:
    def broken() -> GuessEnv:
        raise ConfigError("no such thing")

    async def run() -> list[Trajectory]:
        return [t async for t in rollout_many(broken, ExpertPolicy(), [Episode("n7", 0)])]

    with pytest.raises(ConfigError, match="no such thing"):
        asyncio.run(run())


def test_no_episodes_are_no_work() -> None:
    assert asyncio.run(collect(ExpertPolicy(), [])) == []


def test_an_executor_steps_the_environment() -> None:
    with ThreadPoolExecutor(1) as executor:
        trajectory = asyncio.run(rollout_async(GuessEnv(), ExpertPolicy(), task="n7", executor=executor))
    assert trajectory.success


def test_the_synchronous_face_works_inside_a_running_loop() -> None:
    async def notebook() -> Trajectory:
        return rollout(GuessEnv(), ExpertPolicy(), task="n7")

    assert asyncio.run(notebook()).success


def test_a_script_repeats_its_last_line() -> None:
    trajectory = rollout(GuessEnv(max_steps=3), ScriptedPolicy(["one", "two"]))
    assert [t.action for t in trajectory.transitions] == ["one", "two", "two"]


def test_an_empty_script_is_refused() -> None:
    with pytest.raises(ConfigError, match="at least one action"):
        ScriptedPolicy([])


def test_episode_seeds_differ_by_task_and_repeat_only() -> None:
    seeds = {episode_seed(0, task, repeat) for task in "abc" for repeat in range(3)}
    assert len(seeds) == 9
    assert episode_seed(0, "a", 0) == 1432572995
    assert all(0 <= seed < 2**31 for seed in seeds)
