"""Collect concurrent requests into batches for one worker thread."""

import asyncio
import queue
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

_LINGER = 0.01


class Batcher(Generic[Item, Result]):
    """Hands what is submitted at about the same time to ``work`` as one batch.

    A batch is closed when it is full or when nothing new came for 10 ms. The thread starts with the first item, so that
    an unused batcher costs nothing, and again after ``aclose``.

    Args:
        work: runs in the worker thread; returns one result or exception an item, in order, or raises for all of them.
        limit: items a batch holds at most.
    """

    def __init__(self, work: Callable[[list[Item]], Sequence[Result | Exception]], *, limit: int) -> None:
        self._work = work
        self._limit = limit
        self._lock = threading.Lock()
        self._worker: _Worker[Item, Result] | None = None

    async def submit(self, item: Item) -> Result:
        """Return what ``work`` makes of ``item``, or raise what it raised; cancelling it drops an unstarted item."""
        future: Future[Result] = Future()
        with self._lock:
            if self._worker is None:
                self._worker = _Worker(self._work, self._limit)
            self._worker.inbox.put((item, future))
        return await asyncio.wrap_future(future)

    async def aclose(self) -> None:
        """Finish what was submitted and end the thread."""
        with self._lock:
            worker, self._worker = self._worker, None
        if worker is not None:
            worker.inbox.put(None)
            await asyncio.to_thread(worker.thread.join)


class _Worker(Generic[Item, Result]):
    """A thread and its inbox, where None says that nothing more will come."""

    def __init__(self, work: Callable[[list[Item]], Sequence[Result | Exception]], limit: int) -> None:
        self._work = work
        self._limit = limit
        self.inbox: queue.SimpleQueue[tuple[Item, Future[Result]] | None] = queue.SimpleQueue()
        self.thread = threading.Thread(target=self._run, name="batcher", daemon=True)
        self.thread.start()

    def _run(self) -> None:
        more = True
        while more:
            batch, more = self._gather()
            started = [(item, future) for item, future in batch if future.set_running_or_notify_cancel()]
            if started:
                self._answer(started)

    def _gather(self) -> tuple[list[tuple[Item, Future[Result]]], bool]:
        """Return the next batch, and whether more may come."""
        batch: list[tuple[Item, Future[Result]]] = []
        while len(batch) < self._limit:
            try:
                entry = self.inbox.get(timeout=_LINGER if batch else None)
            except queue.Empty:
                break
            if entry is None:
                return batch, False
            batch.append(entry)
        return batch, True

    def _answer(self, batch: Sequence[tuple[Item, Future[Result]]]) -> None:
        outcomes: Sequence[Result | Exception]
        try:
            outcomes = self._work([item for item, _ in batch])
        except Exception as err:  # whatever it is, those who wait get it
            outcomes = [err] * len(batch)
        for (_, future), outcome in zip(batch, outcomes, strict=True):
            if isinstance(outcome, Exception):
                future.set_exception(outcome)
            else:
                future.set_result(outcome)
