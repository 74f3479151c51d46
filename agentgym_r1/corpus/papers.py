"""Papers: the documents of a scholarly library, with year, venue, authors and who cites whom."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from agentgym_r1.corpus.base import Corpus, MemoryCorpus
from agentgym_r1.types import Document


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper.

    Attributes:
        id: unique in its library.
        title, abstract: as published.
        authors: names, in order.
        year: of publication, or None when it is not known.
        venue: where it was published, or empty.
        references: ids of the papers it cites, in its own order; ids that the library does not hold are allowed.
    """

    id: str
    title: str
    abstract: str
    authors: tuple[str, ...] = ()
    year: int | None = None
    venue: str = ""
    references: tuple[str, ...] = ()

    def document(self) -> Document:
        """Return what is searched: the title and the abstract."""
        return Document(self.id, self.title, self.abstract)


@runtime_checkable
class Papers(Protocol):
    """An ordered, immutable collection of papers with its citation graph."""

    @property
    def documents(self) -> Corpus:
        """The papers as documents, in the same order."""
        ...

    def __len__(self) -> int: ...

    def __getitem__(self, index: int) -> Paper:
        """Return the paper at ``index``, with those references that are in the library; raise IndexError outside."""
        ...

    def index_of(self, paper_id: str) -> int:
        """Return the position of an id; raise KeyError when no paper has it."""
        ...

    def year(self, index: int) -> int | None:
        """Return the year of a paper, without reading the rest."""
        ...

    def references(self, index: int) -> list[int]:
        """Return the positions of the papers that a paper cites, in its own order."""
        ...

    def citations(self, index: int) -> list[int]:
        """Return the positions of the papers that cite a paper, in order."""
        ...


@dataclass(frozen=True, slots=True)
class Links:
    """Lists of positions, one a paper, in two arrays: paper i has ``targets[starts[i] : starts[i + 1]]``."""

    starts: npt.NDArray[np.int64]
    targets: npt.NDArray[np.int32]

    def of(self, index: int) -> list[int]:
        """Return the list of one paper."""
        positions: list[int] = self.targets[self.starts[index] : self.starts[index + 1]].tolist()
        return positions

    def reversed(self) -> "Links":
        """Return the lists in the other direction, each in order."""
        count = len(self.starts) - 1
        sources = np.repeat(np.arange(count, dtype=np.int32), np.diff(self.starts))
        order = np.argsort(self.targets, kind="stable")
        return Links(_starts(np.bincount(self.targets, minlength=count)), sources[order])


def link(counts: Sequence[int], targets: npt.NDArray[np.int64]) -> Links:
    """Return the links of papers to the targets that are known.

    Args:
        counts: how many targets each paper names.
        targets: their positions, one paper after the other; -1 where the library does not hold the target. These are
            left out, like a paper's link to itself and its second link to the same target.
    """
    size = len(counts)
    sources = np.repeat(np.arange(size, dtype=np.int64), np.asarray(counts, np.int64))
    known = (targets >= 0) & (targets != sources)
    sources, targets = sources[known], targets[known]
    _, first = np.unique(sources * max(size, 1) + targets, return_index=True)
    first.sort()
    return Links(_starts(np.bincount(sources[first], minlength=size)), targets[first].astype(np.int32))


def _starts(counts: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    return np.concatenate(([0], np.cumsum(counts))).astype(np.int64)


class MemoryPapers:
    """A library held in memory, for some thousand papers.

    Raises:
        DataError: two papers share an id.
    """

    def __init__(self, papers: Iterable[Paper]) -> None:
        self._papers = tuple(papers)
        self.documents: Corpus = MemoryCorpus(paper.document() for paper in self._papers)
        self._positions = {paper.id: position for position, paper in enumerate(self._papers)}
        named = [self._positions.get(target, -1) for paper in self._papers for target in paper.references]
        self._references = link([len(paper.references) for paper in self._papers], np.array(named, np.int64))
        self._citations = self._references.reversed()

    def __len__(self) -> int:
        return len(self._papers)

    def __getitem__(self, index: int) -> Paper:
        if not 0 <= index < len(self):
            raise IndexError(f"paper {index} of a library of {len(self)}")
        paper = self._papers[index]
        held = tuple(self._papers[target].id for target in self.references(index))
        return Paper(paper.id, paper.title, paper.abstract, paper.authors, paper.year, paper.venue, held)

    def __iter__(self) -> Iterator[Paper]:
        return (self[index] for index in range(len(self)))

    def index_of(self, paper_id: str) -> int:
        """Return the position of an id; raise KeyError when no paper has it."""
        return self._positions[paper_id]

    def year(self, index: int) -> int | None:
        """Return the year of a paper, without reading the rest."""
        return self._papers[index].year

    def references(self, index: int) -> list[int]:
        """Return the positions of the papers that a paper cites, in its own order."""
        return self._references.of(index)

    def citations(self, index: int) -> list[int]:
        """Return the positions of the papers that cite a paper, in order."""
        return self._citations.of(index)


def title_key(title: str) -> str:
    """Return the letters of a title in lower case: equal for the spellings of one title in different sources.

    A title without letters is kept as it is. This is how PaSa's paper database names its papers.
    """
    return "".join(filter(str.isalpha, title)).lower() or title
