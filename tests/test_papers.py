"""Libraries of papers, in memory and on disk."""

import pickle
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentgym_r1.corpus import ArrowPapers, MemoryPapers, Paper, Papers, corpus_sha256, title_key, write_papers
from agentgym_r1.errors import DataError

LIBRARY = (
    Paper("a", "Kites", "On kites.", ("Ann Oak", "Bo Elm"), 2001, "Windy Letters"),
    Paper("b", "Larger kites", "Larger ones.", ("Bo Elm",), 2004, "", ("a", "unknown", "a")),
    Paper("c", "Kite strings", "", (), None, "Knots", ("b", "a", "c")),
)


@pytest.fixture(params=["memory", "disk"])
def papers(request: pytest.FixtureRequest, tmp_path: Path) -> Papers:
    if request.param == "memory":
        return MemoryPapers(LIBRARY)
    write_papers(tmp_path / "library", LIBRARY)
    return ArrowPapers(tmp_path / "library")


def test_a_paper_comes_back_with_the_references_that_the_library_holds(papers: Papers) -> None:
    assert isinstance(papers, Papers)
    assert len(papers) == 3
    assert papers[0] == LIBRARY[0]
    assert papers[1] == Paper("b", "Larger kites", "Larger ones.", ("Bo Elm",), 2004, "", ("a",))
    assert papers[2] == Paper("c", "Kite strings", "", (), None, "Knots", ("b", "a"))
    assert list(papers) == [papers[0], papers[1], papers[2]]


def test_citations_are_the_references_the_other_way_round(papers: Papers) -> None:
    assert [papers.references(index) for index in range(3)] == [[], [0], [1, 0]]
    assert [papers.citations(index) for index in range(3)] == [[1, 2], [2], []]


def test_papers_are_found_by_id_and_searched_as_documents(papers: Papers) -> None:
    assert papers.index_of("c") == 2
    with pytest.raises(KeyError):
        papers.index_of("unknown")
    with pytest.raises(IndexError):
        papers[3]
    assert papers.documents.sha256 == corpus_sha256(paper.document() for paper in LIBRARY)


def test_a_copy_in_another_process_is_the_same_library(papers: Papers) -> None:
    copy = pickle.loads(pickle.dumps(papers))
    assert [copy[i] for i in range(3)] == [papers[i] for i in range(3)]


def test_two_papers_with_one_id_are_refused(tmp_path: Path) -> None:
    twice = [LIBRARY[0], LIBRARY[0]]
    with pytest.raises(DataError, match="share the id 'a'"):
        MemoryPapers(twice)
    with pytest.raises(DataError, match="share the id 'a'"):
        write_papers(tmp_path, twice)
    assert list(tmp_path.iterdir()) == []


def test_a_library_may_be_empty(tmp_path: Path) -> None:
    write_papers(tmp_path, [])
    assert len(ArrowPapers(tmp_path)) == 0
    assert len(MemoryPapers([])) == 0


def test_files_that_do_not_belong_together_are_refused(tmp_path: Path) -> None:
    write_papers(tmp_path / "one", LIBRARY)
    write_papers(tmp_path / "two", LIBRARY[:2])
    (tmp_path / "two" / "papers.arrow").write_bytes((tmp_path / "one" / "papers.arrow").read_bytes())
    with pytest.raises(DataError, match="does not belong to the corpus.arrow beside it"):
        ArrowPapers(tmp_path / "two")


@pytest.mark.parametrize("keep", [0, 100, 600])
def test_a_damaged_file_is_an_error_that_names_it(tmp_path: Path, keep: int) -> None:
    write_papers(tmp_path, LIBRARY)
    path = tmp_path / "papers.arrow"
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(DataError, match=r"papers\.arrow: damaged"):
        ArrowPapers(tmp_path)
    path.unlink()
    with pytest.raises(DataError, match=r"papers\.arrow: no such file"):
        ArrowPapers(tmp_path)


def test_a_later_format_asks_for_an_upgrade(tmp_path: Path) -> None:
    write_papers(tmp_path, LIBRARY)
    path = tmp_path / "papers.arrow"
    table = pa.ipc.open_file(path).read_all()
    later = table.replace_schema_metadata({**table.schema.metadata, b"agentgym-r1 papers": b"2"})
    with pa.ipc.new_file(path, later.schema) as writer:
        writer.write_table(later)
    with pytest.raises(DataError, match="papers of format 2.*upgrade agentgym-r1"):
        ArrowPapers(tmp_path)


@given(st.lists(st.lists(st.integers(0, 12), max_size=8), max_size=10))
def test_the_graph_agrees_with_a_plain_one_in_memory_and_on_disk(
    tmp_path_factory: pytest.TempPathFactory, references: list[list[int]]
) -> None:
    library = [
        Paper(f"p{number}", f"Title {number}", "", references=tuple(f"p{target}" for target in targets))
        for number, targets in enumerate(references)
    ]
    expected = [
        [target for target in dict.fromkeys(targets) if target < len(library) and target != number]
        for number, targets in enumerate(references)
    ]
    folder = tmp_path_factory.mktemp("library")
    write_papers(folder, library)
    for papers in (MemoryPapers(library), ArrowPapers(folder)):
        for number in range(len(library)):
            assert papers.references(number) == expected[number]
            assert papers.citations(number) == [n for n, targets in enumerate(expected) if number in targets]


@pytest.mark.parametrize(
    ("one", "other"),
    [("A Kite: of {P}aper!", "a kite of paper"), ("Größe", "GRÖßE"), ("3.1415", "3.1415")],
)
def test_spellings_of_a_title_have_one_key(one: str, other: str) -> None:
    assert title_key(one) == title_key(other) != ""
