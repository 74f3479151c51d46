"""From what a user writes as ``retriever=`` to a retriever."""

from dataclasses import asdict
from pathlib import Path

from agentgym_r1.corpus import Corpus
from agentgym_r1.errors import ConfigError, unknown_name
from agentgym_r1.home import home
from agentgym_r1.retrieval.base import Retriever
from agentgym_r1.retrieval.bm25 import ANSERINI, KIND, BM25Retriever, write_bm25
from agentgym_r1.retrieval.index import FORMAT_VERSION, MANIFEST
from agentgym_r1.types import digest


def open_retriever(spec: str | Path | Retriever, *, corpus: Corpus | None = None) -> Retriever:
    """Return the retriever that ``spec`` names.

    Args:
        spec: a retriever, which is returned as it is; the path of an index folder; or ``bm25``, which is built for the
            corpus once and kept under ``home()/index``.
        corpus: what is to be searched: needed for ``bm25``; an index folder must have been built from it.

    Raises:
        ConfigError: no such retriever, or no corpus where one is needed.
        RetrievalError: the index cannot be built or opened, or belongs to another corpus.
    """
    if isinstance(spec, Retriever):
        return spec
    if spec == KIND:
        if corpus is None:
            raise ConfigError("retriever 'bm25' needs a corpus: pass one, or the path of an index folder")
        return _cached_bm25(corpus)
    if str(spec).startswith(("http://", "https://")):
        raise ConfigError(f"{spec}: retrieval services are not supported yet; use 'bm25' or an index folder")
    if (Path(spec) / MANIFEST).is_file():
        return BM25Retriever.open(spec, corpus=corpus)
    raise unknown_name("retriever (no index folder either)", str(spec), [KIND])


def _cached_bm25(corpus: Corpus) -> BM25Retriever:
    settings = asdict(ANSERINI)
    key = digest({"kind": KIND, "format": FORMAT_VERSION, "corpus": corpus.sha256, "settings": settings})
    folder = home() / "index" / key[:32]
    if not (folder / MANIFEST).is_file():
        write_bm25(folder, corpus)
    return BM25Retriever.open(folder, corpus=corpus)
