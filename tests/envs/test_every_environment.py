"""What holds for every registered environment, on its embedded world."""

import asyncio
import warnings
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import agentgym_r1
from agentgym_r1.envs.presets import protocols
from agentgym_r1.errors import ConfigError, DataError
from agentgym_r1.policies import EXPLOITS, ExpertPolicy, RandomPolicy
from agentgym_r1.policies.registry import BASELINES, check_fits, default_policies
from agentgym_r1.registration import ANSWER_EXPLOITS, ENTRIES, Entry
from agentgym_r1.rollout import Episode, rollout_many
from agentgym_r1.testing import assert_conforms, check_memory_does_not_grow
from agentgym_r1.types import Policy

PLAYABLE = [entry for entry in ENTRIES if entry.is_playable()]
EVERY = pytest.mark.parametrize("entry", PLAYABLE, ids=lambda entry: entry.id)
PROTOCOLS = pytest.mark.parametrize(
    ("entry", "protocol"),
    [(entry, protocol) for entry in PLAYABLE for protocol in protocols(entry.family)],
    ids=lambda value: value if isinstance(value, str) else value.id,
)
ANSWERED = pytest.mark.parametrize(
    ("entry", "exploit"),
    [(entry, exploit) for entry in PLAYABLE if entry.exploits == ANSWER_EXPLOITS for exploit in entry.exploits],
    ids=lambda value: value if isinstance(value, str) else value.id,
)


def make(entry: Entry, **kwargs: Any) -> gym.Env[str, str]:
    return gym.make(entry.id, source="world", **kwargs)


def scores(entry: Entry, policy: Policy, count: int, **kwargs: Any) -> list[float]:
    async def play() -> list[float]:
        tasks = make(entry, **kwargs).unwrapped.tasks
        episodes = [Episode(tasks[i].id, seed=i) for i in range(count)]
        found = [t async for t in rollout_many(lambda: make(entry, **kwargs), policy, episodes)]
        assert [t.error for t in found if t.error] == []
        return [t.score for t in found]

    return asyncio.run(play())


@EVERY
def test_gymnasiums_checker_passes_with_warnings_as_errors(entry: Entry) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = make(entry, render_mode="ansi")
        check_env(env.unwrapped)
        env.close()


@PROTOCOLS
def test_it_conforms_under_every_protocol(entry: Entry, protocol: str) -> None:
    assert_conforms(lambda: make(entry, protocol=protocol), resets=500)


@pytest.mark.parametrize("entry", {entry.family: entry for entry in reversed(PLAYABLE)}.values(), ids=lambda e: e.id)
def test_ten_thousand_resets_leave_nothing_behind(entry: Entry) -> None:
    check_memory_does_not_grow(lambda: make(entry), 10_000)


@PROTOCOLS
def test_the_expert_always_wins(entry: Entry, protocol: str) -> None:
    assert set(scores(entry, ExpertPolicy(), 100, protocol=protocol)) == {1.0}


@EVERY
@pytest.mark.parametrize("context", ["append", "window", "state", "summary"])
def test_the_expert_wins_in_every_context_within_a_budget(entry: Entry, context: str) -> None:
    env = make(entry, context=context, context_budget=3000)
    for index in range(10):
        observation, info = env.reset(options={"index": index})
        over = False
        while not over:
            assert info["context"]["fits"]
            assert env.unwrapped.task.prompt in observation
            observation, _, terminated, truncated, info = env.step(env.unwrapped.expert())
            over = terminated or truncated
        assert info["success"]


@ANSWERED
def test_an_exploit_scores_no_more_than_the_majority_answer(entry: Entry, exploit: str) -> None:
    tasks = make(entry).unwrapped.tasks
    answers = [getattr(tasks[i].gold, "answers", None) or (tasks[i].gold.answer,) for i in range(300)]
    majority = max(sum(a in accepted for accepted in answers) for a in {"yes", "no", *(x for y in answers for x in y)})
    assert sum(scores(entry, EXPLOITS[exploit], 300)) <= majority


@EVERY
def test_random_moves_are_legal_and_seldom_right(entry: Entry) -> None:
    found = scores(entry, RandomPolicy(), 100)
    assert sum(found) < 20


@EVERY
def test_vector_environments_agree_with_single_ones(entry: Entry) -> None:
    singles = [make(entry) for _ in range(4)]
    starts = [env.reset(seed=10 + i)[0] for i, env in enumerate(singles)]
    modes: tuple[Any, ...] = ("sync", "async", "vector_entry_point")
    for mode in modes:
        envs = gym.make_vec(entry.id, num_envs=4, vectorization_mode=mode, source="world")
        try:
            observations, infos = envs.reset(seed=10)
            assert tuple(observations) == tuple(starts), mode
            assert list(infos["task"]["id"]) == [env.unwrapped.task.id for env in singles]
        finally:
            envs.close()


@EVERY
def test_the_batched_environment_plays_like_single_ones_through_resets(entry: Entry) -> None:
    envs = gym.make_vec(entry.id, num_envs=3, vectorization_mode="vector_entry_point", source="world")
    singles = [make(entry) for _ in range(3)]
    observations, _ = envs.reset(seed=5)
    expected = [env.reset(seed=5 + i)[0] for i, env in enumerate(singles)]
    ended = [False] * 3
    wins = 0
    for _ in range(24):
        assert tuple(observations) == tuple(expected)
        actions = tuple("" if end else env.unwrapped.expert() for env, end in zip(singles, ended))
        observations, rewards, terminations, truncations, _ = envs.step(actions)
        for i, env in enumerate(singles):
            if ended[i]:
                expected[i], reward, ended[i] = env.reset()[0], 0.0, False
            else:
                expected[i], reward, terminated, truncated, _ = env.step(actions[i])
                ended[i] = terminated or truncated
            assert rewards[i] == reward
        assert list(np.logical_or(terminations, truncations)) == ended
        wins += int(np.logical_and(terminations, rewards > 0).sum())
    assert wins >= 3
    envs.close()


@EVERY
@pytest.mark.parametrize(
    ("kwargs", "error", "message"),
    [
        ({"split": "validation"}, ConfigError, "unknown split"),
        ({"source": "internet"}, ConfigError, "'auto', 'real' or 'world'"),
        ({"source": "real"}, DataError, "agentgym-r1 data get"),
        ({"protocol": "agent-r2"}, ConfigError, "did you mean 'agent-r1'"),
        ({"contxt": "state"}, ConfigError, "did you mean 'context'"),
    ],
)
def test_a_wrong_argument_says_what_is_right(entry: Entry, kwargs: Any, error: Any, message: str) -> None:
    if error is DataError and not entry.data:
        pytest.skip("there is no real set to install")
    with pytest.raises(error, match=message):
        gym.make(entry.id, **{"source": "world", **kwargs})


@EVERY
@pytest.mark.parametrize(
    "policy", [RandomPolicy(), *EXPLOITS.values(), *BASELINES.values()], ids=lambda policy: policy.name
)
def test_every_policy_of_a_benchmark_says_what_the_environment_understands(entry: Entry, policy: Policy) -> None:
    if policy.name not in {"random", *entry.exploits, *entry.baselines}:
        with pytest.raises(ConfigError, match=f"{policy.name} does not fit {entry.id}"):
            check_fits(policy.name, entry)
    else:
        assert policy.name in default_policies(entry)
        scores(entry, policy, 5)


def test_the_registry_holds_every_environment() -> None:
    assert {entry.id for entry in ENTRIES} <= set(gym.registry)
    assert agentgym_r1.__version__
