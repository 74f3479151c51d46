"""choose_plan: the stated rule, at its borders."""

import pytest

from agentgym_r1.errors import ConfigError
from agentgym_r1.retrieval.plan import FLAT_BYTES, IndexPlan, choose_plan, machine_memory, make_plan

GIB = 1 << 30
WIKI = 21_015_324


@pytest.mark.parametrize(
    ("count", "dimension", "memory", "factory"),
    [
        (0, 384, GIB, "Flat"),
        (FLAT_BYTES // 4 // 256, 256, 0, "Flat"),
        (FLAT_BYTES // 4 // 256 + 1, 256, GIB, "HNSW32_SQ8"),
        (WIKI, 768, 22 * GIB, "HNSW32_SQ8"),
        (WIKI, 768, 16 * GIB, "IVF16384,SQ8"),
        (WIKI, 768, 12 * GIB, "IVF16384,PQ96"),
        (10 * WIKI, 768, 48 * GIB, "IVF65536,PQ96"),
        (1_000_000, 100, 0, "IVF4096,PQ10"),
    ],
)
def test_size_and_memory_decide(count: int, dimension: int, memory: int, factory: str) -> None:
    assert choose_plan(count, dimension, memory=memory).factory == factory


def test_the_default_is_half_of_this_machines_memory() -> None:
    count = machine_memory() // 2 // (768 + 272) - 1
    assert choose_plan(count, 768).kind == ("hnsw" if count * 768 * 4 > FLAT_BYTES else "flat")
    assert choose_plan(4 * count, 768).kind == "ivfpq"


def test_a_kind_can_be_asked_for() -> None:
    assert make_plan("flat", 10, 8) == IndexPlan("flat", "Flat")
    assert make_plan("ivf", 100_000, 256) == IndexPlan("ivf", "IVF1024,SQ8", effort=64, refine=2)
    with pytest.raises(ConfigError, match="did you mean 'hnsw'"):
        make_plan("hsnw", 100_000, 256)
    with pytest.raises(ConfigError, match="at least 9984 documents"):
        make_plan("ivfpq", 9983, 256)
