"""An engine over HTTP: any endpoint that speaks OpenAI's chat or completions API (vLLM, SGLang, llama.cpp, hosted)."""

import asyncio
import logging
import os
import random
import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import httpx

from agentgym_r1.errors import ConfigError, EngineError
from agentgym_r1.policies.engines.background import BackgroundLoop
from agentgym_r1.policies.engines.base import Sampling
from agentgym_r1.policies.engines.refusals import Transient, explain, unreachable
from agentgym_r1.policies.engines.wire import chat_payload, completion_payload, read_reply, sampling_payload
from agentgym_r1.types import Message, Response

logger = logging.getLogger(__name__)

Api = Literal["chat", "completions"]

_PATHS = {"chat": "/chat/completions", "completions": "/completions"}
_LONGEST_BACKOFF = 30.0
_LONGEST_CONNECT = 10.0
_NEW_MAX_TOKENS = re.compile(r"max_completion_tokens\W+instead")
_EXTENSIONS = ("include_stop_str_in_output", "return_token_ids")


@dataclass(frozen=True, slots=True)
class Usage:
    """What an engine has used so far: ``requests`` answered, ``retries`` of failed attempts, and tokens."""

    requests: int = 0
    retries: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0


class HttpEngine:
    """Sends every prompt to an OpenAI-compatible endpoint.

    Connection errors, time-outs, 408, 409, 425, 429 and 5xx are tried again after an exponential backoff with jitter,
    or after what the server's Retry-After says. Everything else is an EngineError at once.

    Args:
        base_url: where the API lives, ``/v1`` included: ``http://127.0.0.1:8000/v1``.
        model: the name the server knows the model by.
        api: ``chat``, or ``completions`` for base models: the messages are sent as one text, a blank line between them.
        api_key: the bearer token; default $OPENAI_API_KEY, else none. It is in no log line, message or repr.
        timeout: seconds an attempt may take from connecting to the last byte.
        retries: attempts after the first.
        backoff: seconds before the first retry; each further one waits twice as long, up to 30 s.
        concurrency: requests in flight at a time.
        token_ids: ask for token ids and log-probabilities. vLLM returns both; for the log-probabilities to be the
            sampling policy's at any temperature, serve with ``--logprobs-mode processed_logprobs``.

    Raises:
        ConfigError: a value is out of range, or the URL is not http(s).
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        *,
        api: Api = "chat",
        api_key: str | None = None,
        timeout: float = 300.0,
        retries: int = 5,
        backoff: float = 0.5,
        concurrency: int = 32,
        token_ids: bool = False,
    ) -> None:
        url = _parse_url(base_url)
        if not model:
            raise ConfigError(f"a model name is needed: {_shown(url)}/models lists what the server has")
        if api not in _PATHS:
            raise ConfigError(f"api must be 'chat' or 'completions', got {api!r}")
        if timeout <= 0 or retries < 0 or backoff < 0 or concurrency < 1:
            raise ConfigError(
                "timeout must be above 0, retries and backoff at least 0, concurrency at least 1; "
                f"got {timeout}, {retries}, {backoff}, {concurrency}"
            )
        self._base = str(url).rstrip("/")
        self._shown = _shown(url)
        self._model = model
        self._api: Api = api
        self._key = _checked_key(api_key if api_key is not None else os.environ.get("OPENAI_API_KEY", ""))
        self._timeout = timeout
        self._retries = retries
        self._backoff = backoff
        self._concurrency = concurrency
        self._token_ids = token_ids
        self._refused: set[str] = set()
        self._usage = Usage()
        self._lock = threading.Lock()
        self._session: _Session | None = None

    @property
    def name(self) -> str:
        """The model's name."""
        return self._model

    @property
    def usage(self) -> Usage:
        """The totals since the engine was made."""
        return self._usage

    def count_tokens(self, text: str) -> int | None:
        """Return None: the endpoint does not tell."""
        return None

    def __repr__(self) -> str:
        return f"HttpEngine({self._shown!r}, {self._model!r}, api={self._api!r})"

    async def check(self) -> None:
        """Ask the server for its models once, without retries.

        Raises:
            EngineError: no server there, or it refuses the key.
        """
        session = self._open()
        try:
            reply = await session.loop.run(session.client.get(f"{self._base}/models", timeout=self._timeout))
        except httpx.TransportError as err:
            raise EngineError(unreachable(self._shown, err)) from err
        if reply.status_code in {401, 403}:
            raise self._explain(reply)

    async def generate(
        self, messages: Sequence[Message], *, tools: Sequence[Mapping[str, Any]] = (), sampling: Sampling
    ) -> Response:
        """Answer a chat; see Engine.

        Raises:
            EngineError: no answer after all retries, a refused key, an unknown model, a prompt that is too long, or a
                reply that is no completion.
            ConfigError: ``tools`` with the completions API, which has none.
        """
        session = self._open()
        reply = await session.loop.run(self._send(session, self._payload(messages, tools, sampling)))
        response = read_reply(reply.content, sampling.stop)
        self._count(requests=1, prompt=response.prompt_tokens, completion=response.completion_tokens)
        return response

    async def aclose(self) -> None:
        """Close the connections; a request that still runs is cancelled."""
        with self._lock:
            session, self._session = self._session, None
        if session is not None:
            await session.loop.aclose(session.client.aclose())

    def _payload(
        self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], sampling: Sampling
    ) -> dict[str, Any]:
        if tools and self._api == "completions":
            raise ConfigError(
                "the completions API has no tools: use the chat API, or an action format other than native"
            )
        asked = chat_payload(messages, tools) if self._api == "chat" else completion_payload(messages)
        payload = {"model": self._model, **asked, **sampling_payload(sampling)}
        if self._token_ids:
            payload |= {"return_token_ids": True, "logprobs": True if self._api == "chat" else 1}
        return payload

    async def _send(self, session: "_Session", payload: Mapping[str, Any]) -> httpx.Response:
        attempt = 0
        while True:
            try:
                return await self._attempt(session, payload)
            except Transient as err:
                if attempt >= self._retries:
                    raise EngineError(f"{err} (tried {attempt + 1} times)") from err
                wait = self._wait(attempt, err.retry_after)
                logger.info("attempt %d failed, next in %.1f s: %s", attempt + 1, wait, err)
                self._count(retries=1)
                await asyncio.sleep(wait)
            attempt += 1

    async def _attempt(self, session: "_Session", payload: Mapping[str, Any]) -> httpx.Response:
        sent = self._accepted(payload)
        try:
            async with session.slots, asyncio.timeout(self._timeout):
                reply = await session.client.post(self._base + _PATHS[self._api], json=sent)
        except (TimeoutError, httpx.TimeoutException) as err:
            raise Transient(
                f"no answer from {self._shown} within {self._timeout:g} s: raise timeout, or lower concurrency"
            ) from err
        except httpx.TransportError as err:
            raise Transient(unreachable(self._shown, err)) from err
        if reply.is_success:
            return reply
        if self._learn(sent, reply):
            return await self._attempt(session, payload)
        raise self._explain(reply)

    def _open(self) -> "_Session":
        with self._lock:
            if self._session is None:
                client = httpx.AsyncClient(
                    headers={"Authorization": f"Bearer {self._key}"} if self._key else {},
                    timeout=httpx.Timeout(None, connect=min(self._timeout, _LONGEST_CONNECT)),
                    limits=httpx.Limits(max_connections=None, max_keepalive_connections=self._concurrency),
                )
                self._session = _Session(client, asyncio.Semaphore(self._concurrency), BackgroundLoop())
            return self._session

    def _learn(self, sent: Mapping[str, Any], reply: httpx.Response) -> bool:
        """Remember which field of ``sent`` this server does not take; return whether there is one."""
        if reply.status_code not in {400, 422}:
            return False
        fields = {name for name in _EXTENSIONS if name in sent and name in reply.text}
        if "max_tokens" in sent and _NEW_MAX_TOKENS.search(reply.text):
            fields.add("max_tokens")
        for name in fields - self._refused:
            logger.warning("%s does not take %s: going on without it", self._shown, name)
        self._refused |= fields
        return bool(fields)

    def _accepted(self, payload: Mapping[str, Any]) -> dict[str, Any]:
        """Return the payload without what the server refused; newer OpenAI models have another name for max_tokens."""
        accepted = {name: value for name, value in payload.items() if name not in self._refused}
        if "max_tokens" in self._refused:
            accepted["max_completion_tokens"] = payload["max_tokens"]
        return accepted

    def _explain(self, reply: httpx.Response) -> EngineError:
        return explain(reply, where=self._shown, model=self._model, key=self._key)

    def _wait(self, attempt: int, retry_after: float | None) -> float:
        jitter = random.random()
        if retry_after is not None:
            return retry_after + jitter * self._backoff
        return float(min(self._backoff * 2**attempt, _LONGEST_BACKOFF) * (1 + jitter) / 2)

    def _count(self, *, requests: int = 0, retries: int = 0, prompt: int = 0, completion: int = 0) -> None:
        with self._lock:
            self._usage = Usage(
                self._usage.requests + requests,
                self._usage.retries + retries,
                self._usage.prompt_tokens + prompt,
                self._usage.completion_tokens + completion,
            )


class _Session(NamedTuple):
    client: httpx.AsyncClient
    slots: asyncio.Semaphore
    loop: BackgroundLoop


def _parse_url(text: str) -> httpx.URL:
    try:
        url = httpx.URL(text)
    except httpx.InvalidURL as err:
        raise ConfigError(f"{text!r} is no URL: expected one like http://127.0.0.1:8000/v1") from err
    if url.scheme not in {"http", "https"} or not url.host:
        raise ConfigError(f"expected a URL like http://127.0.0.1:8000/v1, got {text!r}")
    return url


def _shown(url: httpx.URL) -> str:
    """Return the URL without user, password and query, which may be secret."""
    return str(url.copy_with(username="", password="", query=None)).rstrip("/")


def _checked_key(key: str) -> str:
    key = key.strip()
    if not (key.isascii() and key.isprintable()):
        raise ConfigError("the API key holds characters that cannot be in a header: copy it again")
    return key
