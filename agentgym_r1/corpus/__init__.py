"""Corpora: documents in memory, in Arrow files and in JSONL, all alike to whoever reads them."""

from agentgym_r1.corpus.arrow import ArrowCorpus, write_corpus
from agentgym_r1.corpus.arrow_papers import ArrowPapers, write_papers
from agentgym_r1.corpus.base import (
    Corpus,
    CorpusHasher,
    MemoryCorpus,
    contents,
    corpus_sha256,
    get,
    split_contents,
)
from agentgym_r1.corpus.jsonl import JsonlCorpus, stream_gzip
from agentgym_r1.corpus.opening import open_corpus
from agentgym_r1.corpus.papers import MemoryPapers, Paper, Papers, title_key

__all__ = [
    "ArrowCorpus",
    "ArrowPapers",
    "Corpus",
    "CorpusHasher",
    "JsonlCorpus",
    "MemoryCorpus",
    "MemoryPapers",
    "Paper",
    "Papers",
    "contents",
    "corpus_sha256",
    "get",
    "open_corpus",
    "split_contents",
    "stream_gzip",
    "title_key",
    "write_corpus",
    "write_papers",
]
