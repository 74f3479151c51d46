"""From what a user writes as ``retriever=`` to a retriever."""

from dataclasses import asdict
from pathlib import Path

from agentgym_r1.corpus import Corpus
from agentgym_r1.errors import ConfigError, RetrievalError, unknown_name
from agentgym_r1.home import home
from agentgym_r1.retrieval.base import Retriever
from agentgym_r1.retrieval.bm25 import ANSERINI, KIND, BM25Retriever, write_bm25
from agentgym_r1.retrieval.client import RemoteRetriever
from agentgym_r1.retrieval.dense import DenseRetriever
from agentgym_r1.retrieval.dense_index import KIND as DENSE
from agentgym_r1.retrieval.dense_index import write_dense
from agentgym_r1.retrieval.encoder import open_encoder
from agentgym_r1.retrieval.index import FORMAT_VERSION, MANIFEST, read_manifest
from agentgym_r1.retrieval.lucene import KIND as LUCENE
from agentgym_r1.retrieval.lucene import LuceneRetriever
from agentgym_r1.retrieval.lucene_folder import is_lucene
from agentgym_r1.types import digest

NAMES = (KIND, DENSE)
"""What is built for a corpus when it is asked for by name."""


def open_retriever(spec: str | Path | Retriever, *, corpus: Corpus | None = None) -> Retriever:
    """Return the retriever that ``spec`` names.

    Args:
        spec: a retriever, which is returned as it is; the path of an index folder, ours or one of Lucene (pyserini,
            Anserini); the URL of a service; or ``bm25`` or ``dense`` (all-MiniLM-L6-v2), which is built for the corpus
            once and kept under ``home()/index``.
        corpus: what is to be searched: needed for ``bm25`` and ``dense``; an index folder must have been built from it,
            and a service must say that it searches it.

    Raises:
        ConfigError: no such retriever, or no corpus where one is needed.
        RetrievalError: the index cannot be built or opened, or belongs to another corpus.
    """
    if isinstance(spec, Retriever):
        return spec
    if spec in NAMES:
        if corpus is None:
            raise ConfigError(f"retriever {spec!r} needs a corpus: pass one, or the path of an index folder")
        return _cached_bm25(corpus) if spec == KIND else _cached_dense(corpus)
    if str(spec).startswith(("http://", "https://")):
        return _remote(str(spec), corpus)
    if (Path(spec) / MANIFEST).is_file():
        return _open_folder(Path(spec), corpus)
    if is_lucene(Path(spec)):
        return LuceneRetriever.open(spec, corpus=corpus)
    raise unknown_name("retriever (no index folder either)", str(spec), NAMES)


def _open_folder(folder: Path, corpus: Corpus | None) -> Retriever:
    """Open a folder by the kind its manifest names."""
    kind = read_manifest(folder).kind
    if kind == KIND:
        return BM25Retriever.open(folder, corpus=corpus)
    if kind == DENSE:
        return DenseRetriever.open(folder, corpus=corpus)
    if kind == LUCENE:
        return LuceneRetriever.open(folder, corpus=corpus)
    raise RetrievalError(f"{folder}: an index of kind {kind!r}, this version opens {KIND!r}, {DENSE!r} and {LUCENE!r}")


def _remote(url: str, corpus: Corpus | None) -> RemoteRetriever:
    retriever = RemoteRetriever(url)
    if corpus is not None:
        served = retriever.info().get("corpus_sha256", "unknown")
        if served != corpus.sha256:
            raise RetrievalError(
                f"{url}: searches corpus {served[:12]}, expected {corpus.sha256[:12]}; serve its index"
            )
    return retriever


def _cached_bm25(corpus: Corpus) -> BM25Retriever:
    settings = asdict(ANSERINI)
    key = digest({"kind": KIND, "format": FORMAT_VERSION, "corpus": corpus.sha256, "settings": settings})
    folder = home() / "index" / key[:32]
    if not (folder / MANIFEST).is_file():
        write_bm25(folder, corpus)
    return BM25Retriever.open(folder, corpus=corpus)


def _cached_dense(corpus: Corpus) -> DenseRetriever:
    encoder = open_encoder()
    key = digest({"kind": DENSE, "format": FORMAT_VERSION, "corpus": corpus.sha256, "encoder": asdict(encoder.spec)})
    folder = home() / "index" / key[:32]
    if not (folder / MANIFEST).is_file():
        write_dense(folder, corpus, encoder=encoder)
    return DenseRetriever.open(folder, corpus=corpus, encoder=encoder)
