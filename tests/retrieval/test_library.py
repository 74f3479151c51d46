"""Libraries on this machine."""

import pickle

import pytest
from kites import PAPERS

from agentgym_r1.corpus import MemoryPapers, Paper
from agentgym_r1.errors import RetrievalError
from agentgym_r1.retrieval import MemoryRetriever
from agentgym_r1.retrieval.library import MOST_CITATIONS, MOST_REFERENCES, Library, LocalLibrary


@pytest.fixture
def library() -> LocalLibrary:
    papers = MemoryPapers(PAPERS)
    return LocalLibrary(papers, MemoryRetriever(papers.documents))


def test_a_search_gives_papers_with_scores(library: LocalLibrary) -> None:
    assert isinstance(library, Library)
    assert library.name == "memory"
    first, second = library.search(["kite tails", "bread crusts"], k=1)
    assert first[0].paper == Paper("k1", "Kite tails", "Tails of kites steady them.", year=2001)
    assert first[0].score > 0
    assert [hit.paper.id for hit in second] == ["b2"]


def test_an_expansion_gives_references_then_citations(library: LocalLibrary) -> None:
    one, none = library.expand(["f1", "b2"])
    assert [paper.id for paper in one] == ["k1", "k2", "f2"]
    assert [paper.id for paper in none] == ["b1"]
    assert all(paper.references == () for paper in one)


def test_the_newest_citations_are_shown_and_no_more_than_the_limits() -> None:
    cited = [Paper(f"c{n}", "", "") for n in range(MOST_REFERENCES + 5)]
    hub = Paper("hub", "", "", year=2000, references=tuple(paper.id for paper in cited))
    citing = [Paper(f"n{n}", "", "", year=2001 + n, references=("hub",)) for n in range(MOST_CITATIONS + 5)]
    papers = MemoryPapers([*cited, hub, *citing])
    (found,) = LocalLibrary(papers, MemoryRetriever(papers.documents)).expand(["hub"])
    assert [paper.id for paper in found] == [
        *(f"c{n}" for n in range(MOST_REFERENCES)),
        *(f"n{n}" for n in reversed(range(5, MOST_CITATIONS + 5))),
    ]


def test_an_unknown_paper_is_an_error(library: LocalLibrary) -> None:
    with pytest.raises(RetrievalError, match="no paper 'x9' in a library of 6"):
        library.expand(["x9"])


def test_a_retriever_over_other_papers_is_an_error(library: LocalLibrary) -> None:
    other = LocalLibrary(MemoryPapers(PAPERS[:1]), library.retriever)
    with pytest.raises(RetrievalError, match="was the index built from another one"):
        other.search(["bread"], k=3)


def test_a_copy_answers_the_same(library: LocalLibrary) -> None:
    copy = pickle.loads(pickle.dumps(library))
    assert copy.search(["kites"], k=3) == library.search(["kites"], k=3)
