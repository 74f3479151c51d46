"""The one thread that owns a retriever: it drains a bounded queue of queries in micro-batches.

While one batch is searched the next gathers, so batches grow with the load. Clients that were answered together ask
again together: the next batch waits for as many queries as the last one had, for a small part of the time that took.
"""

import asyncio
import contextlib
import logging
import math
import threading
import time
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from agentgym_r1.errors import ConfigError, RetrievalError
from agentgym_r1.retrieval.base import Passage, Retriever
from agentgym_r1.retrieval.service.cache import AnswerCache
from agentgym_r1.retrieval.service.metrics import Stats
from agentgym_r1.retrieval.wire import Rejected, write_hits

logger = logging.getLogger(__name__)

SMOOTHING = 0.1
GATHER_SHARE = 0.25
LONGEST_GATHER = 0.02


@dataclass(frozen=True, slots=True)
class Limits:
    """What one index of a service may take.

    Attributes:
        batch: the most queries searched at once.
        queue: the most queries that wait; a request that does not fit is refused with a time to come back.
        deadline: seconds a request may take; a client may ask for less.
        cache_mb: megabytes of answers that are kept for the same query; 0 keeps none.
    """

    batch: int = 64
    queue: int = 4096
    deadline: float = 30.0
    cache_mb: float = 64.0

    def __post_init__(self) -> None:
        if self.batch < 1 or self.queue < 1 or self.deadline <= 0 or self.cache_mb < 0:
            raise ConfigError(
                f"batch and queue must be at least 1, deadline above 0, cache_mb not negative: got {self}"
            )


class Ask(NamedTuple):
    """One query as it is answered; equal ones have equal answers."""

    query: str
    k: int
    scores: bool


@dataclass(slots=True, eq=False)
class _Pending:
    """A request whose answers come in one by one; ``waiting`` holds the positions that are in the queue."""

    asks: list[Ask]
    future: asyncio.Future[list[bytes]]
    answers: dict[int, bytes] = field(default_factory=dict)
    waiting: deque[int] = field(default_factory=deque)
    error: Exception | None = None
    settled: int = 0


class Dispatcher:
    """Answers queries from any number of requests with one retriever in one thread.

    Args:
        retriever: what answers; after ``start`` only the dispatcher's thread uses it.
        limits: see Limits.
    """

    def __init__(self, retriever: Retriever, *, limits: Limits | None = None) -> None:
        self.retriever = retriever
        self.limits = limits or Limits()
        self.stats = Stats()
        self._cache = AnswerCache(int(self.limits.cache_mb * 1e6))
        self._queue: deque[_Pending] = deque()
        self._waiting = 0
        self._seconds_a_query = 0.0
        self._last_batch = 0
        self._gather = 0.0
        self._wake = threading.Condition()
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="retrieval-dispatcher", daemon=True)

    @property
    def waiting(self) -> int:
        """The queries in the queue."""
        return self._waiting

    def start(self) -> None:
        """Warm the retriever up, where it has a ``warm_up``, and start the thread."""
        warm_up = getattr(self.retriever, "warm_up", None)
        if warm_up is not None:
            warm_up()
        self._thread.start()

    def close(self) -> None:
        """Answer what is in the queue, then end the thread; further calls do nothing."""
        with self._wake:
            self._closing = True
            self._wake.notify_all()
        if self._thread.is_alive():
            self._thread.join()

    def submit(self, queries: Sequence[str], *, k: int, scores: bool) -> asyncio.Future[list[bytes]]:
        """Return a future of the running event loop: the JSON answer of each query, in order.

        A future that is cancelled takes its queries out of the queue. It holds a RetrievalError when the retriever
        could not answer.

        Raises:
            Rejected: 413 when the request can never fit in the queue, 503 when it does not now or the service closes.
        """
        pending = _Pending([Ask(query, k, scores) for query in queries], asyncio.get_running_loop().create_future())
        with self._wake:
            for position, ask in enumerate(pending.asks):
                answer = self._cache.get(ask)
                if answer is None:
                    pending.waiting.append(position)
                else:
                    pending.answers[position] = answer
            self._admit(len(pending.waiting))
            self.stats.queries += len(pending.asks)
            self.stats.cached += len(pending.answers)
            pending.settled = len(pending.answers)
            if pending.waiting:
                self._queue.append(pending)
                self._waiting += len(pending.waiting)
                self._wake.notify()
            else:
                _deliver([pending])
        return pending.future

    def _admit(self, queries: int) -> None:
        if queries > self.limits.queue:
            raise Rejected(
                413, f"{queries} queries in one request, at most {self.limits.queue} fit: send them in parts"
            )
        if self._closing:
            raise Rejected(503, "the service is shutting down: try again", retry_after=1)
        if self._waiting + queries > self.limits.queue:
            self.stats.refused += queries
            wait = max(1, math.ceil(self._waiting * self._seconds_a_query))
            raise Rejected(503, f"the queue is full ({self._waiting} queries): try again in {wait} s", retry_after=wait)

    def _run(self) -> None:
        while batch := self._next_batch():
            start = time.perf_counter()
            answers = self._answer(dict.fromkeys(pending.asks[position] for pending, position in batch))
            spent = time.perf_counter() - start
            self._seconds_a_query += SMOOTHING * (spent / len(batch) - self._seconds_a_query)
            self._last_batch, self._gather = len(batch), min(spent * GATHER_SHARE, LONGEST_GATHER)
            self._settle(batch, answers)

    def _next_batch(self) -> list[tuple[_Pending, int]]:
        """Wait for queries and return them; nothing when the dispatcher closes and the queue is empty."""
        with self._wake:
            while True:
                self._wake.wait_for(lambda: self._queue or self._closing)
                if not self._queue:
                    return []
                self._wake.wait_for(lambda: self._closing or self._waiting >= self._last_batch, timeout=self._gather)
                if batch := self._take():
                    return batch

    def _take(self) -> list[tuple[_Pending, int]]:
        """Take a batch in which every waiting request has a share, so that a long one does not stall the others."""
        room = self.limits.batch
        share = max(1, room // len(self._queue))
        batch: list[tuple[_Pending, int]] = []
        while self._queue and len(batch) < room:
            pending = self._queue.popleft()
            if pending.future.cancelled() or pending.error is not None:
                self._drop(pending)
                continue
            taken = min(share, room - len(batch), len(pending.waiting))
            batch += [(pending, pending.waiting.popleft()) for _ in range(taken)]
            if pending.waiting:
                self._queue.append(pending)
        self._waiting -= len(batch)
        return batch

    def _drop(self, pending: _Pending) -> None:
        self._waiting -= len(pending.waiting)
        self.stats.expired += len(pending.waiting)

    def _answer(self, asks: Iterable[Ask]) -> dict[Ask, bytes | Exception]:
        """Answer distinct queries: what an earlier batch found from the cache, the rest with one search for each k."""
        answers: dict[Ask, bytes | Exception] = {}
        missing: dict[int, dict[str, list[Ask]]] = {}
        with self._wake:
            for ask in asks:
                cached = self._cache.get(ask)
                if cached is None:
                    missing.setdefault(ask.k, {}).setdefault(ask.query, []).append(ask)
                else:
                    answers[ask] = cached
        for k, queries in missing.items():
            for found, same in zip(self._search(list(queries), k), queries.values(), strict=True):
                answers |= {ask: found if isinstance(found, Exception) else _encoded(found, ask) for ask in same}
        return answers

    def _search(self, queries: list[str], k: int) -> Sequence[list[Passage] | Exception]:
        """Search a batch; when it fails, search each query alone, so that one bad query fails nobody else's."""
        self.stats.searched += len(queries)
        self.stats.batches.observe(len(queries))
        try:
            found = self._retriever_answers(queries, k)
        except Exception as err:  # whatever a retriever raises is an answer: this thread serves everybody
            if len(queries) > 1:
                return [answer for query in queries for answer in self._search([query], k)]
            logger.exception("a query failed")
            self.stats.failed += 1
            return [err]
        return found

    def _retriever_answers(self, queries: list[str], k: int) -> list[list[Passage]]:
        found = self.retriever.search(queries, k=k)
        if len(found) != len(queries):
            raise RetrievalError(f"{self.retriever.name} gave {len(found)} answers to {len(queries)} queries")
        return found

    def _settle(self, batch: list[tuple[_Pending, int]], answers: dict[Ask, bytes | Exception]) -> None:
        finished = []
        with self._wake:
            self.stats.duplicates += len(batch) - len(answers)
            for ask, answer in answers.items():
                if isinstance(answer, bytes):
                    self._cache.put(ask, answer)
            for pending, position in batch:
                answer = answers[pending.asks[position]]
                pending.settled += 1
                if isinstance(answer, Exception):
                    pending.error = pending.error or answer
                else:
                    pending.answers[position] = answer
                if pending.error is answer or pending.settled == len(pending.asks):
                    finished.append(pending)
        for loop in {pending.future.get_loop() for pending in finished}:
            with contextlib.suppress(RuntimeError):  # the loop was closed: nobody waits
                loop.call_soon_threadsafe(_deliver, [own for own in finished if own.future.get_loop() is loop])


def _encoded(passages: Sequence[Passage], ask: Ask) -> bytes | Exception:
    try:
        return write_hits(passages, scores=ask.scores)
    except (TypeError, ValueError) as err:
        return RetrievalError(f"the answer to {ask.query[:80]!a} cannot be written as JSON ({err})")


def _deliver(finished: Iterable[_Pending]) -> None:
    """Hand the answers over; runs in the event loop of the requests."""
    for pending in finished:
        if pending.future.done():
            continue
        if pending.error is not None:
            pending.future.set_exception(pending.error)
        else:
            pending.future.set_result([pending.answers[position] for position in range(len(pending.asks))])
