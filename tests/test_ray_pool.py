"""The pool of Ray actors: the benchmark's results do not depend on it, and an actor that dies is replaced."""

import asyncio
import functools
import importlib.util
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import gymnasium as gym
import pytest
from training_worlds import die_once

from agentgym_r1 import ray_pool
from agentgym_r1.bench.run import BenchConfig, run
from agentgym_r1.errors import AgentGymError, ConfigError, EpisodeError, MissingExtra
from agentgym_r1.rollout import Episode, rollout_many
from agentgym_r1.trajectories import read_trajectories
from agentgym_r1.types import Response

ROOT = Path(__file__).resolve().parents[1]
GSM8K = "AgentR1/GSM8K-v0"
KWARGS = {"source": "world", "split": "test"}
needs_ray = [
    pytest.mark.openrlhf,
    pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray is not installed here: make test-train"),
]


def timeless(folder):
    return [replace(t, seconds=0.0) for t in read_trajectories(folder / "trajectories.jsonl")]


def bench(out, *, on_episode=lambda trajectory: None, **changes):
    config = BenchConfig(envs=(GSM8K,), policies=("expert", "random"), out=out, source="world", episodes=40, **changes)
    return run(config, on_plan=lambda total, done: None, on_episode=on_episode)


@pytest.fixture(scope="module")
def cluster():
    """The address of a Ray cluster, which this process has joined."""
    import ray

    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}
    runtime = {"env_vars": {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")])}}
    size = {"num_cpus": 2, "include_dashboard": False, "object_store_memory": 80 * 2**20}
    ray.init("local", runtime_env=runtime, logging_level="warning", **size)
    yield ray.get_runtime_context().gcs_address
    ray.shutdown()


class TestWithRay:
    pytestmark = needs_ray

    def test_the_command_plays_on_a_cluster_what_it_plays_here(self, cluster, tmp_path):
        bench(tmp_path / "here")
        command = [sys.executable, "-m", "agentgym_r1.cli", "bench", "--env", GSM8K, "--policy", "expert"]
        command += ["--policy", "random", "--episodes", "40", "--source", "world", "--out", str(tmp_path / "there")]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        subprocess.run([*command, "--ray", cluster, "--workers", "2"], env=environment, check=True, cwd=tmp_path)
        assert timeless(tmp_path / "there") == timeless(tmp_path / "here")

    def test_a_worker_that_is_killed_is_replaced_and_its_episodes_are_played_again(self, cluster, tmp_path):
        import ray

        killed = []

        def kill_once(trajectory):
            if not killed:
                killed.append(trajectory.task_id)
                for worker in range(2):
                    ray.kill(ray_pool.holder(worker), no_restart=False)

        bench(tmp_path / "here")
        bench(tmp_path / "there", ray=cluster, workers=2, on_episode=kill_once)
        assert killed and timeless(tmp_path / "there") == timeless(tmp_path / "here")

    def test_work_that_kills_every_worker_is_given_up(self, cluster, tmp_path):
        with ray_pool.Pool(cluster, workers=1) as pool:
            assert list(pool.run(die_once, [(tmp_path / "grave",)])) == ["alive"]
            with pytest.raises(AgentGymError, match="3 Ray workers died of the same episodes"):
                list(pool.run(os._exit, [(1,)]))

    def test_an_error_of_the_work_is_the_callers(self, cluster):
        with ray_pool.Pool(cluster, workers=1) as pool, pytest.raises(ValueError, match="invalid literal"):
            list(pool.run(int, [("x",)]))

    def test_a_policy_here_plays_environments_there(self, cluster):
        tasks = list(gym.make(GSM8K, **KWARGS).unwrapped.tasks.ids())[:7]
        episodes = [Episode(task, seed=i) for i, task in enumerate(tasks)]

        async def play(make_env):
            stream = rollout_many(make_env, Answering(), episodes, concurrency=3, threads=3)
            return sorted([replace(t, seconds=0.0) async for t in stream], key=lambda t: t.task_id)

        here = asyncio.run(play(functools.partial(gym.make, GSM8K, **KWARGS)))
        with ray_pool.Pool(cluster, workers=2) as pool:
            there = asyncio.run(play(functools.partial(pool.make_env, GSM8K, KWARGS)))
        assert there == here and len(here) == 7

    def test_an_episode_ends_with_its_worker_and_the_next_begins_in_another(self, cluster):
        import ray

        with ray_pool.Pool(cluster, workers=1) as pool:
            first, second = (pool.make_env(GSM8K, KWARGS) for _ in range(2))
            first.reset(seed=1)
            second.reset(seed=1)
            with pytest.raises(ray.exceptions.RayActorError):
                ray.get(ray_pool.holder(0).run.remote(os._exit, 1))
            with pytest.raises(EpisodeError, match="the worker that held the environment died"):
                first.step("x")
            observation, _ = first.reset(seed=2)
            assert observation == first.reset(seed=2)[0]
            second.close()  # which was lost: nothing of the new worker's is closed
            assert first.step("<answer>1</answer>")[2]
            first.close()
            first.close()


class Answering:
    """A policy that sees messages alone, as a language model does."""

    name = "answering"

    def begin(self, env, *, seed):
        return self

    async def act(self, observation, info):
        await asyncio.sleep(0)
        return Response(f"<answer>{len(info['messages'][-1]['content'])}</answer>")


def test_without_ray_the_error_names_the_extra(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtra, match=r"pip install 'agentgym-r1\[ray\]'"):
        bench(tmp_path / "run", ray="127.0.0.1:6379")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("address", ["127.0.0.1:1", "127.0.0.1:99999"])
def test_where_no_cluster_is_the_error_says_how_to_start_one(address):
    with pytest.raises(ConfigError, match=f"no Ray cluster answers at '{address}' .*: start one with `ray start"):
        ray_pool.check_address(address)
    ray_pool.check_address("auto")
    ray_pool.check_address("ray://head:10001")


def test_the_actors_get_the_variables_of_this_library_and_find_this_package(monkeypatch):
    monkeypatch.setenv("AGENTGYM_R1_HOME", "/data")
    monkeypatch.setenv("PYTHONPATH", f"/somewhere{os.pathsep}{ROOT}")
    monkeypatch.setenv("SECRET", "x")
    found = ray_pool.forwarded()
    assert found["AGENTGYM_R1_HOME"] == "/data" and "SECRET" not in found
    assert found["PYTHONPATH"].split(os.pathsep) == [str(ROOT), "/somewhere"]
