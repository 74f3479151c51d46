"""8-bit codes: their products are exact, their bounds hold for any numbers, and searches with them find the same."""

import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from agentgym_r1.errors import MissingExtra
from agentgym_r1.retrieval import codes, exact
from agentgym_r1.retrieval.codes import QUERY_LEVELS, ROW_LEVELS, ZERO, Codes, encode_queries, encode_rows, products
from agentgym_r1.retrieval.exact import ExactIndex
from agentgym_r1.retrieval.flat import Matrix

for module in ("onnx", "onnxruntime", "threadpoolctl"):
    pytest.importorskip(module, reason="needs the dense extra: pip install 'agentgym-r1[dense]'")
pytestmark = pytest.mark.dense

COUNT, DIMENSION = 2 * exact.ROWS + 700, 24
RNG = np.random.default_rng(5)
UNIT = RNG.standard_normal((COUNT, DIMENSION)).astype(np.float32)
UNIT /= np.linalg.norm(UNIT, axis=1, keepdims=True)
ASKED = UNIT[RNG.integers(0, COUNT, 40)] + RNG.normal(0, 0.1, (40, DIMENSION)).astype(np.float32)

numbers = st.one_of(
    st.floats(-(2.0**40), 2.0**40, width=32),
    st.floats(-(2.0**-90), 2.0**-90, width=32),
    st.sampled_from([0.0, 1.0, -0.5]),
)
tables = st.integers(1, 40).flatmap(
    lambda width: st.tuples(*(arrays(np.float32, (rows, width), elements=numbers) for rows in (5, 3)))
)


@pytest.fixture(autouse=True)
def small_indexes_have_codes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact, "LEAST_ENCODED", 1)


def most_and_least(rows: Codes, queries: Codes) -> tuple[Matrix, Matrix]:
    """Return float64 (rows, queries): the bounds of the exact products."""
    row, query = rows.bounds.astype(np.float64)[:, :, None], queries.bounds.astype(np.float64)[:, None, :]
    likely = row[0] * query[0] * products(rows.codes, queries)
    room = row[1] * (query[1] + query[2]) + row[2] * query[1]
    return likely + room, likely - room


@given(tables)
def test_exact_products_and_those_of_float32_lie_within_the_bounds(vectors: tuple[Matrix, Matrix]) -> None:
    rows, queries = vectors
    most, least = most_and_least(encode_rows(rows), encode_queries(queries))
    underflow = rows.shape[1] * 2.0**-126
    for exactly in (rows.astype(np.float64) @ queries.T.astype(np.float64), (rows @ queries.T).astype(np.float64)):
        assert (exactly <= most + underflow).all()
        assert (exactly >= least - underflow).all()


def test_the_bounds_are_near() -> None:
    most, least = most_and_least(encode_rows(UNIT), encode_queries(ASKED))
    assert (most - least).max() < 0.06  # of products between -1.5 and 1.5; whole numbers up to 64 give 0.02 each way


def test_products_of_the_greatest_codes_do_not_overflow() -> None:
    rows = np.array([[ZERO + ROW_LEVELS] * 64, [ZERO - ROW_LEVELS] * 64, [0] * 64, [255] * 64], np.uint8)
    queries = np.array([[QUERY_LEVELS] * 64, [-QUERY_LEVELS] * 64], np.int8)
    expected = (rows.astype(np.int64) - ZERO) @ queries.T.astype(np.int64)
    found = products(rows, Codes(np.ascontiguousarray(queries.T), np.zeros((3, 2), np.float32)))
    assert np.array_equal(found, expected)
    assert 2 * 255 * QUERY_LEVELS < 2**15


def plain(vectors: Matrix, queries: Matrix, k: int) -> np.ndarray:
    """Return what an index without codes finds."""
    index = ExactIndex(vectors)
    return index.search(queries, k)


def coded(vectors: Matrix) -> ExactIndex:
    index = ExactIndex(vectors)
    index.warm_up()
    return index


@pytest.mark.parametrize("k", [1, 10, 300])
@pytest.mark.parametrize("queries", [1, exact.FEWER + 1, exact.FEW + 1, 40])
def test_a_batch_finds_what_exact_products_alone_find(k: int, queries: int) -> None:
    assert np.array_equal(coded(UNIT).search(ASKED[:queries], k), plain(UNIT, ASKED[:queries], k))


def computed_shares(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return where each block with codes will put its share of exact products."""
    shares: list[float] = []
    made = ExactIndex._likely

    def watched(self: ExactIndex, queries: Matrix) -> exact.Likely | None:
        likely = made(self, queries)
        assert likely is not None

        def counting(first: int, last: int, best: Matrix, positions: np.ndarray) -> int:
            count = likely(first, last, best, positions)
            shares.append(count / (last - first) / len(queries))
            return count

        return counting

    monkeypatch.setattr(ExactIndex, "_likely", watched)
    return shares


def test_few_rows_are_multiplied_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    shares = computed_shares(monkeypatch)
    index = coded(UNIT)
    index.search(ASKED, 10)
    assert len(shares) == 3
    assert max(shares) < 0.05
    assert sum(shares) > 0


def test_vectors_that_codes_do_not_tell_apart_are_left_to_blas_after_a_block(monkeypatch: pytest.MonkeyPatch) -> None:
    shares = computed_shares(monkeypatch)
    near = RNG.integers(-9, 10, (COUNT, DIMENSION)).astype(np.float32)  # whole numbers: sums are exact in any order
    near[:, 0] = 3000
    assert np.array_equal(coded(near).search(near[:40], 10), plain(near, near[:40], 10))
    assert shares == [1.0]


@pytest.mark.parametrize(("in_rows", "in_queries"), [(1000, 0), (0, 1000)])
def test_a_great_number_beside_those_that_decide_hides_no_row(in_rows: int, in_queries: int) -> None:
    rows = RNG.integers(-3, 4, (COUNT, DIMENSION)).astype(np.float32)  # their codes are 0 beside 1000
    asked = RNG.integers(-3, 4, (40, DIMENSION)).astype(np.float32)
    rows[:, 0], asked[:, 0] = in_rows, in_queries
    assert np.array_equal(coded(rows).search(asked, 10), plain(rows, asked, 10))


def test_a_bound_that_is_not_a_number_hides_no_row() -> None:
    rows = UNIT.copy()
    rows[[600, 3000]] = 3e38  # longer than any float32
    asked = np.full((40, DIMENSION), 2.0**-140, np.float32)
    assert (coded(rows).search(asked, 10)[:, :2] == [600, 3000]).all()


@pytest.mark.parametrize("threads", [1, 3])
def test_equal_scores_stand_in_the_order_of_the_rows(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if threads > 1:
        monkeypatch.setattr(exact, "WORK_OF_A_THREAD", 1)
        monkeypatch.setattr(exact, "_threads", lambda: threads)
    rows = np.zeros((COUNT, DIMENSION), np.float32)
    equal = [7, 507, exact.FIRST, 1007, 3007, COUNT - 1]
    rows[equal] = 1
    asked = np.ones((exact.FEW + 1, DIMENSION), np.float32)
    assert coded(rows).search(asked, 7).tolist() == [[*equal, 0]] * len(asked)


@pytest.mark.parametrize("odd", [np.inf, -np.inf, np.nan, 3e38, 1e-44])
def test_rows_with_odd_numbers_hide_no_other(odd: float) -> None:
    rows = UNIT.copy()
    rows[[600, 3000], 3] = odd
    ordinary = np.delete(rows, [600, 3000], axis=0)
    with np.errstate(all="ignore"):
        found = coded(rows).search(ASKED, 12)
        expected = coded(ordinary).search(ASKED, 10)
    places = np.delete(np.arange(COUNT), [600, 3000])[expected]
    for row, wanted in zip(found, places):
        assert [position for position in row.tolist() if position not in {600, 3000}][:10] == wanted.tolist()


def test_only_a_warm_index_has_codes_and_makes_them_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []

    def encode(vectors: Matrix) -> Codes:
        made.append(len(vectors))
        return encode_rows(vectors)

    monkeypatch.setattr(exact, "encode_rows", encode)
    monkeypatch.setattr(exact, "WORK_BEFORE_KERNELS", 1)
    index = ExactIndex(UNIT)
    cold = index.search(ASKED, 10)
    assert np.array_equal(index.search(ASKED, 10), cold)
    assert made == []
    for _ in range(2):
        index.warm_up()
        assert made == [COUNT]
    assert np.array_equal(index.search(ASKED, 10), cold)


def test_an_index_warms_up_with_the_extra_or_says_which(monkeypatch: pytest.MonkeyPatch) -> None:
    codes._session.cache_clear()
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(MissingExtra, match=r"agentgym-r1\[dense\]"):
        coded(UNIT)


def test_batches_at_the_same_time_find_what_they_find_alone() -> None:
    index, expected = coded(UNIT), plain(UNIT, ASKED, 10)
    with ThreadPoolExecutor(8) as pool:
        found = [*pool.map(lambda size: index.search(ASKED[:size], 10), [40, 9, 30, 4] * 8)]
    assert all(np.array_equal(rows, expected[: len(rows)]) for rows in found)


def test_an_index_too_large_for_the_memory_of_each_process_has_no_codes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact, "MOST_ENCODED", UNIT.size - 1)
    monkeypatch.setattr(exact, "encode_rows", lambda vectors: pytest.fail("encoded"))
    assert np.array_equal(coded(UNIT).search(ASKED, 10), plain(UNIT, ASKED, 10))
