"""The service as an ASGI application: /retrieve, /health, /info and /metrics over any number of named indexes.

Written on ASGI itself: a request costs a third of what it does in a web framework, and there are four routes.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import asdict
from importlib import metadata
from typing import Any, NamedTuple
from urllib.parse import parse_qs

import msgspec

from agentgym_r1.errors import ConfigError
from agentgym_r1.retrieval.base import Retriever
from agentgym_r1.retrieval.service.dispatcher import Dispatcher, Limits
from agentgym_r1.retrieval.service.metrics import render
from agentgym_r1.retrieval.wire import DEFAULT_TOPK, Rejected, Request, read_request, write_reply

logger = logging.getLogger(__name__)

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

MAX_BODY = 16_000_000
JSON = b"application/json"
PROMETHEUS = b"text/plain; version=0.0.4; charset=utf-8"
CORPUS_HEADER = b"x-corpus-sha256"


class Reply(NamedTuple):
    """An HTTP response."""

    status: int
    body: bytes
    content_type: bytes = JSON
    headers: tuple[tuple[bytes, bytes], ...] = ()


class RetrievalApp:
    """Answers HTTP requests with retrievers, each in a thread of its own.

    Args:
        retrievers: by name; the first is the default.
        limits: of each index.

    Raises:
        ConfigError: no retriever.
    """

    def __init__(self, retrievers: Mapping[str, Retriever], *, limits: Limits | None = None) -> None:
        if not retrievers:
            raise ConfigError("a retrieval service needs at least one index")
        self.limits = limits or Limits()
        self._indexes = {name: Dispatcher(retriever, limits=self.limits) for name, retriever in retrievers.items()}
        self._default = next(iter(retrievers))
        self._identities = {name: _identity(retriever) for name, retriever in retrievers.items()}
        self._routes: dict[str, tuple[str, Callable[[Scope, Receive], Awaitable[Reply]]]] = {
            "/retrieve": ("POST", self._retrieve),
            "/health": ("GET", self._health),
            "/info": ("GET", self._info),
            "/metrics": ("GET", self._metrics),
        }

    def start(self) -> None:
        """Warm every retriever up and start its thread."""
        for dispatcher in self._indexes.values():
            dispatcher.start()

    def close(self) -> None:
        """Answer what waits and end the threads."""
        for dispatcher in self._indexes.values():
            dispatcher.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; the entry point of ASGI."""
        if scope["type"] != "http":
            raise ConfigError(f"this application speaks HTTP, got {scope['type']}: serve it with lifespan off")
        try:
            reply = await self._respond(scope, receive)
        except _Disconnected:
            return
        headers = [(b"content-type", reply.content_type), (b"content-length", str(len(reply.body)).encode())]
        await send({"type": "http.response.start", "status": reply.status, "headers": [*headers, *reply.headers]})
        await send({"type": "http.response.body", "body": reply.body})

    async def _respond(self, scope: Scope, receive: Receive) -> Reply:
        method, handler = self._routes.get(scope["path"], ("", None))
        try:
            if handler is None:
                raise Rejected(404, f"no {scope['path']} here; there are {', '.join(self._routes)}")
            if scope["method"] != method:
                raise Rejected(405, f"{scope['path']} takes {method}, got {scope['method']}")
            return await handler(scope, receive)
        except Rejected as err:
            return _error(err)

    async def _retrieve(self, scope: Scope, receive: Receive) -> Reply:
        try:
            async with asyncio.timeout(self.limits.deadline):
                body = await _read_body(receive)
        except TimeoutError:
            raise Rejected(408, f"the request did not arrive within {self.limits.deadline:g} s") from None
        request = read_request(body)
        name = self._name(scope, request)
        start = time.perf_counter()
        try:
            answers = await self._search(self._indexes[name], request)
            reply = Reply(200, write_reply(answers), headers=self._identities[name])
        except Rejected as err:
            reply = _error(err)
        stats = self._indexes[name].stats
        stats.seconds.observe(time.perf_counter() - start)
        stats.replies[reply.status] += 1
        return reply

    def _name(self, scope: Scope, request: Request) -> str:
        name = request.index
        if name is None and scope["query_string"]:
            name = parse_qs(scope["query_string"].decode("latin-1")).get("index", [None])[-1]
        if name is None:
            return self._default
        if name not in self._indexes:
            raise Rejected(404, f"no index {name!r} here; there are {', '.join(self._indexes)}")
        return name

    async def _search(self, dispatcher: Dispatcher, request: Request) -> list[bytes]:
        seconds = min(self.limits.deadline, request.timeout or self.limits.deadline)
        try:
            async with asyncio.timeout(seconds):
                return await dispatcher.submit(
                    request.texts(), k=request.topk or DEFAULT_TOPK, scores=request.return_scores
                )
        except TimeoutError:
            raise Rejected(504, f"no answer within {seconds:g} s: {dispatcher.waiting} queries wait") from None
        except Rejected:
            raise
        except Exception as err:  # what the retriever raised; the dispatcher has logged it
            raise Rejected(500, f"the index cannot answer: {' '.join(str(err).split()) or type(err).__name__}") from err

    async def _health(self, scope: Scope, receive: Receive) -> Reply:
        return Reply(200, b'{"status":"ok"}')

    async def _info(self, scope: Scope, receive: Receive) -> Reply:
        document = {
            "version": _version(),
            "default": self._default,
            "limits": asdict(self.limits),
            "indexes": {name: describe(dispatcher.retriever) for name, dispatcher in self._indexes.items()},
        }
        return Reply(200, msgspec.json.encode(document))

    async def _metrics(self, scope: Scope, receive: Receive) -> Reply:
        stats = {name: dispatcher.stats for name, dispatcher in self._indexes.items()}
        waiting = {name: dispatcher.waiting for name, dispatcher in self._indexes.items()}
        return Reply(200, render(stats, waiting).encode(), PROMETHEUS)


def describe(retriever: Retriever) -> dict[str, Any]:
    """Return what a retriever tells of itself: its kind, and count and hash of the corpus where it has one."""
    corpus = getattr(retriever, "corpus", None)
    if corpus is None:
        return {"kind": retriever.name}
    return {"kind": retriever.name, "count": len(corpus), "corpus_sha256": corpus.sha256}


class _Disconnected(Exception):
    """The client went away before its request was complete."""


async def _read_body(receive: Receive) -> bytes:
    parts, size, more = [], 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise _Disconnected
        part = message.get("body", b"")
        size += len(part)
        if size > MAX_BODY:
            raise Rejected(413, f"the body is over {MAX_BODY} bytes: send the queries in parts")
        parts.append(part)
        more = message.get("more_body", False)
    return b"".join(parts)


def _error(err: Rejected) -> Reply:
    after = () if err.retry_after is None else ((b"retry-after", str(err.retry_after).encode()),)
    return Reply(err.status, msgspec.json.encode({"error": str(err)}), headers=after)


def _identity(retriever: Retriever) -> tuple[tuple[bytes, bytes], ...]:
    sha256 = describe(retriever).get("corpus_sha256")
    return () if sha256 is None else ((CORPUS_HEADER, sha256.encode()),)


def _version() -> str:
    try:
        return metadata.version("agentgym-r1")
    except metadata.PackageNotFoundError:
        return "not installed"
