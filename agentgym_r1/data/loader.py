"""What a data set's module tells the installer: which files hold which split, and how to read them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from agentgym_r1.data.passages import Passages
from agentgym_r1.errors import DataError
from agentgym_r1.types import Task


class Loader(Protocol):
    """How one family of data sets is read."""

    @property
    def splits(self) -> Sequence[str]:
        """The splits it knows. Those for evaluation come before train.

        The order decides which paragraph keeps a shared title as its id.
        """
        ...

    @property
    def gold(self) -> type:
        """The type of the tasks' gold."""
        ...

    @property
    def has_corpus(self) -> bool:
        """Whether the set has paragraphs to search."""
        ...

    @property
    def ids_are_rows(self) -> bool:
        """Whether a task's id is its row number, so that every split has the same ids."""
        ...

    def find(self, folder: Path) -> dict[str, list[Path]]:
        """Return the files of each split that a folder holds, in order; raise DataError when it holds none."""
        ...

    def tasks(self, split: str, paths: Sequence[Path], passages: Passages) -> Iterator[Task]:
        """Yield the tasks of a split from the files that ``find`` named; add the paragraphs of their contexts."""
        ...


@dataclass(frozen=True, slots=True)
class FileLoader:
    """The loader of sets that keep each split in files of its own.

    Attributes:
        files: for each split, the file names that hold it, as globs, the preferred one first.
        read: yields the tasks of one file in their order and adds the paragraphs of their contexts to the corpus.
        gold, has_corpus, ids_are_rows: see Loader.
    """

    files: Mapping[str, tuple[str, ...]]
    read: Callable[[Path, Passages], Iterator[Task]]
    gold: type
    has_corpus: bool
    ids_are_rows: bool = False

    @property
    def splits(self) -> Sequence[str]:
        """The splits it knows."""
        return tuple(self.files)

    def tasks(self, split: str, paths: Sequence[Path], passages: Passages) -> Iterator[Task]:
        """Yield the tasks of a split's files."""
        for path in paths:
            yield from self.read(path, passages)

    def find(self, folder: Path) -> dict[str, list[Path]]:
        """Return the files of each split that a folder holds, shards in order; raise DataError when it holds none."""
        return find_splits(folder, self.files)


def find_splits(folder: Path, files: Mapping[str, tuple[str, ...]]) -> dict[str, list[Path]]:
    """Return the files of each split that a folder holds; raise DataError when it holds none.

    Args:
        folder: where to look.
        files: for each split, the file names that hold it, as globs, the preferred one first.
    """
    wanted = ", ".join(pattern for patterns in files.values() for pattern in patterns)
    if not folder.is_dir():
        raise DataError(f"{folder} is not a folder; pass the one that holds {wanted}")
    found = {split: first_match(folder, patterns) for split, patterns in files.items()}
    found = {split: paths for split, paths in found.items() if paths}
    if not found:
        raise DataError(f"{folder} holds none of the files {wanted}; pass the folder that does")
    return found


def first_match(folder: Path, patterns: tuple[str, ...]) -> list[Path]:
    """Return the files of the first pattern that fits any; several only when they are shards (Parquet)."""
    for pattern in patterns:
        paths = sorted(path for path in folder.glob(pattern) if path.is_file())
        if len(paths) > 1 and paths[0].suffix != ".parquet":
            names = ", ".join(path.name for path in paths)
            raise DataError(f"{folder} holds {len(paths)} files for one split ({names}); leave only one of them there")
        if paths:
            return paths
    return []
