"""What a data set's module tells the installer: which files hold which split, and how to read them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from agentgym_r1.data.passages import Passages
from agentgym_r1.errors import DataError
from agentgym_r1.types import Task


@dataclass(frozen=True, slots=True)
class Loader:
    """How one family of data sets is read.

    Attributes:
        splits: for each split, the file names that hold it, as globs, the preferred one first. Splits for evaluation
            come before train: the order decides which paragraph keeps a shared title as its id.
        read: yields the tasks of one file in their order and adds the paragraphs of their contexts to the corpus.
        gold: the type of the tasks' gold.
        has_corpus: whether the set has paragraphs to search.
        ids_are_rows: whether a task's id is its row number, so that every split has the same ids.
    """

    splits: Mapping[str, tuple[str, ...]]
    read: Callable[[Path, Passages], Iterator[Task]]
    gold: type
    has_corpus: bool
    ids_are_rows: bool = False

    def find(self, folder: Path) -> dict[str, list[Path]]:
        """Return the files of each split that a folder holds, shards in order; raise DataError when it holds none."""
        if not folder.is_dir():
            raise DataError(f"{folder} is not a folder; pass the one that holds {self._wanted()}")
        found = {split: _first_match(folder, patterns) for split, patterns in self.splits.items()}
        found = {split: paths for split, paths in found.items() if paths}
        if not found:
            raise DataError(f"{folder} holds none of the files {self._wanted()}; pass the folder that does")
        return found

    def _wanted(self) -> str:
        return ", ".join(pattern for patterns in self.splits.values() for pattern in patterns)


def _first_match(folder: Path, patterns: tuple[str, ...]) -> list[Path]:
    """Return the files of the first pattern that fits any; several only when they are shards (Parquet)."""
    for pattern in patterns:
        paths = sorted(path for path in folder.glob(pattern) if path.is_file())
        if len(paths) > 1 and paths[0].suffix != ".parquet":
            names = ", ".join(path.name for path in paths)
            raise DataError(f"{folder} holds {len(paths)} files for one split ({names}); leave only one of them there")
        if paths:
            return paths
    return []
