"""BM25 search: the contract of Retriever, the same bits from both rankers, and use from threads and processes."""

import pickle
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentgym_r1.corpus import Corpus, MemoryCorpus
from agentgym_r1.errors import ConfigError, RetrievalError
from agentgym_r1.home import home
from agentgym_r1.retrieval import bm25, open_retriever
from agentgym_r1.retrieval.base import Passage, Retriever
from agentgym_r1.retrieval.bm25 import BM25Retriever, write_bm25
from agentgym_r1.retrieval.memory import MemoryRetriever
from agentgym_r1.types import Document

ROOT = Path(__file__).resolve().parents[2]
WORDS = [
    "river",
    "bridge",
    "mill",
    "ox",
    "wheel",
    "stone",
    "tower",
    "keeper",
    "lantern",
    "ferry",
    "grain",
    "salt",
    "rope",
]


def synthetic(count: int, *, seed: int = 0) -> MemoryCorpus:
    rng = random.Random(seed)
    texts = (" ".join(rng.choices(WORDS, k=rng.randint(0, 30))) for _ in range(count))
    return MemoryCorpus(Document(f"d{i}", WORDS[i % len(WORDS)], text) for i, text in enumerate(texts))


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return synthetic(300)


@pytest.fixture(scope="module")
def retriever(corpus: Corpus) -> BM25Retriever:
    return BM25Retriever.build(corpus)


@pytest.fixture(scope="module")
def compiled(corpus: Corpus) -> BM25Retriever:
    retriever = BM25Retriever.build(corpus)
    retriever.warm_up()
    return retriever


queries = st.lists(
    st.lists(st.sampled_from([*WORDS, "the", "unheard"]), max_size=8).map(" ".join) | st.text(), max_size=6
)


def test_it_is_a_retriever(retriever: BM25Retriever) -> None:
    assert isinstance(retriever, Retriever)
    assert retriever.name == "bm25"


def test_passages_carry_the_document_and_the_score() -> None:
    retriever = MemoryRetriever.from_texts([("Ferry", "It crosses the river."), ("Mill", "It grinds grain.")])
    ((passage,),) = retriever.search(["grinding"], k=5)
    assert (passage.id, passage.title, passage.text) == ("1", "Mill", "It grinds grain.")
    assert passage.score > 0
    assert isinstance(retriever, Retriever)


@given(queries, st.integers(1, 400))
def test_a_batch_answers_as_single_queries_do(retriever: BM25Retriever, queries: list[str], k: int) -> None:
    assert retriever.search(queries, k=k) == [retriever.search([query], k=k)[0] for query in queries]


def test_a_batch_of_any_length_answers_as_single_queries_do(compiled: BM25Retriever) -> None:
    rng = random.Random(5)
    asked = [" ".join(rng.choices(WORDS, k=3)) for _ in range(2 * bm25.SLICE + 1)]
    assert compiled.rank(asked, k=5) == [compiled.rank([query], k=5)[0] for query in asked]


@given(queries, st.integers(1, 400))
def test_the_compiled_ranker_gives_the_bits_of_numpy(
    retriever: BM25Retriever, compiled: BM25Retriever, queries: list[str], k: int
) -> None:
    assert compiled.rank(queries, k=k) == retriever.rank(queries, k=k)


@pytest.mark.parametrize("count", [1, 63, 8191, 8192, 8193, 20000])
def test_both_rankers_agree_at_the_borders_of_blocks(count: int) -> None:
    corpus = synthetic(count, seed=count)
    numpy, compiled = BM25Retriever.build(corpus), BM25Retriever.build(corpus)
    compiled.warm_up()
    rng = random.Random(1)
    questions = [" ".join(rng.choices(WORDS, k=rng.randint(1, 6))) for _ in range(20)]
    for k in (1, 7, 1000):
        assert compiled.rank(questions, k=k) == numpy.rank(questions, k=k)


def test_a_ranking_is_the_head_of_a_longer_one(retriever: BM25Retriever) -> None:
    (long,) = retriever.rank(["river mill salt"], k=300)
    assert [score for _, score in long] == sorted((score for _, score in long), reverse=True)
    for k in (1, 2, 10, 50):
        assert retriever.rank(["river mill salt"], k=k) == [long[:k]]


@pytest.mark.parametrize("warm", [False, True])
def test_ties_go_to_the_earlier_document(warm: bool) -> None:
    retriever = BM25Retriever.build(MemoryCorpus(Document(str(i), "", "salt and rope") for i in range(50)))
    if warm:
        retriever.warm_up()
    assert [position for position, _ in retriever.rank(["rope"], k=7)[0]] == list(range(7))


def test_a_word_said_twice_counts_twice(retriever: BM25Retriever) -> None:
    once, twice = (dict(retriever.rank([query], k=300)[0]) for query in ("river", "river river"))
    assert twice == {position: pytest.approx(2 * score) for position, score in once.items()}


@pytest.mark.parametrize("query", ["", "   ", "the of and", "unheard", "?!", "\ud800"])
def test_a_query_without_a_known_word_finds_nothing(retriever: BM25Retriever, query: str) -> None:
    assert retriever.search([query, "river"], k=3)[0] == []
    assert len(retriever.search([query, "river"], k=3)[1]) == 3


def test_no_queries_give_no_answers(retriever: BM25Retriever) -> None:
    assert retriever.search([], k=3) == []


@pytest.mark.parametrize("k", [0, -1])
def test_k_below_one_is_refused(retriever: BM25Retriever, k: int) -> None:
    with pytest.raises(ConfigError, match=f"k must be at least 1, got {k}"):
        retriever.search(["river"], k=k)


@pytest.mark.parametrize("warm", [False, True])
def test_k_beyond_the_corpus_returns_what_matches(warm: bool) -> None:
    retriever = BM25Retriever.build(MemoryCorpus([Document("a", "", "river"), Document("b", "", "mill")]))
    if warm:
        retriever.warm_up()
    assert [passage.id for passage in retriever.search(["river"], k=10**6)[0]] == ["a"]


@pytest.mark.parametrize("documents", [[], [Document("a", "", "")], [Document("a", "", "the of")]])
def test_a_corpus_without_words_answers_with_nothing(documents: list[Document], tmp_path: Path) -> None:
    write_bm25(tmp_path / "index", MemoryCorpus(documents))
    for retriever in (BM25Retriever.build(MemoryCorpus(documents)), BM25Retriever.open(tmp_path / "index")):
        retriever.warm_up()
        assert retriever.search(["river", ""], k=2) == [[], []]


def test_index_and_query_are_analyzed_alike() -> None:
    retriever = MemoryRetriever.from_texts([("", "The LANTERNS' keepers were falling"), ("", "nothing")])
    assert [passage.id for passage in retriever.search(["keeper's lantern fell falls"], k=2)[0]] == ["0"]


def test_an_opened_index_answers_as_one_in_memory(retriever: BM25Retriever, corpus: Corpus, tmp_path: Path) -> None:
    write_bm25(tmp_path / "index", corpus)
    opened = BM25Retriever.open(tmp_path / "index")
    questions = ["river mill", "wheel", "keeper of the lantern"]
    assert opened.search(questions, k=20) == retriever.search(questions, k=20)
    assert opened.search(questions, k=20) == pickle.loads(pickle.dumps(opened)).search(questions, k=20)
    assert len(pickle.dumps(opened)) < 1000
    assert pickle.loads(pickle.dumps(retriever)).search(questions, k=20) == retriever.search(questions, k=20)


def test_threads_get_the_answers_that_one_thread_gets(corpus: Corpus) -> None:
    retriever = BM25Retriever.build(corpus)
    questions = [f"{a} {b}" for a in WORDS for b in WORDS]
    expected = [retriever.search([question], k=5)[0] for question in questions]

    def ask(question: str) -> list[Passage]:
        return retriever.search([question], k=5)[0]

    fresh = BM25Retriever.build(corpus)
    fresh._scanned = bm25.NUMPY_BUDGET - 20 * len(corpus)  # the ranker changes while the threads run
    retriever = fresh
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(ask, questions)) == expected


def test_a_small_search_loads_neither_numba_nor_pyarrow() -> None:
    code = (
        "import sys, agentgym_r1.retrieval as r\n"
        "assert r.MemoryRetriever.from_texts([('a', 'river')]).search(['river'], k=1)[0]\n"
        "print({'numba', 'pyarrow', 'torch'} & set(sys.modules))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert result.stdout == "set()\n"


def test_after_much_work_the_compiled_ranker_takes_over(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bm25, "NUMPY_BUDGET", 2 * len(corpus))
    monkeypatch.setattr(bm25, "rank_compiled", lambda *_: (np.full((1, 1), 7), np.ones((1, 1))))
    retriever = BM25Retriever.build(corpus)
    answers = [retriever.rank(["river"], k=1)[0][0][0] for _ in range(3)]
    assert answers == [answers[0], answers[0], 7]


def test_an_unwritable_home_is_named_when_the_kernel_needs_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from agentgym_r1.retrieval import kernels

    (tmp_path / "file").write_text("")
    monkeypatch.setenv("AGENTGYM_R1_HOME", str(tmp_path / "file"))
    kernels.load_kernels.cache_clear()
    with pytest.raises(RetrievalError, match="set AGENTGYM_R1_HOME"):
        kernels.load_kernels("rank")


def test_bm25_is_the_named_default(corpus: Corpus, retriever: BM25Retriever) -> None:
    assert open_retriever("bm25", corpus=corpus).search(["salt"], k=4) == retriever.search(["salt"], k=4)


def test_the_kernel_is_marked_as_compiled_so_that_nobody_waits_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from agentgym_r1.retrieval import kernels

    monkeypatch.setenv("AGENTGYM_R1_HOME", str(tmp_path))
    kernels.load_kernels.cache_clear()
    kernels.load_kernels("rank")
    assert [path.suffix for path in (home() / "numba").glob("*.compiled")] == [".compiled"]
