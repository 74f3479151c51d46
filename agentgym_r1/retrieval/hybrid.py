"""Several retrievers as one: their rankings fused, and the best passages scored again by a reranker."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from agentgym_r1.errors import ConfigError, RetrievalError
from agentgym_r1.retrieval.base import Passage, Retriever

RRF_CONSTANT = 60
DEPTH = 100

Rankings = Sequence[Sequence[Passage]]
Fusion = Callable[[Rankings], dict[str, float]]
"""From the rankings of one query, one a retriever, to a score for each id."""


def _weights(weights: Sequence[float] | None, rankings: Rankings) -> Sequence[float]:
    if weights is not None and len(weights) != len(rankings):
        raise ConfigError(f"one weight a retriever: {len(rankings)} expected, got {len(weights)}")
    return weights or [1.0] * len(rankings)


def _check_weights(weights: Sequence[float] | None) -> None:
    if weights is not None and not all(0 <= weight < math.inf for weight in weights):
        raise ConfigError(f"weights must be finite and at least 0, got {list(weights)}")


@dataclass(frozen=True, slots=True)
class ReciprocalRank:
    """Fuses by ranks: the sum of ``weight / (constant + rank)``, ranks from 1.

    Attributes:
        constant: 60 in the paper (Cormack, Clarke and Buettcher, SIGIR 2009).
        weights: one a retriever; by default 1 each.

    Raises:
        ConfigError: a weight or the constant is negative or not finite.
    """

    constant: float = RRF_CONSTANT
    weights: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        _check_weights(self.weights)
        if not 0 <= self.constant < math.inf:
            raise ConfigError(f"the constant of reciprocal rank fusion must be at least 0, got {self.constant}")

    def __call__(self, rankings: Rankings) -> dict[str, float]:
        """Return the fused score of each id."""
        scores: dict[str, float] = {}
        for weight, ranking in zip(_weights(self.weights, rankings), rankings, strict=True):
            for rank, passage in enumerate(ranking, start=1):
                scores[passage.id] = scores.get(passage.id, 0.0) + weight / (self.constant + rank)
        return scores


@dataclass(frozen=True, slots=True)
class WeightedScores:
    """Fuses by scores: each retriever's are stretched to 0..1 within the query, weighted and added.

    A passage that a retriever did not return gets 0 from it; when all its scores are equal they count as 1.

    Attributes:
        weights: one a retriever; by default 1 each.

    Raises:
        ConfigError: a weight is negative or not finite.
    """

    weights: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        _check_weights(self.weights)

    def __call__(self, rankings: Rankings) -> dict[str, float]:
        """Return the fused score of each id."""
        scores: dict[str, float] = {}
        for weight, ranking in zip(_weights(self.weights, rankings), rankings, strict=True):
            low = min((passage.score for passage in ranking), default=0.0)
            span = max((passage.score for passage in ranking), default=0.0) - low
            for passage in ranking:
                share = (passage.score - low) / span if span else 1.0
                scores[passage.id] = scores.get(passage.id, 0.0) + weight * share
        return scores


class HybridRetriever:
    """Fuses the rankings of two or more retrievers over the same corpus.

    Equal fused scores go to the passage that the earlier retriever ranked better; corpus order is not known here.

    Args:
        retrievers: two at least, of any kind.
        fusion: ``ReciprocalRank()`` or ``WeightedScores(...)``.
        depth: passages taken from each; more when more are wanted.

    Raises:
        ConfigError: fewer than two retrievers, or a depth below 1.
    """

    def __init__(
        self, retrievers: Sequence[Retriever], *, fusion: Fusion = ReciprocalRank(), depth: int = DEPTH
    ) -> None:
        if len(retrievers) < 2:
            raise ConfigError(f"a hybrid needs at least 2 retrievers, got {len(retrievers)}")
        if depth < 1:
            raise ConfigError(f"depth must be at least 1, got {depth}")
        self.name = "+".join(retriever.name for retriever in retrievers)
        self._retrievers = tuple(retrievers)
        self._fusion = fusion
        self._depth = depth

    def search(self, queries: Sequence[str], *, k: int) -> list[list[Passage]]:
        """Return the best passages of each query; see ``Retriever.search``."""
        if k < 1:
            raise ConfigError(f"k must be at least 1, got {k}")
        answers = [retriever.search(queries, k=max(k, self._depth)) for retriever in self._retrievers]
        return [self._fuse(rankings, k) for rankings in zip(*answers, strict=True)]

    def _fuse(self, rankings: Rankings, k: int) -> list[Passage]:
        passages = {passage.id: passage for ranking in reversed(rankings) for passage in ranking}
        scores = self._fusion(rankings)
        seen = dict.fromkeys(passage.id for ranking in rankings for passage in ranking)
        best = sorted(seen, key=lambda document_id: -scores[document_id])[:k]
        return [replace(passages[document_id], score=scores[document_id]) for document_id in best]


class Reranker(Protocol):
    """Anything that scores a passage for a query by reading both, for example a cross-encoder."""

    @property
    def name(self) -> str:
        """What it is, for tables."""
        ...

    def score(self, pairs: Sequence[tuple[str, Passage]]) -> Sequence[float]:
        """Return one finite score a (query, passage) pair, greater is better."""
        ...


class RerankingRetriever:
    """Takes passages from a retriever and orders them by a reranker's scores; equal ones keep the retriever's order.

    Args:
        retriever: proposes.
        reranker: decides.
        depth: passages proposed for each query; more when more are wanted.

    Raises:
        ConfigError: a depth below 1.
    """

    def __init__(self, retriever: Retriever, reranker: Reranker, *, depth: int = DEPTH) -> None:
        if depth < 1:
            raise ConfigError(f"depth must be at least 1, got {depth}")
        self.name = f"{retriever.name}>{reranker.name}"
        self._retriever = retriever
        self._reranker = reranker
        self._depth = depth

    def search(self, queries: Sequence[str], *, k: int) -> list[list[Passage]]:
        """Return the best passages of each query; see ``Retriever.search``.

        Raises:
            RetrievalError: the reranker gave another number of scores, or one that is not finite.
        """
        if k < 1:
            raise ConfigError(f"k must be at least 1, got {k}")
        proposed = self._retriever.search(queries, k=max(k, self._depth))
        pairs = [(query, passage) for query, passages in zip(queries, proposed) for passage in passages]
        scores = iter(self._scores(pairs))
        scored = [[replace(passage, score=next(scores)) for passage in passages] for passages in proposed]
        return [sorted(passages, key=lambda passage: -passage.score)[:k] for passages in scored]

    def _scores(self, pairs: Sequence[tuple[str, Passage]]) -> list[float]:
        scores = [float(score) for score in self._reranker.score(pairs)] if pairs else []
        if len(scores) != len(pairs) or not all(map(math.isfinite, scores)):
            raise RetrievalError(
                f"reranker {self._reranker.name!r}: {len(scores)} scores for {len(pairs)} passages, or not finite ones"
            )
        return scores
