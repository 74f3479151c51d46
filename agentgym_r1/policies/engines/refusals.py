"""What a server's refusal means, and what to do about it."""

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus

import httpx

from agentgym_r1.errors import EngineError

_TRANSIENT = {408, 409, 425, 429}
_LONGEST_RETRY_AFTER = 600.0
_LONGEST_QUOTE = 300
_TOO_LONG = re.compile(r"context.?(length|window|size)|prompt is too long|too many tokens", re.IGNORECASE)
_SECONDS = re.compile(r"\d+(\.\d*)?")


class Transient(EngineError):
    """A failure that may be over at the next attempt; ``retry_after`` is the wait in seconds the server asks for."""

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


def explain(reply: httpx.Response, *, where: str, model: str, key: str) -> EngineError:
    """Return the error of a reply that is no success; Transient when another attempt may help.

    Args:
        reply: the server's answer.
        where: the endpoint, as it may be shown.
        model: the model that was asked for.
        key: the API key, which the message must not hold even if the server repeats it.
    """
    status, said = reply.status_code, _said(reply, key)
    advice = _advice(reply, model)
    message = f"{where} answered {status}: {said}{advice and f' ({advice})'}"
    if advice or (status not in _TRANSIENT and status < HTTPStatus.INTERNAL_SERVER_ERROR):
        return EngineError(message)
    retry_after = _retry_after(reply.headers.get("retry-after", ""))
    if retry_after is not None and retry_after > _LONGEST_RETRY_AFTER:
        return EngineError(f"{message} (it asks to wait {retry_after:.0f} s): try again later")
    return Transient(message, retry_after=retry_after)


def unreachable(where: str, err: httpx.TransportError) -> str:
    """Return the message for a connection that could not be made or broke."""
    reason = " ".join(str(err).split()) or type(err).__name__
    return f"no server answers at {where} ({reason}): start it, or correct the URL"


def _advice(reply: httpx.Response, model: str) -> str:
    """Return what to do about a refusal that no further attempt will change, or nothing."""
    status = reply.status_code
    if status in {401, 403}:
        return "set OPENAI_API_KEY or pass api_key"
    if status == HTTPStatus.NOT_FOUND:
        return f"is there a model {model!r}? GET /models lists them; the URL usually ends in /v1"
    if status in {400, 413, 422} and _TOO_LONG.search(reply.text):
        return "the model's context is too short: give the environment a smaller context_budget, or lower max_tokens"
    if "insufficient_quota" in reply.text:
        return "the account's quota is used up"
    return ""


def _said(reply: httpx.Response, key: str) -> str:
    """Return the server's own words on one line, the key blotted out."""
    said = _message(reply)
    said = said.replace(key, "***") if key else said
    return " ".join(said.split())[:_LONGEST_QUOTE]


def _message(reply: httpx.Response) -> str:
    try:
        body = reply.json()
    except ValueError:
        return reply.text
    error = body.get("error", body) if isinstance(body, dict) else body
    return str(error.get("message", error)) if isinstance(error, dict) else str(error)


def _retry_after(header: str) -> float | None:
    """Return the seconds that a Retry-After header asks for (a number or an HTTP date), None when it is neither."""
    if _SECONDS.fullmatch(header.strip()):
        return float(header)
    try:
        return max((parsedate_to_datetime(header) - datetime.now(UTC)).total_seconds(), 0.0)
    except (ValueError, TypeError):
        return None
