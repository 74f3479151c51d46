"""A language model as the judge of paper search."""

import asyncio
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from kites import PAPERS, Driver, make_env

from agentgym_r1.data.gold import PaperGold
from agentgym_r1.disk_cache import DiskCache
from agentgym_r1.envs.paper_search.relevance import Relevance
from agentgym_r1.errors import EngineError
from agentgym_r1.policies.engines.base import Sampling
from agentgym_r1.policies.relevance import ModelRelevance
from agentgym_r1.types import Message, Response, Task

TASK = Task("t", "kites", PaperGold((), ()))


class KiteJudge:
    """An engine that knows a kite when it reads of one."""

    def __init__(self, name: str = "judge", *, logprob: float | None = None, answer: str = "") -> None:
        self.name = name
        self.asked: list[str] = []
        self.most_at_once = 0
        self._running = 0
        self._logprobs = () if logprob is None else (logprob,)
        self._answer = answer

    async def check(self) -> None:
        """Be ready."""

    async def generate(
        self, messages: Sequence[Message], *, tools: Sequence[Mapping[str, Any]] = (), sampling: Sampling
    ) -> Response:
        self._running += 1
        self.most_at_once = max(self.most_at_once, self._running)
        await asyncio.sleep(0.001)
        self._running -= 1
        title = messages[-1].content.partition("Title: ")[2].partition("\n")[0]
        self.asked.append(title)
        return Response(self._answer or ("Yes." if "Kite" in title else "No."), logprobs=self._logprobs)

    def count_tokens(self, text: str) -> int | None:
        return None

    async def aclose(self) -> None:
        """Have nothing to close."""


def test_papers_are_judged_at_the_same_time_and_in_order() -> None:
    engine = KiteJudge()
    relevance = ModelRelevance(engine)
    assert isinstance(relevance, Relevance)
    assert relevance.judge(TASK, PAPERS) == [1.0, 1.0, 0.0, 0.0, 0.0, 0.0]
    assert engine.most_at_once == len(PAPERS)
    assert relevance.judge(TASK, []) == []


def test_a_judgement_is_made_once_and_kept_on_disk(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path / "judgements.db")
    first, second = KiteJudge(), KiteJudge()
    expected = ModelRelevance(first, cache=cache).judge(TASK, [*PAPERS, PAPERS[0]])
    assert len(first.asked) == len(PAPERS)
    assert ModelRelevance(second, cache=cache).judge(TASK, [*PAPERS, PAPERS[0]]) == expected
    assert second.asked == []


def test_another_query_paper_or_model_is_another_judgement(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path / "judgements.db")
    engine, other = KiteJudge(), KiteJudge("other")
    ModelRelevance(engine, cache=cache).judge(TASK, PAPERS[:1])
    ModelRelevance(engine, cache=cache).judge(Task("u", "sails", PaperGold((), ())), PAPERS[:1])
    ModelRelevance(engine, cache=cache).judge(TASK, PAPERS[1:2])
    ModelRelevance(other, cache=cache).judge(TASK, PAPERS[:1])
    assert (len(engine.asked), len(other.asked)) == (3, 1)


def test_how_sure_the_model_was_is_the_score() -> None:
    sure = ModelRelevance(KiteJudge(logprob=math.log(0.8)))
    assert sure.judge(TASK, PAPERS[1:3]) == pytest.approx([0.8, 0.2])


@pytest.mark.parametrize(("answer", "score"), [("**Yes**", 1.0), (" no", 0.0), ("yesterday", 0.0), ("maybe", 0.0)])
def test_other_spellings_are_read_and_other_words_count_as_no(answer: str, score: float) -> None:
    assert ModelRelevance(KiteJudge(answer=answer)).judge(TASK, PAPERS[:1]) == [score]


def test_a_judge_that_fails_makes_the_step_fail() -> None:
    class Broken(KiteJudge):
        async def generate(self, *args: Any, **kwargs: Any) -> Response:
            raise EngineError("no answer")

    act = Driver(make_env(relevance=ModelRelevance(Broken())))
    act.env.reset(options={"task": "kites"})
    with pytest.raises(EngineError, match="no answer"):
        act(("search", "kite"))


def test_it_rewards_and_orders_the_list_of_an_episode_inside_a_running_loop() -> None:
    engine = KiteJudge()
    act = Driver(make_env(relevance=ModelRelevance(engine), k=3))
    act.env.reset(options={"task": "kites"})

    async def step() -> dict[str, Any]:
        return act(("search", "kite tails"), ("search", "ropes and wings"))

    info = asyncio.run(step())
    assert info["reward_terms"]["new_papers"] == 2.0
    assert "relevance 1.00" in info["observation"]
    assert len(engine.asked) == 4
