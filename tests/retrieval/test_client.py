"""The remote retriever: equal to the one it stands for, through overload, restarts, forks and slow neighbours."""

import multiprocessing
import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import gymnasium as gym
import httpx
import pytest
from echo import EchoRetriever, echo

from agentgym_r1.corpus import MemoryCorpus
from agentgym_r1.data.worlds import encyclopedia
from agentgym_r1.errors import AgentGymError, ConfigError, RetrievalError
from agentgym_r1.retrieval import BM25Retriever, MemoryRetriever, RemoteRetriever, Retriever, open_retriever
from agentgym_r1.retrieval.service import Limits, RunningService
from agentgym_r1.retrieval.wire import write_hits, write_reply
from agentgym_r1.types import Document

ROOT = Path(__file__).resolve().parents[2]
TEXTS = [(f"Mill {n}", f"It has {n} wheels by the river, and number {n * 7} is its neighbour.") for n in range(40)]
QUERIES = [f"wheels {n} neighbour {n * 3}" for n in range(64)]


@pytest.fixture(scope="module")
def mills() -> MemoryRetriever:
    return MemoryRetriever.from_texts(TEXTS)


@pytest.fixture(scope="module")
def service(mills: MemoryRetriever) -> Iterator[RunningService]:
    with RunningService({"mills": mills, "echo": EchoRetriever()}) as running:
        yield running


def test_it_is_a_retriever_equal_to_the_one_it_stands_for(service: RunningService, mills: MemoryRetriever) -> None:
    remote = open_retriever(service.address())
    assert isinstance(remote, Retriever)
    for k in (1, 3, 50):
        assert remote.search(QUERIES, k=k) == mills.search(QUERIES, k=k)
    assert remote.search([], k=3) == []
    assert remote.search(["zzz", ""], k=3) == [[], []]


def test_sixty_four_callers_get_what_one_gets(service: RunningService, mills: MemoryRetriever) -> None:
    remote = RemoteRetriever(service.address())
    with ThreadPoolExecutor(64) as pool:
        found = list(pool.map(lambda n: remote.search([QUERIES[n % 64]], k=1 + n % 5)[0], range(640)))
    assert found == [mills.search([QUERIES[n % 64]], k=1 + n % 5)[0] for n in range(640)]


def test_a_long_batch_goes_in_parts(service: RunningService) -> None:
    queries = [f"q{n}" for n in range(1000)]
    found = RemoteRetriever(service.address(), "echo").search(queries, k=2)
    assert found == [echo(query, 2) for query in queries]


def test_a_query_that_is_not_valid_unicode_is_answered(service: RunningService) -> None:
    assert RemoteRetriever(service.address(), "echo").search(["a\ud800"], k=1) == [echo("a?", 1)]


@pytest.mark.parametrize("suffix", ["?index=echo", "/?index=echo", "/retrieve?index=echo"])
def test_the_url_may_name_the_index(service: RunningService, suffix: str) -> None:
    remote = RemoteRetriever(service.address() + suffix)
    assert remote.search(["x"], k=1) == [echo("x", 1)]
    assert remote.name == f"{service.address()}?index=echo"
    assert remote.info() == {"kind": "echo"}


def test_it_pickles_by_its_address(service: RunningService, mills: MemoryRetriever) -> None:
    remote = RemoteRetriever(service.address(), "mills", patience=5)
    remote.search(["river"], k=1)
    copy = pickle.loads(pickle.dumps(remote))
    assert repr(copy) == repr(remote)
    assert copy.search(["river"], k=4) == mills.search(["river"], k=4)


def ask_in_child(remote: RemoteRetriever, number: int, out: Any) -> None:
    out.put([passage.id for passage in remote.search([f"child{number}"], k=2)[0]])


@pytest.mark.filterwarnings("ignore:This process")
def test_children_of_a_fork_do_not_share_connections(service: RunningService) -> None:
    remote = RemoteRetriever(service.address(), "echo")
    remote.search(["parent"], k=1)
    context = multiprocessing.get_context("fork")
    out = context.SimpleQueue()
    children = [context.Process(target=ask_in_child, args=(remote, n, out)) for n in range(4)]
    for child in children:
        child.start()
    assert remote.search(["parent again"], k=1) == [echo("parent again", 1)]
    found = sorted(out.get() for _ in children)
    for child in children:
        child.join(30)
    assert found == [[f"child{n}-0", f"child{n}-1"] for n in range(4)]


def test_it_searches_again_after_it_was_closed(service: RunningService) -> None:
    remote = RemoteRetriever(service.address(), "echo")
    for query in ("a", "b"):
        assert remote.search([query], k=1) == [echo(query, 1)]
        remote.close()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: RemoteRetriever("ftp://x"), "not the URL of a retrieval service"),
        (lambda: RemoteRetriever("http://"), "not the URL of a retrieval service"),
        (lambda: RemoteRetriever("http://a:b:c"), "not a URL"),
        (lambda: RemoteRetriever("http://x", patience=0), "patience must be above 0"),
        (lambda: RemoteRetriever("http://x").search(["a"], k=0), "k must be at least 1"),
    ],
)
def test_a_wrong_argument_is_explained(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        make()


def test_a_refusal_is_not_tried_again(service: RunningService) -> None:
    start = time.monotonic()
    with pytest.raises(RetrievalError, match="404.*no index 'milks' here; there are mills, echo"):
        RemoteRetriever(service.address(), "milks").search(["a"], k=1)
    with pytest.raises(RetrievalError, match=r"no index 'milks'; there are mills, echo"):
        RemoteRetriever(service.address(), "milks").info()
    with pytest.raises(RetrievalError, match="422.*<= 1000"):
        RemoteRetriever(service.address()).search(["a"], k=1001)
    with pytest.raises(RetrievalError, match="500.*hates"):
        RemoteRetriever(service.address(), "echo").search(["bad"], k=1)
    assert time.monotonic() - start < 10


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def test_where_no_service_is_the_error_names_the_address_and_how_long_it_tried() -> None:
    remote = RemoteRetriever(f"http://127.0.0.1:{free_port()}", patience=0.5)
    with pytest.raises(RetrievalError, match=r"127\.0\.0\.1.*index serve.*tried [2-9] times within 0.5 s"):
        remote.search(["a"], k=1)
    with pytest.raises(RetrievalError, match="index serve"):
        remote.info()


def test_an_overloaded_service_answers_503_with_retry_after_and_the_client_obeys() -> None:
    retriever = EchoRetriever()
    with RunningService({"echo": retriever}, limits=Limits(batch=1, queue=1)) as service, ThreadPoolExecutor(8) as pool:
        retriever.gate.clear()
        busy = [pool.submit(RemoteRetriever(service.address()).search, [f"q{n}"], k=1) for n in range(4)]
        wait_until(lambda: len(retriever.batches) == 1 and 'refused_total{index="echo"} 0' not in metrics(service))
        reply = httpx.post(f"{service.address()}/retrieve", json={"queries": ["x"]})
        assert reply.status_code == 503
        assert reply.headers["retry-after"] == "1"
        assert "queue is full" in reply.json()["error"]
        start = time.monotonic()
        late = pool.submit(RemoteRetriever(service.address()).search, ["late"], k=1)
        time.sleep(0.3)
        retriever.gate.set()
        assert late.result(30) == [echo("late", 1)]
        assert time.monotonic() - start > 0.95
        assert [future.result(30) for future in busy] == [[echo(f"q{n}", 1)] for n in range(4)]


def metrics(service: RunningService) -> str:
    return httpx.get(f"{service.address()}/metrics").text


def wait_until(true: Callable[[], bool], *, seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_request_past_its_deadline_is_a_504_and_its_queries_are_dropped() -> None:
    retriever = EchoRetriever()
    with RunningService({"echo": retriever}, limits=Limits(batch=1)) as service:
        retriever.gate.clear()
        first = threading.Thread(target=RemoteRetriever(service.address()).search, args=(["a"],), kwargs={"k": 1})
        first.start()
        wait_until(lambda: bool(retriever.batches))
        reply = httpx.post(f"{service.address()}/retrieve", json={"queries": ["b"], "timeout": 0.1})
        assert reply.status_code == 504
        assert "no answer within 0.1 s" in reply.json()["error"]
        retriever.gate.set()
        first.join(30)
        RemoteRetriever(service.address()).search(["c"], k=1)
    assert retriever.searched == ["a", "c"]


def test_a_slow_client_does_not_stall_others(service: RunningService) -> None:
    port = int(service.address().rpartition(":")[2])
    body = b'{"queries": ["' + b"river " * 100 + b'"], "topk": 40}'
    head = b"POST /retrieve HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body)
    dawdlers = [socket.create_connection(("127.0.0.1", port), timeout=30) for _ in range(50)]
    for number, dawdler in enumerate(dawdlers):
        dawdler.sendall((head + body)[: 40 + number])
    remote = RemoteRetriever(service.address(), "echo")
    start = time.monotonic()
    for n in range(20):
        assert remote.search([f"quick{n}"], k=1) == [echo(f"quick{n}", 1)]
    assert time.monotonic() - start < 20
    for number, dawdler in enumerate(dawdlers):
        dawdler.sendall((head + body)[40 + number :])
    for dawdler in dawdlers:
        assert dawdler.recv(100).startswith(b"HTTP/1.1 200 OK")
        dawdler.close()


def test_a_request_that_does_not_arrive_is_given_up() -> None:
    with RunningService({"echo": EchoRetriever()}, limits=Limits(deadline=0.2)) as service:
        port = int(service.address().rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port), timeout=30) as dawdler:
            dawdler.sendall(b"POST /retrieve HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc")
            assert b"408" in dawdler.recv(100)


def test_a_client_that_leaves_harms_nobody(service: RunningService) -> None:
    port = int(service.address().rpartition(":")[2])
    for part in (b"POST /retr", b"POST /retrieve HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc"):
        with socket.create_connection(("127.0.0.1", port), timeout=30) as leaver:
            leaver.sendall(part)
    assert RemoteRetriever(service.address(), "echo").search(["on"], k=1) == [echo("on", 1)]


SERVICE = """
import sys
from agentgym_r1.retrieval import MemoryRetriever
from agentgym_r1.retrieval.service import serve

texts = [(f"Mill {n}", f"It has {n} wheels by the river, and number {n * 7} is its neighbour.") for n in range(40)]
serve({"mills": MemoryRetriever.from_texts(texts)}, port=int(sys.argv[1]), on_ready=lambda url: print(url, flush=True))
"""


def start_service(port: int) -> subprocess.Popen[bytes]:
    service = subprocess.Popen([sys.executable, "-c", SERVICE, str(port)], cwd=ROOT, stdout=subprocess.PIPE)
    assert service.stdout is not None
    assert service.stdout.readline().decode().strip() == f"http://127.0.0.1:{port}"
    return service


def test_clients_outlive_a_service_that_is_killed_under_load_and_restarted(mills: MemoryRetriever) -> None:
    port = free_port()
    service = start_service(port)
    remote = RemoteRetriever(f"http://127.0.0.1:{port}", patience=60)
    truth = [mills.search([query], k=3) for query in QUERIES]
    counts = [0] * 16
    stop = threading.Event()

    def work(worker: int) -> None:
        while not stop.is_set():
            number = (worker * 7 + counts[worker]) % len(QUERIES)
            assert remote.search([QUERIES[number]], k=3) == truth[number]
            counts[worker] += 1

    def all_go_on() -> None:
        before = list(counts)
        wait_until(lambda: all(now > count + 1 for now, count in zip(counts, before)), seconds=60)

    with ThreadPoolExecutor(16) as pool:
        workers = [pool.submit(work, n) for n in range(16)]
        try:
            for _ in range(2):
                all_go_on()
                os.kill(service.pid, signal.SIGKILL)
                service.wait(30)
                time.sleep(0.3)
                service = start_service(port)
            all_go_on()
            stop.set()
            wait(workers, timeout=60)
            service.terminate()
            assert service.wait(60) == 0
        finally:
            stop.set()
            service.kill()
        for worker in workers:
            worker.result(60)


def test_an_outage_is_logged_once_when_it_begins_and_once_when_it_is_over(caplog: pytest.LogCaptureFixture) -> None:
    port = free_port()
    remote = RemoteRetriever(f"http://127.0.0.1:{port}", patience=30)
    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(remote.search, [f"q{n}"], k=1) for n in range(4)]
        wait_until(lambda: bool(caplog.records))
        with RunningService({"echo": EchoRetriever()}, port=port):
            assert [future.result(30) for future in asked] == [[echo(f"q{n}", 1)] for n in range(4)]
    began, over = (record.getMessage() for record in caplog.records if record.name == "agentgym_r1.retrieval.client")
    assert "no retrieval service answers" in began and began.endswith("searches wait for it, up to 30 s each")
    assert f"http://127.0.0.1:{port} answers again after" in over


def test_a_stopped_service_finishes_what_is_under_way() -> None:
    retriever = EchoRetriever(seconds=0.5)
    with ThreadPoolExecutor(4) as pool:
        with RunningService({"echo": retriever}) as service:
            remote = RemoteRetriever(service.address(), patience=5)
            asked = [pool.submit(remote.search, [f"q{n}"], k=1) for n in range(4)]
            wait_until(lambda: 'retrieval_queries_total{index="echo"} 4' in metrics(service))
        assert [future.result(30) for future in asked] == [[echo(f"q{n}", 1)] for n in range(4)]
        service.close()


def test_a_service_that_comes_back_with_another_corpus_is_refused() -> None:
    rows = [Document(str(n), "Mill", f"It has {n} wheels.") for n in range(3)]
    port = free_port()
    with RunningService({"x": BM25Retriever.build(MemoryCorpus(rows))}, port=port) as service:
        remote = RemoteRetriever(service.address(), patience=20)
        remote.search(["wheels"], k=1)
    other = BM25Retriever.build(MemoryCorpus(rows[:2]))
    message = "served corpus .* before and .* now"
    with RunningService({"x": other}, port=port), pytest.raises(RetrievalError, match=message):
        remote.search(["wheels"], k=1)


class Peer(BaseHTTPRequestHandler):
    """A server of another make: it has only /retrieve, and ignores what it does not know."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self._reply(200, write_reply([write_hits(echo("peer", 1), scores=True)]))

    def do_GET(self) -> None:
        self._reply(404, b"no")

    def _reply(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_request(self, *arguments: Any) -> None:
        """Keep the test's output clean."""


def test_a_peers_server_answers_as_long_as_it_need_not_describe_itself() -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), Peer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        remote = RemoteRetriever(f"http://127.0.0.1:{server.server_port}/retrieve", patience=5)
        assert remote.search(["x"], k=1) == [echo("peer", 1)]
        with pytest.raises(RetrievalError, match="mixes up requests"):
            remote.search(["x", "y"], k=1)
        with pytest.raises(RetrievalError, match="answered 404: the service does not describe itself"):
            remote.info()
        remote.close()
        server.shutdown()


def test_proxies_of_the_environment_are_not_asked(service: RunningService, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    assert RemoteRetriever(service.address(), "echo", patience=5).search(["x"], k=1) == [echo("x", 1)]


def test_an_address_that_is_taken_is_an_error(service: RunningService) -> None:
    port = int(service.address().rpartition(":")[2])
    with pytest.raises(AgentGymError, match=f"cannot listen on 127.0.0.1:{port}"):
        RunningService({"echo": EchoRetriever()}, port=port)


def play(env: gym.Env[str, str]) -> list[str]:
    observation, info = env.reset(seed=3)
    seen = [observation]
    for _ in range(6):
        observation, _, terminated, truncated, info = env.step(env.unwrapped.expert())
        seen.append(observation)
        if terminated or truncated:
            break
    assert info["success"]
    return seen


@pytest.mark.parametrize("env_id", ["AgentR1/HotpotQA-v0", "AgentR1/2WikiMultiHopQA-v0", "AgentR1/MuSiQue-v0"])
def test_an_environment_takes_the_address_of_a_service_as_its_retriever(env_id: str) -> None:
    corpus = BM25Retriever.build(MemoryCorpus(encyclopedia.corpus("dev")))
    with RunningService({"encyclopedia": corpus}) as service:
        remote = gym.make(env_id, source="world", retriever=service.address())
        seen = play(remote)
        restored = pickle.loads(pickle.dumps(remote.unwrapped.retriever))
        assert restored.search(["river"], k=1) == corpus.search(["river"], k=1)
    with gym.make(env_id, source="world") as local:
        assert play(local) == seen


def test_many_environments_search_a_service_in_one_request() -> None:
    corpus = BM25Retriever.build(MemoryCorpus(encyclopedia.corpus("dev")))
    with RunningService({"encyclopedia": corpus}) as service:
        envs = gym.make_vec(
            "AgentR1/HotpotQA-v0",
            num_envs=8,
            vectorization_mode="vector_entry_point",
            source="world",
            retriever=service.address(),
        )
        envs.reset(seed=0)
        envs.close()
        assert 'retrieval_requests_total{index="encyclopedia",code="200"} 1' in metrics(service)
