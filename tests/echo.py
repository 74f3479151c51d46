"""A retriever whose answers are known, which keeps account of how it is called."""

import threading
import time
from collections.abc import Sequence

from agentgym_r1.retrieval import Passage


class EchoRetriever:
    """Finds ``k`` passages that name the query; remembers the batches it was given and the threads it ran in.

    Args:
        seconds: of every search.
    """

    name = "echo"

    def __init__(self, *, seconds: float = 0.0) -> None:
        self.batches: list[list[str]] = []
        self.threads: set[int] = set()
        self.gate = threading.Event()
        self.gate.set()
        self._seconds = seconds
        self._busy = threading.Lock()

    def search(self, queries: Sequence[str], *, k: int) -> list[list[Passage]]:
        assert self._busy.acquire(blocking=False), "two searches at a time"
        try:
            self.batches.append(list(queries))
            self.threads.add(threading.get_ident())
            assert self.gate.wait(30)
            time.sleep(self._seconds)
            if any(query.startswith("bad") for query in queries):
                raise ValueError("a query this retriever hates")
            return [echo(query, k) for query in queries]
        finally:
            self._busy.release()

    @property
    def searched(self) -> list[str]:
        return [query for batch in self.batches for query in batch]


def echo(query: str, k: int) -> list[Passage]:
    """What EchoRetriever answers."""
    return [Passage(f"{query}-{n}", query, f"about {query}", 1.0 / (n + 1)) for n in range(k)]
