"""Reads the recorded episodes of run folders: a benchmark's, a training run's, or a single file's."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from agentgym_r1.errors import DataError
from agentgym_r1.exports.filters import Filters
from agentgym_r1.trajectories import read_trajectories
from agentgym_r1.types import Trajectory

PATTERNS = ("trajectories.jsonl", "step-*.jsonl", "evaluation-*.jsonl")


@dataclass(slots=True)
class Harvest:
    """The episodes of some files that pass the filters, and what was seen on the way.

    Attributes:
        files: the files, in order.
        filters: what an episode must be.
        left_out: how many episodes each reason kept out; complete when ``episodes`` is exhausted.
        splits: how many episodes of each split were seen, taken or not.
        digests: on which splits each task was seen, taken or not, by its digest.
    """

    files: tuple[Path, ...]
    filters: Filters
    left_out: Counter[str] = field(default_factory=Counter)
    splits: Counter[str] = field(default_factory=Counter)
    digests: dict[str, set[str]] = field(default_factory=dict)

    def episodes(self) -> Iterator[Trajectory]:
        """Yield the episodes that are taken, file by file; a half-written last line is ignored."""
        for file in self.files:
            for trajectory in read_trajectories(file, partial=True):
                self.splits[trajectory.split] += 1
                if trajectory.task_digest:
                    self.digests.setdefault(trajectory.task_digest, set()).add(trajectory.split)
                reason = self.filters.refusal(trajectory)
                if reason:
                    self.left_out[reason] += 1
                else:
                    yield trajectory


def find_files(runs: Sequence[Path]) -> tuple[Path, ...]:
    """Return the trajectory files of runs, in order.

    Raises:
        DataError: a run does not exist, or holds no trajectories.
    """
    files: dict[Path, None] = {}
    for run in runs:
        found = [run] if run.is_file() else [file for pattern in PATTERNS for file in sorted(run.glob(pattern))]
        if not found:
            raise DataError(
                f"{run} holds no trajectories: give a folder that bench or train wrote, or a trajectories.jsonl"
            )
        files.update(dict.fromkeys(found))
    return tuple(files)


def sha256(path: Path) -> str:
    """Return the sha256 (hex) of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
