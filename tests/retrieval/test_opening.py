"""open_retriever: a name, a folder or an object becomes a retriever, and anything else an explanation."""

from pathlib import Path

import pytest

from agentgym_r1.corpus import MemoryCorpus, open_corpus, write_corpus
from agentgym_r1.errors import ConfigError, RetrievalError
from agentgym_r1.home import home
from agentgym_r1.retrieval import (
    BM25Retriever,
    MemoryRetriever,
    RemoteRetriever,
    open_retriever,
    read_manifest,
    write_bm25,
)
from agentgym_r1.types import Document

ROWS = [Document("a", "Ferry", "It crosses the river."), Document("b", "Mill", "It grinds grain.")]


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTGYM_R1_HOME", str(tmp_path / "home"))


def test_a_retriever_is_taken_as_it_is() -> None:
    retriever = MemoryRetriever(ROWS)
    assert open_retriever(retriever) is retriever


def test_bm25_is_built_once_for_a_corpus() -> None:
    first = open_retriever("bm25", corpus=MemoryCorpus(ROWS))
    (folder,) = (path for path in (home() / "index").iterdir() if path.is_dir())
    built = (folder / "manifest.json").stat().st_mtime_ns
    again = open_retriever("bm25", corpus=MemoryCorpus(ROWS))
    other = open_retriever("bm25", corpus=MemoryCorpus(ROWS[:1]))
    assert (folder / "manifest.json").stat().st_mtime_ns == built
    assert len([path for path in (home() / "index").iterdir() if path.is_dir()]) == 2
    assert first.search(["grain"], k=1) == again.search(["grain"], k=1) != other.search(["grain"], k=1)


def test_documents_in_memory_are_then_read_from_the_index_and_shared() -> None:
    retriever = open_retriever("bm25", corpus=MemoryCorpus(ROWS))
    assert isinstance(retriever, BM25Retriever)
    assert type(retriever.corpus).__name__ == "ArrowCorpus"
    assert list(retriever.corpus) == ROWS


def test_a_corpus_file_is_found_again_after_it_moved(tmp_path: Path) -> None:
    write_corpus(tmp_path / "c.arrow", ROWS)
    open_retriever("bm25", corpus=open_corpus(tmp_path / "c.arrow"))
    (tmp_path / "c.arrow").rename(tmp_path / "d.arrow")
    moved = open_retriever("bm25", corpus=open_corpus(tmp_path / "d.arrow"))
    assert moved.search(["grain"], k=1)[0][0].id == "b"


@pytest.mark.parametrize("form", [str, Path])
def test_a_folder_is_opened_by_its_path(tmp_path: Path, form: type) -> None:
    write_bm25(tmp_path / "index", MemoryCorpus(ROWS))
    assert open_retriever(form(tmp_path / "index")).search(["ferry"], k=1)[0][0].id == "a"
    assert open_retriever(form(tmp_path / "index"), corpus=MemoryCorpus(ROWS)).search(["ferry"], k=1)[0][0].id == "a"
    with pytest.raises(RetrievalError, match="another corpus"):
        open_retriever(form(tmp_path / "index"), corpus=MemoryCorpus(ROWS[:1]))


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("bm25", "needs a corpus"),
        ("bm52", "did you mean 'bm25'"),
        ("/nowhere/at/all", "no index folder"),
        ("", "unknown retriever"),
        ("http://", "not the URL of a retrieval service"),
    ],
)
def test_anything_else_is_explained(spec: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        open_retriever(spec)


@pytest.mark.parametrize("url", ["http://localhost:8000", "https://localhost/retrieve?index=wiki"])
def test_a_url_is_a_service(url: str) -> None:
    assert isinstance(open_retriever(url), RemoteRetriever)


def test_a_damaged_index_in_the_cache_says_which_file(tmp_path: Path) -> None:
    open_retriever("bm25", corpus=MemoryCorpus(ROWS))
    (folder,) = (path for path in (home() / "index").iterdir() if path.is_dir())
    assert read_manifest(folder).count == 2
    (folder / "scores.npy").write_bytes(b"")
    with pytest.raises(RetrievalError, match=r"scores\.npy: \d+ bytes expected, 0 found"):
        open_retriever("bm25", corpus=MemoryCorpus(ROWS))
