"""A term dictionary in three flat arrays, so that it can be memory-mapped and shared between processes."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

MASK = (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Terms numbered by the order of their hashes.

    Attributes:
        hashes: (n,) uint64, ascending.
        offsets: (n + 1,) int64, where each term begins in ``data``.
        data: uint8, the terms in UTF-8 one behind the other.
    """

    hashes: npt.NDArray[np.uint64]
    offsets: npt.NDArray[np.int64]
    data: npt.NDArray[np.uint8]

    @classmethod
    def build(cls, terms: Iterable[str]) -> tuple[Self, npt.NDArray[np.int64]]:
        """Return the vocabulary of distinct terms, and for each number in it the position of its term in ``terms``."""
        encoded = [term.encode() for term in terms]
        hashes = np.array([term_hash(term) for term in encoded], np.uint64)
        order = np.argsort(hashes, kind="stable")
        lengths = np.array([len(term) for term in encoded], np.int64)[order]
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        data = np.frombuffer(b"".join(encoded[position] for position in order), np.uint8)
        return cls(hashes[order], offsets, data), order

    def __len__(self) -> int:
        return len(self.hashes)

    def find(self, term: str) -> int:
        """Return the number of a term, -1 when it is not in the vocabulary."""
        encoded = term.encode()
        key = np.uint64(term_hash(encoded))
        number = int(self.hashes.searchsorted(key))
        while number < len(self.hashes) and self.hashes[number] == key:
            if self.data[self.offsets[number] : self.offsets[number + 1]].tobytes() == encoded:
                return number
            number += 1
        return -1


def term_hash(term: bytes) -> int:
    """Return 64 evenly spread bits: SplitMix64 (Steele, Lea and Flood 2014) over the length and each eight bytes."""
    state = len(term)
    for start in range(0, len(term), 8):
        state = _mix(state ^ int.from_bytes(term[start : start + 8], "little"))
    return state


def _mix(state: int) -> int:
    state = (state + 0x9E3779B97F4A7C15) & MASK
    state = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 & MASK
    state = (state ^ state >> 27) * 0x94D049BB133111EB & MASK
    return state ^ state >> 31
