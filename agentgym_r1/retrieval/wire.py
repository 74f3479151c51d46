"""The protocol: Search-R1's ``POST /retrieve`` as bytes, for the service and for its client.

    {"queries": ["..."], "topk": 3, "return_scores": true}  ->  {"result": [[{"document": {...}, "score": 1.5}]]}

A document is ``{"id", "contents"}``; contents is the title in double quotes, a newline and the text. Without scores the
documents stand alone: ``{"result": [[{...}]]}``. SkyRL writes ``"query": "..."``, which is answered like one query.
"""

from collections.abc import Sequence
from typing import Annotated

import msgspec

from agentgym_r1.corpus import contents, split_contents
from agentgym_r1.errors import RetrievalError
from agentgym_r1.retrieval.base import Passage
from agentgym_r1.types import Document

DEFAULT_TOPK = 3
MAX_TOPK = 1000
EXAMPLE = '{"queries": ["Ada Lovelace"], "topk": 3, "return_scores": true}'


class Rejected(RetrievalError):
    """A request that is answered with an error.

    Args:
        status: of the HTTP response.
        message: what is wrong with the request and how to put it right.
        retry_after: seconds after which another attempt may succeed.
    """

    def __init__(self, status: int, message: str, *, retry_after: int | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after = retry_after


class Request(msgspec.Struct, omit_defaults=True):
    """The body of a request; ``index`` and ``timeout`` (seconds the client waits) are ours, the rest is Search-R1's."""

    queries: list[str] | None = None
    query: str | list[str] | None = None
    topk: Annotated[int, msgspec.Meta(ge=1, le=MAX_TOPK)] | None = None
    return_scores: bool = False
    index: str | None = None
    timeout: Annotated[float, msgspec.Meta(gt=0)] | None = None

    def texts(self) -> list[str]:
        """Return the queries under either name; raise Rejected when there is not exactly one of the two."""
        if (self.queries is None) == (self.query is None):
            raise Rejected(422, f'expected either "queries" or "query", for example {EXAMPLE}')
        if self.queries is not None:
            return self.queries
        assert self.query is not None
        return [self.query] if isinstance(self.query, str) else self.query


class _Document(msgspec.Struct, omit_defaults=True):
    """``title`` is sent only where ``contents`` cannot be taken apart again (a title of two lines, say)."""

    id: str | int
    contents: str
    title: str | None = None


class _Hit(msgspec.Struct):
    document: _Document
    score: float


class _Reply(msgspec.Struct):
    result: list[list[_Hit]]


_decode_request = msgspec.json.Decoder(Request).decode
_decode_reply = msgspec.json.Decoder(_Reply).decode


def read_request(body: bytes) -> Request:
    """Return the request in a body; raise Rejected, 400 when it is no JSON and 422 when it is another kind of JSON."""
    try:
        return _decode_request(body)
    except msgspec.ValidationError as err:
        raise Rejected(422, f"{err}; a right request is {EXAMPLE}") from err
    except (msgspec.DecodeError, UnicodeDecodeError) as err:
        raise Rejected(400, f"the body is not JSON ({err}); a right request is {EXAMPLE}") from err


def write_hits(passages: Sequence[Passage], *, scores: bool) -> bytes:
    """Return the JSON of one query's answer."""
    if scores:
        return msgspec.json.encode([_Hit(_to_document(passage), passage.score) for passage in passages])
    return msgspec.json.encode([_to_document(passage) for passage in passages])


def write_reply(answers: Sequence[bytes]) -> bytes:
    """Return the JSON of a reply that holds the given answers."""
    return b'{"result":[' + b",".join(answers) + b"]}"


def write_request(queries: Sequence[str], *, k: int, index: str | None, timeout: float) -> bytes:
    """Return the body of a request with scores; what UTF-8 cannot write (a lone surrogate) becomes a question mark."""
    texts = [query.encode(errors="replace").decode() for query in queries]
    return msgspec.json.encode(Request(queries=texts, topk=k, return_scores=True, index=index, timeout=timeout))


def read_reply(body: bytes, *, queries: int, k: int) -> list[list[Passage]]:
    """Return the passages in a reply with scores.

    Raises:
        RetrievalError: it is no such reply, or does not fit a request of so many queries with at most ``k`` passages.
    """
    try:
        result = _decode_reply(body).result
    except (msgspec.DecodeError, UnicodeDecodeError) as err:
        raise RetrievalError(f"not a retrieval service's reply ({err}); is the URL right?") from err
    if len(result) != queries or any(len(hits) > k for hits in result):
        raise RetrievalError(
            f"expected {queries} answers of at most {k} passages, got {[len(hits) for hits in result][:10]}: "
            "the service mixes up requests; use another"
        )
    return [[_to_passage(hit) for hit in hits] for hits in result]


def _to_document(passage: Passage) -> _Document:
    text = contents(Document(passage.id, passage.title, passage.text))
    exact = split_contents(text) == (passage.title, passage.text)
    return _Document(passage.id, text, None if exact else passage.title)


def _to_passage(hit: _Hit) -> Passage:
    document = hit.document
    if document.title is None:
        title, text = split_contents(document.contents)
    else:
        title, text = document.title, document.contents
        if title:
            text = text[len(f'"{title}"\n') :]
    return Passage(str(document.id), title, text, hit.score)
