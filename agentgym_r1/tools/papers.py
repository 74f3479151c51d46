"""Search a library, follow citations, and finish: the tools of paper search."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field

from agentgym_r1.corpus import Paper
from agentgym_r1.errors import ConfigError
from agentgym_r1.retrieval.library import Library
from agentgym_r1.types import ToolResult

EMPTY = "The query is empty. Try: glacier melting satellite images"
SNIPPET = 200


class SearchPapers:
    """Answers a query with the ``k`` best papers of a library; ``data`` holds them as Hits.

    Tools over the same library with the same ``k`` are equal, so the calls of many environments go in one batch.

    Raises:
        ConfigError: k is less than 1.
    """

    name = "search"
    description = "Search the library for papers by words of their titles and abstracts."
    example: Mapping[str, str] = {"query": "glacier melting satellite images"}

    def __init__(self, library: Library, *, k: int = 10) -> None:
        if k < 1:
            raise ConfigError(f"k must be at least 1, got {k}")
        self._library = library
        self._k = k

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SearchPapers) and other._library is self._library and other._k == self._k

    def __hash__(self) -> int:
        return hash((SearchPapers, id(self._library), self._k))

    def __call__(self, query: str) -> ToolResult:
        """Return the papers as text, or say how to ask when the query is blank."""
        return self.batch([{"query": query}])[0]

    def batch(self, arguments: Sequence[Mapping[str, Any]]) -> list[ToolResult]:
        """Answer many queries with one search of the library."""
        queries = [str(call["query"]).strip() for call in arguments]
        found = iter(self._library.search([query for query in queries if query], k=self._k))
        return [_hits(next(found)) if query else ToolResult(EMPTY, ok=False) for query in queries]


class ExpandPaper:
    """Answers with the papers that a paper cites and that cite it; ``data`` holds them. Equal over one library."""

    name = "expand"
    description = "Show the references and the citations of a paper that was found."
    example: Mapping[str, str] = {"paper_id": "2101.00001"}

    def __init__(self, library: Library) -> None:
        self._library = library

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ExpandPaper) and other._library is self._library

    def __hash__(self) -> int:
        return hash((ExpandPaper, id(self._library)))

    def __call__(self, paper_id: Annotated[str, Field(description="the id in brackets")]) -> ToolResult:
        """Return the papers as text."""
        return self.batch([{"paper_id": paper_id}])[0]

    def batch(self, arguments: Sequence[Mapping[str, Any]]) -> list[ToolResult]:
        """Expand many papers with one request of the library."""
        found = self._library.expand([bare_id(call["paper_id"]) for call in arguments])
        return [_papers(papers, "No citations of this paper are known.") for papers in found]


class Finish:
    """Ends the search. All of its kind are equal."""

    name = "finish"
    description = "End the search: the papers found so far are the result."
    example: Mapping[str, str] = {}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Finish)

    def __hash__(self) -> int:
        return hash(Finish)

    def __call__(self) -> ToolResult:
        """Confirm the end."""
        return ToolResult("The search is over.")


def bare_id(text: str) -> str:
    """Return a paper's id without the brackets that lists put around it."""
    return text.strip().removeprefix("[").removesuffix("]").strip()


def line(paper: Paper, *, marks: Sequence[str] = ()) -> str:
    """Return a paper on one line: id, title, year with ``marks``, and the beginning of the abstract."""
    about = ", ".join([*([str(paper.year)] if paper.year is not None else []), *marks])
    heading = f"[{paper.id}] {_flat(paper.title)}" + (f" ({about})" if about else "")
    start = _beginning(paper.abstract)
    return f"{heading}: {start}" if start else heading


def _beginning(text: str) -> str:
    """Return the first characters of a text, on one line."""
    start = _flat(text[: 2 * SNIPPET])
    whole = len(start) <= SNIPPET and len(text) <= 2 * SNIPPET
    return start if whole else f"{start[:SNIPPET].rstrip()} ..."


def _flat(text: str) -> str:
    return " ".join(text.split())


def _hits(hits: Sequence[Any]) -> ToolResult:
    lines = "\n".join(line(hit.paper) for hit in hits)
    return ToolResult(lines or "No paper matches.", data=tuple(hits))


def _papers(papers: Sequence[Paper], nothing: str) -> ToolResult:
    return ToolResult("\n".join(map(line, papers)) or nothing, data=tuple(papers))
