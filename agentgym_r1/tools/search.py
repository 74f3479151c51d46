"""Search the corpus and show the best passages."""

from collections.abc import Mapping, Sequence
from typing import Any

from agentgym_r1.errors import ConfigError
from agentgym_r1.retrieval.base import Passage, Retriever
from agentgym_r1.types import ToolResult

EMPTY = "The query is empty. Try: Ada Lovelace"


class SearchTool:
    """Answers a query with the ``k`` best passages of a retriever; ``data`` holds the passages.

    Tools over the same retriever with the same ``k`` are equal, so the calls of many environments go in one batch.

    Raises:
        ConfigError: k is less than 1.
    """

    name = "search"
    description = "Search the corpus for passages that answer the query."
    example: Mapping[str, str] = {"query": "Ada Lovelace"}

    def __init__(self, retriever: Retriever, *, k: int = 3) -> None:
        if k < 1:
            raise ConfigError(f"k must be at least 1, got {k}")
        self._retriever = retriever
        self._k = k

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SearchTool) and other._retriever is self._retriever and other._k == self._k

    def __hash__(self) -> int:
        return hash((SearchTool, id(self._retriever), self._k))

    def __call__(self, query: str) -> ToolResult:
        """Return the passages as text, or say how to ask when the query is blank."""
        return self.batch([{"query": query}])[0]

    def batch(self, arguments: Sequence[Mapping[str, Any]]) -> list[ToolResult]:
        """Answer many queries with one search of the retriever."""
        queries = [str(call["query"]).strip() for call in arguments]
        found = iter(self._retriever.search([query for query in queries if query], k=self._k))
        return [_result(next(found)) if query else ToolResult(EMPTY, ok=False) for query in queries]


def _result(passages: Sequence[Passage]) -> ToolResult:
    lines = [f"[{rank}] {_line(passage)}" for rank, passage in enumerate(passages, 1)]
    return ToolResult("\n".join(lines) or "No passage matches.", data=tuple(passages))


def _line(passage: Passage) -> str:
    return f"{passage.title}: {passage.text}" if passage.title else passage.text
