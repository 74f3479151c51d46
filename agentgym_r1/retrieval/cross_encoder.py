"""A cross-encoder: a BERT that reads query and passage together, in ONNX Runtime, as a reranker."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from agentgym_r1.corpus import contents
from agentgym_r1.retrieval.base import Passage
from agentgym_r1.retrieval.bert import classifier_graph
from agentgym_r1.retrieval.onnx_model import batches, find_model, open_session, read_tokenizer, weights_sha256
from agentgym_r1.types import Document

MAX_LENGTH = 512


class CrossEncoder:
    """Scores a passage for a query with a BERT of one class (``cross-encoder/ms-marco-MiniLM-L6-v2`` and its family).

    A score is the logit: unbounded, greater is better. Safe to use from several threads.

    Args:
        source: a folder with ``config.json``, ``model.safetensors`` and ``tokenizer.json``, or a hub name, which is
            downloaded and cached by huggingface_hub.
        max_length: of query and passage together, in tokens; the longer of the two is cut first.
        device: ``cpu``, ``cuda`` or ``cuda:N``. A device that is not there is an error, never another device.

    Attributes:
        weights_sha256: hash of weights and tokenizer.

    Raises:
        ConfigError: the device cannot be used.
        DataError: no such model, or one with another number of classes.
        MissingExtra: a package of the extra ``dense`` is missing.
    """

    def __init__(self, source: str | Path, *, max_length: int = MAX_LENGTH, device: str = "cpu") -> None:
        self._made_from = (str(source), max_length, device)
        folder = find_model(str(source))
        self.name = f"cross-encoder({folder.name if Path(source).is_dir() else source})"
        self.weights_sha256 = weights_sha256(folder)
        self._tokenizer = read_tokenizer(folder, max_length)
        self._session = open_session(classifier_graph(folder), device)
        self.device = device if device != "cuda" else "cuda:0"

    def __reduce__(self) -> tuple[Any, ...]:
        return _load, self._made_from

    def score(self, pairs: Sequence[tuple[str, Passage]]) -> list[float]:
        """Return the score of each (query, passage) pair; see ``Reranker.score``."""
        encodings = self._tokenizer.encode_batch([(query, _text(passage)) for query, passage in pairs])
        scores = np.empty(len(pairs), np.float32)
        for batch in batches([len(encoding.ids) for encoding in encodings], self.device):
            scores[batch] = self._run([encodings[position] for position in batch])
        return [float(score) for score in scores]

    def _run(self, encodings: Sequence[Any]) -> Any:
        shape = len(encodings), max(len(encoding.ids) for encoding in encodings)
        ids, types, mask = np.zeros(shape, np.int64), np.zeros(shape, np.int64), np.zeros(shape, np.int32)
        for row, encoding in enumerate(encodings):
            length = len(encoding.ids)
            ids[row, :length], types[row, :length], mask[row, :length] = encoding.ids, encoding.type_ids, 1
        inputs = {"input_ids": ids, "token_type_ids": types, "attention_mask": mask}
        (logits,) = self._session.run(None, inputs)
        return logits[:, 0]


def _text(passage: Passage) -> str:
    return contents(Document(passage.id, passage.title, passage.text))


def _load(source: str, max_length: int, device: str) -> CrossEncoder:
    return CrossEncoder(source, max_length=max_length, device=device)
