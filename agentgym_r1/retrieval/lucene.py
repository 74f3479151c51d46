"""Lucene: real BM25 through Anserini, over its indexes, pyserini's and our own, with Java in a process of its own."""

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import msgspec

from agentgym_r1.corpus import Corpus
from agentgym_r1.errors import ConfigError, RetrievalError
from agentgym_r1.retrieval.base import Passage
from agentgym_r1.retrieval.index import MANIFEST, Manifest, create_index, indexed_corpus, read_manifest
from agentgym_r1.retrieval.lucene_folder import (
    LuceneCorpus,
    LuceneFolder,
    LuceneHit,
    as_document,
    check_belongs,
    index_files,
    is_lucene,
    write_folder,
)

KIND = "lucene"
INSIDE = "."


@dataclass(frozen=True, slots=True)
class LuceneSettings:
    """What the manifest of a Lucene index records.

    Attributes:
        k1: of BM25; the default is Anserini's.
        b: of BM25; the default is Anserini's.
        index: the Lucene folder: ``.``, or, adopted, its absolute path.
    """

    k1: float = 0.9
    b: float = 0.4
    index: str = INSIDE

    def __post_init__(self) -> None:
        if not self.k1 > 0 or not 0 <= self.b <= 1:
            raise ConfigError(f"k1 must be greater than 0 and b between 0 and 1, got {self.k1} and {self.b}")


class LuceneRetriever:
    """Ranks passages with Lucene: Anserini's English analyzer (Porter, its stop words) and BM25.

    Queries are words, not Lucene's query language. Equal scores stand in the order of the ids as text, as Anserini has
    them. Safe to use from several threads and after a fork; Java runs in a process of its own, started by the first
    search and again when it died.

    Args:
        folder: of the Lucene index.
        settings: k1 and b.
        corpus: where the texts of the passages are; by default in the index.
        threads: that search a batch; by default one a core.
    """

    name = KIND

    def __init__(
        self,
        folder: Path,
        *,
        settings: LuceneSettings | None = None,
        corpus: Corpus | None = None,
        threads: int | None = None,
    ) -> None:
        self.corpus: Corpus = LuceneCorpus(folder) if corpus is None else corpus
        self._stored = isinstance(self.corpus, LuceneCorpus)
        self._lucene = self.corpus.lucene if isinstance(self.corpus, LuceneCorpus) else LuceneFolder(folder)
        self._settings = settings or LuceneSettings()
        self._threads = threads or os.cpu_count() or 1

    @classmethod
    def open(cls, folder: str | Path, *, corpus: Corpus | None = None) -> "LuceneRetriever":
        """Open a folder with our manifest, or the bare folder of Anserini or pyserini.

        Args:
            folder: made by ``write_lucene``, ``adopt_lucene``, Anserini or pyserini.
            corpus: what the index must have been built from; by default what its manifest names, or the texts that the
                index itself stores.

        Raises:
            MissingExtra: no Java that is new enough, pyserini or pyjnius.
            RetrievalError: the folder is no index, damaged, of another corpus, or has neither texts nor a corpus.
        """
        folder = Path(folder).resolve()
        if not (folder / MANIFEST).is_file():
            return cls._open_bare(folder, corpus)
        manifest = read_manifest(folder)
        settings = read_settings(folder, manifest)
        return cls(folder / settings.index, settings=settings, corpus=indexed_corpus(folder, manifest, corpus))

    @classmethod
    def _open_bare(cls, folder: Path, corpus: Corpus | None) -> "LuceneRetriever":
        if not is_lucene(folder):
            raise RetrievalError(f"{folder}: no Lucene index there (no file segments_*)")
        retriever = cls(folder, corpus=corpus)
        if corpus is not None:
            check_belongs(retriever._lucene, corpus)
        return retriever

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopen, (self._lucene.folder, self._settings, self.corpus, self._threads)

    @property
    def folder(self) -> Path:
        """Where the Lucene index is."""
        return self._lucene.folder

    @property
    def process_id(self) -> int | None:
        """The process in which Java runs, or None before the first search."""
        return self._lucene.process_id

    def search(self, queries: Sequence[str], *, k: int) -> list[list[Passage]]:
        """Return the best passages of each query; see ``Retriever.search``."""
        found = self._search(queries, k, stored=self._stored)
        return [[self._passage(hit) for hit in hits] for hits in found]

    def rank(self, queries: Sequence[str], *, k: int) -> list[list[tuple[str, float]]]:
        """Return (id, score) instead of passages, otherwise as ``search`` does."""
        return [[(hit.id, hit.score) for hit in hits] for hits in self._search(queries, k, stored=False)]

    def warm_up(self) -> None:
        """Start Java and open the index now; a long-lived process calls this before its first query."""
        self._lucene.warm_up()

    def close(self) -> None:
        """End the Java process; a later search starts another."""
        self._lucene.close()

    def _search(self, queries: Sequence[str], k: int, *, stored: bool) -> list[list[LuceneHit]]:
        if k < 1:
            raise ConfigError(f"k must be at least 1, got {k}")
        texts = [query.encode(errors="replace").decode() for query in queries]
        if not texts or not self._lucene.count:
            return [[] for _ in texts]
        return self._lucene.search(
            texts,
            k=min(k, self._lucene.count),
            bm25=(self._settings.k1, self._settings.b),
            threads=self._threads,
            stored=stored,
        )

    def _passage(self, hit: LuceneHit) -> Passage:
        if self._stored:
            document = as_document(hit.id, hit.stored or "")
        else:
            try:
                document = self.corpus[self.corpus.index_of(hit.id)]
            except KeyError as err:
                raise RetrievalError(
                    f"{self._lucene.folder}: found document {hit.id!r}, which is not in the corpus of"
                    f" {len(self.corpus)} documents; open it with the corpus it was built from"
                ) from err
        return Passage(document.id, document.title, document.text, hit.score)


def write_lucene(folder: str | Path, corpus: Corpus, *, k1: float = 0.9, b: float = 0.4) -> None:
    """Build a Lucene index folder unless it is there; see ``create_index``. pyserini can open it too.

    A build that was killed goes on after its last 100,000 documents, and ranks as one that was not.

    Raises:
        ConfigError: k1 or b out of range.
        MissingExtra: no Java that is new enough, pyserini or pyjnius.
        RetrievalError: the folder cannot be written, or holds something else.
    """
    settings = LuceneSettings(k1, b)
    unfinished = f"lucene-{corpus.sha256[:16]}"

    def write(target: Path) -> None:
        write_folder(target / unfinished, corpus)
        for path in sorted((target / unfinished).iterdir(), reverse=True):  # segments_N first: no index without it
            path.replace(target / path.name)
        (target / unfinished).rmdir()

    create_index(Path(folder), corpus, kind=KIND, settings=asdict(settings), write=write, resume=(unfinished,))


def adopt_lucene(folder: str | Path, index: str | Path, *, corpus: Corpus | None = None) -> None:
    """Make an index folder for a Lucene index of Anserini or pyserini, which stays where and as it is.

    Args:
        folder: where the manifest goes.
        index: the Lucene folder.
        corpus: its documents; by default the texts that it stores itself.

    Raises:
        RetrievalError: no Lucene index, or of another corpus.
    """
    place = Path(index).resolve()
    if not is_lucene(place):
        raise RetrievalError(f"{place}: no Lucene index there (no file segments_*)")
    documents = LuceneCorpus(place) if corpus is None else corpus
    lucene = documents.lucene if isinstance(documents, LuceneCorpus) else LuceneFolder(place)
    settings, files = asdict(LuceneSettings(index=str(place))), index_files(place)
    try:
        check_belongs(lucene, documents)
        create_index(Path(folder), documents, kind=KIND, settings=settings, write=lambda _: None, adopted=files)
    finally:
        lucene.close()


def read_settings(folder: Path, manifest: Manifest) -> LuceneSettings:
    """Return what the manifest says of a Lucene index, or raise RetrievalError when it is none."""
    if manifest.kind != KIND:
        raise RetrievalError(f"{folder}: an index of kind {manifest.kind!r}, expected {KIND!r}")
    try:
        return msgspec.convert(manifest.settings, LuceneSettings)
    except msgspec.ValidationError as err:
        raise RetrievalError(f"{folder}: settings that are not Lucene's ({err}); build the index again") from err


def _reopen(folder: Path, settings: LuceneSettings, corpus: Corpus, threads: int) -> LuceneRetriever:
    return LuceneRetriever(folder, settings=settings, corpus=corpus, threads=threads)
