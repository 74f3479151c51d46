"""A retriever behind a URL: this library's service, or any other that speaks Search-R1's protocol."""

import itertools
import logging
import random
import threading
import time
from collections.abc import Sequence
from typing import Any

import httpx
import msgspec

from agentgym_r1.connections import Connections, no_answer
from agentgym_r1.errors import ConfigError, RetrievalError
from agentgym_r1.retrieval.base import Passage
from agentgym_r1.retrieval.wire import read_reply, write_request

logger = logging.getLogger(__name__)

CHUNK = 256
PASSING = {408, 429, 502, 503, 504}
FIRST_WAIT = 0.05
LONGEST_WAIT = 2.0
INFO_SECONDS = 10.0
CORPUS_HEADER = "x-corpus-sha256"


class RemoteRetriever:
    """Searches with a retrieval service.

    A refused or broken connection and an overloaded service (503; its Retry-After is obeyed) are tried again until
    ``patience`` is spent; retrieval changes nothing, so that a repeated request is harmless. Proxies that the
    environment sets are not used. Safe to use from several threads and after a fork, and pickled by its address.

    Args:
        url: ``http://HOST:PORT``, with or without ``/retrieve``; ``?index=NAME`` is another way to name the index.
        index: of the service's indexes; by default its default.
        patience: seconds one search may take, over all attempts.

    Raises:
        ConfigError: no such URL, or no patience.
    """

    def __init__(self, url: str, index: str | None = None, *, patience: float = 60.0) -> None:
        if patience <= 0:
            raise ConfigError(f"patience must be above 0 seconds, got {patience}")
        self._url, self._index = url, index
        self._patience = patience
        self._base, named = _parse(url)
        self._asked = index or named
        self._corpus: str | None = None
        self._lock = threading.Lock()
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=64)
        self._connections = Connections(limits=limits, trust_env=False)
        self._down_since: float | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopen, (self._url, self._index, self._patience)

    def __repr__(self) -> str:
        return f"RemoteRetriever({self._url!r}, {self._index!r})"

    @property
    def name(self) -> str:
        """The address, with the index where one was named."""
        return f"{self._base}?index={self._asked}" if self._asked else self._base

    def search(self, queries: Sequence[str], *, k: int) -> list[list[Passage]]:
        """Return the best passages of each query; see ``Retriever.search``. Long batches go in parts of 256 queries."""
        if k < 1:
            raise ConfigError(f"k must be at least 1, got {k}")
        answers: list[list[Passage]] = []
        deadline = time.monotonic() + self._patience
        for start in range(0, len(queries), CHUNK):
            answers += self._ask(queries[start : start + CHUNK], k, deadline)
        return answers

    def info(self) -> dict[str, Any]:
        """Return what the service says of the index, once and without retries: kind, count, corpus_sha256.

        Raises:
            RetrievalError: no service answers, it is not one of ours, or has no such index.
        """
        try:
            reply = self._connections.client().get(f"{self._base}/info", timeout=min(self._patience, INFO_SECONDS))
        except httpx.TransportError as err:
            raise RetrievalError(_no_answer(self._base, err)) from err
        if not reply.is_success:
            raise RetrievalError(
                f"{self._base}/info answered {reply.status_code}: the service does not describe itself"
            )
        document = msgspec.json.decode(reply.content)
        name = self._asked or document["default"]
        if name not in document["indexes"]:
            raise RetrievalError(f"{self._base}: no index {name!r}; there are {', '.join(document['indexes'])}")
        found: dict[str, Any] = document["indexes"][name]
        return found

    def close(self) -> None:
        """Close the connections; a later search opens new ones."""
        self._connections.close()

    def _ask(self, queries: Sequence[str], k: int, deadline: float) -> list[list[Passage]]:
        refused = ""
        for attempt in itertools.count(1):
            left = max(deadline - time.monotonic(), 0.001)
            body = write_request(queries, k=k, index=self._asked, timeout=left)
            reply, failure = self._attempt(body, left)
            self._notice(failure, down=reply is None)
            if reply is not None and reply.is_success:
                self._check_corpus(reply)
                return read_reply(reply.content, queries=len(queries), k=k)
            if reply is not None and reply.status_code not in PASSING:
                raise RetrievalError(failure)
            wait = _wait(attempt, reply)
            if time.monotonic() + wait >= deadline:
                failure = failure if reply is not None or not refused else f"{failure}; before that, {refused}"
                raise RetrievalError(f"{failure} (tried {attempt} times within {self._patience:g} s)")
            refused = refused if reply is None else failure
            logger.info("attempt %d failed, next in %.2f s: %s", attempt, wait, failure)
            time.sleep(wait)
        raise AssertionError("unreachable: the loop above ends only by return or raise")

    def _attempt(self, body: bytes, timeout: float) -> tuple[httpx.Response | None, str]:
        try:
            reply = self._connections.client().post(
                f"{self._base}/retrieve",
                content=body,
                headers={"content-type": "application/json"},
                timeout=timeout,
            )
        except httpx.TransportError as err:
            return None, _no_answer(self._base, err)
        return reply, f"{self._base}/retrieve answered {reply.status_code}: {' '.join(reply.text.split())[:300]}"

    def _notice(self, failure: str, *, down: bool) -> None:
        """Log once that the service went away, whoever asks it, and once that it is back."""
        with self._lock:
            since = self._down_since
            if down == (since is not None):
                return
            self._down_since = time.monotonic() if down else None
        if since is None:
            logger.warning("%s; searches wait for it, up to %g s each", failure, self._patience)
        else:
            logger.warning("%s answers again after %.1f s", self.name, time.monotonic() - since)

    def _check_corpus(self, reply: httpx.Response) -> None:
        """Refuse a service that comes back with another corpus: one run must not mix two."""
        found = reply.headers.get(CORPUS_HEADER)
        if self._corpus is None:
            self._corpus = found
        elif found != self._corpus:
            raise RetrievalError(
                f"{self.name}: served corpus {self._corpus[:12]} before and {str(found)[:12]} now: "
                "start it with the index it had, or open the retriever again"
            )


def _parse(url: str) -> tuple[str, str | None]:
    """Return the service's address without a path of the protocol, and the index named in the URL."""
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL as err:
        raise ConfigError(f"not a URL: {url!r} ({err}); for example http://127.0.0.1:8765") from err
    if parsed.scheme not in {"http", "https"} or not parsed.host:
        raise ConfigError(f"not the URL of a retrieval service: {url!r}; for example http://127.0.0.1:8765")
    index = parsed.params.get("index")
    base = str(parsed.copy_with(query=None, fragment=None)).rstrip("/")
    return base.removesuffix("/retrieve"), index


def _wait(attempt: int, reply: httpx.Response | None) -> float:
    """Return the seconds before the next attempt: what the service asks for, else twice as long each time."""
    asked = reply.headers.get("retry-after", "") if reply is not None else ""
    if asked.isdecimal():
        return float(asked) * random.uniform(1.0, 1.25)
    return min(FIRST_WAIT * 2.0 ** min(attempt, 10), LONGEST_WAIT) * random.uniform(0.5, 1.0)


def _no_answer(base: str, err: httpx.TransportError) -> str:
    return no_answer("retrieval service", base, err, start="agentgym-r1 index serve")


def _reopen(url: str, index: str | None, patience: float) -> RemoteRetriever:
    return RemoteRetriever(url, index, patience=patience)
