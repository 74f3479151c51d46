"""Approximate dense indexes: trained on some vectors, filled with all, and gone on with after a kill."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from agentgym_r1.errors import require
from agentgym_r1.retrieval.flat import Matrix
from agentgym_r1.retrieval.plan import TRAINING_ROWS, IndexPlan

ADD_ROWS = 65_536
SAVE_S = 600.0
"""Seconds of work that a kill may cost, once the index has learned."""

IndexProgress = Callable[[int, int | None], None]


def train_index(
    path: Path,
    vectors: Matrix,
    plan: IndexPlan,
    *,
    progress: IndexProgress = lambda done, total: None,
    partial: Path | None = None,
) -> None:
    """Train an approximate index on evenly spaced vectors, add all, and write it.

    Args:
        path: of the index.
        vectors: float32 (count, dimension).
        plan: its kind; any but flat.
        progress: is told (0, None) before it learns and (vectors in it, vectors) after each chunk.
        partial: where it is kept when it has learned and every ten minutes from then on, and from where a build that
            was killed goes on. HNSW begins again: the random levels of a vector depend on all that were added before.
    """
    faiss = require("faiss", "dense")
    kept = None if plan.kind == "hnsw" else partial
    progress(0, None)
    index = _read(faiss, kept) or _trained(faiss, vectors, plan, kept)
    saved = time.monotonic()
    for start in range(index.ntotal, len(vectors), ADD_ROWS):
        index.add(np.array(vectors[start : start + ADD_ROWS], np.float32, order="C"))
        progress(index.ntotal, len(vectors))
        if kept is not None and time.monotonic() - saved > SAVE_S:
            _write(faiss, index, kept)
            saved = time.monotonic()
    faiss.write_index(index, str(path))
    if kept is not None:
        kept.unlink()


def _trained(faiss: Any, vectors: Matrix, plan: IndexPlan, kept: Path | None) -> Any:
    index = faiss.index_factory(vectors.shape[1], plan.factory, faiss.METRIC_INNER_PRODUCT)
    lists = getattr(index, "nlist", 256)
    step = max(1, len(vectors) // (TRAINING_ROWS * max(lists, 256)))
    index.train(np.array(vectors[::step], np.float32, order="C"))
    if kept is not None:
        _write(faiss, index, kept)
    return index


def _write(faiss: Any, index: Any, path: Path) -> None:
    """Replace a file in one step."""
    temporary = path.with_suffix(".tmp")
    faiss.write_index(index, str(temporary))
    temporary.replace(path)


def _read(faiss: Any, path: Path | None) -> Any:
    """Return what a killed build left, None when it left nothing or the machine lost a part of it."""
    try:
        return faiss.read_index(str(path)) if path is not None and path.is_file() else None
    except RuntimeError:
        return None
