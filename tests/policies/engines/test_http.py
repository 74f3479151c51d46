"""The HTTP engine against a real server on the loopback interface."""

import asyncio
import json
import logging
import socket
import threading
import time
from collections.abc import Callable, Iterator
from email.utils import formatdate
from typing import Any

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from agentgym_r1.actions import get_format
from agentgym_r1.errors import ConfigError, EngineError
from agentgym_r1.policies.engines.base import Sampling
from agentgym_r1.policies.engines.http import HttpEngine, Usage
from agentgym_r1.types import Message, ToolCall

ASK = (Message("system", "Be brief."), Message("user", "Which port?"))
KEY = "sk-not-a-real-key"


class Endpoint:
    """An OpenAI-compatible server that answers what a test scripts; the last reply is repeated."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.script: list[Callable[[], Response]] = [lambda: chat("Lisbon")]
        self.bodies: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.delay = 0.0
        self.running = 0
        self.most_running = 0

    async def post(self, request: Request) -> Response:
        self.bodies.append(await request.json())
        self.paths.append(request.url.path)
        self.headers.append({**request.headers, "port": str(request.client.port)})
        reply = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        await asyncio.sleep(self.delay)
        self.running -= 1
        return reply()

    async def models(self, request: Request) -> Response:
        if request.headers.get("authorization") == "Bearer wrong":
            return error(401, "Incorrect API key provided: wrong")
        return JSONResponse({"object": "list", "data": [{"id": "m"}]})


def chat(content: str | None, **choice: Any) -> Response:
    message = {"role": "assistant", "content": content, **choice.pop("message", {})}
    return JSONResponse(
        {
            "object": "chat.completion",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop", **choice}],
            "usage": {"prompt_tokens": 11, "completion_tokens": 2, "total_tokens": 13},
        }
    )


def error(status: int, message: str, *, headers: dict[str, str] | None = None, **fields: Any) -> Response:
    return JSONResponse({"error": {"message": message, **fields}}, status, headers)


class Server:
    """A uvicorn server in a thread, which hands every request to the endpoint of the running test."""

    def __init__(self) -> None:
        routes = [
            Route("/v1/chat/completions", self._post, methods=["POST"]),
            Route("/v1/completions", self._post, methods=["POST"]),
            Route("/v1/models", self._models),
        ]
        listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        self.endpoint = Endpoint(self.url)
        self._server = uvicorn.Server(uvicorn.Config(Starlette(routes=routes), log_level="warning", lifespan="off"))
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [listener]}, daemon=True)
        self._thread.start()

    async def _post(self, request: Request) -> Response:
        return await self.endpoint.post(request)

    async def _models(self, request: Request) -> Response:
        return await self.endpoint.models(request)

    def close(self) -> None:
        self._server.should_exit = self._server.force_exit = True
        self._thread.join(10)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.close()


@pytest.fixture
def endpoint(server: Server, monkeypatch: pytest.MonkeyPatch) -> Endpoint:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    server.endpoint = Endpoint(server.url)
    return server.endpoint


def engine_at(endpoint: Endpoint, **options: Any) -> HttpEngine:
    return HttpEngine(endpoint.url, "m", **{"backoff": 0.01, **options})


def ask(engine: HttpEngine, *, count: int = 1, tools: Any = (), **sampling: Any) -> Any:
    async def run() -> Any:
        try:
            calls = [engine.generate(ASK, tools=tools, sampling=Sampling(**sampling)) for _ in range(count)]
            return await asyncio.gather(*calls)
        finally:
            await engine.aclose()

    answers = asyncio.run(run())
    return answers[0] if count == 1 else answers


def check(engine: HttpEngine) -> None:
    async def run() -> None:
        try:
            await engine.check()
        finally:
            await engine.aclose()

    asyncio.run(run())


def test_chat_sends_messages_and_sampling_and_reads_text_and_usage(endpoint: Endpoint) -> None:
    engine = engine_at(endpoint)
    response = ask(engine, temperature=0.5, top_p=0.9, max_tokens=7, seed=3)
    assert (response.text, response.finish_reason) == ("Lisbon", "stop")
    assert (response.prompt_tokens, response.completion_tokens) == (11, 2)
    assert endpoint.paths == ["/v1/chat/completions"]
    assert endpoint.bodies == [
        {
            "model": "m",
            "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Which port?"}],
            "temperature": 0.5,
            "top_p": 0.9,
            "max_tokens": 7,
            "seed": 3,
        }
    ]
    assert engine.usage == Usage(requests=1, prompt_tokens=11, completion_tokens=2)
    assert engine.count_tokens("Lisbon") is None


def test_completions_sends_one_text_and_reads_ids_and_logprobs(endpoint: Endpoint) -> None:
    choice = {
        "text": " Porto",
        "finish_reason": "length",
        "prompt_token_ids": [1, 2, 3],
        "token_ids": [8, 9],
        "logprobs": {"token_logprobs": [-0.5, -0.25], "tokens": [" Por", "to"]},
    }
    endpoint.script = [lambda: JSONResponse({"choices": [choice]})]
    response = ask(engine_at(endpoint, api="completions", token_ids=True))
    assert endpoint.paths == ["/v1/completions"]
    assert endpoint.bodies[0]["prompt"] == "Be brief.\n\nWhich port?"
    assert endpoint.bodies[0]["return_token_ids"] is True
    assert (response.text, response.finish_reason) == (" Porto", "length")
    assert (response.prompt_ids, response.action_ids) == ((1, 2, 3), (8, 9))
    assert response.logprobs == (-0.5, -0.25)
    assert (response.prompt_tokens, response.completion_tokens) == (0, 0)


def test_chat_reads_token_ids_and_logprobs_as_vllm_sends_them(endpoint: Endpoint) -> None:
    reply = json.loads(
        chat("Lisbon", token_ids=[8], logprobs={"content": [{"token": "Lisbon", "logprob": -0.125}]}).body
    )
    endpoint.script = [lambda: JSONResponse({**reply, "prompt_token_ids": [5, 6]})]
    response = ask(engine_at(endpoint, token_ids=True))
    assert endpoint.bodies[0]["logprobs"] is True
    assert (response.prompt_ids, response.action_ids, response.logprobs) == ((5, 6), (8,), (-0.125,))


def test_logprobs_that_do_not_match_the_ids_are_left_out(endpoint: Endpoint) -> None:
    logprobs = {"content": [{"token": "a", "logprob": -1}, {"token": "b", "logprob": -1}]}
    endpoint.script = [lambda: chat("Lisbon", token_ids=[8], logprobs=logprobs)]
    response = ask(engine_at(endpoint, token_ids=True))
    assert (response.action_ids, response.logprobs) == ((8,), ())


def tool_call(name: str, arguments: Any, call_id: str | None = "") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def test_tool_calls_come_back_in_the_native_action_format(endpoint: Endpoint) -> None:
    calls = [
        tool_call("search", '{"query": "Ada </tool_call> \\"Lovelace\\""}', "call_1"),
        tool_call("lookup", {"keyword": "née"}, None),
        tool_call("finish", ""),
    ]
    endpoint.script = [lambda: chat("I search.", message={"tool_calls": calls}, finish_reason="tool_calls")]
    tools = [{"type": "function", "function": {"name": "search", "parameters": {"type": "object"}}}]
    response = ask(engine_at(endpoint), tools=tools)
    assert endpoint.bodies[0]["tools"] == tools
    assert response.finish_reason == "stop"
    assert response.text.startswith("I search.\n")
    assert get_format("native").parse(response.text).calls == (
        ToolCall("search", {"query": 'Ada </tool_call> "Lovelace"'}, "call_1"),
        ToolCall("lookup", {"keyword": "née"}),
        ToolCall("finish", {}),
    )


def test_arguments_that_are_no_json_reach_the_environment_as_they_are(endpoint: Endpoint) -> None:
    calls = [tool_call("search", '{"query": "Ada')]
    endpoint.script = [lambda: chat(None, message={"tool_calls": calls}, finish_reason="length")]
    response = ask(engine_at(endpoint))
    assert response.finish_reason == "length"
    parsed = get_format("native").parse(response.text)
    assert parsed.calls == ()
    assert parsed.error


def test_reasoning_is_part_of_the_text(endpoint: Endpoint) -> None:
    endpoint.script = [lambda: chat("Lisbon", message={"reasoning_content": "A port in Portugal.\n"})]
    assert ask(engine_at(endpoint)).text == "<think>\nA port in Portugal.\n</think>\nLisbon"


@pytest.mark.parametrize(
    ("content", "choice", "text"),
    [
        ("<answer>x</answer>", {}, "<answer>x</answer>"),
        ("thought", {"stop_reason": "</answer>"}, "thought</answer>"),
        ("thought", {"matched_stop": "\nObservation:"}, "thought\nObservation:"),
        ("<answer>x", {}, "<answer>x</answer>"),
        ("<answer>x</answer> and <answer>y", {}, "<answer>x</answer> and <answer>y</answer>"),
        ("<answer>x", {"finish_reason": "length"}, "<answer>x"),
        ("Action: search", {}, "Action: search"),
        ("x", {"stop_reason": 2}, "x"),
    ],
)
def test_a_stop_string_that_the_server_cut_off_is_put_back_where_it_is_known(
    endpoint: Endpoint, content: str, choice: dict[str, Any], text: str
) -> None:
    endpoint.script = [lambda: chat(content, **choice)]
    assert ask(engine_at(endpoint), stop=("\nObservation:", "</answer>")).text == text
    assert endpoint.bodies[0]["stop"] == ["\nObservation:", "</answer>"]
    assert endpoint.bodies[0]["include_stop_str_in_output"] is True


def test_a_field_the_server_does_not_know_is_left_out_from_then_on(endpoint: Endpoint) -> None:
    refusal = "Unrecognized request argument supplied: include_stop_str_in_output"
    endpoint.script = [lambda: error(400, refusal), lambda: chat("Lisbon")]
    engine = engine_at(endpoint, retries=0)
    assert ask(engine, stop=("x",)).text == "Lisbon"
    assert ask(engine, stop=("x",)).text == "Lisbon"
    assert ["include_stop_str_in_output" in body for body in endpoint.bodies] == [True, False, False]
    assert engine.usage.retries == 0


def test_max_tokens_gets_its_newer_name_when_the_server_asks_for_it(endpoint: Endpoint) -> None:
    refusal = "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead."
    endpoint.script = [lambda: error(400, refusal), lambda: chat("Lisbon")]
    assert ask(engine_at(endpoint, retries=0), max_tokens=9).text == "Lisbon"
    assert endpoint.bodies[1]["max_completion_tokens"] == 9
    assert "max_tokens" not in endpoint.bodies[1]


def test_429_is_tried_again_after_what_retry_after_says(endpoint: Endpoint) -> None:
    endpoint.script = [lambda: error(429, "slow down", headers={"Retry-After": "0.4"}), lambda: chat("Lisbon")]
    engine = engine_at(endpoint)
    started = time.perf_counter()
    assert ask(engine).text == "Lisbon"
    assert time.perf_counter() - started >= 0.4
    assert engine.usage == Usage(requests=1, retries=1, prompt_tokens=11, completion_tokens=2)


def test_retry_after_may_be_a_date(endpoint: Endpoint) -> None:
    date = formatdate(time.time() + 2, usegmt=True)
    endpoint.script = [lambda: error(503, "loading", headers={"Retry-After": date}), lambda: chat("Lisbon")]
    started = time.perf_counter()
    assert ask(engine_at(endpoint)).text == "Lisbon"
    assert time.perf_counter() - started > 0.5


def test_a_retry_after_of_hours_is_an_error_at_once(endpoint: Endpoint) -> None:
    endpoint.script = [lambda: error(429, "come back tomorrow", headers={"Retry-After": "86400"})]
    with pytest.raises(EngineError, match=r"come back tomorrow.*wait 86400 s"):
        ask(engine_at(endpoint))
    assert len(endpoint.bodies) == 1


def test_500s_until_the_retries_are_used_up_are_an_error(endpoint: Endpoint) -> None:
    endpoint.script = [lambda: PlainTextResponse("worker\ndied", 500)]
    engine = engine_at(endpoint, retries=3)
    with pytest.raises(EngineError, match=r"answered 500: worker died \(tried 4 times\)"):
        ask(engine)
    assert len(endpoint.bodies) == 4
    assert engine.usage == Usage(retries=3)


@pytest.mark.parametrize(
    "reply",
    [
        PlainTextResponse("<html>hello</html>"),
        JSONResponse({"choices": []}),
        JSONResponse({"error": {"message": "overloaded"}}),
        JSONResponse({"choices": [{"message": {"content": 7}}]}),
        Response(b'\xff{"choices"', media_type="application/json"),
        Response(b""),
    ],
)
def test_a_reply_that_is_no_completion_is_an_error_that_shows_its_beginning(
    endpoint: Endpoint, reply: Response
) -> None:
    endpoint.script = [lambda: reply]
    with pytest.raises(EngineError, match="expected an OpenAI completion") as caught:
        ask(engine_at(endpoint))
    assert "\n" not in str(caught.value)
    assert len(endpoint.bodies) == 1


def test_a_slow_server_times_out_and_is_tried_again(endpoint: Endpoint) -> None:
    endpoint.delay = 30.0
    with pytest.raises(EngineError, match=r"no answer .* within 0.5 s: raise timeout.*tried 2 times"):
        ask(engine_at(endpoint, timeout=0.5, retries=1))
    assert len(endpoint.bodies) == 2


def test_nobody_listening_is_an_error_that_says_so(endpoint: Endpoint) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    engine = HttpEngine(f"http://127.0.0.1:{port}/v1", "m", retries=1, backoff=0.01)
    with pytest.raises(
        EngineError, match=rf"no server answers at http://127.0.0.1:{port}/v1 .*start it.*tried 2 times"
    ):
        ask(engine)
    with pytest.raises(EngineError, match="no server answers"):
        check(engine)


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (lambda: error(401, f"Incorrect API key provided: {KEY}"), "set OPENAI_API_KEY or pass api_key"),
        (lambda: error(404, "The model `m` does not exist."), "is there a model 'm'.*/v1"),
        (lambda: error(400, "This model's maximum context length is 2048 tokens."), "smaller context_budget"),
        (lambda: error(429, "You exceeded your quota", code="insufficient_quota"), "quota is used up"),
        (lambda: error(400, "messages: field required"), "answered 400: messages: field required$"),
        (lambda: JSONResponse({"detail": [{"msg": "bad"}]}, 422), "answered 422: .*bad"),
        (lambda: JSONResponse(["odd"], 418), "answered 418: .*odd"),
    ],
)
def test_a_refusal_is_one_line_that_says_what_to_do_without_a_retry_or_the_key(
    endpoint: Endpoint, reply: Callable[[], Response], message: str
) -> None:
    endpoint.script = [reply]
    with pytest.raises(EngineError, match=message) as caught:
        ask(engine_at(endpoint, api_key=KEY))
    assert KEY not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(endpoint.bodies) == 1


def test_the_key_goes_into_the_header_and_nowhere_else(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    endpoint.script = [lambda: error(500, f"echo {KEY}"), lambda: chat("Lisbon")]
    engine = engine_at(endpoint)
    ask(engine)
    ask(engine_at(endpoint, api_key="another"))
    assert [headers["authorization"] for headers in endpoint.headers] == [f"Bearer {KEY}"] * 2 + ["Bearer another"]
    assert KEY not in caplog.text
    assert KEY not in repr(engine)


def test_without_a_key_no_authorization_is_sent(endpoint: Endpoint) -> None:
    ask(engine_at(endpoint))
    assert "authorization" not in endpoint.headers[0]


def test_no_more_requests_are_in_flight_than_the_limit(endpoint: Endpoint) -> None:
    endpoint.delay = 0.05
    engine = engine_at(endpoint, concurrency=3)
    assert len(ask(engine, count=12)) == 12
    assert endpoint.most_running == 3
    assert engine.usage.requests == 12


def test_waiting_for_a_slot_does_not_count_as_time_out(endpoint: Endpoint) -> None:
    endpoint.delay = 0.6
    engine = engine_at(endpoint, concurrency=1, timeout=2.5, retries=0)
    assert len(ask(engine, count=5)) == 5


def test_an_engine_serves_one_event_loop_after_another_and_closes_twice(endpoint: Endpoint) -> None:
    engine = engine_at(endpoint)

    async def run() -> str:
        return (await engine.generate(ASK, sampling=Sampling())).text

    async def close_twice() -> None:
        await engine.aclose()
        await engine.aclose()

    assert [asyncio.run(run()) for _ in range(3)] == ["Lisbon"] * 3
    assert len({headers["port"] for headers in endpoint.headers}) == 1
    asyncio.run(close_twice())
    assert asyncio.run(run()) == "Lisbon"
    asyncio.run(engine.aclose())


def test_a_cancelled_call_frees_its_slot(endpoint: Endpoint) -> None:
    endpoint.delay = 30.0
    engine = engine_at(endpoint, concurrency=1)

    async def run() -> str:
        call = asyncio.create_task(engine.generate(ASK, sampling=Sampling()))
        await asyncio.sleep(0.3)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        endpoint.delay = 0.0
        answer = await engine.generate(ASK, sampling=Sampling())
        await engine.aclose()
        return answer.text

    assert asyncio.run(asyncio.wait_for(run(), 10)) == "Lisbon"


def test_closing_cancels_a_call_that_runs(endpoint: Endpoint) -> None:
    endpoint.delay = 30.0
    engine = engine_at(endpoint)

    async def run() -> None:
        call = asyncio.create_task(engine.generate(ASK, sampling=Sampling()))
        await asyncio.sleep(0.3)
        await engine.aclose()
        with pytest.raises((asyncio.CancelledError, EngineError)):
            await call

    asyncio.run(asyncio.wait_for(run(), 10))


def test_check_passes_where_a_server_is_and_fails_on_a_refused_key(endpoint: Endpoint) -> None:
    check(engine_at(endpoint))
    with pytest.raises(EngineError, match="set OPENAI_API_KEY") as caught:
        check(engine_at(endpoint, api_key="wrong"))
    assert "provided: ***" in str(caught.value)


def test_the_completions_api_refuses_tools(endpoint: Endpoint) -> None:
    with pytest.raises(ConfigError, match="has no tools"):
        ask(engine_at(endpoint, api="completions"), tools=[{"type": "function", "function": {"name": "search"}}])


@pytest.mark.parametrize(
    ("url", "model", "options", "message"),
    [
        ("ftp://host/v1", "m", {}, "expected a URL like"),
        ("http://", "m", {}, "expected a URL like"),
        ("http://host:port/v1", "m", {}, "no URL"),
        ("http://host/v1", "", {}, "a model name is needed"),
        ("http://host/v1", "m", {"api": "responses"}, "api must be"),
        ("http://host/v1", "m", {"timeout": 0}, "timeout must be above 0"),
        ("http://host/v1", "m", {"concurrency": 0}, "concurrency at least 1"),
        ("http://host/v1", "m", {"api_key": "a\nb"}, "API key holds characters"),
    ],
)
def test_wrong_arguments_are_refused_when_the_engine_is_made(
    url: str, model: str, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        HttpEngine(url, model, **options)


def test_user_and_password_of_a_url_are_not_shown() -> None:
    assert "secret" not in repr(HttpEngine("http://me:secret@host:1/v1/", "m"))


@pytest.mark.parametrize(
    "wrong", [{"temperature": -1}, {"top_p": 0}, {"top_p": 1.5}, {"max_tokens": 0}, {"stop": ("",)}]
)
def test_sampling_out_of_range_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        Sampling(**wrong)
