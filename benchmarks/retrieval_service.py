"""The retrieval service under 64 clients, one query each, against a one-request-at-a-time server of the peers' shape.

Both servers run under uvicorn, each in a process, with the same passages and as many threads; the peer searches each
request as it comes, dense vectors with faiss. Nothing is cached. Clients are bare sockets in another process. Dense
search needs the extra ``dense``. Run ``python benchmarks/retrieval_service.py``; ``--json`` prints one document.
"""

import argparse
import asyncio
import functools
import importlib.util
import json
import multiprocessing
import os
import sys
import tempfile
import time
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from agentgym_r1.corpus import MemoryCorpus, contents
from agentgym_r1.retrieval import BM25Retriever, DenseRetriever, EncoderSettings, Retriever, write_bm25
from agentgym_r1.retrieval.devices import CpuIndex, VectorIndex
from agentgym_r1.retrieval.encoder import EncoderSpec, Matrix
from agentgym_r1.retrieval.exact import ExactIndex
from agentgym_r1.retrieval.plan import IndexPlan
from agentgym_r1.retrieval.service import Limits, serve
from agentgym_r1.types import Document

TOPK = 3
DIMENSION = 256
WORDS = [f"{a}{b}{c}" for a in "bdfgklm" for b in ("an", "er", "il", "ov", "ush") for c in ("", "a", "ent", "ic", "or")]
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")


@dataclass(frozen=True, slots=True)
class Figures:
    """What the clients saw: answers a second, and how long they waited in milliseconds."""

    qps: float
    p50_ms: float
    p99_ms: float


class HashEncoder:
    """Stands for an encoder that costs nothing: the vector of a text is drawn from its checksum."""

    device = "cpu"
    spec = EncoderSpec("hash", "", DIMENSION, EncoderSettings("mean"))

    def encode_queries(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        rows = [np.random.default_rng(zlib.crc32(text.encode())).standard_normal(DIMENSION) for text in texts]
        return np.array(rows, np.float32).reshape(len(texts), DIMENSION)

    encode_passages = encode_queries


def documents(count: int) -> Iterator[Document]:
    """Yield passages of 80 words with a vocabulary of 175."""
    rng = np.random.default_rng(0)
    for position in range(count):
        yield Document(str(position), f"Passage {position}", " ".join(rng.choice(WORDS, 80)))


def open_index(kind: str, folder: Path, size: int, *, peer: bool) -> Retriever:
    """Return the retriever that a server searches; the peers take faiss as it comes."""
    if kind == "bm25":
        return BM25Retriever.open(folder)
    vectors = np.random.default_rng(0).standard_normal((size, DIMENSION), np.float32)
    index = plain_faiss(vectors) if peer else ExactIndex(vectors)
    return DenseRetriever(MemoryCorpus(documents(size)), HashEncoder(), vectors, index)


def plain_faiss(vectors: Matrix) -> VectorIndex:
    import faiss

    index = faiss.IndexFlatIP(DIMENSION)
    index.add(vectors)
    return CpuIndex(index, IndexPlan("flat", "Flat"))


class PeerApp:
    """The peers' shape: each request is parsed, searched and written by itself, one after the other."""

    def __init__(self, retriever: Retriever) -> None:
        self._retriever = retriever

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        request = json.loads((await receive())["body"])
        found = self._retriever.search(request["queries"], k=request["topk"])
        result = [
            [
                {"document": {"id": p.id, "contents": contents(Document(p.id, p.title, p.text))}, "score": p.score}
                for p in passages
            ]
            for passages in found
        ]
        body = json.dumps({"result": result}).encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})


def run_peer(retriever: Retriever, ready: Connection) -> None:
    import socket

    import uvicorn

    if isinstance(retriever, BM25Retriever):
        retriever.warm_up()
    with socket.create_server(("127.0.0.1", 0), backlog=2048) as listener:
        ready.send(f"http://127.0.0.1:{listener.getsockname()[1]}")
        config = uvicorn.Config(PeerApp(retriever), lifespan="off", access_log=False, log_level="warning")
        uvicorn.Server(config).run(sockets=[listener])


def run_server(name: str, kind: str, folder: Path, size: int, batch: int, ready: Connection) -> None:
    retriever = open_index(kind, folder, size, peer=name == "peer")
    if name == "peer":
        run_peer(retriever, ready)
    else:
        serve({kind: retriever}, port=0, limits=Limits(batch=batch, cache_mb=0), on_ready=ready.send)


@contextmanager
def serving(name: str, kind: str, folder: Path, size: int, batch: int) -> Iterator[int]:
    """Start a server in its own process and yield its port."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    server = context.Process(target=run_server, args=(name, kind, folder, size, batch, theirs))
    server.start()
    try:
        yield int(ours.recv().rpartition(":")[2])
    finally:
        server.terminate()
        server.join()


async def ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, query: str) -> Any:
    """Send one query over an open connection and return the decoded answer."""
    body = json.dumps({"queries": [query], "topk": TOPK, "return_scores": True}).encode()
    writer.write(b"POST /retrieve HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n" % len(body) + body)
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    assert head.startswith(b"http/1.1 200"), head
    length = int(head.partition(b"content-length:")[2].partition(b"\r\n")[0])
    return await reader.readexactly(length)


def make_query(client: int, number: int) -> str:
    rng = np.random.default_rng((client, number))
    return " ".join([*rng.choice(WORDS, 8), f"{client}-{number}"])


async def client_loop(port: int, client: int, end: float) -> list[tuple[float, float]]:
    """Ask one query after the other until ``end``; return (when, how long) of each answer."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    answers, number = [], 0
    while time.perf_counter() < end:
        query = make_query(client, number)
        start = time.perf_counter()
        await ask(reader, writer, query)
        answers.append((time.perf_counter(), time.perf_counter() - start))
        number += 1
    writer.close()
    return answers


async def measure(port: int, clients: int, seconds: float) -> Figures:
    """Load a server for a second longer than ``seconds``, and count what comes after that second."""
    begin = time.perf_counter() + 1.0
    loops = [client_loop(port, client, begin + seconds) for client in range(clients)]
    answers = [answer for found in await asyncio.gather(*loops) for answer in found]
    waits = np.array([wait for when, wait in answers if begin <= when <= begin + seconds]) * 1e3
    return Figures(len(waits) / seconds, float(np.percentile(waits, 50)), float(np.percentile(waits, 99)))


async def sample(port: int) -> list[list[str]]:
    """Return the ids that a server finds for some queries."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    replies = [json.loads(await ask(reader, writer, make_query(9, number))) for number in range(20)]
    writer.close()
    return [[hit["document"]["id"] for hit in reply["result"][0]] for reply in replies]


def section(kind: str, options: argparse.Namespace) -> tuple[dict[str, float], dict[str, object]]:
    """Return ratios, greater than 1 where ours is better, and figures of both servers over one index."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "index"
        if kind == "bm25":
            write_bm25(folder, MemoryCorpus(documents(options.size)))
        start = functools.partial(serving, kind=kind, folder=folder, size=options.size, batch=options.batch)
        with start("peer") as peer, start("ours") as ours:
            ports = {"peer": peer, "ours": ours}
            assert asyncio.run(sample(peer)) == asyncio.run(sample(ours)), "the servers disagree"
            rounds = [
                {server: asyncio.run(measure(port, options.clients, options.seconds)) for server, port in ports.items()}
                for _ in range(options.rounds)
            ]
    figures = {server: max((found[server] for found in rounds), key=lambda round_: round_.qps) for server in ports}
    ratios = {
        f"service_{kind}_throughput_vs_one_at_a_time": figures["ours"].qps / figures["peer"].qps,
        f"service_{kind}_p99_vs_one_at_a_time": figures["peer"].p99_ms / figures["ours"].p99_ms,
    }
    return ratios, {f"service_{kind}_{server}": asdict(found) for server, found in figures.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=100_000, help="passages in the corpus")
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=4.0, help="of load for each server and round")
    parser.add_argument("--rounds", type=int, default=3, help="the servers take turns; each one's best round counts")
    parser.add_argument("--batch", type=int, default=64, help="most queries our service searches at once")
    parser.add_argument("--kind", choices=["dense", "bm25"], action="append", help="default: both")
    parser.add_argument("--json", action="store_true")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    parser.add_argument("--threads", type=int, default=cores, help="of faiss and BLAS in either server; all cores")
    options = parser.parse_args()
    os.environ.update(dict.fromkeys(THREADS, str(options.threads)))
    os.environ.pop("OPENBLAS_CORETYPE", None)  # where it is set it names an older processor than there is
    kinds = options.kind or ["dense", "bm25"]
    if "dense" in kinds and importlib.util.find_spec("faiss") is None:
        print("dense search is left out: pip install 'agentgym-r1[dense]'", file=sys.stderr)
        kinds.remove("dense")
    ratios: dict[str, float] = {}
    figures: dict[str, object] = {}
    for kind in kinds:
        print(f"{kind}, {options.size:,} passages ...", file=sys.stderr)
        some_ratios, some_figures = section(kind, options)
        ratios |= some_ratios
        figures |= some_figures
    if options.json:
        print(json.dumps({"name": "retrieval_service", "ratios": ratios, "figures": figures}, indent=2))
        return
    for name, values in figures.items():
        print(f"{name:22}", *(f"{key} {value:9,.1f}" for key, value in values.items()), sep="  ")
    print()
    for name, ratio in ratios.items():
        print(f"{name:45} {ratio:6.2f}")


if __name__ == "__main__":
    main()
