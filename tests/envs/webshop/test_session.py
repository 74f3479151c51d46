"""Snapshots of sessions."""

import pytest

from agentgym_r1.envs.webshop.session import Session
from agentgym_r1.errors import DataError


def test_a_session_comes_back_from_its_snapshot() -> None:
    session = Session("item", "tin whistle", 3, 17, "", (("color", "réd\n"), ("size", "7")), (4, 17))
    assert Session.from_bytes(session.to_bytes()) == session


def test_a_snapshot_takes_a_few_hundred_bytes() -> None:
    options = tuple((f"option {number}", "a value of some length") for number in range(3))
    session = Session(
        "item", "a query of ten words that a shopper might well type", 5, 1_181_435, "", options, tuple(range(20))
    )
    assert len(session.to_bytes()) < 400


@pytest.mark.parametrize("data", [b"", b"\x00", b"\x81\xa4page\xa4nope", Session().to_bytes()[:-1]])
def test_other_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(DataError, match="not a snapshot of a shop session"):
        Session.from_bytes(data)
