"""The sessions as an HTTP application, and the server that runs it."""

import asyncio
import base64
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import msgspec
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from agentgym_r1.envs.remote.sessions import Full, Sessions, UnknownSession
from agentgym_r1.errors import AgentGymError, ConfigError, EpisodeError
from agentgym_r1.serving import LOOPBACK, serve_app

logger = logging.getLogger(__name__)

T = TypeVar("T")
DEFAULT_PORT = 8766
_SWEEP_SECONDS = 30.0
_STATUS: Mapping[type[Exception], int] = {UnknownSession: 404, Full: 503, EpisodeError: 409, ConfigError: 400}


class Open(msgspec.Struct, forbid_unknown_fields=True):
    """Body of ``POST /sessions``."""

    env: str
    kwargs: dict[str, Any] = {}


class Reset(msgspec.Struct, forbid_unknown_fields=True):
    """Body of ``POST /sessions/NAME/reset``."""

    seed: int | None = None
    options: dict[str, Any] | None = None


class Step(msgspec.Struct, forbid_unknown_fields=True):
    """Body of ``POST /sessions/NAME/step``: the action, and how many steps were taken before it."""

    action: str
    step: int


class Restore(msgspec.Struct, forbid_unknown_fields=True):
    """Body of ``POST /sessions/NAME/restore``: what ``/snapshot`` returned."""

    snapshot: str


def serve(
    sessions: Sessions,
    *,
    host: str = LOOPBACK,
    port: int = DEFAULT_PORT,
    on_ready: Callable[[str], object] = lambda url: None,
) -> None:
    """Answer requests until SIGINT or SIGTERM, then close every session; see ``serving.serve_app``."""
    serve_app(make_app(sessions), host=host, port=port, on_ready=on_ready)


def make_app(sessions: Sessions) -> Starlette:
    """Return the application.

    Environments work in threads, so that a slow one stalls nobody. An error is ``{"error": TEXT}`` with 400 (a wrong
    argument), 404 (no such session), 409 (no episode to go on with), 503 (full) or 500 (the environment failed).
    """

    def route(path: str, handle: Callable[[str, bytes], Any], method: str = "POST") -> Route:
        async def endpoint(request: Request) -> Response:
            body = await request.body()
            return await run_in_threadpool(_answer, handle, request.path_params.get("name", ""), body)

        return Route(path, endpoint, methods=[method])

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        sweeper = asyncio.create_task(_sweep(sessions))
        yield
        sweeper.cancel()
        await run_in_threadpool(sessions.close_all)

    at = "/sessions/{name}"
    return Starlette(
        lifespan=lifespan,
        routes=[
            route("/sessions", lambda _, body: _opened(sessions, _read(body, Open))),
            route(f"{at}/reset", lambda name, body: sessions.reset(name, **msgspec.structs.asdict(_read(body, Reset)))),
            route(f"{at}/step", lambda name, body: _stepped(sessions, name, _read(body, Step))),
            route(f"{at}/expert", lambda name, _: sessions.expert(name)),
            route(f"{at}/snapshot", lambda name, _: _taken(sessions, name)),
            route(f"{at}/restore", lambda name, body: _restored(sessions, name, _read(body, Restore))),
            route(at, lambda name, _: sessions.close(name), "DELETE"),
            route("/envs", lambda *_: {"envs": list(sessions.ids)}, "GET"),
            route("/health", lambda *_: {"status": "ok", "sessions": len(sessions)}, "GET"),
        ],
    )


async def _sweep(sessions: Sessions) -> None:
    while True:
        await asyncio.sleep(min(_SWEEP_SECONDS, sessions.limits.idle))
        if closed := await run_in_threadpool(sessions.close_idle):
            logger.info("closed %d sessions that were idle for %g s", closed, sessions.limits.idle)


def _opened(sessions: Sessions, body: Open) -> dict[str, Any]:
    return {"session": sessions.open(body.env, body.kwargs)}


def _stepped(sessions: Sessions, name: str, body: Step) -> dict[str, Any]:
    return sessions.step(name, body.action, number=body.step)


def _taken(sessions: Sessions, name: str) -> dict[str, Any]:
    return {"snapshot": base64.b64encode(sessions.snapshot(name)).decode()}


def _restored(sessions: Sessions, name: str, body: Restore) -> dict[str, Any]:
    try:
        snapshot = base64.b64decode(body.snapshot, validate=True)
    except ValueError as err:
        raise ConfigError(f"a snapshot is sent as base64: {err}") from err
    return sessions.restore(name, snapshot)


def _answer(handle: Callable[[str, bytes], Any], name: str, body: bytes) -> Response:
    try:
        return _json(200, handle(name, body))
    except Exception as err:
        status = next((code for kind, code in _STATUS.items() if isinstance(err, kind)), 500)
        if status == 500:
            logger.exception("an environment failed")
        headers = {"retry-after": "1"} if status == 503 else {}
        text = " ".join(str(err).split()) or type(err).__name__
        return _json(
            status, {"error": text if isinstance(err, AgentGymError) else f"{type(err).__name__}: {text}"}, headers
        )


def _json(status: int, document: Any, headers: Mapping[str, str] | None = None) -> Response:
    body = msgspec.json.encode(document, enc_hook=_plain)
    return Response(body, status, headers=dict(headers or {}), media_type="application/json")


def _plain(value: Any) -> Any:
    """Return numpy's numbers, which environments of others put into info, as Python's."""
    if hasattr(value, "item"):
        return value.item()
    raise TypeError(f"info holds a {type(value).__name__}, which JSON has no form for")


def _read(body: bytes, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(body or b"{}", type=kind)
    except msgspec.DecodeError as err:
        raise ConfigError(f"the body does not fit: {err}") from err
