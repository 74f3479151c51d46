"""Look a keyword up in the passages that the last search opened: ReAct's Ctrl-F (arXiv 2210.03629)."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from agentgym_r1.retrieval.base import Passage
from agentgym_r1.types import ToolResult

_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_SHOWN = 100


class LookupTool:
    """Shows the sentences of the opened passages that hold a keyword, one a call, and goes on at the same keyword.

    The environment opens passages; one tool belongs to one environment.
    """

    name = "lookup"
    description = "Show the next sentence with the keyword in the passages that the last search found."
    example: Mapping[str, str] = {"keyword": "born"}

    def __init__(self) -> None:
        self.open(())

    def open(self, passages: Sequence[Passage]) -> None:
        """Take the passages to look in, and forget the last keyword."""
        self._texts = [f"{passage.title}: {passage.text}" if passage.title else passage.text for passage in passages]
        self._keyword = ""
        self._next = 0

    def __call__(self, keyword: str) -> ToolResult:
        """Return the next sentence with ``keyword``, without regard to case."""
        wanted = keyword.strip().casefold()
        if not wanted:
            return ToolResult("The keyword is empty. Try: born", ok=False)
        if not self._texts:
            return ToolResult("There is no passage to look in: search first.", ok=False)
        if wanted != self._keyword:
            self._keyword, self._next = wanted, 0
        hits = [s for text in self._texts for s in _SENTENCE.split(text) if wanted in s.casefold()]
        if self._next >= len(hits):
            shown = keyword.strip()[:_SHOWN]
            return ToolResult(f"No more sentences with {shown!r}." if hits else f"No sentence has {shown!r}.")
        self._next += 1
        return ToolResult(f"(Result {self._next} / {len(hits)}) {hits[self._next - 1]}")

    def state(self) -> Any:
        """Return the state as builtins, for snapshots."""
        return {"texts": self._texts, "keyword": self._keyword, "next": self._next}

    def load_state(self, state: Any) -> None:
        """Take back what ``state`` returned."""
        self._texts, self._keyword, self._next = list(state["texts"]), str(state["keyword"]), int(state["next"])
