"""Connections are closed with their owner, and never shared with a child."""

import gc
import multiprocessing
import pickle
import threading
import warnings
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import pytest

from agentgym_r1.connections import Connections
from agentgym_r1.envs.remote import RemoteEnv, Sessions
from agentgym_r1.envs.remote.server import make_app
from agentgym_r1.errors import AgentGymError, ConfigError
from agentgym_r1.retrieval import MemoryRetriever, RemoteRetriever
from agentgym_r1.retrieval.scholar.http import ScholarClient
from agentgym_r1.retrieval.service import RunningService
from agentgym_r1.serving import BackgroundServer
from agentgym_r1.types import Document


@pytest.fixture
def leaks(monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[str]]:
    """Return a function that collects garbage and returns what was left open since the last time."""
    gc.collect()
    found: list[str] = []
    monkeypatch.setattr("sys.unraisablehook", lambda left: found.append(str(left.exc_value)))

    def collect() -> list[str]:
        with warnings.catch_warnings():
            warnings.simplefilter("error", ResourceWarning)
            gc.collect()
        return found

    return collect


def test_a_searcher_that_nobody_closed_leaves_no_connection_behind(leaks: Callable[[], list[str]]) -> None:
    with RunningService({"own": MemoryRetriever([Document("a", "Ferry", "It crosses.")])}) as service:
        retriever = RemoteRetriever(service.address())
        retriever.search(["ferry"], k=1)
        retriever.in_a_cycle = retriever
        del retriever
        scholar = ScholarClient(service.address(), rate=1000.0)
        scholar.get([("/info", {})])
        del scholar
        assert leaks() == []


def test_an_environment_that_could_not_be_opened_leaves_no_connection_behind(leaks: Callable[[], list[str]]) -> None:
    with BackgroundServer(make_app(Sessions())) as server:
        with pytest.raises(ConfigError, match="colour"):
            RemoteEnv(server.address(), "AgentR1/GSM8K-v0", colour="red")
        assert leaks() == []


def test_the_detector_sees_a_client_that_is_left_open(leaks: Callable[[], list[str]]) -> None:
    with BackgroundServer(make_app(Sessions())) as server:
        client = httpx.Client(trust_env=False)
        client.get(f"{server.address()}/health")
        del client
        assert ["unclosed" in left for left in leaks()] == [True]


def test_closing_is_not_the_end() -> None:
    connections = Connections(trust_env=False)
    first = connections.client()
    assert connections.client() is first
    connections.close()
    connections.close()
    assert first.is_closed
    assert not connections.client().is_closed


def test_a_copy_and_a_child_have_connections_of_their_own() -> None:
    connections = Connections(headers={"x-who": "me"})
    own = connections.client()
    copy = pickle.loads(pickle.dumps(connections)).client()
    assert copy is not own
    assert copy.headers["x-who"] == "me"

    def child(answers: "multiprocessing.SimpleQueue[bool]") -> None:
        answers.put(connections.client() is own)
        connections.close()
        answers.put(own.is_closed)

    context = multiprocessing.get_context("fork")
    answers = context.SimpleQueue()
    process = context.Process(target=child, args=(answers,))
    process.start()
    process.join()
    assert [answers.get(), answers.get()] == [False, False]
    assert not own.is_closed


class Overwhelmed(BaseHTTPRequestHandler):
    """A server that refuses the first request with a reason, and answers no other until the test has ended."""

    asked = 0
    ended = threading.Event()

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        type(self).asked += 1
        if self.asked > 1:
            self.ended.wait(60)
        body = b'{"error": "no room for a ninth"}'
        self.send_response(503)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_request(self, *arguments: Any) -> None:
        """Keep the test's output clean."""


@pytest.fixture
def overwhelmed() -> Iterator[str]:
    handler = type("Handler", (Overwhelmed,), {"ended": threading.Event()})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        handler.ended.set()
        server.shutdown()


@pytest.mark.parametrize(
    "call",
    [
        lambda url: RemoteEnv(url, "AgentR1/GSM8K-v0", patience=2.0),
        lambda url: RemoteRetriever(url, patience=2.0).search(["ferry"], k=1),
    ],
)
def test_a_last_attempt_without_an_answer_does_not_hide_what_the_server_said(
    overwhelmed: str, call: Callable[[str], Any]
) -> None:
    with pytest.raises(AgentGymError, match=r"did not answer in time; before that, .*no room for a ninth.*tried"):
        call(overwhelmed)
