"""What a search asks of the postings: the terms of queries that the index has, counted; in Python and compiled.

Both give the same arrays. Python's is ready at once and reads any text; the compiled one is ten times faster at words
that it meets for the first time and keeps none of them.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from re import Match

import numpy as np
import numpy.typing as npt

from agentgym_r1.retrieval.analyzer import TermEncoder
from agentgym_r1.retrieval.kernels import load_kernels
from agentgym_r1.retrieval.vocabulary import Vocabulary

QUERY_CHUNKS = 4_000
"""Words of queries that Python remembers: half a megabyte in each process that searches."""


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

    def __len__(self) -> int:
        return len(self.firsts) - 1

    def rows(self) -> list[tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]]:
        """Return the numbers and counts of each query."""
        return [(self.numbers[first:last], self.counts[first:last]) for first, last in pairwise(self.firsts.tolist())]


class QueryReader:
    """Finds the terms of queries in a vocabulary. Safe to use from several threads."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._encode = TermEncoder(vocabulary.find, chunks=QUERY_CHUNKS)

    def read(self, queries: Sequence[str]) -> QueryTerms:
        """Count the terms of queries, of which there is at least one, in Python."""
        counted = [Counter(self._encode(query)) for query in queries]
        firsts = np.zeros(len(counted) + 1, np.int64)
        np.cumsum([*map(len, counted)], out=firsts[1:])
        numbers = [number for counts in counted for number in counts]
        counts = [count for counts in counted for count in counts.values()]
        return QueryTerms(firsts, np.array(numbers, np.int64), np.array(counts, np.float32))

    def read_compiled(self, queries: Sequence[str]) -> QueryTerms:
        """Count as ``read`` does; Python reads only the words that the compiled kernel cannot."""
        kernel = load_kernels("terms")
        numbers: list[int] = []
        ends = [0]

        def mark(chunk: Match[str]) -> str:
            numbers.extend(self._encode(chunk[0]))
            ends.append(len(numbers))
            return str(kernel.MARK)

        texts = [query if query.isascii() else kernel.UNREAD.sub(mark, query) for query in queries]
        text = np.frombuffer("".join(texts).encode("utf-32-le"), np.uint32)
        lengths = np.array([*map(len, texts)], np.int64)
        given = np.array(ends, np.int64), np.array(numbers, np.int64)
        words = self._vocabulary
        return QueryTerms(*kernel.count_terms(text, lengths, *given, words.hashes, words.offsets, words.data))
