"""HybridRetriever and RerankingRetriever: fusion by hand-computed scores, and order that never depends on luck."""

import pickle
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentgym_r1.errors import ConfigError, RetrievalError
from agentgym_r1.retrieval import (
    HybridRetriever,
    MemoryRetriever,
    Passage,
    ReciprocalRank,
    RerankingRetriever,
    Retriever,
    WeightedScores,
)


class Fixed:
    """Answers every query with the same ranking."""

    def __init__(self, name: str, ranking: Sequence[tuple[str, float]]) -> None:
        self.name = name
        self.ranking = ranking
        self.asked: list[int] = []

    def search(self, queries: Sequence[str], *, k: int) -> list[list[Passage]]:
        self.asked.append(k)
        return [[Passage(name, f"of {self.name}", "", score) for name, score in self.ranking[:k]] for _ in queries]


class ByLength:
    name = "length"

    def score(self, pairs: Sequence[tuple[str, Passage]]) -> list[float]:
        return [float(len(passage.text)) for _, passage in pairs]


FIRST = Fixed("first", [("a", 9.0), ("b", 5.0), ("c", 1.0)])
SECOND = Fixed("second", [("c", 0.8), ("d", 0.4)])


def ids(passages: Sequence[Passage]) -> list[str]:
    return [passage.id for passage in passages]


def test_reciprocal_ranks_add_up() -> None:
    (found,) = HybridRetriever([FIRST, SECOND]).search(["q"], k=10)
    assert ids(found) == ["c", "a", "b", "d"]
    assert [passage.score for passage in found] == pytest.approx([1 / 63 + 1 / 61, 1 / 61, 1 / 62, 1 / 62])


def test_weights_and_constant_of_reciprocal_ranks_count() -> None:
    fusion = ReciprocalRank(constant=0, weights=(1, 0.5))
    (found,) = HybridRetriever([FIRST, SECOND], fusion=fusion).search(["q"], k=10)
    assert [(passage.id, passage.score) for passage in found] == [
        ("a", 1),
        ("c", pytest.approx(1 / 3 + 0.5)),
        ("b", 0.5),
        ("d", 0.25),
    ]


def test_weighted_scores_are_stretched_within_the_query() -> None:
    (found,) = HybridRetriever([FIRST, SECOND], fusion=WeightedScores((1, 2))).search(["q"], k=10)
    assert [(passage.id, passage.score) for passage in found] == [("c", 2), ("a", 1), ("b", 0.5), ("d", 0)]


def test_equal_scores_of_a_retriever_count_as_one() -> None:
    flat = Fixed("flat", [("x", 3.0), ("y", 3.0)])
    (found,) = HybridRetriever([flat, Fixed("none", [])], fusion=WeightedScores()).search(["q"], k=10)
    assert [(passage.id, passage.score) for passage in found] == [("x", 1), ("y", 1)]


def test_three_retrievers_are_fused_and_the_text_comes_from_the_first_that_found_it() -> None:
    third = Fixed("third", [("c", 1.0)])
    hybrid = HybridRetriever([FIRST, SECOND, third])
    (found,) = hybrid.search(["q"], k=1)
    assert (hybrid.name, found[0].id, found[0].title) == ("first+second+third", "c", "of first")
    assert isinstance(hybrid, Retriever)


def test_every_retriever_is_asked_deeply_enough() -> None:
    shallow = Fixed("shallow", [])
    HybridRetriever([shallow, SECOND], depth=7).search(["q"], k=3)
    HybridRetriever([shallow, SECOND], depth=7).search(["q"], k=30)
    assert shallow.asked == [7, 30]


def test_no_query_gives_no_answer_and_k_is_checked() -> None:
    hybrid = HybridRetriever([FIRST, SECOND])
    assert hybrid.search([], k=3) == []
    with pytest.raises(ConfigError, match="k must be at least 1, got 0"):
        hybrid.search(["q"], k=0)


def test_wrong_options_are_explained() -> None:
    with pytest.raises(ConfigError, match="at least 2 retrievers, got 1"):
        HybridRetriever([FIRST])
    with pytest.raises(ConfigError, match="depth must be at least 1"):
        HybridRetriever([FIRST, SECOND], depth=0)
    with pytest.raises(ConfigError, match="depth must be at least 1"):
        RerankingRetriever(FIRST, ByLength(), depth=0)
    with pytest.raises(ConfigError, match="weights must be finite"):
        WeightedScores((1, float("nan")))
    with pytest.raises(ConfigError, match="at least 0, got -1"):
        ReciprocalRank(constant=-1)
    with pytest.raises(ConfigError, match="2 expected, got 3"):
        HybridRetriever([FIRST, SECOND], fusion=WeightedScores((1, 1, 1))).search(["q"], k=1)


def test_a_hybrid_of_real_retrievers_answers_the_same_in_another_process() -> None:
    rows = [("Mill", "It grinds grain."), ("Ferry", "It crosses the river."), ("Bridge", "It spans the river.")]
    hybrid = HybridRetriever([MemoryRetriever.from_texts(rows), MemoryRetriever.from_texts(rows)])
    copy = pickle.loads(pickle.dumps(hybrid))
    assert ids(copy.search(["river"], k=2)[0]) == ids(hybrid.search(["river"], k=2)[0]) == ["1", "2"]


rankings = st.lists(st.sampled_from("abcdefgh"), unique=True).map(
    lambda found: [(name, 1.0 / (i + 1)) for i, name in enumerate(found)]
)


@given(
    first=rankings, second=rankings, k=st.integers(1, 9), fusion=st.sampled_from([ReciprocalRank(), WeightedScores()])
)
def test_fusion_returns_the_union_best_first(first: list, second: list, k: int, fusion: ReciprocalRank) -> None:
    hybrid = HybridRetriever([Fixed("x", first), Fixed("y", second)], fusion=fusion)
    (found,) = hybrid.search(["q"], k=k)
    union = {name for name, _ in [*first, *second]}
    assert len(found) == min(k, len(union))
    assert set(ids(found)) <= union
    assert len(set(ids(found))) == len(found)
    assert [passage.score for passage in found] == sorted((passage.score for passage in found), reverse=True)


def test_a_reranker_decides_and_equal_scores_keep_the_order() -> None:
    rows = [("", "river river river"), ("", "river and mill"), ("", "river or a mill")]
    retriever = RerankingRetriever(MemoryRetriever.from_texts(rows), ByLength())
    found, nothing = retriever.search(["river", "sea"], k=2)
    assert ([(passage.id, passage.score) for passage in found], nothing) == ([("0", 17.0), ("2", 15.0)], [])
    assert retriever.name == "memory>length"
    same = RerankingRetriever(Fixed("f", [("b", 2.0), ("a", 1.0)]), ByLength())
    assert ids(same.search(["q"], k=2)[0]) == ["b", "a"]
    with pytest.raises(ConfigError, match="k must be at least 1"):
        same.search(["q"], k=0)


@pytest.mark.parametrize("scores", [[1.0], [1.0, float("nan"), 0.0]])
def test_a_reranker_that_answers_wrongly_is_named(scores: list[float]) -> None:
    class Broken:
        name = "broken"

        def score(self, pairs: Sequence[tuple[str, Passage]]) -> list[float]:
            return scores

    with pytest.raises(RetrievalError, match=r"'broken': \d scores for 3 passages"):
        RerankingRetriever(FIRST, Broken()).search(["q"], k=1)
