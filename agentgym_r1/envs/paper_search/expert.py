"""The expert of paper search: from the gold set back to the searches and expansions that show it."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from agentgym_r1.corpus import title_key
from agentgym_r1.data.gold import PaperGold
from agentgym_r1.envs.paper_search.pool import Pool
from agentgym_r1.retrieval.library import Library, LocalLibrary
from agentgym_r1.types import ToolCall

_QUERY_CHARACTERS = 400
FINISH = ToolCall("finish", {})


@dataclass(frozen=True, slots=True)
class Expert:
    """Plans the next calls from where an episode stands.

    It searches the query, where there is time for it, and expands listed papers that show missing ones, the more the
    better. What no expansion shows is searched by title, then by title and abstract. What none of this can find is
    named when it finishes. Over a library that is not on this machine it searches only.

    Attributes:
        query: the task's.
        gold: what is to be found.
        pool: what was found.
        was_searched: tells whether a query was searched before.
        library: what is searched.
        by_title: whether gold is recognised by title.
    """

    query: str
    gold: PaperGold
    pool: Pool
    was_searched: Callable[[str], bool]
    library: Library
    by_title: bool

    def next(self, *, most: int, steps: int) -> tuple[str, list[ToolCall]]:
        """Return a thought and the next calls, ``most`` at most, with ``steps`` left; the last ones end with finish."""
        missing = self._missing()
        if len(self.pool) == 0 and len(missing) <= most * (steps - 1) - 1 and not self.was_searched(self.query):
            return "I begin with the query itself.", [ToolCall("search", {"query": self.query})]
        calls, lost = self._towards(missing)
        if not calls:
            named = "; ".join(title for _, title in lost)
            return (f"Not reachable here: {named}." if lost else "Nothing is missing."), [FINISH]
        return f"{len(missing)} papers are still missing.", [*calls[: most - 1], FINISH] if steps == 1 else calls[:most]

    def _missing(self) -> list[tuple[str, str]]:
        """Return id and title of every paper that is still to be found."""
        if self.by_title:
            found = {title_key(listed.paper.title) for listed in self.pool}
            titles = (*self.gold.titles, *self.gold.absent)
            return [("", title) for title in titles if title_key(title) not in found]
        pairs = zip(self.gold.papers, self.gold.titles, strict=True)
        return [(paper_id, title) for paper_id, title in pairs if paper_id not in self.pool]

    def _towards(self, missing: Sequence[tuple[str, str]]) -> tuple[list[ToolCall], list[tuple[str, str]]]:
        """Return calls that show the missing papers, and those that none shows."""
        calls: list[ToolCall] = []
        showing = {paper_id: set(self._sources(paper_id)) for paper_id, _ in missing}
        shares = Counter(source for sources in showing.values() for source in sources)
        left = {paper_id for paper_id, sources in showing.items() if sources}
        for source, _ in sorted(shares.items(), key=lambda share: (-share[1], share[0])):
            found = {paper_id for paper_id in left if source in showing[paper_id]}
            calls += [ToolCall("expand", {"paper_id": source})] if found else []
            left -= found
        lost = []
        for paper_id, title in missing:
            if not showing[paper_id]:
                query = next((q for q in self._queries(paper_id, title) if not self.was_searched(q)), None)
                lost += [] if query else [(paper_id, title)]
                call = ToolCall("search", {"query": query or ""})
                calls += [call] if query and call not in calls else []
        return calls, lost

    def _queries(self, paper_id: str, title: str) -> Iterator[str]:
        if title.strip():
            yield title
        if isinstance(self.library, LocalLibrary) and paper_id:
            papers = self.library.papers
            yield f"{title} {papers.documents[papers.index_of(paper_id)].text}"[:_QUERY_CHARACTERS]

    def _sources(self, paper_id: str) -> list[str]:
        """Return the listed papers, not yet expanded, whose expansion shows a paper."""
        if not isinstance(self.library, LocalLibrary) or not paper_id:
            return []
        papers = self.library.papers
        index = papers.index_of(paper_id)
        around = dict.fromkeys([*papers.citations(index), *papers.references(index)])
        ids = [papers.documents[position].id for position in around]
        listed = [other for other in ids if other in self.pool and not self.pool[other].expanded]
        return [other for other in listed if index in self.library.neighbours(other)]
