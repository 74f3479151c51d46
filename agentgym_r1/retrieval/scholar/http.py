"""Polite GET requests for JSON: at a limited rate, tried again when that may help, each answer asked for once."""

import logging
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

import httpx
import msgspec

from agentgym_r1.connections import Connections
from agentgym_r1.disk_cache import DiskCache
from agentgym_r1.errors import ConfigError, RetrievalError

logger = logging.getLogger(__name__)

Request = tuple[str, Mapping[str, str | int]]
_TRANSIENT = {408, 425, 429}
_LONGEST_WAIT = 60.0
_AT_ONCE = 4
_QUOTED = 200


class ScholarClient:
    """Asks a web service.

    Args:
        base_url: where the service is.
        headers: sent with every request, for example a key. They are in no message, log line or cache.
        secrets: parameters sent with every request, for services that take the key in the address. They are in no
            message or cache of ours; httpx logs addresses at level INFO.
        rate: the most requests a second that this object starts.
        retries: attempts after the first, for connection errors, 408, 425, 429 and 5xx.
        backoff: seconds before the first retry; each further one waits twice as long, and all of them as long as the
            service asks to (Retry-After), up to a minute.
        timeout: seconds an attempt may take.
        cache: keeps every answer, so that no question is asked twice.
        offline: answer from the cache only; what is not in it is an error.

    Raises:
        ConfigError: a value is out of range, or offline without a cache.
    """

    def __init__(
        self,
        base_url: str,
        *,
        headers: Mapping[str, str] | None = None,
        secrets: Mapping[str, str] | None = None,
        rate: float = 1.0,
        retries: int = 5,
        backoff: float = 1.0,
        timeout: float = 30.0,
        cache: DiskCache | None = None,
        offline: bool = False,
    ) -> None:
        if rate <= 0 or retries < 0 or backoff < 0 or timeout <= 0:
            raise ConfigError(
                "rate and timeout must be above 0, retries and backoff at least 0; "
                f"got {rate}, {timeout}, {retries}, {backoff}"
            )
        if offline and cache is None:
            raise ConfigError("offline needs a cache to answer from: pass cache=DiskCache(path)")
        self.base_url = base_url.rstrip("/")
        self._secrets = dict(secrets or {})
        self._rate, self._retries, self._backoff = rate, retries, backoff
        self._cache = cache
        self._offline = offline
        self._lock = threading.Lock()
        self._next_start = 0.0
        self._connections = Connections(headers=dict(headers or {}), timeout=timeout, follow_redirects=True)

    def __getstate__(self) -> dict[str, Any]:
        """Leave the lock behind; a copy in another process has its own."""
        return {**self.__dict__, "_lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()

    def get(self, requests: Sequence[Request]) -> list[Any]:
        """Return the JSON answer to each request (a path and its parameters), in order.

        Raises:
            RetrievalError: the service cannot be reached, refuses, or does not answer JSON; or, offline, the answer is
                not in the cache. The message says which.
            DataError: the cache cannot be used.
        """
        urls = [self._url(*request) for request in requests]
        known = self._cache.get(urls) if self._cache is not None else {}
        missing = list(dict.fromkeys(url for url in urls if url not in known))
        if missing and self._offline:
            raise RetrievalError(f"offline, and there is no recorded answer to GET {missing[0]}: ask once online")
        with ThreadPoolExecutor(min(_AT_ONCE, max(len(missing), 1))) as pool:
            fresh = dict(zip(missing, pool.map(self._fetch, missing)))
        if self._cache is not None:
            self._cache.put(fresh)
        return [msgspec.json.decode(known.get(url) or fresh[url]) for url in urls]

    def close(self) -> None:
        """Close the connections; the next request opens them again."""
        self._connections.close()

    def _url(self, path: str, parameters: Mapping[str, str | int]) -> str:
        return f"{self.base_url}{path}?{urlencode(sorted(parameters.items()))}"

    def _fetch(self, url: str) -> bytes:
        """Return the body of an answer that is JSON, after as many attempts as are allowed."""
        for attempt in range(self._retries + 1):
            self._take_turn()
            problem, wait = self._attempt(url)
            if isinstance(problem, bytes):
                return problem
            if wait is None or attempt == self._retries:
                break
            pause = min(max(wait, self._backoff * 2**attempt), _LONGEST_WAIT)
            logger.info("%s; trying again in %.1f s", problem, pause)
            time.sleep(pause)
        raise RetrievalError(problem)

    def _attempt(self, url: str) -> tuple[bytes | str, float | None]:
        """Return the body; or what went wrong, with the seconds to wait at least, None when waiting will not help."""
        try:
            reply = self._connections.client().get(f"{url}&{urlencode(self._secrets)}" if self._secrets else url)
        except httpx.TransportError as err:
            return f"GET {url}: no answer ({' '.join(str(err).split()) or type(err).__name__})", 0.0
        if reply.status_code == HTTPStatus.OK:
            return self._checked(url, reply.content)
        said = f"GET {url}: answered {reply.status_code} ({' '.join(reply.text[:_QUOTED].split())})"
        if reply.status_code in {401, 403}:
            return f"{said}; check the key", None
        if reply.status_code in _TRANSIENT or reply.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR:
            return said, _retry_after(reply.headers.get("retry-after", ""))
        return said, None

    def _checked(self, url: str, body: bytes) -> tuple[bytes | str, float | None]:
        try:
            msgspec.json.decode(body)
        except msgspec.DecodeError as err:
            return f"GET {url}: no JSON ({err})", 0.0
        return body, None

    def _take_turn(self) -> None:
        """Wait until a request may start."""
        with self._lock:
            start = max(self._next_start, time.monotonic())
            self._next_start = start + 1 / self._rate
        time.sleep(max(start - time.monotonic(), 0.0))


def _retry_after(value: str) -> float:
    """Return the seconds that a Retry-After header (a number or a date) asks for, 0 when it asks for none."""
    if value.strip().isdigit():
        return float(value)
    try:
        return max((parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds(), 0.0)
    except (ValueError, TypeError):
        return 0.0
