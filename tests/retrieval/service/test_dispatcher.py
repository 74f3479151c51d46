"""The thread that owns the index: batches, duplicates, the cache, fairness, the bounded queue and deadlines."""

import asyncio
import time
from collections.abc import Iterator

import pytest
from echo import EchoRetriever, echo

from agentgym_r1.retrieval.base import Passage
from agentgym_r1.retrieval.service.cache import ENTRY_BYTES, AnswerCache
from agentgym_r1.retrieval.service.dispatcher import Dispatcher, Limits
from agentgym_r1.retrieval.wire import Rejected, write_hits


@pytest.fixture
def echoing() -> EchoRetriever:
    return EchoRetriever()


@pytest.fixture
def dispatcher(echoing: EchoRetriever) -> Iterator[Dispatcher]:
    dispatcher = Dispatcher(echoing, limits=Limits(batch=8, queue=40))
    dispatcher.start()
    yield dispatcher
    echoing.gate.set()
    dispatcher.close()
    dispatcher.close()


def answers(*queries: str, k: int = 1) -> list[bytes]:
    return [write_hits(echo(query, k), scores=True) for query in queries]


async def held(dispatcher: Dispatcher, echoing: EchoRetriever) -> asyncio.Future[list[bytes]]:
    """Return once the retriever is in the middle of a search that ends when its gate opens."""
    echoing.gate.clear()
    future = dispatcher.submit(["first"], k=1, scores=True)
    while not echoing.batches:
        await asyncio.sleep(0.001)
    return future


def test_what_gathers_during_a_search_goes_in_one_batch(dispatcher: Dispatcher, echoing: EchoRetriever) -> None:
    async def play() -> None:
        first = await held(dispatcher, echoing)
        rest = [dispatcher.submit([f"q{n}"], k=1, scores=True) for n in range(8)]
        echoing.gate.set()
        assert await first == answers("first")
        assert await asyncio.gather(*rest) == [answers(f"q{n}") for n in range(8)]

    asyncio.run(play())
    assert echoing.batches == [["first"], [f"q{n}" for n in range(8)]]


def test_duplicates_in_a_batch_are_searched_once(dispatcher: Dispatcher, echoing: EchoRetriever) -> None:
    async def play() -> None:
        first = await held(dispatcher, echoing)
        same = [dispatcher.submit(["q", "first"], k=1, scores=True) for _ in range(3)]
        echoing.gate.set()
        await first
        assert await asyncio.gather(*same) == [answers("q", "first")] * 3

    asyncio.run(play())
    assert echoing.searched == ["first", "q"]


def test_a_query_is_searched_again_for_another_k_and_not_for_scores(
    dispatcher: Dispatcher, echoing: EchoRetriever
) -> None:
    async def play() -> None:
        first = await held(dispatcher, echoing)
        asked = [dispatcher.submit(["q"], k=k, scores=scores) for k in (1, 2) for scores in (True, False)]
        echoing.gate.set()
        await first
        assert await asyncio.gather(*asked) == [
            [write_hits(echo("q", k), scores=s)] for k in (1, 2) for s in (True, False)
        ]

    asyncio.run(play())
    assert echoing.batches == [["first"], ["q"], ["q"]]


def test_clients_that_were_answered_together_are_searched_together_again() -> None:
    slow = EchoRetriever(seconds=0.1)
    dispatcher = Dispatcher(slow)
    dispatcher.start()

    async def play(attempt: int) -> int:
        """Return how many batches four queries took that came a moment apart, after a batch of four."""
        await dispatcher.submit([f"{client}{attempt}" for client in "abcd"], k=1, scores=True)
        before = len(slow.batches)
        asked = []
        for client in "efgh":
            asked.append(dispatcher.submit([f"{client}{attempt}"], k=1, scores=True))
            await asyncio.sleep(0.001)
        await asyncio.gather(*asked)
        return len(slow.batches) - before

    assert min(asyncio.run(play(attempt)) for attempt in range(10)) == 1
    dispatcher.close()


def test_an_answer_is_remembered(dispatcher: Dispatcher, echoing: EchoRetriever) -> None:
    async def play() -> None:
        assert await dispatcher.submit(["a", "b"], k=1, scores=True) == answers("a", "b")
        assert await dispatcher.submit(["b", "c", "a"], k=1, scores=True) == answers("b", "c", "a")

    asyncio.run(play())
    assert echoing.searched == ["a", "b", "c"]


def test_a_failure_is_not_remembered_and_spares_its_neighbours(dispatcher: Dispatcher, echoing: EchoRetriever) -> None:
    async def play() -> None:
        first = await held(dispatcher, echoing)
        good, bad = (dispatcher.submit(list(queries), k=1, scores=True) for queries in (("a", "b"), ("c", "bad")))
        echoing.gate.set()
        await first
        assert await good == answers("a", "b")
        with pytest.raises(ValueError, match="hates"):
            await bad
        with pytest.raises(ValueError, match="hates"):
            await dispatcher.submit(["bad"], k=1, scores=True)

    asyncio.run(play())


def test_a_long_request_does_not_stall_short_ones(dispatcher: Dispatcher, echoing: EchoRetriever) -> None:
    async def play() -> None:
        first = await held(dispatcher, echoing)
        long = dispatcher.submit([f"long{n}" for n in range(30)], k=1, scores=True)
        short = [dispatcher.submit([f"short{n}"], k=1, scores=True) for n in range(3)]
        echoing.gate.set()
        await asyncio.gather(first, *short)
        assert not long.done()
        assert await long == answers(*(f"long{n}" for n in range(30)))

    asyncio.run(play())
    assert set(echoing.batches[1]) > {"short0", "short1", "short2"}


def test_a_full_queue_refuses_with_a_time_to_come_back_and_admits_again(
    dispatcher: Dispatcher, echoing: EchoRetriever
) -> None:
    async def play() -> None:
        first = await held(dispatcher, echoing)
        waiting = dispatcher.submit([f"q{n}" for n in range(39)], k=1, scores=True)
        with pytest.raises(Rejected, match=r"queue is full \(39 queries\)") as refused:
            dispatcher.submit(["x", "y"], k=1, scores=True)
        assert (refused.value.status, refused.value.retry_after) == (503, 1)
        with pytest.raises(Rejected, match="send them in parts") as too_many:
            dispatcher.submit([f"z{n}" for n in range(41)], k=1, scores=True)
        assert too_many.value.status == 413
        last = dispatcher.submit(["x"], k=1, scores=True)
        echoing.gate.set()
        await asyncio.gather(first, waiting, last)
        assert await dispatcher.submit(["y"], k=1, scores=True) == answers("y")

    asyncio.run(play())
    assert dispatcher.waiting == 0
    assert dispatcher.stats.refused == 2


def test_what_nobody_waits_for_any_more_is_not_searched(dispatcher: Dispatcher, echoing: EchoRetriever) -> None:
    async def play() -> None:
        first = await held(dispatcher, echoing)
        dispatcher.submit(["gone", "lost"], k=1, scores=True).cancel()
        echoing.gate.set()
        await first
        assert await dispatcher.submit(["next"], k=1, scores=True) == answers("next")

    asyncio.run(play())
    assert echoing.searched == ["first", "next"]
    assert (dispatcher.waiting, dispatcher.stats.expired) == (0, 2)


def test_closing_answers_what_waits_and_takes_no_more(dispatcher: Dispatcher, echoing: EchoRetriever) -> None:
    async def play() -> None:
        first = await held(dispatcher, echoing)
        waiting = dispatcher.submit([f"q{n}" for n in range(20)], k=1, scores=True)
        closing = asyncio.get_running_loop().run_in_executor(None, dispatcher.close)
        await asyncio.sleep(0.05)
        with pytest.raises(Rejected, match="shutting down") as refused:
            dispatcher.submit(["late"], k=1, scores=True)
        assert refused.value.status == 503
        echoing.gate.set()
        await asyncio.gather(first, waiting, closing)
        assert waiting.result() == answers(*(f"q{n}" for n in range(20)))

    asyncio.run(play())


def test_a_loop_that_is_gone_does_not_end_the_thread(dispatcher: Dispatcher, echoing: EchoRetriever) -> None:
    async def leave() -> None:
        await held(dispatcher, echoing)

    async def play() -> None:
        assert await dispatcher.submit(["next"], k=1, scores=True) == answers("next")

    asyncio.run(leave())
    echoing.gate.set()
    asyncio.run(play())


class Careless:
    """Breaks the contract of a retriever: it forgets answers, or gives scores that JSON does not know."""

    name = "careless"

    def __init__(self, score: object, *, forget: bool = False) -> None:
        self._score, self._forget = score, forget

    def search(self, queries: object, *, k: int) -> list[list[Passage]]:
        return [] if self._forget else [[Passage("a", "", "x", self._score)]]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("retriever", "message"),
    [(Careless(1.0, forget=True), "gave 0 answers to 1 queries"), (Careless(1j), "cannot be written as JSON")],
)
def test_a_retriever_that_breaks_its_contract_is_an_error_and_not_the_end(retriever: Careless, message: str) -> None:
    async def play() -> None:
        for query in ("a", "b"):
            with pytest.raises(Exception, match=message):
                await dispatcher.submit([query], k=1, scores=True)

    dispatcher = Dispatcher(retriever)
    dispatcher.start()
    asyncio.run(play())
    dispatcher.close()


def test_the_time_to_come_back_grows_with_the_queue() -> None:
    slow = EchoRetriever(seconds=0.3)
    dispatcher = Dispatcher(slow, limits=Limits(batch=1, queue=100))
    dispatcher.start()

    async def play() -> None:
        for n in range(3):
            await dispatcher.submit([f"w{n}"], k=1, scores=True)
        rest = dispatcher.submit([f"q{n}" for n in range(100)], k=1, scores=True)
        with pytest.raises(Rejected) as refused:
            dispatcher.submit(["x"], k=1, scores=True)
        assert refused.value.retry_after is not None
        assert refused.value.retry_after > 5
        rest.cancel()

    start = time.monotonic()
    asyncio.run(play())
    dispatcher.close()
    assert time.monotonic() - start < 20


def test_the_cache_forgets_what_was_used_longest_ago() -> None:
    cache = AnswerCache(2 * (ENTRY_BYTES + 10))
    for key in "ab":
        cache.put(key, b"x" * 10)
    assert cache.get("a") == b"x" * 10
    cache.put("c", b"y" * 10)
    assert [cache.get(key) for key in "abc"] == [b"x" * 10, None, b"y" * 10]
    cache.put("d", b"z" * 1000)
    assert cache.get("d") is None
    assert len(cache) == 2
    empty = AnswerCache(0)
    empty.put("a", b"")
    assert len(empty) == 0
