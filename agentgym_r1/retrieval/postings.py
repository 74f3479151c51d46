"""The inverted index of BM25: for every term its documents and what each of them scores, as Lucene computes it.

Scores are final when the index is built (the idea of bm25s): a search only adds them up. Sources of the formulas:
Lucene 10, ``BM25Similarity`` and ``SmallFloat``.
"""

from array import array
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from agentgym_r1.errors import ConfigError
from agentgym_r1.retrieval.analyzer import ANALYZER_ID, TermEncoder
from agentgym_r1.retrieval.spool import Run, Spool
from agentgym_r1.retrieval.vocabulary import Vocabulary

RUN_TERMS = 4_000_000

Allocate = Callable[[str, tuple[int, ...], Any], npt.NDArray[Any]]
Progress = Callable[[int, int], None]


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


def build_postings(
    texts: Iterable[str],
    settings: Bm25Settings,
    *,
    allocate: Allocate,
    spool: Spool | None = None,
    progress: Progress = lambda done, total: None,
) -> Postings:
    """Index texts in their order.

    Memory stays within one run of RUN_TERMS term occurrences, the vocabulary and 4 bytes a document, when ``allocate``
    maps files; earlier runs wait in a folder.

    Args:
        texts: what to index, read once.
        settings: k1 and b.
        allocate: makes the array of a name, shape and type.
        spool: keeps the runs, and has those of an earlier build of the same texts, which are not indexed again; by
            default a temporary one.
        progress: is told (postings in place, postings) after each run, once all texts are read.
    """
    with Spool() if spool is None else spool as kept:
        terms = {term: number for number, term in enumerate(kept.terms())}
        lengths = kept.lengths()
        last = _index(islice(texts, len(lengths), None), terms, lengths, kept)
        vocabulary, order = Vocabulary.build(terms)
        numbers = np.empty(len(order), np.int64)
        numbers[order] = np.arange(len(order))
        runs = [*kept.runs(), last]
        counts = np.frombuffer(lengths, np.int32)
        arrays = _join(runs, numbers, counts, settings=settings, allocate=allocate, progress=progress)
        return Postings(len(lengths), vocabulary, *arrays)


def _join(
    runs: list[Run],
    numbers: npt.NDArray[np.int64],
    lengths: npt.NDArray[np.int32],
    *,
    settings: Bm25Settings,
    allocate: Allocate,
    progress: Progress,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.float32]]:
    """Put the postings of all runs in the order of their terms' final numbers, and score them."""
    sizes = np.zeros(len(numbers), np.int64)
    for run in runs:
        sizes[numbers[run.terms]] += run.sizes
    starts = allocate("starts", (len(sizes) + 1,), np.int64)
    starts[0] = 0
    np.cumsum(sizes, out=starts[1:])
    scorer = _Scorer(lengths, sizes, settings)
    documents = allocate("documents", (int(starts[-1]),), np.int32)
    scores = allocate("scores", (int(starts[-1]),), np.float32)
    free, done = starts[:-1].copy(), 0
    for run in runs:
        run_numbers = numbers[run.terms]
        places = _ranges(free[run_numbers], run.sizes)
        documents[places] = run.documents
        scores[places] = scorer(np.repeat(run_numbers, run.sizes), run.documents, run.frequencies)
        free[run_numbers] += run.sizes
        done += len(run.documents)
        progress(done, len(documents))
    return starts, documents, scores


def _ranges(starts: npt.NDArray[np.int64], sizes: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return starts[0], starts[0] + 1, ... for sizes[0] numbers, then the same for starts[1], and so on."""
    before = np.cumsum(sizes) - sizes
    shifts: npt.NDArray[np.int64] = np.repeat(starts - before, sizes)
    return shifts + np.arange(len(shifts))


def _index(texts: Iterable[str], terms: dict[str, int], lengths: "array[int]", spool: Spool) -> Run:
    """Count terms, numbering new ones and noting each document's length; spool every run but the last, return that."""
    encode = TermEncoder(lambda term: terms.setdefault(term, len(terms)))
    numbers = array("i")
    first, known = len(lengths), len(terms)
    for text in texts:
        found = encode(text)
        numbers.extend(found)
        lengths.append(len(found))
        if len(numbers) >= RUN_TERMS:
            spool.append(_run(numbers, lengths, first), terms=[*islice(terms, known, None)], lengths=lengths[first:])
            numbers, first, known = array("i"), len(lengths), len(terms)
    return _run(numbers, lengths, first)


def _run(numbers: "array[int]", lengths: "array[int]", first: int) -> Run:
    """Sort the term occurrences of the documents from ``first`` on by (term, document) and count equal ones."""
    documents = np.repeat(np.arange(first, len(lengths)), np.frombuffer(lengths, np.int32)[first:])
    keys = (np.frombuffer(numbers, np.int32).astype(np.int64) << 32) | documents
    keys.sort()
    firsts = np.flatnonzero(np.diff(keys, prepend=-1))
    frequencies = np.diff(firsts, append=len(keys))
    keys = keys[firsts]
    terms, sizes = np.unique(keys >> 32, return_counts=True)
    return Run(terms, sizes, (keys & 0xFFFFFFFF).astype(np.int32), frequencies.astype(np.float32))


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
