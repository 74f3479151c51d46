"""Which kind of dense index a corpus gets: a stated rule from its size and the memory, or the caller."""

import math
import os
from dataclasses import dataclass
from typing import Literal

from agentgym_r1.errors import ConfigError, unknown_name

Kind = Literal["flat", "hnsw", "ivf", "ivfpq"]
KINDS: tuple[Kind, ...] = ("flat", "hnsw", "ivf", "ivfpq")

FLAT_BYTES = 256 << 20
LINKS = 32
LINK_BYTES = 2 * LINKS * 4 + 16
"""What HNSW keeps of each vector besides its codes: the links of the lowest level, and the few above."""

ID_BYTES = 8
TRAINING_ROWS = 64
"""Vectors a list that k-means learns from."""

LEAST_ROWS = 39
"""Vectors a list below which faiss warns."""

LEAST = LEAST_ROWS * 256
PROBES = 128
"""Lists searched at most: of 2,048 and fewer, a sixteenth."""


@dataclass(frozen=True, slots=True)
class IndexPlan:
    """A kind of index and how it is searched.

    Attributes:
        kind: ``flat`` (exact), ``hnsw``, ``ivf`` or ``ivfpq``.
        factory: faiss's name for it.
        effort: of a search: HNSW's ``efSearch``, IVF's ``nprobe``; 0 for flat.
        refine: how many candidates for each passage wanted are scored again with the exact vectors.
    """

    kind: Kind
    factory: str
    effort: int = 0
    refine: int = 1


def choose_plan(count: int, dimension: int, *, memory: int | None = None) -> IndexPlan:
    """Choose the kind for a corpus: the most exact that is fast enough, then the fastest that fits.

    Flat up to 256 MiB of vectors, about 25 ms a query on one core. Above that HNSW over 8-bit codes if it fits into
    the memory; else IVF over 8-bit codes if those fit; else IVF over product codes of an eighth of the dimension. The
    exact vectors stay in a mapped file and take no memory of their own.

    Args:
        count: of vectors.
        dimension: of each.
        memory: bytes the index may take; by default half of the machine's.
    """
    limit = machine_memory() // 2 if memory is None else memory
    if count * dimension * 4 <= FLAT_BYTES:
        return make_plan("flat", count, dimension)
    if count * (dimension + LINK_BYTES) <= limit:
        return make_plan("hnsw", count, dimension)
    return make_plan("ivf" if count * (dimension + ID_BYTES) <= limit else "ivfpq", count, dimension)


def make_plan(kind: str, count: int, dimension: int) -> IndexPlan:
    """Return the plan of one kind, with parameters for the size of the corpus.

    Raises:
        ConfigError: no such kind, or too few vectors to train it.
    """
    lists = _lists(count)
    match kind:
        case "flat":
            return IndexPlan("flat", "Flat")
        case "hnsw":
            return IndexPlan("hnsw", f"HNSW{LINKS}_SQ8", effort=128, refine=2)
        case "ivf":
            plan = IndexPlan("ivf", f"IVF{lists},SQ8", effort=min(PROBES, lists // 16), refine=2)
        case "ivfpq":
            plan = IndexPlan("ivfpq", f"IVF{lists},PQ{_codes(dimension)}", effort=min(PROBES, lists // 16), refine=16)
        case _:
            raise unknown_name("kind of dense index", kind, KINDS)
    if count < LEAST:
        raise ConfigError(f"{kind} needs at least {LEAST} documents to learn from, got {count}; use 'flat'")
    return plan


def _lists(count: int) -> int:
    """Return the power of two nearest to four times the root of the count, or what can be learned from fewer."""
    wanted = round(math.log2(4 * math.sqrt(max(count, LEAST))))
    return 1 << min(wanted, int(math.log2(max(count, LEAST) / LEAST_ROWS)))


def _codes(dimension: int) -> int:
    """Return the largest divisor of the dimension that is at most an eighth of it."""
    return next(size for size in range(max(1, dimension // 8), 0, -1) if dimension % size == 0)


def machine_memory() -> int:
    """Return the bytes of memory this machine has."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
