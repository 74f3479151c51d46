"""Semantic Scholar's Academic Graph (api.semanticscholar.org/graph/v1) as a library."""

import os
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from agentgym_r1.corpus import Paper
from agentgym_r1.errors import RetrievalError
from agentgym_r1.retrieval.library import MOST_CITATIONS, MOST_REFERENCES, Hit
from agentgym_r1.retrieval.scholar.http import Request, ScholarClient

BASE_URL = "https://api.semanticscholar.org/graph/v1"
KEY_VARIABLE = "SEMANTIC_SCHOLAR_API_KEY"
RATE = 1.0
FIELDS = "corpusId,title,abstract,year,venue,authors"


class _Author(msgspec.Struct):
    name: str | None = None


class _Paper(msgspec.Struct, rename="camel"):
    paper_id: str | None = None
    corpus_id: int | None = None
    title: str | None = None
    abstract: str | None = None
    year: int | None = None
    venue: str | None = None
    authors: list[_Author] | None = None


class _Found(msgspec.Struct):
    data: list[_Paper] = []


class _Edge(msgspec.Struct, rename="camel"):
    cited_paper: _Paper | None = None
    citing_paper: _Paper | None = None


class _Edges(msgspec.Struct):
    data: list[_Edge] | None = None


def connect(base_url: str = BASE_URL, **settings: Any) -> ScholarClient:
    """Return a client at one request a second with the key in $SEMANTIC_SCHOLAR_API_KEY, if there is one.

    Args:
        base_url: where the service is.
        **settings: other arguments of ScholarClient.
    """
    key = os.environ.get(KEY_VARIABLE, "")
    return ScholarClient(base_url, **{"rate": RATE, "headers": {"x-api-key": key} if key else {}, **settings})


class SemanticScholar:
    """A library of some 200 million papers; a paper's id is its corpus id. The score of a hit is 1 over its rank.

    Args:
        client: how it is asked, for example ``connect()``.
    """

    name = "semantic-scholar"

    def __init__(self, client: ScholarClient) -> None:
        self._client = client

    def search(self, queries: Sequence[str], *, k: int) -> list[list[Hit]]:
        """Return the best papers of each query; see ``Library.search``."""
        requests: list[Request] = [
            ("/paper/search", {"query": query, "limit": k, "fields": FIELDS}) for query in queries
        ]
        answers = [_read(answer, _Found) for answer in self._client.get(requests)]
        return [[Hit(paper, 1 / rank) for rank, paper in enumerate(_papers(answer.data), 1)][:k] for answer in answers]

    def expand(self, paper_ids: Sequence[str]) -> list[list[Paper]]:
        """Return references and citations of each paper; see ``Library.expand``."""
        requests: list[Request] = []
        for paper_id in paper_ids:
            paper = f"/paper/{_asked(paper_id)}"
            requests.append((f"{paper}/references", {"limit": MOST_REFERENCES, "fields": FIELDS}))
            requests.append((f"{paper}/citations", {"limit": MOST_CITATIONS, "fields": FIELDS}))
        edges = [_read(answer, _Edges).data or [] for answer in self._client.get(requests)]
        return [
            _unique([*_papers(e.cited_paper for e in cited), *_papers(e.citing_paper for e in citing)])
            for cited, citing in zip(edges[::2], edges[1::2])
        ]

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


def _asked(paper_id: str) -> str:
    return f"CorpusId:{paper_id}" if paper_id.isdigit() else paper_id


def _papers(records: Any) -> Iterator[Paper]:
    """Yield the papers that have an id and a title."""
    for record in records:
        if record is not None and record.title and (record.corpus_id or record.paper_id):
            yield Paper(
                id=str(record.corpus_id or record.paper_id),
                title=record.title,
                abstract=record.abstract or "",
                authors=tuple(author.name for author in record.authors or () if author.name),
                year=record.year,
                venue=record.venue or "",
            )


def _unique(papers: Sequence[Paper]) -> list[Paper]:
    return list({paper.id: paper for paper in papers}.values())


def _read(answer: Any, kind: type[Any]) -> Any:
    try:
        return msgspec.convert(answer, kind)
    except msgspec.ValidationError as err:
        raise RetrievalError(f"Semantic Scholar answered in another format: {err}") from err
