"""Semantic Scholar and OpenAlex as libraries, and an episode of paper search over them."""

import pickle
from pathlib import Path
from typing import Any

import pytest
from kites import Driver, make_env

from agentgym_r1.corpus import Paper
from agentgym_r1.disk_cache import DiskCache
from agentgym_r1.errors import ConfigError, RetrievalError
from agentgym_r1.retrieval.library import Library
from agentgym_r1.retrieval.scholar import OpenAlex, ScholarClient, SemanticScholar, open_library
from agentgym_r1.retrieval.scholar import openalex as oa
from agentgym_r1.retrieval.scholar import semantic_scholar as s2


@pytest.fixture(params=["semantic-scholar", "openalex"])
def library(request: pytest.FixtureRequest, scholar: Any, tmp_path: Path) -> Library:
    client = ScholarClient(scholar.url, rate=1000.0, cache=DiskCache(tmp_path / "answers.db"))
    return SemanticScholar(client) if request.param == "semantic-scholar" else OpenAlex(client)


def test_a_search_gives_papers_best_first(library: Library) -> None:
    assert isinstance(library, Library)
    first, second = library.search(["kite tails", "bread crusts"], k=2)
    assert [hit.paper.title for hit in first] == ["Kite tails", "Kite strings"]
    assert first[0].paper.abstract == "Tails of kites steady them."
    assert first[0].paper.year == 2001
    assert first[0].score > first[1].score > 0
    assert second[0].paper.title == "Bread crusts"


def test_an_expansion_gives_references_then_citations(library: Library) -> None:
    (hits,) = library.search(["flying toys at sea"], k=1)
    around, alone = library.expand([hits[0].paper.id, library.search(["bread crusts"], k=1)[0][0].paper.id])
    assert [paper.title for paper in around] == ["Kite tails", "Kite strings", "Ropes and wings"]
    assert [paper.title for paper in alone] == ["Bread ovens"]


def test_an_unknown_paper_is_an_error(library: Library) -> None:
    with pytest.raises(RetrievalError, match="answered 404"):
        library.expand(["W999" if library.name == "openalex" else "999"])


def test_another_format_is_an_error_that_names_the_service(library: Library, scholar: Any) -> None:
    scholar.failures = [(200, {}, b'{"data": 3, "results": 4}')]
    with pytest.raises(RetrievalError, match="answered in another format"):
        library.search(["kites"], k=1)


def test_an_episode_over_a_live_library_is_scored_by_title_and_replayed_offline(
    library: Library, scholar: Any, tmp_path: Path
) -> None:
    def play(over: Library) -> list[Any]:
        act = Driver(make_env(over, by_title=True))
        act.env.reset(options={"task": "bread"})
        seen = []
        while not act.env.over:
            seen.append(act.env.step(act.env.expert())[:4])
        return [*seen, act.env.last()[1]["feedback"]]

    first = play(library)
    assert first[-2][2]
    requests = len(scholar.requests)
    client = ScholarClient(scholar.url, offline=True, cache=DiskCache(tmp_path / "answers.db"))
    assert play(type(library)(client)) == first
    assert len(scholar.requests) == requests
    assert pickle.loads(pickle.dumps(library)).search(["kites"], k=1)


def test_semantic_scholars_records_are_read_with_what_they_lack(scholar: Any) -> None:
    library = SemanticScholar(ScholarClient(scholar.url, rate=1000.0))
    (hits,) = library.search(["bread crusts"], k=1)
    assert hits[0].paper == Paper("105", "Bread crusts", "Crusts of bread.", ("Ann Oak",), None, "Kite Days")
    library.expand(["105"])
    assert {path for path, _, _ in scholar.requests[1:]} == {
        "/paper/CorpusId:105/references",
        "/paper/CorpusId:105/citations",
    }
    library.close()


@pytest.mark.parametrize(("module", "variable"), [(s2, "SEMANTIC_SCHOLAR_API_KEY"), (oa, "OPENALEX_API_KEY")])
def test_a_key_in_the_environment_is_used(
    module: Any, variable: str, scholar: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for key in ("", "KEY"):
        monkeypatch.setenv(variable, key)
        module.connect(scholar.url, rate=1000.0).get([("/paper/search", {"query": "kites", "limit": 1})])
        _, query, headers = scholar.requests[-1]
        assert (query.get("api_key") == "KEY" or headers.get("x-api-key") == "KEY") == bool(key)


def test_live_libraries_are_opened_by_name_once() -> None:
    assert isinstance(open_library("openalex"), OpenAlex)
    assert open_library("semantic-scholar") is open_library("semantic-scholar")
    with pytest.raises(RetrievalError, match="offline, and there is no recorded answer"):
        open_library("semantic-scholar", offline=True).search(["kites"], k=1)
    with pytest.raises(ConfigError, match="did you mean 'openalex'"):
        open_library("open-alex")
