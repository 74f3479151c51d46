"""Corpora: documents in memory, in Arrow files and in JSONL, all alike to whoever reads them."""

from agentgym_r1.corpus.arrow import ArrowCorpus, write_corpus
from agentgym_r1.corpus.base import (
    Corpus,
    CorpusHasher,
    MemoryCorpus,
    contents,
    corpus_sha256,
    get,
    split_contents,
)
from agentgym_r1.corpus.jsonl import JsonlCorpus
from agentgym_r1.corpus.opening import open_corpus

__all__ = [
    "ArrowCorpus",
    "Corpus",
    "CorpusHasher",
    "JsonlCorpus",
    "MemoryCorpus",
    "contents",
    "corpus_sha256",
    "get",
    "open_corpus",
    "split_contents",
    "write_corpus",
]
