"""AgentR1/HotpotQA, 2WikiMultiHopQA and MuSiQue: multi-hop questions answered by searching a corpus."""

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

from agentgym_r1.context import Section
from agentgym_r1.corpus import MemoryCorpus
from agentgym_r1.data.gold import QAGold
from agentgym_r1.data.installed import open_corpus_of, open_tasks
from agentgym_r1.data.worlds import encyclopedia
from agentgym_r1.envs.presets import DEFAULT_PROTOCOL, check_choice, resolve, split_options
from agentgym_r1.envs.sources import choose_source
from agentgym_r1.envs.vector import VectorTextEnv
from agentgym_r1.retrieval import Passage, Retriever, open_retriever
from agentgym_r1.retrieval.opening import NAMES
from agentgym_r1.scoring import qa_score
from agentgym_r1.text_env import Options, ToolEnv, Verdict
from agentgym_r1.tools.base import BoundCall, Tool
from agentgym_r1.tools.lookup import LookupTool
from agentgym_r1.tools.search import SearchTool
from agentgym_r1.types import Source, TaskSet, ToolCall, ToolResult

Flavour = Literal["hotpotqa", "2wiki", "musique"]
METRICS = ("em", "f1")
_NOTES_SHOWN = 3


class SearchQAEnv(ToolEnv):
    """Answer a question with the help of ``search`` (and ``lookup``, where it is switched on).

    Args:
        tasks: tasks whose gold is a QAGold.
        retriever: answers ``search``.
        options: see Options.
        flavour: whose official scorer judges the answer.
        k: passages a query.
        first_search: the question itself is searched at reset, as Agent-R1's recipe does.
        lookup: offer ReAct's lookup tool.
        match_titles: a supporting passage counts as found by its title too; for a corpus with ids of its own.
        metric: ``em`` or ``f1``; the score and the outcome reward. Success is always an exact match.
    """

    max_calls: ClassVar[int] = 4

    def __init__(
        self,
        tasks: TaskSet,
        retriever: Retriever,
        *,
        options: Options,
        flavour: Flavour,
        k: int = 5,
        first_search: bool = False,
        lookup: bool = False,
        match_titles: bool = False,
        metric: str = "em",
    ) -> None:
        check_choice("metric", metric, METRICS)
        self.retriever = retriever
        self._flavour = flavour
        self._metric = metric
        self._match_titles = match_titles
        self._first_search = first_search
        self._lookup = LookupTool() if lookup else None
        tools: list[Tool] = [SearchTool(retriever, k=k)]
        super().__init__(tasks, tools=[*tools, self._lookup] if self._lookup else tools, options=options)
        self._forget()

    def _forget(self) -> None:
        self._queries: list[str] = []
        self._repeated = 0
        self._passages: dict[str, Passage] = {}
        self._fresh = 0
        self._notes: list[str] = []

    def _instructions(self) -> str:
        return (
            "Answer the question from the passages of a corpus that you can search. The answer usually takes several "
            "facts from different passages, so search for one fact at a time. Give a short answer: a name, a date, a "
            "number, yes or no, without a sentence around it."
        )

    def _task_text(self) -> str:
        return f"Question: {self.task.prompt}"

    def _opening_calls(self) -> tuple[BoundCall, ...]:
        if not self._first_search:
            return ()
        call = self._toolbox.check(ToolCall("search", {"query": self.task.prompt}), self.format)
        return (call,) if isinstance(call, BoundCall) else ()

    def _begin(self, results: Sequence[ToolResult]) -> str:
        self._forget()
        if self._lookup is not None:
            self._lookup.open(())
        for result in results:
            self._take(self.task.prompt, result)
        return "\n\n".join(result.text for result in results)

    def _absorb(self, calls: Sequence[BoundCall | ToolResult], results: Sequence[ToolResult]) -> dict[str, float]:
        repeated, known = self._repeated, self._found()
        self._fresh = 0
        searches = 0
        for call, result in zip(calls, results):
            if isinstance(call, BoundCall) and call.name == "search" and result.ok:
                self._take(str(call.arguments["query"]), result)
                searches += 1
            else:
                self._take_note(result.text)
        return {
            "searches": float(searches),
            "repeated_query": float(self._repeated - repeated),
            "new_gold": float(self._found() - known),
        }

    def _take(self, query: str, result: ToolResult) -> None:
        key = " ".join(query.casefold().split())
        self._repeated += key in {" ".join(q.casefold().split()) for q in self._queries}
        self._queries.append(query)
        passages: Sequence[Passage] = result.data or ()
        for passage in passages:
            self._fresh += passage.id not in self._passages
            self._passages.setdefault(passage.id, passage)
        if self._lookup is not None:
            self._lookup.open(passages)

    def _sections(self) -> tuple[Section, ...]:
        passages = tuple(f"[{n}] {p.title}: {p.text}" for n, p in enumerate(self._passages.values(), 1))
        notes = tuple(self._notes[-_NOTES_SHOWN:])
        sections = (
            Section("Queries so far", tuple(self._queries), keep=len(self._queries)),
            Section("Passages found", passages, keep=self._fresh),
        )
        return (*sections, Section("Feedback", notes, keep=len(notes))) if notes else sections

    def _take_note(self, text: str) -> None:
        self._notes.append(text)

    def _score(self, answer: str) -> Verdict:
        score = qa_score(answer, self._gold.answers, flavour=self._flavour)
        value = score.em if self._metric == "em" else score.f1
        return Verdict(success=score.em >= 1.0, score=value, metrics=self._metrics(em=score.em, f1=score.f1))

    def _unfinished(self) -> Verdict:
        return Verdict(success=False, score=0.0, metrics=self._metrics(em=0.0, f1=0.0))

    def _metrics(self, *, em: float, f1: float) -> dict[str, float]:
        return {
            "em": em,
            "f1": f1,
            "support_recall": self._found() / max(len(self._gold.supporting), 1),
            "searches": float(len(self._queries)),
            "repeated_queries": float(self._repeated),
        }

    def _found(self) -> int:
        """Count the supporting passages among those retrieved, by id or, on another corpus, by title."""
        titles = {passage.title for passage in self._passages.values()}
        gold = zip(self._gold.supporting, self._gold.supporting_titles, strict=True)
        return sum(identity in self._passages or (self._match_titles and title in titles) for identity, title in gold)

    def potential(self) -> float:
        """Return the share of the supporting passages that were retrieved."""
        return self._found() / max(len(self._gold.supporting), 1)

    def expert(self) -> str:
        """Search the title of each supporting passage, one a step, as far as the step limit lets, then answer."""
        asked = set(self._queries)
        open_titles = [title for title in self._gold.supporting_titles if title not in asked]
        if open_titles and self.steps < self.max_steps - 1:
            title = open_titles[0]
            return self.format.call(ToolCall("search", {"query": title}), thought=f"I need the passage on {title}.")
        return self.format.answer(self._gold.answers[0])

    def _state(self) -> Any:
        return {
            "queries": self._queries,
            "repeated": self._repeated,
            "passages": [[p.id, p.title, p.text, p.score] for p in self._passages.values()],
            "fresh": self._fresh,
            "notes": self._notes,
            "lookup": self._lookup.state() if self._lookup else None,
        }

    def _load_state(self, state: Any) -> None:
        self._queries, self._repeated = list(state["queries"]), int(state["repeated"])
        self._passages = {row[0]: Passage(*row) for row in state["passages"]}
        self._fresh, self._notes = int(state["fresh"]), list(state["notes"])
        if self._lookup is not None:
            self._lookup.load_state(state["lookup"])

    @property
    def _gold(self) -> QAGold:
        gold = self.task.gold
        assert isinstance(gold, QAGold)
        return gold


def make_hotpotqa(**kwargs: Any) -> SearchQAEnv:
    """Make AgentR1/HotpotQA; see ``make``."""
    return make("hotpotqa", **kwargs)


def make_twowiki(**kwargs: Any) -> SearchQAEnv:
    """Make AgentR1/2WikiMultiHopQA; see ``make``."""
    return make("2wiki", **kwargs)


def make_musique(**kwargs: Any) -> SearchQAEnv:
    """Make AgentR1/MuSiQue; see ``make``."""
    return make("musique", **kwargs)


def make(
    flavour: Flavour,
    *,
    split: str = "dev",
    source: Source = "auto",
    protocol: str = DEFAULT_PROTOCOL,
    retriever: Retriever | str | Path = "bm25",
    **options: Any,
) -> SearchQAEnv:
    """Make the environment of a question set.

    Args:
        flavour: ``hotpotqa``, ``2wiki`` or ``musique``.
        split: ``train`` or ``dev`` (the world also has ``test``).
        source: ``auto``, ``real`` or ``world``.
        protocol: a preset; see envs.presets.
        retriever: ``bm25`` or ``dense`` over the set's own corpus; the URL of a service, an index folder or a
            Retriever, which may search any other.
        **options: fields of Options, and ``k``, ``first_search``, ``lookup`` and ``metric``.
    """
    named = isinstance(retriever, str) and retriever in NAMES
    own = {"k": 5, "first_search": False, "lookup": False, "match_titles": not named, "metric": "em"}
    shared, mine = split_options(resolve("qa", protocol, options), own=own)
    real = choose_source(flavour, source)
    tasks: TaskSet = open_tasks(flavour, split) if real else encyclopedia.tasks(flavour, split)
    if named:
        name = str(retriever)
        retriever = open_retriever(name, corpus=open_corpus_of(flavour)) if real else _world_retriever(split, name)
    return SearchQAEnv(tasks, open_retriever(retriever), options=shared, flavour=flavour, **mine)


@functools.lru_cache(maxsize=4)
def _world_retriever(split: str, name: str) -> Retriever:
    """Return a retriever over the world's corpus, which all environments of a process share."""
    return open_retriever(name, corpus=MemoryCorpus(encyclopedia.corpus(split)))


def make_vector_hotpotqa(num_envs: int, **kwargs: Any) -> VectorTextEnv:
    """Make batched AgentR1/HotpotQA; the vector entry point of gym.make_vec."""
    return _make_vector("hotpotqa", num_envs, kwargs)


def make_vector_twowiki(num_envs: int, **kwargs: Any) -> VectorTextEnv:
    """Make batched AgentR1/2WikiMultiHopQA."""
    return _make_vector("2wiki", num_envs, kwargs)


def make_vector_musique(num_envs: int, **kwargs: Any) -> VectorTextEnv:
    """Make batched AgentR1/MuSiQue."""
    return _make_vector("musique", num_envs, kwargs)


def _make_vector(flavour: Flavour, num_envs: int, kwargs: dict[str, Any]) -> VectorTextEnv:
    """Make ``num_envs`` environments that share one retriever, so that their searches go in one batch."""
    first = make(flavour, **kwargs)
    shared = {**kwargs, "retriever": first.retriever}
    return VectorTextEnv([lambda: first, *[lambda: make(flavour, **shared)] * (num_envs - 1)])
