"""Dense retrieval: an encoder, an index over mapped vectors or on GPUs, and exact scores for what it finds."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from agentgym_r1.corpus import Corpus, contents
from agentgym_r1.errors import ConfigError
from agentgym_r1.retrieval.base import Passage
from agentgym_r1.retrieval.dense_index import (
    INDEX,
    KIND,
    DenseSettings,
    check_encoder,
    check_vectors,
    checked,
    read_settings,
)
from agentgym_r1.retrieval.devices import CpuIndex, Layout, ResidentIndex, VectorIndex, resources
from agentgym_r1.retrieval.encoder import Encoder, open_encoder
from agentgym_r1.retrieval.exact import ExactIndex
from agentgym_r1.retrieval.flat import Matrix, map_flat
from agentgym_r1.retrieval.index import indexed_corpus, read_manifest
from agentgym_r1.retrieval.plan import IndexPlan

SPARE = 8
"""Candidates more than wanted, so that equal scores at the end of the list are seen and ordered."""
RESCORED_NUMBERS = 1 << 20
"""Of the candidates that are scored at a time: 8 MB."""


class DenseRetriever:
    """Ranks passages by the inner product of their vectors with the query's.

    An index proposes candidates; their scores are then computed from the exact vectors, so that they are the same for
    every kind of index, device and batch, and equal scores stand in corpus order. Safe to use from several threads.

    Args:
        corpus: the documents.
        encoder: of the queries.
        vectors: float32 (documents, dimension), one row a document.
        index: finds candidates among the vectors.
        refine: candidates for each passage wanted.
    """

    name = KIND

    def __init__(
        self, corpus: Corpus, encoder: Encoder, vectors: Matrix, index: VectorIndex, *, refine: int = 1
    ) -> None:
        self.corpus = corpus
        self.encoder = encoder
        self._vectors = vectors
        self._index = index
        self._refine = refine
        self._opened: Callable[[], DenseRetriever] | None = None

    @classmethod
    def build(cls, corpus: Corpus, encoder: Encoder) -> "DenseRetriever":
        """Encode a corpus in memory, for one process and exact search."""
        vectors = checked(encoder.encode_passages([contents(document) for document in corpus]), encoder)
        return cls(corpus, encoder, vectors, ExactIndex(vectors))

    @classmethod
    def open(
        cls,
        folder: str | Path,
        *,
        corpus: Corpus | None = None,
        encoder: Encoder | None = None,
        device: str = "cpu",
        layout: Layout = "shards",
        effort: int | None = None,
    ) -> "DenseRetriever":
        """Open an index folder; on the CPU its files are mapped, so that all processes share them.

        A few passages are encoded again and compared with what is stored.

        Args:
            folder: made by ``write_dense`` or ``adopt_flat``.
            corpus: what the index must have been built from; by default the corpus its manifest names.
            encoder: must be the one that built it; by default it is loaded, on the first of the devices.
            device: ``cpu``, or ``cuda``, ``cuda:N``, ``cuda:N,M`` for search in half precision on GPUs.
            layout: of several GPUs: ``shards`` for capacity, ``replicas`` for throughput, both exact; or ``graph``, an
                approximate CAGRA graph on one (extra ``gpu-cuvs``), which is built when the index is opened.
            effort: of a search on the CPU instead of the manifest's (``efSearch`` or ``nprobe``).

        Raises:
            ConfigError: the device cannot be used.
            RetrievalError: the folder is no dense index, damaged, of a later format, or of another corpus or encoder.
        """
        folder = Path(folder)
        manifest = read_manifest(folder)
        settings = read_settings(folder, manifest)
        used = encoder or open_encoder(
            settings.encoder.source, settings=settings.encoder.settings, device=device.split(",", maxsplit=1)[0]
        )
        check_encoder(folder, settings.encoder, used.spec)
        indexed = indexed_corpus(folder, manifest, corpus)
        vectors = map_flat(folder / settings.vectors)
        check_vectors(folder, indexed, used, vectors)
        plan = settings.plan if effort is None else replace(settings.plan, effort=effort)
        index = _open_index(folder, settings, plan, vectors, device=device, layout=layout)
        retriever = cls(indexed, used, vectors, index, refine=plan.refine)
        retriever._opened = partial(
            cls.open,
            folder,
            corpus=None if corpus is None else indexed,
            encoder=encoder,
            device=device,
            layout=layout,
            effort=effort,
        )
        return retriever

    def __reduce__(self) -> tuple[Any, ...]:
        if self._opened is None:
            raise TypeError("a dense index in memory cannot be sent to another process; write it with write_dense")
        return self._opened, ()

    @property
    def device(self) -> str:
        """Where the vectors are searched; ``encoder.device`` says where queries are encoded."""
        return self._index.device

    def warm_up(self) -> None:
        """Load what searches need; a long-lived process calls this before its first query.

        An exact index on the CPU then also has 8-bit codes for batches, a quarter of the size of its vectors, in the
        memory of this process.
        """
        self._index.warm_up()

    def search(self, queries: Sequence[str], *, k: int) -> list[list[Passage]]:
        """Return the best passages of each query; see ``Retriever.search``."""
        return [[self._passage(*hit) for hit in hits] for hits in self.rank(queries, k=k)]

    def rank(self, queries: Sequence[str], *, k: int) -> list[list[tuple[int, float]]]:
        """Return (position in the corpus, score) instead of passages, otherwise as ``search`` does."""
        if k < 1:
            raise ConfigError(f"k must be at least 1, got {k}")
        if not queries or not len(self._vectors):
            return [[] for _ in queries]
        return self.rank_vectors(checked(self.encoder.encode_queries(queries), self.encoder), k=k)

    def rank_vectors(self, queries: Matrix, *, k: int) -> list[list[tuple[int, float]]]:
        """Return (position, score) for queries that are vectors already: float32 (queries, dimension)."""
        wanted = min(max(k * self._refine, k + SPARE), len(self._vectors))
        candidates = self._index.search(queries, wanted)
        size = max(1, RESCORED_NUMBERS // max(1, self._vectors.shape[1] * wanted))
        parts = [slice(start, start + size) for start in range(0, len(queries), size)]
        return [hits for part in parts for hits in _best(self._vectors, queries[part], candidates[part], k)]

    def _passage(self, position: int, score: float) -> Passage:
        document = self.corpus[position]
        return Passage(document.id, document.title, document.text, score)


def _best(vectors: Matrix, queries: Matrix, candidates: npt.NDArray[np.int64], k: int) -> list[list[tuple[int, float]]]:
    """Score candidates exactly and return the best, ties in corpus order; -1 means that there was no candidate."""
    positions = np.sort(candidates, axis=1)
    products = np.einsum("qnd,qd->qn", vectors[positions].astype(np.float64), queries.astype(np.float64))
    scores = np.where(positions >= 0, products, -np.inf).astype(np.float32)
    order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    rows = (np.take_along_axis(values, order, axis=1).tolist() for values in (positions, scores))
    return [[hit for hit in zip(*row) if hit[0] >= 0] for row in zip(*rows)]


def _open_index(
    folder: Path, settings: DenseSettings, plan: IndexPlan, vectors: Matrix, *, device: str, layout: Layout
) -> VectorIndex:
    if device != "cpu":
        return ResidentIndex(vectors, resources(device, layout), layout=layout)
    if plan.kind == "flat":
        return ExactIndex(vectors)
    return CpuIndex.open(folder / INDEX, plan)
