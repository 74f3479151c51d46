"""Dense index folders: vectors encoded in chunks, an approximate index where the plan asks for one, and checks."""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from agentgym_r1.corpus import Corpus, contents
from agentgym_r1.errors import RetrievalError
from agentgym_r1.retrieval.encoder import Encoder, EncoderSpec
from agentgym_r1.retrieval.flat import Matrix, append_rows, map_flat
from agentgym_r1.retrieval.index import Manifest, create_index
from agentgym_r1.retrieval.plan import IndexPlan, choose_plan, make_plan
from agentgym_r1.retrieval.training import IndexProgress, train_index
from agentgym_r1.types import digest

KIND = "dense"
METRIC = "inner_product"
VECTORS = "vectors.faiss"
INDEX = "index.faiss"
PROGRESS = "build.json"
PARTIAL = ".partial"
CHUNK_ROWS = 1024
SAMPLES = 3
SAME_COSINE = 0.99
"""Vectors of the same text by the same encoder agree at least so far, in half precision too; 8-bit weights give .96."""

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class DenseSettings:
    """What the manifest of a dense index records.

    Attributes:
        encoder: of the passages, and so of the queries.
        metric: always ``inner_product``.
        plan: kind of index and effort of a search.
        vectors: the flat file, inside the folder or, adopted, by its absolute path.
    """

    encoder: EncoderSpec
    metric: str
    plan: IndexPlan
    vectors: str


def write_dense(
    folder: str | Path,
    corpus: Corpus,
    *,
    encoder: Encoder,
    kind: str | None = None,
    memory: int | None = None,
    progress: Progress | None = None,
    index_progress: IndexProgress = lambda done, total: None,
) -> None:
    """Build a dense index folder unless it is there; see ``create_index``.

    Passages are encoded in chunks, each written before the next is begun: a build that was killed goes on after its
    last whole chunk, and ends with the same bytes. So does the learning of an approximate kind; see ``train_index``.

    Args:
        folder: where.
        corpus: the documents.
        encoder: of the passages.
        kind: ``flat``, ``hnsw``, ``ivf`` or ``ivfpq``; by default ``choose_plan`` decides.
        memory: bytes the index may take when it is searched, for that choice.
        progress: is told (documents encoded, documents) after each chunk.
        index_progress: of an approximate kind is told (0, None) when faiss begins to learn, which it does in one go,
            and (vectors in the index, vectors) after each chunk.

    Raises:
        ConfigError: no such kind, or too few documents for it.
        RetrievalError: the folder cannot be written, or holds something else.
    """
    count, dimension = len(corpus), encoder.spec.dimension
    plan = make_plan(kind, count, dimension) if kind else choose_plan(count, dimension, memory=memory)

    def write(target: Path) -> None:
        encode_corpus(target, corpus, encoder, progress=progress)
        if plan.kind != "flat":
            rows = map_flat(target / VECTORS)
            train_index(target / INDEX, rows, plan, progress=index_progress, partial=target / partial)

    settings = asdict(DenseSettings(encoder.spec, METRIC, plan, VECTORS))
    partial = digest({"corpus": corpus.sha256, "settings": settings})[:16] + PARTIAL
    resume = (VECTORS, PROGRESS, partial)
    create_index(Path(folder), corpus, kind=KIND, settings=settings, write=write, resume=resume)


def adopt_flat(folder: str | Path, corpus: Corpus, vectors: str | Path, *, encoder: Encoder) -> None:
    """Make an index folder for a flat faiss file that stays where it is, for example Search-R1's ``e5_Flat.index``.

    Args:
        folder: where the manifest goes.
        corpus: the documents, in the order of the file's rows.
        vectors: the file.
        encoder: that made it.

    Raises:
        RetrievalError: the file is no whole flat inner-product index, or not of this corpus and encoder.
    """
    path = Path(vectors).resolve()
    rows = map_flat(path)
    if rows.shape != (len(corpus), encoder.spec.dimension):
        raise RetrievalError(
            f"{path}: {rows.shape[0]} vectors of {rows.shape[1]} numbers, expected {len(corpus)} of"
            f" {encoder.spec.dimension}; give the corpus and the encoder it was made with"
        )
    check_vectors(path, corpus, encoder, rows)
    settings = DenseSettings(encoder.spec, METRIC, IndexPlan("flat", "Flat"), str(path))
    create_index(Path(folder), corpus, kind=KIND, settings=asdict(settings), write=lambda _: None, adopted=[path])


@dataclass(frozen=True, slots=True)
class _Progress:
    """What a half-made build was made from, and how many rows of it are safe on the disk."""

    corpus_sha256: str
    encoder: EncoderSpec
    done: int


def encode_corpus(folder: Path, corpus: Corpus, encoder: Encoder, *, progress: Progress | None = None) -> None:
    """Write the vectors of a corpus into ``folder``, from where an earlier build of the same ones was killed."""
    state = _resumed(folder, _Progress(corpus.sha256, encoder.spec, 0))
    if not len(corpus):
        append_rows(folder / VECTORS, np.empty((0, encoder.spec.dimension), np.float32), done=0, count=0)
    for texts in _texts(corpus, state.done):
        rows = checked(encoder.encode_passages(texts), encoder)
        append_rows(folder / VECTORS, rows, done=state.done, count=len(corpus))
        state = replace(state, done=state.done + len(texts))
        _save(folder / PROGRESS, state)
        if progress is not None:
            progress(state.done, len(corpus))


def _resumed(folder: Path, fresh: _Progress) -> _Progress:
    """Return what an earlier build left if it was one of the same corpus and encoder, else ``fresh``."""
    try:
        found = msgspec.json.decode((folder / PROGRESS).read_bytes(), type=_Progress)
    except (OSError, msgspec.DecodeError):
        return fresh
    return found if replace(found, done=0) == fresh and (folder / VECTORS).is_file() else fresh


def _save(path: Path, state: _Progress) -> None:
    """Replace the note in one step, after the rows it counts are on the disk."""
    temporary = path.with_suffix(".tmp")
    temporary.write_bytes(msgspec.json.encode(state))
    temporary.replace(path)


def _texts(corpus: Corpus, start: int) -> Iterator[list[str]]:
    texts = (contents(corpus[position]) for position in range(start, len(corpus)))
    while chunk := list(islice(texts, CHUNK_ROWS)):
        yield chunk


def read_settings(folder: Path, manifest: Manifest) -> DenseSettings:
    """Return what the manifest says of a dense index, or raise RetrievalError when it is none."""
    if manifest.kind != KIND:
        raise RetrievalError(f"{folder}: an index of kind {manifest.kind!r}, expected {KIND!r}")
    try:
        settings = msgspec.convert(manifest.settings, DenseSettings)
    except msgspec.ValidationError as err:
        raise RetrievalError(f"{folder}: settings that are not a dense index's ({err}); build the index again") from err
    if settings.metric != METRIC:
        raise RetrievalError(f"{folder}: metric {settings.metric!r}, expected {METRIC!r}; build the index again")
    return settings


def check_encoder(folder: Path, made: EncoderSpec, given: EncoderSpec) -> None:
    """Raise RetrievalError when two encoders differ in anything but where they were loaded from."""
    pairs = {**asdict(made), **asdict(made.settings)}, {**asdict(given), **asdict(given.settings)}
    names = [name for name in pairs[0] if name not in ("source", "settings") and pairs[0][name] != pairs[1][name]]
    if names:
        told = ", ".join(f"{name} {_short(pairs[0][name])}, given {_short(pairs[1][name])}" for name in names)
        raise RetrievalError(f"{folder}: built with another encoder ({made.source}: {told}); build an index with yours")


def _short(value: Any) -> str:
    return repr(value)[:24]


def check_vectors(folder: Path, corpus: Corpus, encoder: Encoder, vectors: Matrix) -> None:
    """Encode a few passages again, and raise RetrievalError when the stored vectors are not theirs."""
    if len(vectors) != len(corpus):
        raise RetrievalError(f"{folder}: {len(vectors)} vectors for {len(corpus)} documents; build the index again")
    positions = sorted({len(corpus) * part // SAMPLES for part in range(SAMPLES)} if len(corpus) else ())
    if not positions:
        return
    again = encoder.encode_passages([contents(corpus[position]) for position in positions]).astype(np.float64)
    stored = vectors[positions].astype(np.float64)
    lengths = np.linalg.norm(again, axis=1) * np.linalg.norm(stored, axis=1)
    cosines = (again * stored).sum(axis=1) / np.maximum(lengths, 1e-12)
    for position, cosine in zip(positions, cosines):
        if not cosine >= SAME_COSINE:
            raise RetrievalError(
                f"{folder}: the vector of document {position} is not what {encoder.spec.source} makes of its text"
                f" (cosine {cosine:.3f}, at least {SAME_COSINE} expected): another encoder, prefix, pooling or corpus"
            )


def checked(vectors: Matrix, encoder: Encoder) -> Matrix:
    """Return an encoder's answer as faiss needs it, or raise RetrievalError when it is not that."""
    vectors = np.ascontiguousarray(vectors, np.float32)
    if vectors.ndim != 2 or vectors.shape[1] != encoder.spec.dimension or not np.isfinite(vectors).all():
        raise RetrievalError(
            f"{encoder.spec.source}: gave vectors of shape {vectors.shape}, expected finite ones of"
            f" {encoder.spec.dimension} numbers"
        )
    return vectors
