"""One test for each fault of the services that the field's trainers use."""

import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from echo import EchoRetriever, echo

from agentgym_r1.corpus import MemoryCorpus
from agentgym_r1.errors import RetrievalError
from agentgym_r1.retrieval import BM25Retriever, MemoryRetriever, RemoteRetriever, open_retriever
from agentgym_r1.retrieval.service import RunningService
from agentgym_r1.types import Document


def test_return_scores_false_with_exactly_two_queries_gives_two_lists_of_documents(http: httpx.Client) -> None:
    queries = ["wheels 3", "neighbour 35"]
    bare = http.post("/retrieve", json={"queries": queries, "topk": 2, "return_scores": False}).json()["result"]
    scored = http.post("/retrieve", json={"queries": queries, "topk": 2, "return_scores": True}).json()["result"]
    assert [len(documents) for documents in bare] == [2, 2]
    assert bare == [[hit["document"] for hit in hits] for hits in scored]
    assert bare[0][0] == {
        "id": "3",
        "contents": '"Mill 3"\nIt has 3 wheels by the river, and number 21 is its neighbour.',
    }


def test_fewer_matches_than_asked_for_are_not_filled_up_with_the_last_document(http: httpx.Client) -> None:
    found = http.post("/retrieve", json={"queries": ["39 wheels", "zzz"], "topk": 100, "return_scores": True}).json()
    assert [len(hits) for hits in found["result"]] == [40, 0]
    ids = [hit["document"]["id"] for hit in found["result"][0]]
    assert len(set(ids)) == 40


def test_concurrent_calls_reach_the_index_one_at_a_time_and_in_one_thread() -> None:
    retriever = EchoRetriever(seconds=0.005)
    with RunningService({"echo": retriever}) as service, ThreadPoolExecutor(64) as pool:
        client = RemoteRetriever(service.address())
        answers = list(pool.map(lambda n: client.search([f"q{n}", f"r{n}"], k=3), range(256)))
    assert answers == [[echo(f"q{n}", 3), echo(f"r{n}", 3)] for n in range(256)]
    assert len(retriever.threads) == 1
    assert len(retriever.batches) < 256


def test_how_queries_are_encoded_does_not_depend_on_what_an_index_is_called(mills: MemoryRetriever) -> None:
    with RunningService({"e5": mills, "bge": mills}) as service:
        for name in ("e5", "bge"):
            assert RemoteRetriever(service.address(), name).search(["wheels 7"], k=3) == mills.search(["wheels 7"], k=3)


def test_a_service_over_another_corpus_is_refused() -> None:
    corpus = MemoryCorpus([Document("a", "Ferry", "It crosses."), Document("b", "Mill", "It grinds.")])
    other = MemoryCorpus([Document("a", "Ferry", "It crosses.")])
    with RunningService({"own": BM25Retriever.build(corpus)}) as service:
        url = service.address()
        assert open_retriever(url, corpus=corpus).search(["grinds"], k=1)[0][0].id == "b"
        with pytest.raises(RetrievalError, match=f"searches corpus {corpus.sha256[:12]}, expected {other.sha256[:12]}"):
            open_retriever(url, corpus=other)


def test_a_service_that_cannot_name_its_corpus_is_refused_where_one_is_required(echoing: EchoRetriever) -> None:
    with RunningService({"echo": echoing}) as service, pytest.raises(RetrievalError, match="searches corpus unknown"):
        open_retriever(service.address(), corpus=MemoryCorpus([Document("a", "", "x")]))


def test_a_folder_whose_corpus_was_replaced_is_not_served(tmp_path: Path) -> None:
    from agentgym_r1.corpus import open_corpus, write_corpus
    from agentgym_r1.retrieval import write_bm25

    rows = [Document(str(n), "t", f"x{n}") for n in range(5)]
    write_corpus(tmp_path / "c.arrow", rows)
    write_bm25(tmp_path / "index", open_corpus(tmp_path / "c.arrow"))
    write_corpus(tmp_path / "c.arrow", rows[:-1])
    with pytest.raises(RetrievalError, match="another corpus"):
        RunningService({"x": tmp_path / "index"})


def test_only_this_machine_can_reach_the_default_address(service: RunningService) -> None:
    address = service.address()
    assert address.startswith("http://127.0.0.1:")
    port = int(address.rpartition(":")[2])
    with pytest.raises(OSError), socket.create_connection((outward_address(), port), timeout=2):
        pass


def outward_address() -> str:
    """Return an address of this machine that is not 127.0.0.1: its own in the network, else another loopback one."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return "127.0.0.2"
        return str(probe.getsockname()[0])
