"""The tools of paper search, on their own."""

import pytest
from kites import PAPERS

from agentgym_r1.corpus import MemoryPapers, Paper
from agentgym_r1.errors import ConfigError
from agentgym_r1.retrieval import MemoryRetriever
from agentgym_r1.retrieval.library import LocalLibrary
from agentgym_r1.tools.base import ToolBox
from agentgym_r1.tools.papers import ExpandPaper, Finish, SearchPapers, bare_id, line
from agentgym_r1.types import ToolCall


@pytest.fixture
def library() -> LocalLibrary:
    papers = MemoryPapers(PAPERS)
    return LocalLibrary(papers, MemoryRetriever(papers.documents))


def test_calls_go_through_a_tool_box(library: LocalLibrary) -> None:
    box = ToolBox([SearchPapers(library, k=1), ExpandPaper(library), Finish()])
    searched, expanded, finished, nothing = box.run(
        [
            ToolCall("search", {"query": "bread ovens"}),
            ToolCall("expand", {"paper_id": " [b1] "}),
            ToolCall("finish", {}),
            ToolCall("search", {"query": "submarines"}),
        ]
    )
    assert searched.text == "[b1] Bread ovens (1999): Ovens for bread."
    assert expanded.text == "[b2] Bread crusts: Crusts of bread."
    assert finished.text == "The search is over."
    assert nothing.text == "No paper matches."


def test_a_paper_without_citations_says_so(library: LocalLibrary) -> None:
    papers = MemoryPapers([Paper("a", "A", "")])
    assert ExpandPaper(LocalLibrary(papers, library.retriever))("a").text == "No citations of this paper are known."


def test_tools_over_one_library_are_equal(library: LocalLibrary) -> None:
    assert SearchPapers(library) == SearchPapers(library) != SearchPapers(library, k=3)
    assert ExpandPaper(library) == ExpandPaper(library)
    assert len({SearchPapers(library), SearchPapers(library), ExpandPaper(library), Finish(), Finish()}) == 3
    other = LocalLibrary(library.papers, library.retriever)
    assert SearchPapers(library) != SearchPapers(other)
    assert ExpandPaper(library) != ExpandPaper(other)
    assert Finish() != ExpandPaper(library)


def test_a_search_needs_a_place_for_a_paper(library: LocalLibrary) -> None:
    with pytest.raises(ConfigError, match="k must be at least 1, got 0"):
        SearchPapers(library, k=0)


def test_a_line_is_one_line_and_shows_the_beginning_of_the_abstract() -> None:
    paper = Paper("x", "A\n title", "word " * 100, year=1999)
    text = line(paper, marks=["match 1.0"])
    assert text.startswith("[x] A title (1999, match 1.0): word word")
    assert text.endswith(" word ...")
    assert len(text) < 250
    assert "\n" not in text
    assert line(Paper("y", "B", "")) == "[y] B"


@pytest.mark.parametrize("written", ["k1", "[k1]", " [ k1 ]\n"])
def test_ids_are_read_with_and_without_brackets(written: str) -> None:
    assert bare_id(written) == "k1"
