"""Runs of postings that wait on the disk until every document is read; a build that was killed goes on behind them."""

import os
import shutil
import tempfile
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import msgspec
import numpy as np
import numpy.typing as npt

KEY = "key"
TERMS = "new_terms.json"
LENGTHS = "lengths"
ARRAYS = ("terms", "sizes", "documents", "frequencies")


@dataclass(frozen=True, slots=True)
class Run:
    """The postings of some consecutive documents: distinct terms, how many postings each has, and these."""

    terms: npt.NDArray[np.int64]
    sizes: npt.NDArray[np.int64]
    documents: npt.NDArray[np.int32]
    frequencies: npt.NDArray[np.float32]


class Spool:
    """A folder of numbered runs, each whole or not there; a context manager that removes what is temporary.

    Args:
        folder: for the runs of a build that may be killed; by default a temporary one.
        key: what the build depends on: runs that an earlier build left under another key are removed.
    """

    def __init__(self, folder: Path | None = None, *, key: str = "") -> None:
        self._folder = folder
        self._key = key
        self._scratch: tempfile.TemporaryDirectory[str] | None = None
        if folder is not None and not (folder / KEY).is_file():
            shutil.rmtree(folder, ignore_errors=True)
        elif folder is not None and (folder / KEY).read_text(encoding="utf-8") != key:
            shutil.rmtree(folder)
        self._count = 0
        while folder is not None and (folder / str(self._count)).is_dir():
            self._count += 1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._scratch is not None:
            self._scratch.cleanup()

    def append(self, run: Run, *, terms: Sequence[str], lengths: "array[int]") -> None:
        """Keep a run with the terms that it is the first to have, and the length of each of its documents."""
        place = self._place()
        writing = place / "writing"
        shutil.rmtree(writing, ignore_errors=True)
        writing.mkdir()
        for name in ARRAYS:
            _save(writing / f"{name}.npy", getattr(run, name))
        _save(writing / f"{LENGTHS}.npy", np.frombuffer(lengths, np.int32))
        _write(writing / TERMS, msgspec.json.encode(terms))
        writing.rename(place / str(self._count))
        self._count += 1

    def runs(self) -> list[Run]:
        """Return the runs in order; their arrays are mapped."""
        return [Run(*(np.load(folder / f"{name}.npy", mmap_mode="r") for name in ARRAYS)) for folder in self._folders()]

    def terms(self) -> list[str]:
        """Return the terms of all runs in the order of their numbers."""
        return [
            term
            for folder in self._folders()
            for term in msgspec.json.decode((folder / TERMS).read_bytes(), type=list[str])
        ]

    def lengths(self) -> "array[int]":
        """Return the length of every document in the runs."""
        found = array("i")
        for folder in self._folders():
            found.frombytes(np.load(folder / f"{LENGTHS}.npy").tobytes())
        return found

    def _folders(self) -> list[Path]:
        return [self._place() / str(number) for number in range(self._count)] if self._count else []

    def _place(self) -> Path:
        """Return the folder, made when it is first needed."""
        if self._folder is None:
            self._scratch = tempfile.TemporaryDirectory(prefix="agentgym-r1-")
            self._folder = Path(self._scratch.name)
        if not (self._folder / KEY).is_file():
            self._folder.mkdir(exist_ok=True)
            _write(self._folder / KEY, self._key.encode())
        return self._folder


def _save(path: Path, values: npt.NDArray[Any]) -> None:
    with path.open("wb") as handle:
        np.save(handle, values)
        handle.flush()
        os.fsync(handle.fileno())


def _write(path: Path, data: bytes) -> None:
    with path.open("wb") as handle:
        handle.write(data)
        handle.flush()
        os.fsync(handle.fileno())
