"""Trajectories on disk and replay."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toy import GuessEnv

from agentgym_r1.errors import DataError, ReplayError
from agentgym_r1.policies.scripted import ExpertPolicy, RandomPolicy
from agentgym_r1.rollout import rollout
from agentgym_r1.trajectories import (
    TrajectoryWriter,
    decode,
    encode,
    make_recorded,
    read_trajectories,
    replay,
    replay_one,
)
from agentgym_r1.types import Trajectory


def episode(task: str = "n7", policy: Any = None) -> Trajectory:
    return rollout(GuessEnv(), policy or ExpertPolicy(), task=task, seed=3)


@given(
    st.text(max_size=50), st.lists(st.integers(0, 2**17), max_size=5), st.floats(allow_nan=False, allow_infinity=False)
)
def test_a_line_gives_back_the_same_trajectory(text: str, ids: list[int], reward: float) -> None:
    first = episode()
    step = replace(first.transitions[0], action=text, action_ids=tuple(ids), reward=reward, context={"policy": text})
    trajectory = replace(first, transitions=(step,), metrics={"em": 0.1 + 0.2})
    line = encode(trajectory)
    assert b"\n" not in line
    assert decode(line) == trajectory


def test_a_file_is_read_in_the_order_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "trajectories.jsonl"
    written = [episode(task) for task in ("n7", "n3", "n12")]
    with TrajectoryWriter(path) as writer:
        for trajectory in written[:2]:
            writer.write(trajectory)
    with TrajectoryWriter(path) as writer:
        writer.write(written[2])
    assert list(read_trajectories(path)) == written


def test_a_half_written_line_is_ignored_on_request_and_cut_by_the_next_writer(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    with TrajectoryWriter(path) as writer:
        writer.write(episode())
    with path.open("ab") as file:
        file.write(encode(episode("n3"))[:100])
    assert len(list(read_trajectories(path, partial=True))) == 1
    with pytest.raises(DataError, match=r"t\.jsonl:2: not a trajectory"):
        list(read_trajectories(path))
    with TrajectoryWriter(path) as writer:
        writer.write(episode("n5"))
    assert [trajectory.task_id for trajectory in read_trajectories(path)] == ["n7", "n5"]


def test_a_file_that_is_only_half_a_line_starts_anew(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(b'{"schema": 1, "env')
    TrajectoryWriter(path).close()
    assert path.read_bytes() == b""


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"{", "not a trajectory"),
        (b"[1, 2]", "not a trajectory"),
        (b'{"schema": 99}', "schema 99, expected 1"),
        (b'{"schema": 1, "env_id": 3}', "not a trajectory"),
    ],
)
def test_a_foreign_line_is_refused_with_its_reason(line: bytes, message: str) -> None:
    with pytest.raises(DataError, match=message):
        decode(line, where="file:7")


def test_a_missing_file_is_a_data_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot read"):
        list(read_trajectories(tmp_path / "none.jsonl"))


def test_a_folder_that_cannot_be_written_is_a_data_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(DataError, match="cannot write"):
        TrajectoryWriter(tmp_path / "file" / "t.jsonl")


def test_replay_finds_no_difference_in_a_faithful_record() -> None:
    record = [episode(task, RandomPolicy()) for task in ("n7", "n3", "n5")]
    assert list(replay(record, make_env=lambda trajectory: GuessEnv())) == [None, None, None]


@pytest.mark.parametrize(
    ("field", "value"), [("reward", 0.5), ("feedback", "else"), ("terminated", True), ("observation", "another prompt")]
)
def test_replay_names_the_first_difference(field: str, value: Any) -> None:
    trajectory = episode()
    changed = replace(trajectory.transitions[0], **{field: value})
    difference = replay_one(GuessEnv(), replace(trajectory, transitions=(changed, *trajectory.transitions[1:])))
    assert difference is not None
    assert (difference.step, difference.field) == (0, field)
    assert f"n7 step 0: {field} was" in str(difference)


def test_replay_notices_another_task_behind_the_same_id() -> None:
    difference = replay_one(GuessEnv(), replace(episode(), task_digest="0" * 64))
    assert difference is not None
    assert difference.field == "task_digest"


def test_replay_notices_a_missing_task() -> None:
    difference = replay_one(GuessEnv(), replace(episode(), task_id="n99"))
    assert difference is not None
    assert difference.field == "task"


def test_replay_refuses_to_guess_an_object() -> None:
    with pytest.raises(ReplayError, match="retriever was an object of <MyRetriever>"):
        make_recorded(replace(episode(), env_kwargs={"retriever": "<MyRetriever>"}))


def test_replay_says_when_the_environment_is_unknown() -> None:
    with pytest.raises(ReplayError, match="cannot make AgentR1/None-v0 again"):
        make_recorded(replace(episode(), env_id="AgentR1/None-v0"))
