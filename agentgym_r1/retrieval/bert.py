"""BERT as an ONNX graph made from safetensors, so that encoders run in ONNX Runtime and torch is never needed."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from agentgym_r1.errors import DataError, require

WEIGHTS = "model.safetensors"
OPSET = 17
CONTRIB = "com.microsoft"
EXTRA = "dense"

Weights = Mapping[str, npt.NDArray[np.float32]]


class BertConfig(msgspec.Struct, frozen=True):
    """The fields of ``config.json`` that the graph depends on."""

    model_type: str
    hidden_size: int
    num_hidden_layers: int
    num_attention_heads: int
    hidden_act: str = "gelu"
    layer_norm_eps: float = 1e-12
    position_embedding_type: str = "absolute"


def read_config(folder: Path) -> BertConfig:
    """Return the configuration of a model folder.

    Raises:
        DataError: there is none, or the model is not a BERT with absolute positions and GELU.
    """
    try:
        config = msgspec.json.decode((folder / "config.json").read_bytes(), type=BertConfig)
    except OSError as err:
        raise DataError(f"{folder}: no model there (config.json: {err.strerror})") from err
    except msgspec.DecodeError as err:
        raise DataError(f"{folder / 'config.json'}: not a BERT configuration ({err})") from err
    found = (config.model_type, config.hidden_act, config.position_embedding_type)
    if found != ("bert", "gelu", "absolute"):
        raise DataError(
            f"{folder}: a model of type {found}, expected ('bert', 'gelu', 'absolute'), as MiniLM, e5 and bge"
        )
    return config


def bert_graph(folder: Path) -> bytes:
    """Return a serialised ONNX model of the BERT in a folder.

    Inputs ``input_ids`` (int64) and ``attention_mask`` (int32), both (batch, length); output ``hidden`` (float32,
    (batch, length, hidden size)), the last layer. All token types are 0. Attention and normalisation are ONNX Runtime's
    fused operators, which exist for CPU and CUDA.

    Raises:
        DataError: no such model, or weights that do not fit its configuration.
    """
    config = read_config(folder)
    graph, weights = _Graph(config), read_weights(folder)
    with _whole(folder, config):
        graph.name(graph.layers(weights, typed=False), "hidden")
    return graph.model("hidden", ["batch", "length", config.hidden_size])


def classifier_graph(folder: Path) -> bytes:
    """Return a serialised ONNX model of the BERT in a folder with its pooler and a classifier of one class.

    Inputs are those of ``bert_graph`` and ``token_type_ids`` (int64); output ``logits`` (float32, (batch, 1)).

    Raises:
        DataError: no such model, weights that do not fit its configuration, or another number of classes.
    """
    config = read_config(folder)
    graph, weights = _Graph(config), read_weights(folder)
    with _whole(folder, config):
        classes = len(weights["classifier.weight"])
        graph.name(graph.classify(weights, graph.layers(weights, typed=True)), "logits")
    if classes != 1:
        raise DataError(f"{folder}: a classifier of {classes} classes, expected the one score of a reranker")
    return graph.model("logits", ["batch", 1])


@contextmanager
def _whole(folder: Path, config: BertConfig) -> Iterator[None]:
    """Say which tensor is missing."""
    try:
        yield
    except KeyError as err:
        raise DataError(
            f"{folder / WEIGHTS}: no tensor {err}, which a BERT of {config.num_hidden_layers} layers has"
        ) from err


def read_weights(folder: Path) -> Weights:
    """Return the tensors of a folder as float32, without the prefix that a task model puts before their names.

    Raises:
        DataError: no weights in the safetensors format.
    """
    safetensors = require("safetensors.numpy", EXTRA)
    path = folder / WEIGHTS
    if not path.is_file():
        raise DataError(f"{path}: no such file; weights in another format must be saved as safetensors first")
    try:
        tensors = safetensors.load_file(path)
    except Exception as err:  # the library's own error derives from nothing narrower
        raise DataError(f"{path}: cannot be read ({err}); download it again") from err
    return {
        name.removeprefix("bert."): value.astype(np.float32)
        for name, value in tensors.items()
        if value.dtype.kind == "f"
    }


class _Graph:
    """The nodes and constants of one model, while they are collected."""

    def __init__(self, config: BertConfig) -> None:
        self._onnx = require("onnx", EXTRA)
        self._config = config
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        kinds = self._onnx.TensorProto
        self._inputs = {"input_ids": kinds.INT64, "attention_mask": kinds.INT32}

    def layers(self, weights: Weights, *, typed: bool) -> str:
        """Add the embeddings, with an input for the types of tokens or all of type 0, and every layer."""
        hidden = self._embeddings(weights, typed=typed)
        for number in range(self._config.num_hidden_layers):
            prefix = f"encoder.layer.{number}."
            layer = {name.removeprefix(prefix): value for name, value in weights.items() if name.startswith(prefix)}
            hidden = self._layer(f"layer{number}", layer, hidden)
        return hidden

    def classify(self, weights: Weights, hidden: str) -> str:
        """Add the pooler, which reads the first token, and the classifier."""
        first = self._node("Gather", [hidden, self._constant("first", np.array(0, np.int64))], "cls", axis=1)
        pooled = self._node("Tanh", [self._dense("pooled", weights, "pooler.dense", first)], "pooler")
        return self._dense("class", weights, "classifier", pooled)

    def name(self, source: str, output: str) -> None:
        """Give a result the name of an output."""
        self._node("Identity", [source], output)

    def model(self, output: str, shape: list[str | int]) -> bytes:
        """Return the finished model."""
        helper, kinds = self._onnx.helper, self._onnx.TensorProto
        inputs = [helper.make_tensor_value_info(name, kind, ["batch", "length"]) for name, kind in self._inputs.items()]
        result = helper.make_tensor_value_info(output, kinds.FLOAT, shape)
        graph = helper.make_graph(self._nodes, "bert", inputs, [result], self._constants)
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(CONTRIB, 1)]
        data: bytes = helper.make_model(graph, opset_imports=opsets, ir_version=9).SerializeToString()
        return data

    def _embeddings(self, weights: Weights, *, typed: bool) -> str:
        places = weights["embeddings.position_embeddings.weight"]
        types = weights["embeddings.token_type_embeddings.weight"]
        words = self._looked_up("word", weights["embeddings.word_embeddings.weight"], "input_ids")
        if typed:
            self._inputs["token_type_ids"] = self._onnx.TensorProto.INT64
            words = self._node("Add", [words, self._looked_up("type", types, "token_type_ids")], "typed")
        else:
            places = places + types[0]
        length = self._node("Shape", ["input_ids"], "length", start=1, end=2)
        zero = self._constant("zero", np.zeros(1, np.int64))
        place = self._node("Slice", [self._constant("places", places), zero, length], "place")
        added = self._node("Add", [words, place], "embedded")
        norm = self._pair("embeddings", weights, "embeddings.LayerNorm")
        return self._node("LayerNormalization", [added, *norm], "embeddings", epsilon=self._config.layer_norm_eps)

    def _looked_up(self, name: str, table: npt.NDArray[np.float32], ids: str) -> str:
        return self._node("Gather", [self._constant(f"{name}s", table), ids], name)

    def _layer(self, name: str, weights: Weights, hidden: str) -> str:
        parts = [f"attention.self.{part}" for part in ("query", "key", "value")]
        joint = np.concatenate([weights[f"{part}.weight"].T for part in parts], axis=1)
        bias = np.concatenate([weights[f"{part}.bias"] for part in parts])
        inputs = [
            hidden,
            self._constant(f"{name}.qkv", joint),
            self._constant(f"{name}.qkv_bias", bias),
            "attention_mask",
        ]
        heads = self._config.num_attention_heads
        attended = self._node("Attention", inputs, f"{name}.attended", domain=CONTRIB, num_heads=heads)
        mixed = self._dense(f"{name}.mixed", weights, "attention.output.dense", attended)
        hidden = self._add_norm(f"{name}.first", weights, "attention.output", mixed, hidden)
        wide = self._dense(f"{name}.wide", weights, "intermediate.dense", hidden)
        active = self._node("Gelu", [wide], f"{name}.active", domain=CONTRIB)
        narrow = self._dense(f"{name}.narrow", weights, "output.dense", active)
        return self._add_norm(f"{name}.second", weights, "output", narrow, hidden)

    def _dense(self, name: str, weights: Weights, part: str, source: str) -> str:
        weight = self._constant(f"{name}.weight", weights[f"{part}.weight"].T)
        bias = self._constant(f"{name}.bias", weights[f"{part}.bias"])
        return self._node("Add", [self._node("MatMul", [source, weight], f"{name}.product"), bias], name)

    def _add_norm(self, name: str, weights: Weights, part: str, source: str, skipped: str) -> str:
        inputs = [source, skipped, *self._pair(name, weights, f"{part}.LayerNorm")]
        return self._node("SkipLayerNormalization", inputs, name, domain=CONTRIB, epsilon=self._config.layer_norm_eps)

    def _pair(self, name: str, weights: Weights, part: str) -> list[str]:
        return [self._constant(f"{name}.{kind}", weights[f"{part}.{kind}"]) for kind in ("weight", "bias")]

    def _constant(self, name: str, value: npt.NDArray[Any]) -> str:
        self._constants.append(self._onnx.numpy_helper.from_array(np.asarray(value, order="C"), name))
        return name

    def _node(self, kind: str, inputs: list[str], output: str, *, domain: str = "", **attributes: Any) -> str:
        node = self._onnx.helper.make_node(kind, inputs, [output], name=output, domain=domain, **attributes)
        self._nodes.append(node)
        return output
