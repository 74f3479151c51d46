"""The inverted index of BM25: for every term its documents and what each of them scores, as Lucene computes it.

Scores are final when the index is built (the idea of bm25s): a search only adds them up. Sources of the formulas:
Lucene 10, ``BM25Similarity`` and ``SmallFloat``.
"""

import tempfile
from array import array
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from agentgym_r1.errors import ConfigError
from agentgym_r1.retrieval.analyzer import ANALYZER_ID, TermEncoder
from agentgym_r1.retrieval.vocabulary import Vocabulary

RUN_TERMS = 4_000_000

Allocate = Callable[[str, tuple[int, ...], Any], npt.NDArray[Any]]


@dataclass(frozen=True, slots=True)
class Bm25Settings:
    """What an index depends on besides its corpus; the defaults are Anserini's."""

    k1: float = 0.9
    b: float = 0.4
    analyzer: str = ANALYZER_ID

    def __post_init__(self) -> None:
        if not self.k1 > 0:
            raise ConfigError(f"k1 must be greater than 0, got {self.k1}")
        if not 0 <= self.b <= 1:
            raise ConfigError(f"b must be between 0 and 1, got {self.b}")


@dataclass(frozen=True, slots=True)
class Postings:
    """The postings of all terms, one behind the other.

    Attributes:
        count: the number of documents.
        vocabulary: the terms; their numbers index ``starts``.
        starts: (terms + 1,) int64, where the postings of each term begin.
        documents: int32, positions of documents, ascending within a term.
        scores: float32, what the term adds to the score of the document.
    """

    count: int
    vocabulary: Vocabulary
    starts: npt.NDArray[np.int64]
    documents: npt.NDArray[np.int32]
    scores: npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class _Run:
    """The postings of some consecutive documents: distinct terms, how many postings each has, and these."""

    terms: npt.NDArray[np.int64]
    sizes: npt.NDArray[np.int64]
    documents: npt.NDArray[np.int32]
    frequencies: npt.NDArray[np.float32]

    def spilled(self, folder: Path) -> "_Run":
        """Return the same run, mapped from files it wrote into ``folder``."""
        folder.mkdir()
        names = ("terms", "sizes", "documents", "frequencies")
        for name in names:
            np.save(folder / f"{name}.npy", getattr(self, name))
        return _Run(*(np.load(folder / f"{name}.npy", mmap_mode="r") for name in names))


def build_postings(texts: Iterable[str], settings: Bm25Settings, *, allocate: Allocate) -> Postings:
    """Index texts in their order.

    Memory stays within one run of RUN_TERMS term occurrences, the vocabulary and 4 bytes a document, when ``allocate``
    maps files; earlier runs wait in a temporary folder.

    Args:
        texts: what to index, read once.
        settings: k1 and b.
        allocate: makes the array of a name, shape and type.
    """
    with ExitStack() as stack:
        terms: dict[str, int] = {}
        lengths = array("i")
        runs = list(_runs(texts, terms, lengths, stack))
        vocabulary, order = Vocabulary.build(terms)
        numbers = np.empty(len(order), np.int64)
        numbers[order] = np.arange(len(order))
        sizes = np.zeros(len(order), np.int64)
        for run in runs:
            sizes[numbers[run.terms]] += run.sizes
        starts = allocate("starts", (len(sizes) + 1,), np.int64)
        starts[0] = 0
        np.cumsum(sizes, out=starts[1:])
        scorer = _Scorer(np.frombuffer(lengths, np.int32), sizes, settings)
        documents = allocate("documents", (int(starts[-1]),), np.int32)
        scores = allocate("scores", (int(starts[-1]),), np.float32)
        free = starts[:-1].copy()
        for run in runs:
            run_numbers = numbers[run.terms]
            places = _ranges(free[run_numbers], run.sizes)
            documents[places] = run.documents
            scores[places] = scorer(np.repeat(run_numbers, run.sizes), run.documents, run.frequencies)
            free[run_numbers] += run.sizes
        return Postings(len(lengths), vocabulary, starts, documents, scores)


def _ranges(starts: npt.NDArray[np.int64], sizes: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return starts[0], starts[0] + 1, ... for sizes[0] numbers, then the same for starts[1], and so on."""
    before = np.cumsum(sizes) - sizes
    shifts: npt.NDArray[np.int64] = np.repeat(starts - before, sizes)
    return shifts + np.arange(len(shifts))


def _runs(texts: Iterable[str], terms: dict[str, int], lengths: "array[int]", stack: ExitStack) -> Iterator[_Run]:
    """Count terms, numbering new ones and noting each document's length; all runs but the last are spilled to disk."""
    encode = TermEncoder(lambda term: terms.setdefault(term, len(terms)))
    numbers = array("i")
    first = written = 0
    scratch: Path | None = None
    for text in texts:
        found = encode(text)
        numbers.extend(found)
        lengths.append(len(found))
        if len(numbers) >= RUN_TERMS:
            scratch = scratch or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="agentgym-r1-")))
            yield _run(numbers, lengths, first).spilled(scratch / str(written))
            numbers, first, written = array("i"), len(lengths), written + 1
    yield _run(numbers, lengths, first)


def _run(numbers: "array[int]", lengths: "array[int]", first: int) -> _Run:
    """Sort the term occurrences of the documents from ``first`` on by (term, document) and count equal ones."""
    documents = np.repeat(np.arange(first, len(lengths)), np.frombuffer(lengths, np.int32)[first:])
    keys = (np.frombuffer(numbers, np.int32).astype(np.int64) << 32) | documents
    keys.sort()
    firsts = np.flatnonzero(np.diff(keys, prepend=-1))
    frequencies = np.diff(firsts, append=len(keys))
    keys = keys[firsts]
    terms, sizes = np.unique(keys >> 32, return_counts=True)
    return _Run(terms, sizes, (keys & 0xFFFFFFFF).astype(np.int32), frequencies.astype(np.float32))


class _Scorer:
    """Lucene's BM25Similarity in its float32 arithmetic."""

    def __init__(self, lengths: npt.NDArray[np.int32], sizes: npt.NDArray[np.int64], settings: Bm25Settings) -> None:
        """Take the length of each document and the number of documents of each term."""
        count = int(np.count_nonzero(lengths))  # Lucene counts the documents that have the field
        self._idf = np.log(1 + (count - sizes + 0.5) / (sizes + 0.5)).astype(np.float32)
        average = np.float32(lengths.sum(dtype=np.int64) / max(count, 1)) or np.float32(1)
        k1, b, one = np.float32(settings.k1), np.float32(settings.b), np.float32(1)
        self._inverse_norms = one / (k1 * ((one - b) + b * _stored_lengths(lengths) / average))

    def __call__(
        self, terms: npt.NDArray[np.int64], documents: npt.NDArray[np.int32], frequencies: npt.NDArray[np.float32]
    ) -> npt.NDArray[np.float32]:
        """Return the scores of postings."""
        weights, one = self._idf[terms], np.float32(1)
        scores: npt.NDArray[np.float32] = weights - weights / (one + frequencies * self._inverse_norms[documents])
        return scores


def _stored_lengths(lengths: npt.NDArray[np.int32]) -> npt.NDArray[np.float32]:
    """Return the lengths as Lucene's one byte a document keeps them: exact up to 40, then ever coarser."""
    exact = 24
    rest = np.maximum(lengths.astype(np.int64) - exact, 0)
    shift = np.maximum(np.frexp(rest.astype(np.float64))[1] - 4, 0)
    return np.where(lengths < exact, lengths, exact + ((rest >> shift) << shift)).astype(np.float32)


def in_memory(_name: str, shape: tuple[int, ...], dtype: Any) -> npt.NDArray[Any]:
    """Allocate an array in memory."""
    return np.empty(shape, dtype)
