"""OpenAlex (api.openalex.org) as a library."""

import os
from collections.abc import Sequence
from typing import Any

import msgspec

from agentgym_r1.corpus import Paper
from agentgym_r1.errors import RetrievalError
from agentgym_r1.retrieval.library import MOST_CITATIONS, MOST_REFERENCES, Hit
from agentgym_r1.retrieval.scholar.http import Request, ScholarClient

BASE_URL = "https://api.openalex.org"
KEY_VARIABLE = "OPENALEX_API_KEY"
RATE = 5.0
FIELDS = "id,display_name,publication_year,abstract_inverted_index,relevance_score"
_PREFIX = "https://openalex.org/"


class _Work(msgspec.Struct):
    id: str
    display_name: str | None = None
    publication_year: int | None = None
    abstract_inverted_index: dict[str, list[int]] | None = None
    relevance_score: float | None = None


class _Works(msgspec.Struct):
    results: list[_Work]


class _References(msgspec.Struct):
    referenced_works: list[str] = []


def connect(base_url: str = BASE_URL, **settings: Any) -> ScholarClient:
    """Return a client at five requests a second with the key in $OPENALEX_API_KEY, if there is one.

    Args:
        base_url: where the service is.
        **settings: other arguments of ScholarClient.
    """
    key = os.environ.get(KEY_VARIABLE, "")
    return ScholarClient(base_url, **{"rate": RATE, "secrets": {"api_key": key} if key else {}, **settings})


class OpenAlex:
    """A library of some 250 million works; a paper's id is the last part of its OpenAlex id (``W2741809807``).

    Args:
        client: how it is asked, for example ``connect()``.
    """

    name = "openalex"

    def __init__(self, client: ScholarClient) -> None:
        self._client = client

    def search(self, queries: Sequence[str], *, k: int) -> list[list[Hit]]:
        """Return the best papers of each query; see ``Library.search``."""
        requests: list[Request] = [("/works", {"search": query, "per-page": k, "select": FIELDS}) for query in queries]
        found = [_read(answer, _Works).results for answer in self._client.get(requests)]
        return [
            [Hit(_paper(work), work.relevance_score or 0.0) for work in works if work.display_name] for works in found
        ]

    def expand(self, paper_ids: Sequence[str]) -> list[list[Paper]]:
        """Return references and citations of each paper; see ``Library.expand``."""
        looked_up: list[Request] = [(f"/works/{paper_id}", {"select": "referenced_works"}) for paper_id in paper_ids]
        named = [_read(answer, _References).referenced_works for answer in self._client.get(looked_up)]
        return [
            self._around(paper_id, [reference.removeprefix(_PREFIX) for reference in references[:MOST_REFERENCES]])
            for paper_id, references in zip(paper_ids, named)
        ]

    def _around(self, paper_id: str, references: Sequence[str]) -> list[Paper]:
        fields = FIELDS.removesuffix(",relevance_score")
        newest: dict[str, str | int] = {
            "filter": f"cites:{paper_id}",
            "sort": "publication_date:desc",
            "per-page": MOST_CITATIONS,
        }
        requests: list[Request] = [("/works", {**newest, "select": fields})]
        if references:
            listed: dict[str, str | int] = {"filter": f"openalex:{'|'.join(references)}", "per-page": MOST_REFERENCES}
            requests.append(("/works", {**listed, "select": fields}))
        citing, *cited = [_read(answer, _Works).results for answer in self._client.get(requests)]
        works = {work.id.removeprefix(_PREFIX): work for work in (cited[0] if cited else [])}
        ordered = [works[reference] for reference in references if reference in works] + citing
        return list({work.id: _paper(work) for work in ordered if work.display_name}.values())

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


def _paper(work: _Work) -> Paper:
    return Paper(
        id=work.id.removeprefix(_PREFIX),
        title=work.display_name or "",
        abstract=_abstract(work.abstract_inverted_index or {}),
        year=work.publication_year,
    )


def _abstract(index: dict[str, list[int]]) -> str:
    """Return the text of an inverted index: each word with its places."""
    words = sorted((place, word) for word, places in index.items() for place in places)
    return " ".join(word for _, word in words)


def _read(answer: Any, kind: type[Any]) -> Any:
    try:
        return msgspec.convert(answer, kind)
    except msgspec.ValidationError as err:
        raise RetrievalError(f"OpenAlex answered in another format: {err}") from err
