"""BM25 in process: Lucene's analyzer, scores and order of ties, over memory-mapped arrays, without Java."""

import shutil
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from agentgym_r1.corpus import Corpus, contents
from agentgym_r1.errors import ConfigError, RetrievalError
from agentgym_r1.retrieval.analyzer import ANALYZER_ID
from agentgym_r1.retrieval.base import Passage
from agentgym_r1.retrieval.index import Manifest, create_index, indexed_corpus, read_manifest
from agentgym_r1.retrieval.kernels import load_kernels
from agentgym_r1.retrieval.postings import Bm25Settings, Postings, Progress, build_postings, in_memory
from agentgym_r1.retrieval.query_terms import QueryReader
from agentgym_r1.retrieval.ranking import rank_compiled, rank_numpy
from agentgym_r1.retrieval.spool import Spool
from agentgym_r1.retrieval.vocabulary import Vocabulary
from agentgym_r1.types import digest

KIND = "bm25"
ARRAYS = ("starts", "documents", "scores", "hashes", "offsets", "data")
RUNS = "runs"
NUMPY_BUDGET = 50_000_000
COMPILED_K = 1000
SLICE = 256
"""Queries that are ranked at a time, so that a long batch takes no memory of its own."""
EMPTY_ARRAY = 128
ANSERINI = Bm25Settings()


class BM25Retriever:
    """Ranks passages by BM25, equal to Lucene's (Anserini's defaults).

    Safe to use from several threads. The first searches run in numpy and the later ones in compiled kernels, whose
    results are the same to the bit: a short-lived process on a small corpus never waits for numba.

    Args:
        corpus: the documents.
        postings: their index, from ``build_postings``.
    """

    name = KIND

    def __init__(self, corpus: Corpus, postings: Postings) -> None:
        self.corpus = corpus
        self._postings = postings
        self._reader = QueryReader(postings.vocabulary)
        self._folder: Path | None = None
        self._scanned = 0

    @classmethod
    def build(cls, corpus: Corpus, *, settings: Bm25Settings = ANSERINI) -> "BM25Retriever":
        """Index a corpus in memory, for one process."""
        return cls(corpus, build_postings(map(contents, corpus), settings, allocate=in_memory))

    @classmethod
    def open(cls, folder: str | Path, *, corpus: Corpus | None = None) -> "BM25Retriever":
        """Open an index folder; its arrays are mapped, so that all processes share them.

        Args:
            folder: made by ``write_bm25``.
            corpus: what the index must have been built from; by default the corpus its manifest names.

        Raises:
            RetrievalError: the folder is no BM25 index, damaged, of a later format, or of another corpus or analyzer.
        """
        folder = Path(folder)
        manifest = read_manifest(folder)
        _check_settings(folder, manifest)
        arrays = {name: _mapped(folder / f"{name}.npy") for name in ARRAYS}
        vocabulary = Vocabulary(arrays["hashes"], arrays["offsets"], arrays["data"])
        postings = Postings(manifest.count, vocabulary, arrays["starts"], arrays["documents"], arrays["scores"])
        retriever = cls(indexed_corpus(folder, manifest, corpus), postings)
        retriever._folder = folder
        return retriever

    def __reduce__(self) -> tuple[Any, ...]:
        if self._folder is not None:
            return _reopen, (self._folder, self.corpus)
        return type(self), (self.corpus, self._postings)

    def search(self, queries: Sequence[str], *, k: int) -> list[list[Passage]]:
        """Return the best passages of each query; see ``Retriever.search``."""
        return [[self._passage(*hit) for hit in hits] for hits in self.rank(queries, k=k)]

    def rank(self, queries: Sequence[str], *, k: int) -> list[list[tuple[int, float]]]:
        """Return (position in the corpus, score) instead of passages, otherwise as ``search`` does."""
        if k < 1:
            raise ConfigError(f"k must be at least 1, got {k}")
        k = min(k, self._postings.count)
        if not queries or not k:
            return [[] for _ in queries]
        compiled = self._is_compiled(len(queries))
        read = self._reader.read_compiled if compiled else self._reader.read
        rank = rank_compiled if compiled and k <= COMPILED_K else rank_numpy
        found: list[list[tuple[int, float]]] = []
        for start in range(0, len(queries), SLICE):
            positions, scores = rank(self._postings, read(queries[start : start + SLICE]), k)
            found += [_hits(*row) for row in zip(positions.tolist(), scores.tolist())]
        return found

    def warm_up(self) -> None:
        """Load the compiled kernels now; a long-lived process calls this before its first query."""
        load_kernels("rank")
        load_kernels("terms")
        self._scanned = NUMPY_BUDGET

    def _is_compiled(self, queries: int) -> bool:
        """Choose Python and numpy until they have cost about as much time as loading the kernels does."""
        self._scanned += queries * self._postings.count
        return self._scanned > NUMPY_BUDGET

    def _passage(self, position: int, score: float) -> Passage:
        document = self.corpus[position]
        return Passage(document.id, document.title, document.text, score)


def write_bm25(
    folder: str | Path,
    corpus: Corpus,
    *,
    settings: Bm25Settings = ANSERINI,
    progress: Progress = lambda done, total: None,
) -> None:
    """Build a BM25 index folder unless it is there; see ``create_index``.

    Memory stays within the vocabulary and some hundred megabytes, whatever the size of the corpus. A build that was
    killed goes on after its last whole run of documents, and ends with the same bytes.

    Args:
        folder: where.
        corpus: the documents.
        settings: k1 and b.
        progress: is told (postings in place, postings) while the runs are joined, once every document is read.

    Raises:
        RetrievalError: the folder cannot be written, or holds something else.
    """

    def write(target: Path) -> None:
        def allocate(name: str, shape: tuple[int, ...], dtype: Any) -> npt.NDArray[Any]:
            return np.lib.format.open_memmap(target / f"{name}.npy", mode="w+", dtype=dtype, shape=shape)

        spool = Spool(target / RUNS, key=digest({"corpus": corpus.sha256, "settings": asdict(settings)}))
        texts = map(contents, corpus)
        postings = build_postings(texts, settings, allocate=allocate, spool=spool, progress=progress)
        for name in ("hashes", "offsets", "data"):
            np.save(target / f"{name}.npy", getattr(postings.vocabulary, name))
        shutil.rmtree(target / RUNS, ignore_errors=True)

    create_index(Path(folder), corpus, kind=KIND, settings=asdict(settings), write=write, resume=(RUNS,))


def _hits(positions: list[int], scores: list[float]) -> list[tuple[int, float]]:
    """Pair positions and scores up to the first -1."""
    found = positions.index(-1) if positions[-1] < 0 else len(positions)
    return list(zip(positions[:found], scores[:found]))


def _check_settings(folder: Path, manifest: Manifest) -> None:
    if manifest.kind != KIND:
        raise RetrievalError(f"{folder}: an index of kind {manifest.kind!r}, expected {KIND!r}")
    try:
        made = msgspec.convert(manifest.settings, Bm25Settings).analyzer
    except msgspec.ValidationError as err:
        raise RetrievalError(f"{folder}: settings that are not BM25's ({err}); build the index again") from err
    if made != ANALYZER_ID:
        raise RetrievalError(
            f"{folder}: built with analyzer {made!r}, this version has {ANALYZER_ID!r}; build it again"
        )


def _mapped(path: Path) -> npt.NDArray[Any]:
    """Map an array file; an empty array cannot be mapped and is read."""
    try:
        return np.asarray(np.load(path, mmap_mode="r" if path.stat().st_size > EMPTY_ARRAY else None))
    except (ValueError, EOFError) as err:
        raise RetrievalError(f"{path}: not an array file ({err}); build the index again") from err


def _reopen(folder: Path, corpus: Corpus) -> BM25Retriever:
    return BM25Retriever.open(folder, corpus=corpus)
