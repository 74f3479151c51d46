"""Trajectories on disk, one JSON line an episode, and replay: the proof that a record and an environment agree."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import gymnasium as gym
import msgspec

from agentgym_r1.errors import AgentGymError, DataError, ReplayError
from agentgym_r1.types import Trajectory

SCHEMA = 1


class TrajectoryWriter:
    """Appends trajectories to a JSONL file, each flushed as it ends; a half-written last line is cut off first.

    Raises:
        DataError: the file cannot be written.
    """

    def __init__(self, path: Path) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("a+b")
            _cut_half_line(path)
        except OSError as err:
            raise DataError(f"cannot write {path}: {err.strerror or err}") from err

    def write(self, trajectory: Trajectory) -> None:
        """Append one trajectory and flush it."""
        self._file.write(encode(trajectory) + b"\n")
        self._file.flush()

    def close(self) -> None:
        """Close the file; safe to call twice."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, err: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def encode(trajectory: Trajectory) -> bytes:
    """Return the JSON line of a trajectory, without the newline."""
    return msgspec.json.encode({"schema": SCHEMA, **msgspec.to_builtins(trajectory)})


def decode(line: bytes | str, *, where: str = "trajectory") -> Trajectory:
    """Return the trajectory of a JSON line.

    Raises:
        DataError: not JSON, of another schema, or a field is missing or of the wrong type; ``where`` names the line.
    """
    try:
        record = msgspec.json.decode(line, type=dict[str, Any])
        schema = record.pop("schema", None)
        if schema != SCHEMA:
            raise DataError(f"{where}: schema {schema!r}, expected {SCHEMA}: written by another version")
        return msgspec.convert(record, Trajectory)
    except (msgspec.MsgspecError, UnicodeDecodeError) as err:
        raise DataError(f"{where}: not a trajectory: {err}") from err


def read_trajectories(path: Path, *, partial: bool = False) -> Iterator[Trajectory]:
    """Yield the trajectories of a JSONL file in order.

    Args:
        path: the file.
        partial: ignore a half-written last line, as a killed run leaves it.

    Raises:
        DataError: the file is missing or a line is not a trajectory.
    """
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if partial and not line.endswith(b"\n"):
                    return
                yield decode(line, where=f"{path}:{number}")
    except OSError as err:
        raise DataError(f"cannot read {path}: {err.strerror or err}") from err


@dataclass(frozen=True, slots=True)
class Difference:
    """Where a replayed episode left its record: ``step`` -1 is the reset."""

    task_id: str
    step: int
    field: str
    recorded: str
    replayed: str

    def __str__(self) -> str:
        return f"{self.task_id} step {self.step}: {self.field} was {self.recorded!r}, is {self.replayed!r}"


MakeRecorded = Callable[[Trajectory], gym.Env[str, str]]


def replay(trajectories: Iterable[Trajectory], *, make_env: MakeRecorded | None = None) -> Iterator[Difference | None]:
    """Step every recorded episode again; yield, per episode, its first difference or None.

    Args:
        trajectories: the record.
        make_env: makes the environment of a trajectory; by default gym.make with the recorded id and arguments.

    Raises:
        ReplayError: the recorded environment cannot be made again.
    """
    make = make_env or make_recorded
    cache: dict[str, gym.Env[str, str]] = {}
    try:
        for trajectory in trajectories:
            key = json.dumps([trajectory.env_id, trajectory.env_kwargs], sort_keys=True)
            if key not in cache:
                cache[key] = make(trajectory)
            yield replay_one(cache[key], trajectory)
    finally:
        for env in cache.values():
            env.close()


def make_recorded(trajectory: Trajectory) -> gym.Env[str, str]:
    """Make the environment that a trajectory was recorded in.

    Raises:
        ReplayError: an argument was an object, which the record only names, or gym.make refuses.
    """
    for key, value in trajectory.env_kwargs.items():
        if isinstance(value, str) and value.startswith("<") and value.endswith(">"):
            raise ReplayError(f"{key} was an object of {value} when this was recorded: pass make_env to replay it")
    try:
        return gym.make(trajectory.env_id, **trajectory.env_kwargs)
    except (gym.error.NameNotFound, gym.error.NamespaceNotFound) as err:
        raise ReplayError(
            f"cannot make {trajectory.env_id} again: {err} Its own module registers it: replay --import MODULE"
        ) from err
    except (gym.error.Error, AgentGymError) as err:
        raise ReplayError(f"cannot make {trajectory.env_id} again: {err}") from err


def replay_one(env: gym.Env[str, str], trajectory: Trajectory) -> Difference | None:
    """Step one recorded episode again and return the first difference, or None when there is none."""
    try:
        observation, info = env.reset(seed=trajectory.seed, options={"task": trajectory.task_id})
    except AgentGymError as err:
        return Difference(trajectory.task_id, -1, "task", trajectory.task_id, str(err))
    found = str(info["task"].get("digest", ""))
    if found != trajectory.task_digest:
        return Difference(trajectory.task_id, -1, "task_digest", trajectory.task_digest, found)
    for number, recorded in enumerate(trajectory.transitions):
        if observation != recorded.observation:
            return Difference(trajectory.task_id, number, "observation", recorded.observation, observation)
        observation, reward, terminated, truncated, info = env.step(recorded.action)
        now: Mapping[str, Any] = {
            "reward": float(reward),
            "terminated": terminated,
            "truncated": truncated,
            "feedback": info.get("feedback", ""),
        }
        for field, value in now.items():
            if value != getattr(recorded, field):
                return Difference(trajectory.task_id, number, field, str(getattr(recorded, field)), str(value))
    if observation != trajectory.final_observation:
        last = len(trajectory.transitions)
        return Difference(trajectory.task_id, last, "final_observation", trajectory.final_observation, observation)
    return None


def _cut_half_line(path: Path) -> None:
    with path.open("r+b") as file:
        size = file.seek(0, 2)
        end = size
        while end:
            start = max(end - 65536, 0)
            file.seek(start)
            newline = file.read(end - start).rfind(b"\n")
            if newline >= 0:
                file.truncate(start + newline + 1)
                return
            end = start
        file.truncate(0)
