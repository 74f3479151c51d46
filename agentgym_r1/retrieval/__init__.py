"""Retrievers: BM25, Lucene, dense, hybrid, remote and in-memory."""

from agentgym_r1.retrieval.base import Passage, Retriever
from agentgym_r1.retrieval.bm25 import BM25Retriever, write_bm25
from agentgym_r1.retrieval.client import RemoteRetriever
from agentgym_r1.retrieval.cross_encoder import CrossEncoder
from agentgym_r1.retrieval.dense import DenseRetriever
from agentgym_r1.retrieval.dense_index import adopt_flat, write_dense
from agentgym_r1.retrieval.encoder import BGE_EN, E5, Encoder, EncoderSettings, open_encoder
from agentgym_r1.retrieval.hybrid import (
    HybridRetriever,
    ReciprocalRank,
    Reranker,
    RerankingRetriever,
    WeightedScores,
)
from agentgym_r1.retrieval.index import read_manifest, verify_index
from agentgym_r1.retrieval.lucene import LuceneRetriever, adopt_lucene, write_lucene
from agentgym_r1.retrieval.memory import MemoryRetriever
from agentgym_r1.retrieval.opening import open_retriever
from agentgym_r1.retrieval.postings import Bm25Settings

__all__ = [
    "BGE_EN",
    "E5",
    "BM25Retriever",
    "Bm25Settings",
    "CrossEncoder",
    "DenseRetriever",
    "Encoder",
    "EncoderSettings",
    "HybridRetriever",
    "LuceneRetriever",
    "MemoryRetriever",
    "Passage",
    "ReciprocalRank",
    "RemoteRetriever",
    "Reranker",
    "RerankingRetriever",
    "Retriever",
    "WeightedScores",
    "adopt_flat",
    "adopt_lucene",
    "open_encoder",
    "open_retriever",
    "read_manifest",
    "verify_index",
    "write_bm25",
    "write_dense",
    "write_lucene",
]
