"""What the installer needs to know of a set that is a library of papers with queries."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from agentgym_r1.corpus import ArrowPapers, Paper, title_key
from agentgym_r1.data.gold import PaperGold
from agentgym_r1.data.loader import find_splits, first_match
from agentgym_r1.errors import DataError
from agentgym_r1.types import Task


@dataclass(frozen=True, slots=True)
class Query:
    """A query as published.

    Attributes:
        id, text: as published.
        papers: (id, title) of the papers that satisfy it; either may be empty.
        kind: what the metrics are broken down by, or empty.
    """

    id: str
    text: str
    papers: Sequence[tuple[str, str]]
    kind: str = ""


class Shelf:
    """Finds the papers of a library by id, and by title where the id leads nowhere; without a library finds none."""

    def __init__(self, papers: ArrowPapers | None) -> None:
        self.papers = papers
        self._titles: dict[str, int] | None = None

    def task(self, query: Query) -> Task | None:
        """Return the task of a query, or None when the library holds no paper that satisfies it."""
        held: dict[str, str] = {}
        absent = []
        for paper_id, title in query.papers:
            position = self._find(paper_id, title)
            if self.papers is not None and position is not None:
                document = self.papers.documents[position]
                held[document.id] = document.title
            else:
                absent.append(title or paper_id)
        if self.papers is not None and not held:
            return None
        return Task(query.id, query.text, PaperGold(tuple(held), tuple(held.values()), tuple(absent)), query.kind)

    def _find(self, paper_id: str, title: str) -> int | None:
        if self.papers is None:
            return None
        try:
            return self.papers.index_of(paper_id)
        except KeyError:
            return self._by_title().get(title_key(title)) if title else None

    def _by_title(self) -> dict[str, int]:
        if self._titles is None and self.papers is not None:
            documents = enumerate(self.papers.documents)
            self._titles = {title_key(document.title): position for position, document in documents}
        return self._titles or {}


@dataclass(frozen=True, slots=True)
class PaperLoader:
    """How one family of libraries is read. A query whose papers are all missing from the library is left out.

    Attributes:
        files: for each split, the file names that hold its queries, as globs, the preferred one first.
        library: for each file the library is made of, its names in the same way.
        papers: yields the papers of the library's files, which come in the order of ``library``.
        queries: yields the queries of a split's files.
        library_required: whether queries alone are of no use. Those of PaSa are: a live library can answer them.
        ids_are_rows: see Loader.
    """

    files: Mapping[str, tuple[str, ...]]
    library: tuple[tuple[str, ...], ...]
    papers: Callable[[Sequence[Path]], Iterator[Paper]]
    queries: Callable[[str, Sequence[Path]], Iterator[Query]]
    library_required: bool = True
    ids_are_rows: bool = False

    @property
    def gold(self) -> type:
        """The type of the tasks' gold."""
        return PaperGold

    @property
    def splits(self) -> Sequence[str]:
        """The splits it knows."""
        return tuple(self.files)

    def find(self, folder: Path) -> dict[str, list[Path]]:
        """Return the files of each split that a folder holds; raise DataError when it holds none."""
        return find_splits(folder, self.files)

    def find_library(self, folder: Path) -> list[Path]:
        """Return the library's files, or none when it is not there and need not be; raise DataError otherwise."""
        found = [first_match(folder, patterns) for patterns in self.library]
        missing = [patterns[0] for patterns, paths in zip(self.library, found) if not paths]
        if missing and (self.library_required or len(missing) < len(found)):
            raise DataError(f"{folder} holds queries but not the library's {', '.join(missing)}")
        return [] if missing else [path for paths in found for path in paths]
