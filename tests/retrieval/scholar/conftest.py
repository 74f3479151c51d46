"""A local server that speaks the formats of Semantic Scholar and OpenAlex over the library of kites, with faults."""

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from kites import PAPERS

from agentgym_r1.corpus import MemoryPapers, Paper
from agentgym_r1.retrieval import MemoryRetriever

LIBRARY = MemoryPapers(PAPERS)
SEARCH = MemoryRetriever(LIBRARY.documents)
NUMBERS = {paper.id: 100 + position for position, paper in enumerate(PAPERS)}
BY_NUMBER = {number: paper_id for paper_id, number in NUMBERS.items()}


@dataclass
class Scholar:
    """What the server saw, and what it is to do wrong."""

    url: str = ""
    requests: list[tuple[str, dict[str, str], dict[str, str]]] = field(default_factory=list)
    failures: list[tuple[int, dict[str, str], bytes]] = field(default_factory=list)


def semantic_scholar(path: str, query: dict[str, str]) -> Any:
    if path == "/paper/search":
        (found,) = SEARCH.search([query["query"]], k=int(query["limit"]))
        data = [s2_paper(LIBRARY[LIBRARY.index_of(p.id)]) for p in found]
        return {"total": len(data), "offset": 0, "next": 10, "data": data}
    _, _, paper_id, edges = path.split("/")
    index = LIBRARY.index_of(BY_NUMBER[int(paper_id.removeprefix("CorpusId:"))])
    if edges == "references":
        listed = [{"citedPaper": s2_paper(LIBRARY[i])} for i in LIBRARY.references(index)]
        return {"offset": 0, "data": [*listed, {"citedPaper": {"paperId": None, "title": "A lost one"}}]}
    return {"offset": 0, "data": [{"citingPaper": s2_paper(LIBRARY[i])} for i in LIBRARY.citations(index)] or None}


def s2_paper(paper: Paper) -> dict[str, Any]:
    return {
        "paperId": f"{NUMBERS[paper.id]:040x}",
        "corpusId": NUMBERS[paper.id],
        "title": paper.title,
        "abstract": paper.abstract or None,
        "year": paper.year,
        "venue": "Kite Days",
        "authors": [{"authorId": "1", "name": "Ann Oak"}, {"authorId": None, "name": None}],
    }


def openalex(path: str, query: dict[str, str]) -> Any:
    if path != "/works":
        index = LIBRARY.index_of(BY_NUMBER[int(path.removeprefix("/works/W"))])
        return {"referenced_works": [work_id(LIBRARY[i]) for i in LIBRARY.references(index)]}
    if "search" in query:
        (found,) = SEARCH.search([query["search"]], k=int(query["per-page"]))
        return {"meta": {}, "results": [work(LIBRARY[LIBRARY.index_of(p.id)], p.score) for p in found]}
    kind, _, value = query["filter"].partition(":")
    if kind == "cites":
        papers = [LIBRARY[i] for i in LIBRARY.citations(LIBRARY.index_of(BY_NUMBER[int(value[1:])]))]
        papers.sort(key=lambda paper: -(paper.year or 0))
    else:
        papers = [LIBRARY[LIBRARY.index_of(BY_NUMBER[int(one[1:])])] for one in sorted(value.split("|"), reverse=True)]
    return {"meta": {}, "results": [work(paper, None) for paper in papers]}


def work_id(paper: Paper) -> str:
    return f"https://openalex.org/W{NUMBERS[paper.id]}"


def work(paper: Paper, score: float | None) -> dict[str, Any]:
    index: dict[str, list[int]] = {}
    for place, word in enumerate(paper.abstract.split()):
        index.setdefault(word, []).append(place)
    record = {"id": work_id(paper), "display_name": paper.title, "publication_year": paper.year}
    return {**record, "abstract_inverted_index": index or None, **({"relevance_score": score} if score else {})}


def _handler(scholar: Scholar) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            query = {name: values[0] for name, values in parse_qs(parts.query).items()}
            scholar.requests.append((parts.path, query, dict(self.headers)))
            if scholar.failures:
                return self._answer(*scholar.failures.pop(0))
            service = openalex if parts.path.startswith("/works") else semantic_scholar
            try:
                body = service(parts.path, query)
            except KeyError:
                return self._answer(404, {}, b'{"error": "not found"}')
            return self._answer(200, {}, json.dumps(body).encode())

        def _answer(self, status: int, headers: dict[str, str], body: bytes) -> None:
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Keep the test's output clean."""

    return Handler


@pytest.fixture
def scholar() -> Iterator[Scholar]:
    state = Scholar()
    http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(state))
    state.url = f"http://127.0.0.1:{http.server_address[1]}"
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield state
    http.shutdown()
    thread.join()
    http.server_close()
