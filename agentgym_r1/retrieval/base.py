"""What every retriever is: queries in, ranked passages out, batch first."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable


@dataclass(frozen=True, slots=True)
class Passage:
    """A document with the score of one query; greater is better."""

    id: str
    title: str
    text: str
    score: float


@runtime_checkable
class Retriever(Protocol):
    """Anything that ranks the passages of a corpus for queries."""

    @property
    def name(self) -> str:
        """What it is, for tables and manifests, for example ``bm25``."""
        ...

    def search(self, queries: Sequence[str], *, k: int) -> list[list[Passage]]:
        """Return the best passages of each query.

        Args:
            queries: any number of queries; an empty sequence gives an empty list.
            k: at least 1; the most passages a query.

        Returns:
            One list a query, in the order of the queries; each at most ``k`` long (shorter when fewer passages match),
            best first, ties in corpus order. The answer of a query does not depend on its neighbours in the batch.

        Raises:
            ConfigError: k is less than 1.
            RetrievalError: the index or the service behind it cannot answer.
        """
        ...
