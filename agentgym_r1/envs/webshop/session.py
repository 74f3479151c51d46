"""Where a shopper stands: all that an episode remembers besides its goal, a few hundred bytes."""

from dataclasses import dataclass
from typing import Literal

import msgspec

from agentgym_r1.errors import DataError

PageKind = Literal["start", "results", "item", "sub", "end"]


@dataclass(frozen=True, slots=True)
class Session:
    """The state of the shop for one shopper; immutable, so a step gives a new one.

    Attributes:
        page: what is on the screen; "end" is after the purchase.
        query: the last search, lower case; empty on the start page.
        number: page of the results, from 1.
        row: catalogue row of the product on the screen, or -1.
        sub: "description", "features" or "reviews" on a sub page, else empty.
        options: (name, value) pairs chosen for the product, in the order of the first choice of each name.
        seen: rows of the products opened since the start page, in order.
    """

    page: PageKind = "start"
    query: str = ""
    number: int = 1
    row: int = -1
    sub: str = ""
    options: tuple[tuple[str, str], ...] = ()
    seen: tuple[int, ...] = ()

    def to_bytes(self) -> bytes:
        """Return the session as a snapshot."""
        return msgspec.msgpack.encode(self)

    @classmethod
    def from_bytes(cls, data: bytes) -> "Session":
        """Return the session of a snapshot; raise DataError when it is none."""
        try:
            return msgspec.msgpack.decode(data, type=cls)
        except msgspec.MsgspecError as err:
            raise DataError(f"not a snapshot of a shop session ({err}); take one with to_bytes") from err
