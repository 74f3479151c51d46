"""Requests that come together are worked on together, and each gets its own outcome."""

import asyncio
import threading
from collections.abc import Sequence

import pytest

from agentgym_r1.policies.engines.batching import Batcher


class Doubler:
    """Doubles numbers and remembers the batches; a negative number gets an error of its own, 13 breaks the batch."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.go = threading.Event()
        self.go.set()

    def __call__(self, items: list[int]) -> Sequence[int | Exception]:
        self.go.wait(10)
        self.batches.append(items)
        if 13 in items:
            raise RuntimeError("the batch broke")
        return [ValueError(f"{item} is negative") if item < 0 else 2 * item for item in items]


async def submit_all(batcher: Batcher[int, int], items: Sequence[int]) -> list[int | BaseException]:
    try:
        return await asyncio.gather(*map(batcher.submit, items), return_exceptions=True)
    finally:
        await batcher.aclose()


def test_concurrent_items_share_batches_of_at_most_the_limit() -> None:
    work = Doubler()
    assert asyncio.run(submit_all(Batcher(work, limit=4), range(10))) == [2 * item for item in range(10)]
    assert [item for batch in work.batches for item in batch] == list(range(10))
    assert max(map(len, work.batches)) == 4


def test_an_item_may_fail_alone() -> None:
    first, second = asyncio.run(submit_all(Batcher(Doubler(), limit=4), [-1, 1]))
    assert isinstance(first, ValueError)
    assert second == 2


def test_a_broken_batch_breaks_its_items_and_the_next_batch_works() -> None:
    batcher = Batcher(Doubler(), limit=2)
    broken = asyncio.run(submit_all(batcher, [1, 13]))
    assert [type(outcome) for outcome in broken] == [RuntimeError, RuntimeError]
    assert asyncio.run(submit_all(batcher, [1])) == [2]


def test_a_cancelled_item_is_not_worked_on() -> None:
    work = Doubler()
    work.go.clear()

    async def run() -> int:
        batcher: Batcher[int, int] = Batcher(work, limit=1)
        first, second = asyncio.create_task(batcher.submit(1)), asyncio.create_task(batcher.submit(2))
        await asyncio.sleep(0.1)
        second.cancel()
        await asyncio.sleep(0)
        work.go.set()
        result = await first
        with pytest.raises(asyncio.CancelledError):
            await second
        await batcher.aclose()
        return result

    assert asyncio.run(run()) == 2
    assert work.batches == [[1]]


def test_event_loops_in_several_threads_share_one_worker() -> None:
    batcher = Batcher(Doubler(), limit=8)
    results: list[int] = []
    threads = [
        threading.Thread(target=lambda item=item: results.append(asyncio.run(batcher.submit(item))))
        for item in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    asyncio.run(batcher.aclose())
    assert sorted(results) == [2 * item for item in range(8)]


def test_closing_twice_ends_the_thread_and_the_batcher_can_be_used_again() -> None:
    async def run() -> list[int]:
        batcher: Batcher[int, int] = Batcher(Doubler(), limit=2)
        answers = [await batcher.submit(1)]
        await batcher.aclose()
        await batcher.aclose()
        answers.append(await batcher.submit(2))
        await batcher.aclose()
        return answers

    assert asyncio.run(run()) == [2, 4]
    assert not [thread for thread in threading.enumerate() if thread.name == "batcher"]
