"""Environments played over HTTP are the environments themselves."""

import pickle
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import gymnasium as gym
import httpx
import pytest

from agentgym_r1.envs.remote import RemoteEnv, SessionLimits, Sessions
from agentgym_r1.envs.remote.server import make_app
from agentgym_r1.errors import AgentGymError, ConfigError, EpisodeError
from agentgym_r1.policies import ExpertPolicy
from agentgym_r1.registration import ENTRIES
from agentgym_r1.rollout import rollout
from agentgym_r1.serving import BackgroundServer

GSM8K = "AgentR1/GSM8K-v0"
PLAYABLE = [entry.id for entry in ENTRIES if entry.is_playable()]


@pytest.fixture(scope="module")
def sessions() -> Sessions:
    return Sessions()


@pytest.fixture(scope="module")
def url(sessions: Sessions) -> Iterator[str]:
    with BackgroundServer(make_app(sessions)) as server:
        yield server.address()


@pytest.fixture
def env(url: str) -> Iterator[RemoteEnv]:
    env = RemoteEnv(url, GSM8K, source="world")
    yield env
    env.close()


@pytest.mark.parametrize("env_id", PLAYABLE)
def test_an_episode_is_the_same_here_and_there(url: str, env_id: str) -> None:
    here = gym.make(env_id, source="world") if env_id != "AgentR1/MiniGrid-v0" else gym.make(env_id)
    there = gym.make("AgentR1/Remote-v0", url=url, env=env_id, **here.spec.kwargs)
    for env in (here, there):
        env.reset(seed=3)
    assert there.unwrapped.snapshot() == here.unwrapped.snapshot()
    own, remote = (rollout(env, ExpertPolicy(), seed=3) for env in (here, there))
    assert (remote.success, remote.metrics) == (own.success, own.metrics)
    assert remote.transitions == own.transitions
    assert own.transitions
    for env in (here, there):
        env.close()


def test_a_reset_without_a_seed_goes_on_drawing_as_the_environment_would(env: RemoteEnv) -> None:
    here = gym.make(GSM8K, source="world")
    for one in (here, env):
        one.reset(seed=8)
    assert env.reset()[0] == here.reset()[0]
    assert env.reset(options={"index": 4})[1]["task"] == here.reset(options={"index": 4})[1]["task"]


def test_a_snapshot_goes_on_here_and_there(env: RemoteEnv) -> None:
    env.reset(seed=1)
    env.step(env.expert())
    taken = env.snapshot()
    here = gym.make(GSM8K, source="world").unwrapped
    here.restore(taken)
    action = here.expert()
    expected = here.step(action)
    assert env.step(action) == expected
    env.restore(taken)
    assert env.step(action) == expected


def test_a_step_that_is_sent_again_is_not_taken_again(url: str, env: RemoteEnv) -> None:
    env.reset(seed=1)
    body = {"action": env.expert(), "step": 0}
    first, again = (httpx.post(f"{url}/sessions/{env._session}/step", json=body).json() for _ in range(2))
    assert first == again
    reply = httpx.post(f"{url}/sessions/{env._session}/step", json={"action": "x", "step": 5})
    assert (reply.status_code, "at step 1" in reply.json()["error"]) == (409, True)


def test_errors_are_those_of_the_environment(url: str, env: RemoteEnv) -> None:
    with pytest.raises(EpisodeError, match="call reset"):
        env.step("x")
    with pytest.raises(ConfigError, match="no task"):
        env.reset(options={"task": "nowhere"})
    with pytest.raises(ConfigError, match="an action is a str"):
        env.step(3)
    env.reset(seed=0)
    while not any(env.step("<answer>0</answer>")[2:4]):
        pass
    with pytest.raises(EpisodeError, match="is over"):
        env.step("x")
    with pytest.raises(ConfigError, match="did you mean 'AgentR1/GSM8K-v0'"):
        RemoteEnv(url, "AgentR1/GSM8-v0")
    with pytest.raises(ConfigError, match="colour"):
        RemoteEnv(url, GSM8K, colour="red")
    with pytest.raises(ConfigError, match="http://HOST:PORT"):
        RemoteEnv("localhost:80", GSM8K)


@pytest.mark.parametrize("body", [b"", b"{", b'{"env": 3}', b'{"env": "AgentR1/GSM8K-v0", "x": 1}', b"\xff"])
def test_a_body_that_does_not_fit_is_refused_with_the_reason(url: str, body: bytes) -> None:
    reply = httpx.post(f"{url}/sessions", content=body)
    assert reply.status_code == 400
    assert "does not fit" in reply.json()["error"]


def test_nobody_there_is_an_error_that_says_how_to_start_one() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    with pytest.raises(EpisodeError, match="agentgym-r1 serve"):
        RemoteEnv(f"http://127.0.0.1:{port}", GSM8K, patience=2.0)


def test_another_server_is_an_error_that_asks(url: str) -> None:
    with pytest.raises(EpisodeError, match="is it an environment server"):
        RemoteEnv(f"{url}/elsewhere", GSM8K)


def test_a_session_that_was_closed_is_gone(url: str, sessions: Sessions) -> None:
    env = RemoteEnv(url, GSM8K, source="world")
    held, name = len(sessions), env._session
    env.close()
    env.close()
    assert len(sessions) == held - 1
    reply = httpx.post(f"{url}/sessions/{name}/reset", json={})
    assert (reply.status_code, "open another" in reply.json()["error"]) == (404, True)


def test_a_copy_has_a_session_of_its_own(env: RemoteEnv) -> None:
    env.reset(seed=1)
    copy = pickle.loads(pickle.dumps(env))
    assert copy._session != env._session
    assert copy.reset(seed=1)[0] == env.reset(seed=1)[0]
    copy.close()


def test_many_clients_play_at_once_and_each_its_own_episode(url: str) -> None:
    def play(seed: int) -> Any:
        env = RemoteEnv(url, GSM8K, source="world")
        try:
            return rollout(env, ExpertPolicy(), seed=seed).transitions
        finally:
            env.close()

    here = gym.make(GSM8K, source="world")
    with ThreadPoolExecutor(16) as pool:
        played = list(pool.map(play, range(16)))
    assert played == [rollout(here, ExpertPolicy(), seed=seed).transitions for seed in range(16)]


def test_idle_sessions_make_room_and_used_ones_do_not() -> None:
    now = [0.0]
    sessions = Sessions(limits=SessionLimits(sessions=2, idle=10.0), clock=lambda: now[0])
    first, second = (sessions.open(GSM8K, {"source": "world"}) for _ in range(2))
    with pytest.raises(AgentGymError, match="2 sessions are open"):
        sessions.open(GSM8K, {"source": "world"})
    now[0] = 8.0
    sessions.reset(second, seed=0, options=None)
    now[0] = 11.0
    third = sessions.open(GSM8K, {"source": "world"})
    with pytest.raises(AgentGymError, match="open another"):
        sessions.reset(first, seed=0, options=None)
    assert sessions.reset(second, seed=0, options=None) == sessions.reset(third, seed=0, options=None)
    sessions.close_all()
    assert len(sessions) == 0


def test_a_full_server_asks_to_come_again() -> None:
    sessions = Sessions(limits=SessionLimits(sessions=1))
    with BackgroundServer(make_app(sessions)) as server:
        first = RemoteEnv(server.address(), GSM8K, source="world")
        with pytest.raises(EpisodeError, match="1 sessions are open"):
            RemoteEnv(server.address(), GSM8K, source="world", patience=2.0)
        first.close()
        RemoteEnv(server.address(), GSM8K, source="world").close()


def test_only_the_offered_environments_are_opened() -> None:
    sessions = Sessions((GSM8K,))
    with pytest.raises(ConfigError, match="Known: AgentR1/GSM8K-v0"):
        sessions.open("AgentR1/ALFWorld-v0", {})
    with pytest.raises(ConfigError, match="unknown environment"):
        Sessions(("CartPole-v1",))


def test_the_server_says_what_it_offers(url: str) -> None:
    assert httpx.get(f"{url}/envs").json()["envs"] == [entry.id for entry in ENTRIES]
    assert httpx.get(f"{url}/health").json()["status"] == "ok"
