"""ExactIndex: the nearest rows, whatever the number of queries, threads and blocks, and however the rows lie."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agentgym_r1.retrieval import exact
from agentgym_r1.retrieval.exact import ExactIndex
from agentgym_r1.retrieval.flat import Matrix, append_rows, map_flat
from agentgym_r1.retrieval.kernels import load_kernels

ROOT = Path(__file__).resolve().parents[2]
COUNT = 2 * exact.ROWS + 300
VECTORS = np.random.default_rng(1).integers(-9, 10, (COUNT, 24)).astype(np.float32)
QUERIES = np.random.default_rng(2).integers(-9, 10, (exact.QUERIES + 50, 24)).astype(np.float32)
ORDER = np.argsort(-(QUERIES @ VECTORS.T), axis=1, kind="stable")
"""Of whole numbers, whose sums are exact in any order; many scores are equal."""


@pytest.fixture(scope="module")
def mapped(tmp_path_factory: pytest.TempPathFactory) -> Matrix:
    path = tmp_path_factory.mktemp("flat") / "vectors.faiss"
    append_rows(path, VECTORS, done=0, count=COUNT)
    return map_flat(path)


def make(vectors: Matrix, *, warm: bool) -> ExactIndex:
    index = ExactIndex(vectors)
    if warm:
        index.warm_up()
    return index


@pytest.mark.parametrize("warm", [False, True])
@pytest.mark.parametrize("queries", [1, exact.FEW, exact.FEW + 1, exact.QUERIES + 50])
@pytest.mark.parametrize("k", [1, 10, exact.MOST_KEPT + 1])
def test_the_nearest_rows_are_found_best_first_and_equal_ones_in_their_order(
    warm: bool, queries: int, k: int, mapped: Matrix
) -> None:
    assert not mapped.flags.aligned
    for vectors in (VECTORS, mapped):
        found = make(vectors, warm=warm).search(QUERIES[:queries], k)
        assert found.dtype == np.int64
        assert np.array_equal(found, ORDER[:queries, :k])


def use_threads(monkeypatch: pytest.MonkeyPatch, threads: int) -> None:
    if threads > 1:
        pytest.importorskip("threadpoolctl", reason="needs the dense extra: pip install 'agentgym-r1[dense]'")
        monkeypatch.setattr(exact, "WORK_OF_A_THREAD", 1)
        monkeypatch.setattr(exact, "_threads", lambda: threads)


@pytest.mark.parametrize("warm", [False, True])
@pytest.mark.parametrize("queries", [1, exact.FEW + 1])
@pytest.mark.parametrize("threads", [1, 3])
def test_equal_scores_stand_in_the_order_of_the_rows(
    warm: bool, queries: int, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_threads(monkeypatch, threads)
    rows = np.zeros((COUNT, 8), np.float32)
    rows[[7, 507, 1007, 3007, COUNT - 1]] = 1
    asked = np.ones((queries, 8), np.float32)
    expected = [[7, 507, 1007, 3007, COUNT - 1, 0, 1]] * queries
    assert make(rows, warm=warm).search(asked, 7).tolist() == expected


@pytest.mark.parametrize("warm", [False, True])
@pytest.mark.parametrize("queries", [1, exact.FEW + 1])
def test_fewer_rows_than_wanted_end_in_minus_one(warm: bool, queries: int) -> None:
    found = make(VECTORS[:3], warm=warm).search(QUERIES[:queries], 5)
    assert np.array_equal(np.sort(found), np.tile([-1, -1, 0, 1, 2], (queries, 1)))
    assert np.array_equal(make(VECTORS[:0], warm=warm).search(QUERIES[:queries], 2), np.full((queries, 2), -1))


def test_nothing_asked_gives_nothing() -> None:
    assert make(VECTORS, warm=True).search(QUERIES[:0], 5).shape == (0, 5)
    assert make(VECTORS, warm=True).search(QUERIES[:9], 0).shape == (9, 0)


@pytest.mark.dense
@pytest.mark.parametrize("threads", [2, 5])
@pytest.mark.parametrize("queries", [1, exact.FEW + 1, 64])
def test_threads_share_the_rows_and_leave_blas_as_it_was(
    threads: int, queries: int, monkeypatch: pytest.MonkeyPatch, mapped: Matrix
) -> None:
    use_threads(monkeypatch, threads)
    before = exact._blas().info()
    found = make(mapped, warm=True).search(QUERIES[:queries], 10)
    assert np.array_equal(found, ORDER[:queries, :10])
    assert exact._blas().info() == before


@pytest.mark.dense
def test_searches_at_the_same_time_find_what_they_find_alone(monkeypatch: pytest.MonkeyPatch, mapped: Matrix) -> None:
    use_threads(monkeypatch, 3)
    index = ExactIndex(mapped)
    sizes = [1, 30, 8, 9, 64] * 8
    with ThreadPoolExecutor(8) as pool:
        found = [*pool.map(lambda size: index.search(QUERIES[:size], 10), sizes)]
    for size, rows in zip(sizes, found):
        assert np.array_equal(rows, ORDER[:size, :10])


def test_after_much_work_the_compiled_kernels_take_over_with_the_same_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[str] = []

    def load(name: Any) -> Any:
        loaded.append(name)
        return load_kernels(name)

    monkeypatch.setattr(exact, "WORK_BEFORE_KERNELS", 3 * VECTORS.size)
    monkeypatch.setattr(exact, "load_kernels", load)
    index = ExactIndex(VECTORS)
    for number in range(5):
        assert np.array_equal(index.search(QUERIES[:1], 10), ORDER[:1, :10])
        assert bool(loaded) == (number >= 3)


def test_a_small_search_loads_neither_numba_nor_faiss() -> None:
    code = (
        "import sys, numpy as np\n"
        "from agentgym_r1.retrieval.exact import ExactIndex\n"
        "assert ExactIndex(np.eye(4, dtype=np.float32)).search(np.eye(4, dtype=np.float32), 1).ravel().tolist()"
        " == [0, 1, 2, 3]\n"
        "print({'numba', 'faiss', 'torch'} & set(sys.modules))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert result.stdout == "set()\n"
