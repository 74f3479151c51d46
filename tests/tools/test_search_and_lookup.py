"""Search and lookup over a scripted retriever."""

from collections.abc import Sequence

import pytest

from agentgym_r1.errors import ConfigError
from agentgym_r1.retrieval.base import Passage
from agentgym_r1.tools.lookup import LookupTool
from agentgym_r1.tools.search import SearchTool

TOWER = Passage("1", "Tower", "It is tall. It was built in 1889. Nobody built it twice.", 2.0)
BARE = Passage("2", "", "A passage without a title.", 1.0)


class Shelf:
    """Finds everything for any query but 'nothing', and remembers what it was asked."""

    name = "shelf"

    def __init__(self) -> None:
        self.asked: list[tuple[str, ...]] = []

    def search(self, queries: Sequence[str], *, k: int) -> list[list[Passage]]:
        self.asked.append(tuple(queries))
        return [[] if query == "nothing" else [TOWER, BARE][:k] for query in queries]


def test_a_search_shows_ranked_passages_and_keeps_them_for_the_environment() -> None:
    result = SearchTool(Shelf(), k=2)(" tall tower ")
    assert result.text == f"[1] Tower: {TOWER.text}\n[2] {BARE.text}"
    assert result.data == (TOWER, BARE)


def test_no_passage_and_a_blank_query_are_told_apart() -> None:
    tool = SearchTool(Shelf())
    assert (tool("nothing").text, tool("nothing").ok) == ("No passage matches.", True)
    assert (tool("  ").text, tool("  ").ok) == ("The query is empty. Try: Ada Lovelace", False)


def test_a_batch_is_one_search_and_equals_single_calls() -> None:
    shelf = Shelf()
    queries = ["a", "", "nothing", "b"]
    batch = SearchTool(shelf).batch([{"query": query} for query in queries])
    assert shelf.asked == [("a", "nothing", "b")]
    assert batch == [SearchTool(Shelf())(query) for query in queries]


def test_a_search_for_no_passages_is_refused() -> None:
    with pytest.raises(ConfigError, match="k must be at least 1, got 0"):
        SearchTool(Shelf(), k=0)


def test_a_lookup_goes_from_sentence_to_sentence() -> None:
    tool = LookupTool()
    tool.open([TOWER, BARE])
    assert tool("BUILT").text == "(Result 1 / 2) It was built in 1889."
    assert tool("built").text == "(Result 2 / 2) Nobody built it twice."
    assert tool("built").text == "No more sentences with 'built'."
    assert tool("title").text == "(Result 1 / 1) A passage without a title."
    assert tool("zebra").text == "No sentence has 'zebra'."


def test_a_long_keyword_is_not_repeated_in_full() -> None:
    tool = LookupTool()
    tool.open([TOWER])
    assert len(tool("x" * 100_000).text) < 150


def test_lookup_without_search_explains_itself() -> None:
    assert LookupTool()("x").text == "There is no passage to look in: search first."
    assert not LookupTool()(" ").ok


def test_a_lookup_continues_from_its_state() -> None:
    tool, other = LookupTool(), LookupTool()
    tool.open([TOWER])
    tool("built")
    other.load_state(tool.state())
    assert other("built") == tool("built")
