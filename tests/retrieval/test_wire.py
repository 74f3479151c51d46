"""The protocol's bytes: passages survive the trip whatever is in them, and a foreign reply is refused."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agentgym_r1.errors import RetrievalError
from agentgym_r1.retrieval.base import Passage
from agentgym_r1.retrieval.wire import Rejected, read_reply, read_request, write_hits, write_reply, write_request

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
PASSAGES = st.builds(Passage, TEXT, TEXT, TEXT, st.floats(allow_nan=False, allow_infinity=False))


@given(st.lists(st.lists(PASSAGES, max_size=3), max_size=3))
@example([[Passage("1", "", '"Not a title"\ntext', 1.0)]])
@example([[Passage("1", "two\nlines", "text", 1.0)]])
@example([[Passage("1", "", "", -0.0)]])
def test_passages_come_back_as_they_were(answers: list[list[Passage]]) -> None:
    body = write_reply([write_hits(passages, scores=True) for passages in answers])
    assert read_reply(body, queries=len(answers), k=3) == answers


def test_a_document_is_its_id_and_contents_in_search_r1s_form() -> None:
    hits = json.loads(write_hits([Passage("7", "Ferry", "It crosses.", 1.5)], scores=True))
    assert hits == [{"document": {"id": "7", "contents": '"Ferry"\nIt crosses.'}, "score": 1.5}]


def test_a_peers_reply_with_numbers_for_ids_and_more_fields_is_read() -> None:
    body = {
        "result": [[{"document": {"id": 7, "contents": '"Ferry"\nIt crosses.', "url": "x"}, "score": 2}]],
        "took": 3,
    }
    assert read_reply(json.dumps(body).encode(), queries=1, k=1) == [[Passage("7", "Ferry", "It crosses.", 2.0)]]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"[]",
        b'{"result": [[1]]}',
        b'{"result": [[{"document": {"id": "1"}, "score": 1}]]}',
        b'{"result": [[{"document": {"id": "1", "contents": "x"}, "score": null}]]}',
        b'{"result": [[{"id": "1", "contents": "x"}]]}',
        b"\xff",
    ],
)
def test_another_reply_is_refused(body: bytes) -> None:
    with pytest.raises(RetrievalError, match="not a retrieval service's reply"):
        read_reply(body, queries=1, k=1)


@pytest.mark.parametrize(("queries", "k"), [(1, 2), (3, 2), (2, 1)])
def test_a_reply_that_does_not_fit_the_request_is_refused(queries: int, k: int) -> None:
    body = write_reply([write_hits([Passage(str(n), "", "x", 1.0) for n in range(2)], scores=True)] * 2)
    with pytest.raises(RetrievalError, match="mixes up requests"):
        read_reply(body, queries=queries, k=k)


@given(st.lists(st.text(), max_size=4), st.integers(1, 1000))
def test_any_query_can_be_sent(queries: list[str], k: int) -> None:
    request = read_request(write_request(queries, k=k, index=None, timeout=1.0))
    assert request.texts() == [query.encode(errors="replace").decode() for query in queries]
    assert (request.topk, request.return_scores, request.index) == (k, True, None)


@given(st.binary(max_size=40))
def test_any_body_is_a_request_or_rejected(body: bytes) -> None:
    try:
        read_request(body)
    except Rejected as err:
        assert err.status in {400, 422}
