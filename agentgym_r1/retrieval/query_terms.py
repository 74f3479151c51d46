"""What a search asks of the postings: the terms of queries that the index has, counted; in Python and compiled.

Both give the same arrays. Python's is ready at once and reads any text; the compiled one is ten times faster at words
that it meets for the first time and keeps none of them.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, islice, pairwise
from typing import Self

import numpy as np
import numpy.typing as npt

from agentgym_r1.retrieval.analyzer import TermEncoder
from agentgym_r1.retrieval.kernels import load_kernels
from agentgym_r1.retrieval.vocabulary import Vocabulary

QUERY_CHUNKS = 4_000
"""Words of queries that Python remembers: half a megabyte in each process that searches."""
Row = tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]


@dataclass(frozen=True, slots=True)
class QueryTerms:
    """The terms of queries, each query's distinct and in the order in which they first occur.

    Attributes:
        firsts: (queries + 1,) int64, where the terms of each query begin.
        numbers: int64, of the terms.
        counts: float32, how often each occurs in its query.
    """

    firsts: npt.NDArray[np.int64]
    numbers: npt.NDArray[np.int64]
    counts: npt.NDArray[np.float32]

    @classmethod
    def join(cls, rows: Sequence[Row]) -> Self:
        """Put the numbers and counts of single queries, of which there is at least one, behind one another."""
        firsts = np.zeros(len(rows) + 1, np.int64)
        np.cumsum([len(numbers) for numbers, _ in rows], out=firsts[1:])
        return cls(firsts, *map(np.concatenate, zip(*rows)))

    def __len__(self) -> int:
        return len(self.firsts) - 1

    def rows(self) -> list[Row]:
        """Return the numbers and counts of each query."""
        return [(self.numbers[first:last], self.counts[first:last]) for first, last in pairwise(self.firsts.tolist())]


class QueryReader:
    """Finds the terms of queries in a vocabulary. Safe to use from several threads."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._encode = TermEncoder(vocabulary.find, chunks=QUERY_CHUNKS)

    def read(self, queries: Sequence[str]) -> QueryTerms:
        """Count the terms of queries, of which there is at least one, in Python."""
        return QueryTerms.join([self._row(query) for query in queries])

    def read_compiled(self, queries: Sequence[str]) -> QueryTerms:
        """Count as ``read`` does; the compiled kernel reads all but the words beyond ASCII, which Python reads."""
        if all(map(str.isascii, queries)):
            return self._count(queries)
        pieces = [_pieces(query) for query in queries]
        flat = [piece for of_query in pieces for piece in of_query]
        rows = self._count([piece if piece.isascii() else "" for piece in flat]).rows()
        read = iter([row if piece.isascii() else self._row(piece) for piece, row in zip(flat, rows)])
        return QueryTerms.join([_merged([*islice(read, len(of_query))]) for of_query in pieces])

    def _count(self, texts: Sequence[str]) -> QueryTerms:
        """Count the terms of ASCII texts in the kernel."""
        text = np.frombuffer("".join(texts).encode(), np.uint8)
        lengths = np.array([*map(len, texts)], np.int64)
        words = self._vocabulary
        return QueryTerms(*load_kernels("terms").count_terms(text, lengths, words.hashes, words.offsets, words.data))

    def _row(self, query: str) -> Row:
        counts = Counter(self._encode(query))
        return np.array([*counts], np.int64), np.array([*counts.values()], np.float32)


def _pieces(query: str) -> list[str]:
    """Cut a query at blanks, which no term spans, into what is ASCII and what is not."""
    if query.isascii():
        return [query]
    return [" ".join(chunks) for _, chunks in groupby(query.replace("\n", " ").split(" "), str.isascii)]


def _merged(rows: Sequence[Row]) -> Row:
    """Count the terms of consecutive pieces together, in the order in which they first occur."""
    if len(rows) == 1:
        return rows[0]
    counts: Counter[int] = Counter()
    for numbers, of_numbers in rows:
        for number, count in zip(numbers.tolist(), of_numbers.tolist()):
            counts[number] += count
    return np.array([*counts], np.int64), np.array([*counts.values()], np.float32)
