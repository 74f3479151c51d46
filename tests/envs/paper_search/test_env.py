"""What each call of paper search shows, earns and costs."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kites import Driver, make_env

from agentgym_r1.corpus import Paper
from agentgym_r1.envs.paper_search.env import Prices
from agentgym_r1.envs.paper_search.relevance import GoldRelevance, Relevance
from agentgym_r1.text_env import Options
from agentgym_r1.types import Task


def terms(info: dict[str, Any]) -> dict[str, float]:
    """Return the reward terms that are not zero."""
    return {name: value for name, value in info["reward_terms"].items() if value}


def test_a_search_lists_the_best_papers_with_year_score_and_snippet(act: Driver) -> None:
    info = act(("search", "kites tails"))
    assert "[k1] Kite tails (2001, match " in info["observation"]
    assert "Tails of kites steady them." in info["observation"]
    assert "search: kites tails -> 2 papers, 2 new" in info["observation"]
    assert terms(info) == {"new_papers": 1.0}
    assert info["events"] == {
        "repeated_query": 0.0,
        "repeated_expansion": 0.0,
        "unknown_paper": 0.0,
        "new_papers": 2.0,
        "new_gold": 1.0,
    }


def test_an_expansion_lists_references_and_citations_and_marks_the_paper(act: Driver) -> None:
    act(("search", "kite strings"))
    info = act(("expand", "k2"))
    assert "[k2] Kite strings (2005, match " in info["observation"]
    assert ", expanded): Strings" in info["observation"]
    assert "[f1] Flying toys at sea (2010): Sailors" in info["observation"]
    assert "expand: [k2] Kite strings -> 2 papers, 1 new" in info["observation"]
    assert terms(info) == {"new_papers": 1.0}


def test_a_repeated_query_costs_a_half_and_is_not_searched_again(act: Driver) -> None:
    act(("search", "Kite  tails"))
    info = act(("search", "kite TAILS "))
    assert terms(info) == {"repeated_query": -0.5}
    assert info["reward"] == -0.5
    assert info["valid_action"]
    assert "This query was searched before: try other words." in info["observation"]


def test_a_second_expansion_costs_a_half(act: Driver) -> None:
    act(("search", "kite tails"))
    assert terms(act(("expand", "k1"))) == {"new_papers": 1.0}
    info = act(("expand", "[k1]"))
    assert terms(info) == {"repeated_expansion": -0.5}
    assert "Paper [k1] was expanded before." in info["feedback"]


def test_calls_of_one_response_count_each_and_see_those_before_them(act: Driver) -> None:
    act(("search", "kite tails"))
    info = act(("search", "ropes"), ("search", "ropes"), ("expand", "k1"), ("expand", "k1"), ("search", "kite tails"))
    assert terms(info) == {"new_papers": 1.0, "repeated_query": -1.0, "repeated_expansion": -0.5}
    assert info["reward"] == -0.5


def test_a_paper_that_was_never_shown_is_feedback(act: Driver) -> None:
    info = act(("expand", "b1"))
    assert not info["valid_action"]
    assert not info["terminated"]
    assert terms(info) == {"unknown_paper": -0.5}
    assert "There is no paper [b1] in your list" in info["feedback"]
    act(("search", "kite tails"))
    assert '{"paper_id": "k1"}' in act(("expand", "no such paper"))["feedback"]


def test_a_paper_found_in_the_same_response_cannot_be_expanded_yet(act: Driver) -> None:
    assert terms(act(("search", "kite tails"), ("expand", "k1"))) == {"new_papers": 1.0, "unknown_paper": -0.5}


def test_only_new_papers_earn_and_only_the_best_three_of_a_call() -> None:
    act = Driver(make_env(k=6, relevance=Everything()))
    act.env.reset(options={"task": "kites"})
    info = act(("search", "kites wings bread"))
    assert info["events"]["new_papers"] == 6.0
    assert terms(info) == {"new_papers": 2.25}
    assert terms(act(("search", "kites"))) == {}


def test_calls_cost_what_the_prices_say() -> None:
    act = Driver(make_env(prices=Prices(best=1, search_cost=0.1, expand_cost=0.25, refused=-2.0)))
    act.env.reset(options={"task": "kites"})
    info = act(("search", "kite tails"), ("search", "kite strings"), ("search", "kite tails"))
    assert info["reward_terms"] == {
        "new_papers": 1.0,
        "call_cost": -0.2,
        "outcome": 0.0,
        "repeated_query": -2.0,
        "repeated_expansion": 0.0,
        "unknown_paper": 0.0,
    }
    assert terms(act(("expand", "k1")))["call_cost"] == -0.25


def test_without_prices_there_is_the_outcome_only() -> None:
    act = Driver(make_env(prices=None))
    act.env.reset(options={"task": "kites"})
    assert act(("search", "kite tails"))["reward_terms"] == {"outcome": 0.0}
    assert act(("finish", ""))["reward_terms"] == {"outcome": 0.5}


def test_finishing_scores_the_recall_of_what_the_library_holds(act: Driver) -> None:
    act(("search", "kite tails"))
    info = act(("expand", "k1"), ("finish", ""))
    assert info["terminated"]
    assert (info["success"], info["score"]) == (True, 1.0)
    assert terms(info) == {"new_papers": 1.0, "outcome": 1.0}
    assert info["metrics"] == {
        "recall": 1.0,
        "precision": 2 / 3,
        "f1": 0.8,
        "recall@20": 1.0,
        "recall@50": 1.0,
        "recall@100": 1.0,
        "papers": 3.0,
        "coverage": 2 / 3,
        "searches": 1.0,
        "expansions": 1.0,
        "repeated_query": 0.0,
        "repeated_expansion": 0.0,
        "unknown_paper": 0.0,
    }


def test_a_half_found_set_is_a_score_and_no_success(act: Driver) -> None:
    act(("search", "kite tails"))
    info = act(("finish", ""))
    assert (info["success"], info["score"], info["reward"]) == (False, 0.5, 0.5)


def test_running_out_of_steps_is_no_success_but_scores_the_list() -> None:
    act = Driver(make_env(options=Options(max_steps=2)))
    act.env.reset(options={"task": "kites"})
    act(("search", "kite tails"))
    info = act(("expand", "k1"))
    assert (info["truncated"], info["success"], info["score"]) == (True, False, 1.0)
    assert terms(info) == {"new_papers": 1.0, "outcome": 1.0}


def test_an_answer_is_answered_with_how_to_finish(act: Driver) -> None:
    *_, terminated, _, info = act.env.step("<answer>k1</answer>")
    assert not terminated
    assert not info["valid_action"]
    assert '{"name": "finish", "arguments": {}}' in info["feedback"]


def test_more_than_five_calls_are_cut_and_said(act: Driver) -> None:
    info = act(*[("search", f"kite {number}") for number in range(6)])
    assert "1 more calls were ignored: at most 5 a step." in info["feedback"]
    assert act.env.snapshot()
    assert info["events"]["new_papers"] == 2.0


def test_a_blank_query_is_feedback_and_costs_nothing(act: Driver) -> None:
    info = act(("search", "  "))
    assert not info["valid_action"]
    assert terms(info) == {}
    assert "The query is empty" in info["observation"]


def test_gold_is_never_told(act: Driver) -> None:
    one = act(("search", "kites"))["observation"]
    assert "relevance" not in one
    assert act.env.tools == make_env().tools


class Everything:
    """Finds every paper relevant, those with later ids more so, and says so."""

    shown = True

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def judge(self, task: Task, papers: Sequence[Paper]) -> list[float]:
        self.asked.append([paper.id for paper in papers])
        return [1.0 if paper.id.startswith("k") else 0.25 for paper in papers]


def test_a_judge_is_asked_once_a_step_about_the_new_papers_only() -> None:
    judge = Everything()
    act = Driver(make_env(relevance=judge))
    assert isinstance(judge, Relevance)
    assert isinstance(GoldRelevance(), Relevance)
    act.env.reset(options={"task": "kites"})
    info = act(("search", "kite tails"), ("search", "ropes and wings"))
    act(("search", "kite"))
    assert judge.asked == [["k1", "k2", "f2", "f1"]]
    assert terms(info)["new_papers"] == 2.5


def test_judgements_that_are_no_secret_are_shown_and_order_the_list() -> None:
    act = Driver(make_env(relevance=Everything(), k=3))
    act.env.reset(options={"task": "kites"})
    shown = act(("search", "ropes wings"), ("search", "kite tails"))["observation"]
    assert "relevance 1.00" in shown
    assert shown.index("[f1]") < shown.index("[k1]")
    info = act(("finish", ""))
    assert info["metrics"]["recall@20"] == 1.0


def test_a_long_list_shows_its_end_and_says_how_long_it_is() -> None:
    act = Driver(make_env(listed=2, k=6))
    act.env.reset(options={"task": "kites"})
    text = act(("search", "kite wings"))["observation"]
    assert "Papers found (4, the last ones shown):" in text
    assert text.count("match ") == 2


def test_papers_are_recognised_by_title_in_a_foreign_library() -> None:
    act = Driver(make_env(by_title=True))
    act.env.reset(options={"task": "kites"})
    act(("search", "kite tails"))
    info = act(("finish", ""))
    assert info["score"] == pytest.approx(1 / 3)
    assert info["metrics"]["coverage"] == 1.0


def test_a_sibling_plays_the_same_over_the_same_library() -> None:
    first = make_env(listed=3, prices=Prices(best=1))
    second = first.sibling()
    assert second.library is first.library
    assert first.retriever is second.retriever is not None
    assert second.reset(seed=3)[0] == first.reset(seed=3)[0]
    action = first.expert()
    assert second.step(action)[:4] == first.step(action)[:4]


@given(st.lists(st.sampled_from(["search", "expand", "finish", "fetch"]), max_size=8), st.text(max_size=40))
def test_any_calls_are_answered(tools: list[str], text: str) -> None:
    act = Driver(make_env())
    act.env.reset(options={"task": "bread"})
    act(("search", "bread"))
    if tools:
        info = act(*[(tool, text) for tool in tools])
        assert info["terminated"] == ("finish" in tools[:5])
        assert info["reward"] <= 1.0
