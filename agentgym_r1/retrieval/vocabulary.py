"""A term dictionary in three flat arrays, so that it can be memory-mapped and shared between processes."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt


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
        hashes = np.array([_hash(term) for term in encoded], np.uint64)
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
        key = np.uint64(_hash(encoded))
        number = int(self.hashes.searchsorted(key))
        while number < len(self.hashes) and self.hashes[number] == key:
            if self.data[self.offsets[number] : self.offsets[number + 1]].tobytes() == encoded:
                return number
            number += 1
        return -1


def _hash(term: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(term, digest_size=8).digest(), "little")
