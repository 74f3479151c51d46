"""Retrievers: BM25, Lucene, dense, hybrid, remote and in-memory."""
