"""Fixtures of the training tests: a tiny model, and one run of the real OpenRLHF on the CPU."""

import contextlib
import importlib.util
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import gymnasium as gym
import pytest

import agentgym_r1  # noqa: F401
from agentgym_r1.policies.scripted import ExpertPolicy
from agentgym_r1.rollout import rollout
from agentgym_r1.trajectories import TrajectoryWriter, read_trajectories
from agentgym_r1.types import Trajectory

TESTS = Path(__file__).resolve().parents[2]
FLAGS = (
    "--data.max_len 1024 --rollout.max_new_tokens 12 --rollout.batch_size 4 --rollout.n_samples_per_prompt 2 "
    "--train.batch_size 4 --train.micro_batch_size 4 --rollout.micro_batch_size 4 --algo.kl.init_coef 0"
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if importlib.util.find_spec("openrlhf") is None:
        for item in items:
            if item.get_closest_marker("openrlhf"):
                item.add_marker(pytest.mark.skip(reason="OpenRLHF is not installed here: make test-train"))


@dataclass(frozen=True)
class Run:
    """A finished run: its folder and its log."""

    out: Path
    log: str

    def figures(self, name: str) -> list[float]:
        """A logged figure of every global step."""
        lines = [line for line in self.log.splitlines() if "lobal step" in line]
        return [float(found.group(1)) for line in lines if (found := re.search(rf"'{name}': ([-\d.e+]+|nan)", line))]

    def evaluations(self, name: str) -> list[float]:
        """A figure of every evaluation."""
        lines = [line for line in self.log.splitlines() if "eval_success" in line]
        return [float(found.group(1)) for line in lines if (found := re.search(rf"'{name}': ([-\d.e+]+)", line))]

    def trajectories(self, name: str) -> list[Trajectory]:
        """The trajectories of a file of the run."""
        return list(read_trajectories(self.out / name))


Train = Callable[..., Run]


def _command(folder: Path, options: tuple[str, ...], flags: str) -> list[str]:
    command = [sys.executable, "-m", "agentgym_r1.adapters.openrlhf", "ppo", "--device", "cpu", "--out", str(folder)]
    return [*command, *options, "--", *FLAGS.split(), *flags.split()]


def _environment() -> dict[str, str]:
    path = os.pathsep.join([str(TESTS), str(TESTS.parent)])
    return {**os.environ, "PYTHONPATH": path, "HF_HUB_OFFLINE": "1", "RAY_DEDUP_LOGS": "0"}


@pytest.fixture(scope="session")
def train(tmp_path_factory: pytest.TempPathFactory) -> Train:
    """Runs ``train ppo`` with the given options and OpenRLHF flags; the later of two equal flags counts."""

    def run(*options: str, flags: str = "", out: Path | None = None) -> Run:
        folder = out or tmp_path_factory.mktemp("run")
        command, environment = _command(folder, options, flags), _environment()
        done = subprocess.run(command, capture_output=True, text=True, timeout=580, env=environment)
        log = done.stdout + done.stderr
        assert done.returncode == 0, log[-6000:]
        return Run(folder, log)

    return run


@pytest.fixture(scope="session")
def launched() -> Callable[..., str]:
    """Runs ``agentgym-r1`` with the given arguments in a process of its own and returns what it printed."""

    def run(*arguments: object) -> str:
        command = [sys.executable, "-m", "agentgym_r1.cli", *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=580, env=_environment())
        assert done.returncode == 0, (done.stdout + done.stderr)[-6000:]
        return done.stdout

    return run


@pytest.fixture(scope="session")
def kill_command() -> Iterator[Callable[..., None]]:
    """Starts ``agentgym-r1`` and kills that process, not its children, as soon as a file is in a folder."""

    def run(*arguments: object, sign: Path, pattern: str) -> None:
        command = [sys.executable, "-m", "agentgym_r1.cli", *map(str, arguments)]
        process = subprocess.Popen(command, env=_environment(), start_new_session=True, stdout=subprocess.DEVNULL)
        started.append(process.pid)
        try:
            until = time.monotonic() + 300
            while not list(sign.glob(pattern)):
                assert process.poll() is None and time.monotonic() < until, f"{pattern} was never written"
                time.sleep(0.1)
        finally:
            process.kill()
            process.wait()

    started: list[int] = []
    yield run
    for group in started:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)


@pytest.fixture(scope="session")
def kill_at() -> Callable[..., None]:
    """Starts ``train ppo`` and kills it as soon as a file of its run folder is there."""

    def run(*options: str, flags: str, out: Path, sign: str) -> None:
        process = subprocess.Popen(
            _command(out, options, flags), env=_environment(), start_new_session=True, stdout=subprocess.DEVNULL
        )
        try:
            until = time.monotonic() + 500
            while not (out / sign).exists():
                assert process.poll() is None and time.monotonic() < until, f"{sign} was never written"
                time.sleep(0.1)
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    return run


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Makes a tiny model for an environment, its tokenizer trained on what an expert sees and says."""
    from training_models import make_tiny_model

    def make(env_id: str) -> Path:
        env = gym.make(env_id, source="world", split="train")
        texts = []
        for seed in range(10):
            observation, _ = env.reset(seed=seed)
            over = False
            while not over:
                action = env.unwrapped.expert()
                texts += [observation, action]
                observation, _, terminated, truncated, _ = env.step(action)
                over = terminated or truncated
        env.close()
        return make_tiny_model(tmp_path_factory.mktemp("model"), texts)

    return make


@pytest.fixture(scope="session")
def word_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that knows the words of the colour world."""
    from training_models import make_word_model
    from training_worlds import WORDS

    return make_word_model(tmp_path_factory.mktemp("words"), WORDS)


@pytest.fixture(scope="session")
def ray_cluster() -> Iterator[str]:
    """The address of a Ray cluster of one node that claims eight GPUs."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    ray = str(Path(sys.executable).with_name("ray"))
    size = ["--num-gpus=8", "--num-cpus=32", f"--object-store-memory={500 * 2**20}", "--include-dashboard=false"]
    command = [ray, "start", "--head", "--block", f"--port={port}", "--node-ip-address=127.0.0.1", *size]
    environment = {**_environment(), "RAY_USAGE_STATS_ENABLED": "0", "RAY_worker_niceness": "0"}
    process = subprocess.Popen(command, env=environment, start_new_session=True, stdout=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 120
        while not _listens(port):
            assert process.poll() is None and time.monotonic() < until, "the Ray cluster did not start"
            time.sleep(0.2)
        yield f"127.0.0.1:{port}"
    finally:
        process.terminate()
        try:
            process.wait(60)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture(scope="session")
def colour_demonstrations(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run folder: the expert of the colour world on 128 training tasks."""
    import training_worlds  # noqa: F401 - registers the world

    folder, env = tmp_path_factory.mktemp("demonstrations"), gym.make("Worlds/Colours-v0")
    with TrajectoryWriter(folder / "trajectories.jsonl") as writer:
        for task in list(env.unwrapped.tasks.ids())[:128]:  # type: ignore[attr-defined]
            writer.write(rollout(env, ExpertPolicy(), task=task))
    return folder
