"""The environment of paper search: search, expand, finish, and a list that grows (Agent-R1's paper search, PaSa)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from agentgym_r1.actions import ParsedAction
from agentgym_r1.context import Section
from agentgym_r1.data.gold import PaperGold
from agentgym_r1.envs.paper_search.expert import Expert
from agentgym_r1.envs.paper_search.pool import Listed, Pool
from agentgym_r1.envs.paper_search.relevance import GoldRelevance, Relevance
from agentgym_r1.retrieval import Retriever
from agentgym_r1.retrieval.library import Library, LocalLibrary
from agentgym_r1.text_env import Options, Outcome, StepPlan, ToolEnv, Verdict
from agentgym_r1.tools.base import BoundCall
from agentgym_r1.tools.papers import ExpandPaper, Finish, SearchPapers, bare_id
from agentgym_r1.types import TaskSet, ToolCall, ToolResult

CUTOFFS = (20, 50, 100)
Refusal = Literal["repeated_query", "repeated_expansion", "unknown_paper"]
_REFUSALS: tuple[Refusal, ...] = ("repeated_query", "repeated_expansion", "unknown_paper")
_NOTES_SHOWN = 5
_ALWAYS_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Prices:
    """The process reward: each call earns the relevance of its best new papers, less what it costs.

    Attributes:
        best: how many new papers of a call count.
        search_cost, expand_cost: of a call. Agent-R1's recipe has 0, PaSa 0.1.
        refused: reward of a repeated query, of a second expansion and of the expansion of a paper that is not listed.
    """

    best: int = 3
    search_cost: float = 0.0
    expand_cost: float = 0.0
    refused: float = -0.5


class PaperSearchEnv(ToolEnv):
    """Collect papers that satisfy a query; the list at the end is the result.

    The score is the recall of the gold papers that the library can show. Success is a recall of 1 when the search was
    finished; running out of steps is none.

    Args:
        tasks: tasks whose gold is a PaperGold.
        library: what is searched.
        options: see Options.
        k: papers a search.
        listed: the most papers that the prompt lists.
        prices: the process reward; None gives the outcome reward only.
        relevance: what the process reward is measured with; gold by default.
        by_title: gold papers are recognised by their titles, for a library whose ids are not the set's own.
    """

    answers: ClassVar[bool] = False
    max_calls: ClassVar[int] = 5

    def __init__(
        self,
        tasks: TaskSet,
        library: Library,
        *,
        options: Options,
        k: int = 10,
        listed: int = 50,
        prices: Prices | None = Prices(),
        relevance: Relevance | None = None,
        by_title: bool = False,
    ) -> None:
        self.library = library
        self._k = k
        self._listed = listed
        self._prices = prices
        self._truth = GoldRelevance(by_title=by_title)
        self._relevance: Relevance = relevance or self._truth
        super().__init__(tasks, tools=(SearchPapers(library, k=k), ExpandPaper(library), Finish()), options=options)
        self._forget()

    def sibling(self) -> "PaperSearchEnv":
        """Return a new environment over the same tasks and library, with the same arguments."""
        return PaperSearchEnv(
            self.tasks,
            self.library,
            options=self.options,
            k=self._k,
            listed=self._listed,
            prices=self._prices,
            relevance=self._relevance,
            by_title=self._truth.by_title,
        )

    @property
    def retriever(self) -> Retriever | None:
        """What searches the library, when it is on this machine."""
        return self.library.retriever if isinstance(self.library, LocalLibrary) else None

    def _forget(self) -> None:
        self._pool = Pool()
        self._queries: set[str] = set()
        self._actions: list[str] = []
        self._counts = dict.fromkeys(("searches", "expansions", *_REFUSALS), 0)
        self._fresh = 0
        self._notes: list[str] = []

    def _instructions(self) -> str:
        return (
            "Collect the papers of a library that satisfy a query. Every paper that a search or an expansion shows is "
            "added to your list, and the list at the end is your result, so look for all that belongs to it. The same "
            "subject may be called by other words: search again in other words, one idea a search, and expand papers "
            "that fit, which shows what they cite and what cites them. Do not repeat a search or an expansion. You may "
            f"call up to {self.max_calls} tools at once. Finish when nothing new turns up."
        )

    def _task_text(self) -> str:
        return f"Query: {self.task.prompt}"

    def _begin(self, results: Sequence[ToolResult]) -> str:
        self._forget()
        return ""

    def _plan_calls(self, parsed: ParsedAction) -> tuple[BoundCall | ToolResult, ...]:
        seen: set[str] = set()
        return tuple(self._vet(self._toolbox.check(call, self.format), seen) for call in parsed.calls[: self.max_calls])

    def _vet(self, call: BoundCall | ToolResult, seen: set[str]) -> BoundCall | ToolResult:
        """Answer at once what the library need not be asked; ``seen`` are the calls before it in this response."""
        if isinstance(call, ToolResult) or call.name == Finish.name:
            return call
        if call.name == SearchPapers.name:
            query = _query_key(call.arguments["query"])
            refused, known = query in self._queries or f"search {query}" in seen, f"search {query}"
            refusal = _refuse("repeated_query", "This query was searched before: try other words.") if refused else None
        else:
            refusal, known = self._vet_expansion(bare_id(call.arguments["paper_id"]), seen)
        seen.add(known)
        return refusal or call

    def _vet_expansion(self, paper_id: str, seen: set[str]) -> tuple[ToolResult | None, str]:
        known = f"expand {paper_id}"
        if paper_id not in self._pool:
            return _refuse("unknown_paper", self._unknown(paper_id), ok=False), known
        if self._pool[paper_id].expanded or known in seen:
            return _refuse("repeated_expansion", f"Paper [{paper_id}] was expanded before."), known
        return None, known

    def _unknown(self, paper_id: str) -> str:
        example = next((listed.paper.id for listed in self._pool), None)
        right = ToolCall("expand", {"paper_id": example}) if example else self.tools[0].example
        return (
            f"There is no paper [{paper_id[:60]}] in your list: only a listed paper can be expanded, by the id in "
            f"brackets. A right example:\n{self.format.call(right)}"
        )

    def _perform(self, plan: StepPlan, results: Sequence[ToolResult]) -> Outcome:
        calls = plan.parsed.calls[: self.max_calls]
        if not calls:
            right = self.format.call(ToolCall(Finish.name, {}))
            return Outcome(f"The list of papers is the result, no answer is needed. To end:\n{right}", valid=False)
        before = self._found()
        refusals = dict.fromkeys(_REFUSALS, 0)
        new = [self._take(call, result, refusals) for call, result in zip(calls, results)]
        self._judge([listed for found in new for listed in found])
        self._fresh = sum(map(len, new))
        finished = any(call.name == Finish.name and result.ok for call, result in zip(calls, results))
        return Outcome(
            self._join(plan.parsed, results),
            rewards=self._rewards(calls, results, new, refusals) if self._prices else {},
            verdict=self._verdict(finished=True) if finished else None,
            valid=all(result.ok for result in results),
            events={
                **{str(name): float(count) for name, count in refusals.items()},
                "new_papers": float(self._fresh),
                "new_gold": float(self._found() - before),
            },
        )

    def _take(self, call: ToolCall, result: ToolResult, refusals: dict[Refusal, int]) -> list[Listed]:
        """Take a call's answer down and return the papers that are new."""
        if result.data in _REFUSALS:
            refusals[result.data] += 1
            self._counts[result.data] += 1
        if result.data in _REFUSALS or not result.ok:
            self._take_note(result.text)
            return []
        if call.name == SearchPapers.name:
            self._queries.add(_query_key(str(call.arguments["query"])))
            self._counts["searches"] += 1
            found = [(hit.paper, hit.score) for hit in result.data]
            said = f"search: {' '.join(str(call.arguments['query']).split())}"
        elif call.name == ExpandPaper.name:
            listed = self._pool[bare_id(str(call.arguments["paper_id"]))]
            listed.expanded = True
            self._counts["expansions"] += 1
            found = [(paper, None) for paper in result.data]
            said = f"expand: [{listed.paper.id}] {listed.paper.title}"
        else:
            return []
        new = self._pool.add(found)
        self._actions.append(f"{said} -> {len(found)} papers, {len(new)} new")
        return new

    def _judge(self, new: Sequence[Listed]) -> None:
        if self._prices is not None or self._relevance.shown:
            judged = self._relevance.judge(self.task, [listed.paper for listed in new]) if new else []
            for listed, relevance in zip(new, judged, strict=True):
                listed.relevance = relevance

    def _rewards(
        self,
        calls: Sequence[ToolCall],
        results: Sequence[ToolResult],
        new: Sequence[Sequence[Listed]],
        refusals: Mapping[Refusal, int],
    ) -> dict[str, float]:
        prices = self._prices or Prices()
        costs = {SearchPapers.name: prices.search_cost, ExpandPaper.name: prices.expand_cost}
        carried_out = [call for call, result in zip(calls, results) if result.ok and result.data not in _REFUSALS]
        return {
            "new_papers": sum(sum(sorted((p.relevance for p in found), reverse=True)[: prices.best]) for found in new),
            "call_cost": 0.0 - sum(costs.get(call.name, 0.0) for call in carried_out),
            **{name: prices.refused * count if count else 0.0 for name, count in refusals.items()},
        }

    def _take_note(self, text: str) -> None:
        self._notes.append(text)

    def _sections(self) -> tuple[Section, ...]:
        shown = [listed.text(judged=self._relevance.shown) for listed in self._order()[-self._listed :]]
        count = len(self._pool)
        title = f"Papers found ({count}, the last ones shown)" if len(shown) < count else "Papers found"
        notes = tuple(self._notes[-_NOTES_SHOWN:])
        sections = (
            Section("Actions so far", tuple(self._actions), keep=self.max_calls),
            Section(title, tuple(shown), keep=min(self._fresh, _ALWAYS_SHOWN)),
        )
        return (*sections, Section("Feedback", notes, keep=len(notes))) if notes else sections

    def _order(self) -> list[Listed]:
        """Return the list with what matters most at its end: the most relevant, or the newest finds."""
        ranked = self._pool.ranked(judged=self._relevance.shown)
        return ranked[::-1] if self._relevance.shown else ranked

    def _score(self, answer: str) -> Verdict:
        return self._verdict(finished=True)

    def _verdict(self, *, finished: bool) -> Verdict:
        metrics = self._metrics()
        return Verdict(success=finished and metrics["recall"] == 1.0, score=metrics["recall"], metrics=metrics)

    def _unfinished(self) -> Verdict:
        return self._verdict(finished=False)

    def _metrics(self) -> dict[str, float]:
        targets = self._truth.targets(self._gold)
        ranking = [self._truth.key(p.paper) in targets for p in self._pool.ranked(judged=self._relevance.shown)]
        recall = self.potential()
        precision = sum(ranking) / len(ranking) if ranking else 0.0
        everything = len(self._gold.papers) + len(self._gold.absent)
        return {
            "recall": recall,
            "precision": precision,
            "f1": 2 * precision * recall / (precision + recall) if precision + recall else 0.0,
            **{f"recall@{k}": min(sum(ranking[:k]) / len(targets), 1.0) for k in CUTOFFS},
            "papers": float(len(ranking)),
            "coverage": min(len(targets) / everything, 1.0),
            **{name: float(count) for name, count in self._counts.items()},
        }

    def _found(self) -> int:
        """Count the gold papers in the list."""
        return len(self._truth.targets(self._gold) & {self._truth.key(listed.paper) for listed in self._pool})

    def potential(self) -> float:
        """Return the recall so far."""
        return self._found() / len(self._truth.targets(self._gold))

    def expert(self) -> str:
        """Search and expand towards the gold set, as many calls a step as are allowed, then finish; see Expert."""
        expert = Expert(
            query=self.task.prompt,
            gold=self._gold,
            pool=self._pool,
            was_searched=lambda query: _query_key(query) in self._queries,
            library=self.library,
            by_title=self._truth.by_title,
        )
        thought, calls = expert.next(most=self.max_calls, steps=self.max_steps - self.steps)
        return self.format.call(*calls, thought=thought)

    def _state(self) -> Any:
        return {
            "pool": self._pool.state(),
            "queries": sorted(self._queries),
            "actions": self._actions,
            "counts": self._counts,
            "fresh": self._fresh,
            "notes": self._notes,
        }

    def _load_state(self, state: Any) -> None:
        self._pool = Pool.from_state(state["pool"])
        self._queries, self._actions = set(state["queries"]), list(state["actions"])
        self._counts, self._fresh, self._notes = dict(state["counts"]), int(state["fresh"]), list(state["notes"])

    @property
    def _gold(self) -> PaperGold:
        gold = self.task.gold
        assert isinstance(gold, PaperGold)
        return gold


def _query_key(query: str) -> str:
    return " ".join(query.casefold().split())


def _refuse(reason: Refusal, text: str, *, ok: bool = True) -> ToolResult:
    return ToolResult(text, ok=ok, data=reason)
