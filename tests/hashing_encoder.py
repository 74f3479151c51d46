"""A tiny deterministic encoder for tests: signed hashes of the words, no model."""

import functools
import hashlib
from collections.abc import Sequence

import numpy as np

from agentgym_r1.retrieval.encoder import EncoderSettings, EncoderSpec, Matrix


class HashingEncoder:
    """Adds up one pseudo-random vector a word."""

    device = "cpu"

    def __init__(self, *, dimension: int = 32, weights: str = "0" * 64, query_prefix: str = "") -> None:
        settings = EncoderSettings("mean", query_prefix=query_prefix)
        self.spec = EncoderSpec("hashing", weights, dimension, settings)

    def encode_queries(self, texts: Sequence[str]) -> Matrix:
        return self._encode([self.spec.settings.query_prefix + text for text in texts])

    def encode_passages(self, texts: Sequence[str]) -> Matrix:
        return self._encode(texts)

    def _encode(self, texts: Sequence[str]) -> Matrix:
        rows = [
            np.sum([self._word(word) for word in text.lower().split()] or [self._word("")], axis=0) for text in texts
        ]
        vectors = np.array(rows, np.float32).reshape(len(texts), self.spec.dimension)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True).clip(1e-9)

    def _word(self, word: str) -> Matrix:
        return _vector(self.spec.weights_sha256 + word, self.spec.dimension)


@functools.lru_cache(maxsize=20_000)
def _vector(word: str, dimension: int) -> Matrix:
    seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "little")
    return np.random.default_rng(seed).standard_normal(dimension).astype(np.float32)
