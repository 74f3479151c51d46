"""The client of web services: rate, retries, cache, offline."""

import logging
import pickle
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest

from agentgym_r1.disk_cache import DiskCache
from agentgym_r1.errors import ConfigError, RetrievalError
from agentgym_r1.retrieval.scholar.http import ScholarClient

FAST = {"rate": 1000.0, "backoff": 0.01}
SEARCH = ("/paper/search", {"query": "kites & tails", "limit": 2})


def test_answers_come_in_order_and_equal_requests_are_sent_once(scholar: Any) -> None:
    client = ScholarClient(scholar.url, **FAST)
    bread = ("/paper/search", {"query": "bread", "limit": 1})
    one, two, three = client.get([SEARCH, bread, SEARCH])
    assert one == three
    assert two["data"][0]["title"].startswith("Bread")
    assert sorted(query["query"] for _, query, _ in scholar.requests) == ["bread", "kites & tails"]
    client.close()
    client.close()
    assert client.get([bread]) == [two]


@pytest.mark.parametrize("failure", [(429, {}, b"slow down"), (503, {}, b""), (200, {}, b"<html>")])
def test_what_may_be_over_soon_is_tried_again(scholar: Any, failure: Any) -> None:
    scholar.failures = [failure, failure]
    (answer,) = ScholarClient(scholar.url, **FAST).get([SEARCH])
    assert answer["total"] == 2
    assert len(scholar.requests) == 3


def test_the_service_says_how_long_to_wait(scholar: Any) -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=2), usegmt=True)
    scholar.failures = [(429, {"Retry-After": "1"}, b""), (503, {"Retry-After": later}, b"")]
    started = time.monotonic()
    ScholarClient(scholar.url, **FAST).get([SEARCH])
    assert time.monotonic() - started >= 1.0


def test_it_gives_up_with_the_last_reason(scholar: Any) -> None:
    scholar.failures = [(500, {}, b"broken\nmachine")] * 9
    with pytest.raises(RetrievalError, match=r"GET http://.*kites.*answered 500 \(broken machine\)"):
        ScholarClient(scholar.url, retries=2, **FAST).get([SEARCH])
    assert len(scholar.requests) == 3


@pytest.mark.parametrize(("status", "words"), [(403, "check the key"), (404, "answered 404"), (400, "bad request")])
def test_a_refusal_is_an_error_at_once(scholar: Any, status: int, words: str) -> None:
    scholar.failures = [(status, {}, b"bad request")]
    with pytest.raises(RetrievalError, match=words):
        ScholarClient(scholar.url, **FAST).get([SEARCH])
    assert len(scholar.requests) == 1


def test_nobody_there_is_an_error_that_says_so() -> None:
    with pytest.raises(RetrievalError, match="no answer"):
        ScholarClient("http://127.0.0.1:9", retries=1, **FAST).get([SEARCH])


def test_requests_start_no_faster_than_the_rate(scholar: Any) -> None:
    client = ScholarClient(scholar.url, rate=20.0)
    started = time.monotonic()
    client.get([("/paper/search", {"query": f"kite {number}", "limit": 1}) for number in range(7)])
    assert time.monotonic() - started >= 6 / 20


def test_an_answer_is_kept_and_replayed_offline(scholar: Any, tmp_path: Path) -> None:
    cache = DiskCache(tmp_path / "answers.db")
    first = ScholarClient(scholar.url, cache=cache, **FAST).get([SEARCH])
    assert ScholarClient(scholar.url, cache=cache, **FAST).get([SEARCH]) == first
    offline = ScholarClient(scholar.url, cache=cache, offline=True, **FAST)
    assert offline.get([SEARCH]) == first
    assert len(scholar.requests) == 1
    with pytest.raises(RetrievalError, match="offline, and there is no recorded answer to GET .*query=sails"):
        offline.get([("/paper/search", {"query": "sails"})])


def test_keys_are_sent_and_kept_out_of_cache_errors_and_logs(
    scholar: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="agentgym_r1")
    path = tmp_path / "answers.db"
    keys = {"headers": {"x-api-key": "SECRET1"}, "secrets": {"api_key": "SECRET2"}}
    client = ScholarClient(scholar.url, cache=DiskCache(path), retries=1, **keys, **FAST)
    scholar.failures = [(429, {}, b"")]
    client.get([SEARCH])
    assert scholar.requests[-1][1]["api_key"] == "SECRET2"
    assert scholar.requests[-1][2]["x-api-key"] == "SECRET1"
    scholar.failures = [(400, {}, b"no")]
    with pytest.raises(RetrievalError) as caught:
        client.get([("/paper/search", {"query": "other"})])
    told = caplog.text + str(caught.value) + "".join(p.read_bytes().decode("latin-1") for p in tmp_path.iterdir())
    assert "kites" in told
    assert "SECRET" not in told


def test_a_copy_in_another_process_works(scholar: Any) -> None:
    client = ScholarClient(scholar.url, **FAST)
    client.get([SEARCH])
    assert pickle.loads(pickle.dumps(client)).get([SEARCH]) == client.get([SEARCH])


@pytest.mark.parametrize(
    ("kwargs", "message"), [({"rate": 0}, "rate and timeout must be above 0"), ({"offline": True}, "needs a cache")]
)
def test_a_wrong_argument_says_what_is_right(kwargs: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        ScholarClient("http://127.0.0.1:9", **kwargs)
