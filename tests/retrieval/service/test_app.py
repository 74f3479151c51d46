"""The HTTP face: requests that are right, requests that are wrong, and what the service tells of itself."""

import httpx
import pytest
from echo import EchoRetriever, echo

from agentgym_r1.corpus import MemoryCorpus
from agentgym_r1.errors import ConfigError
from agentgym_r1.retrieval import BM25Retriever, MemoryRetriever
from agentgym_r1.retrieval.service import Limits, RetrievalApp, RunningService
from agentgym_r1.retrieval.service.app import MAX_BODY
from agentgym_r1.types import Document


def test_skyrls_spelling_is_answered_like_one_query(http: httpx.Client) -> None:
    one = http.post("/retrieve", json={"query": "wheels 3", "topk": 2, "return_scores": True}).json()
    assert one == http.post("/retrieve", json={"queries": ["wheels 3"], "topk": 2, "return_scores": True}).json()
    several = http.post("/retrieve", json={"query": ["wheels 3", "river"], "topk": 2, "return_scores": True}).json()
    assert several["result"][0] == one["result"][0]
    assert len(several["result"]) == 2


def test_topk_is_three_and_scores_are_left_out_by_default(http: httpx.Client) -> None:
    (documents,) = http.post("/retrieve", json={"queries": ["river"]}).json()["result"]
    assert [set(document) for document in documents] == [{"id", "contents"}] * 3


def test_no_query_has_no_answer(http: httpx.Client) -> None:
    assert http.post("/retrieve", json={"queries": []}).json() == {"result": []}


def test_unknown_fields_and_a_missing_content_type_do_no_harm(http: httpx.Client) -> None:
    reply = http.post("/retrieve", content=b'{"queries": ["river"], "temperature": 1}')
    assert (reply.status_code, reply.headers["content-type"]) == (200, "application/json")


@pytest.mark.parametrize("path", ["/retrieve?index=echo", "/retrieve"])
def test_an_index_is_chosen_by_name_in_the_address_or_in_the_body(http: httpx.Client, path: str) -> None:
    body = {"queries": ["x"], "topk": 1} | ({} if "?" in path else {"index": "echo"})
    assert http.post(path, json=body).json() == {"result": [[{"id": "x-0", "contents": '"x"\nabout x'}]]}


@pytest.mark.parametrize(
    ("content", "status", "message"),
    [
        (b"", 400, "not JSON"),
        (b"{", 400, "not JSON"),
        (b'{"queries": ["\xff"]}', 400, "not JSON"),
        (b"[]", 422, "Expected `object`, got `array`"),
        (b"{}", 422, 'expected either "queries" or "query"'),
        (b'{"queries": ["a"], "query": "a"}', 422, 'expected either "queries" or "query"'),
        (b'{"queries": "a"}', 422, "Expected `array | null`, got `str` - at `$.queries`"),
        (b'{"queries": [1]}', 422, "$.queries[0]"),
        (b'{"queries": ["a"], "topk": 0}', 422, "$.topk"),
        (b'{"queries": ["a"], "topk": 1001}', 422, "<= 1000"),
        (b'{"queries": ["a"], "topk": "three"}', 422, "$.topk"),
        (b'{"queries": ["a"], "timeout": 0}', 422, "$.timeout"),
        (b'{"queries": ["a"], "index": "milks"}', 404, "no index 'milks' here; there are mills, echo"),
        (b"x" * (MAX_BODY + 1), 413, "send the queries in parts"),
    ],
)
def test_a_wrong_request_says_what_is_wrong(http: httpx.Client, content: bytes, status: int, message: str) -> None:
    reply = http.post("/retrieve", content=content)
    assert reply.status_code == status
    assert message in reply.json()["error"]
    assert http.post("/retrieve", json={"queries": ["river"]}).status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "status", "message"),
    [
        ("GET", "/retrieve", 405, "takes POST"),
        ("POST", "/info", 405, "takes GET"),
        ("GET", "/", 404, "/retrieve, /hea"),
    ],
)
def test_a_wrong_route_names_the_right_ones(
    http: httpx.Client, method: str, path: str, status: int, message: str
) -> None:
    reply = http.request(method, path)
    assert reply.status_code == status
    assert message in reply.json()["error"]


def test_health_and_info_tell_what_is_served() -> None:
    corpus = MemoryCorpus([Document("a", "Ferry", "It crosses.")])
    retrievers = {"small": BM25Retriever.build(corpus), "echo": EchoRetriever()}
    with RunningService(retrievers, limits=Limits(batch=8)) as service:
        assert httpx.get(f"{service.address()}/health").json() == {"status": "ok"}
        info = httpx.get(f"{service.address()}/info").json()
    assert info["default"] == "small"
    assert info["limits"]["batch"] == 8
    assert info["indexes"] == {
        "small": {"kind": "bm25", "count": 1, "corpus_sha256": corpus.sha256},
        "echo": {"kind": "echo"},
    }


def test_metrics_count_what_happened(http: httpx.Client, echoing: EchoRetriever) -> None:
    for _ in range(2):
        http.post("/retrieve", json={"queries": ["a", "a", "b"], "index": "echo"})
    http.post("/retrieve", json={"queries": ["bad"], "index": "echo"})
    text = http.get("/metrics").text
    samples = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    expected = {
        'retrieval_queries_total{index="echo"}': 7,
        'retrieval_queries_searched_total{index="echo"}': 3,
        'retrieval_queries_duplicates_total{index="echo"}': 1,
        'retrieval_queries_cached_total{index="echo"}': 3,
        'retrieval_queries_failed_total{index="echo"}': 1,
        'retrieval_requests_total{index="echo",code="200"}': 2,
        'retrieval_requests_total{index="echo",code="500"}': 1,
        'retrieval_request_seconds_count{index="echo"}': 3,
        'retrieval_request_seconds_bucket{index="echo",le="+Inf"}': 3,
        'retrieval_batch_queries_bucket{index="echo",le="1.0"}': 1,
        'retrieval_batch_queries_sum{index="echo"}': 3,
        'retrieval_waiting_queries{index="echo"}': 0,
        'retrieval_queries_total{index="mills"}': 0,
    }
    assert {name: float(samples[name]) for name in expected} == expected


def test_a_query_that_fails_is_an_error_of_its_own_request_only(http: httpx.Client, echoing: EchoRetriever) -> None:
    reply = http.post("/retrieve", json={"queries": ["bad"], "index": "echo"})
    assert reply.status_code == 500
    assert reply.json()["error"] == "the index cannot answer: a query this retriever hates"
    assert http.post("/retrieve", json={"queries": ["good"], "index": "echo"}).status_code == 200


def test_a_service_without_an_index_is_refused(mills: MemoryRetriever) -> None:
    with pytest.raises(ConfigError, match="at least one index"):
        RetrievalApp({})
    with pytest.raises(ConfigError, match="batch and queue must be at least 1"):
        Limits(batch=0)


def test_answers_equal_those_in_process(http: httpx.Client) -> None:
    hits = http.post("/retrieve", json={"queries": ["x"], "topk": 2, "return_scores": True, "index": "echo"}).json()
    assert [(h["document"]["id"], h["score"]) for h in hits["result"][0]] == [(p.id, p.score) for p in echo("x", 2)]
