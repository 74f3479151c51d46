"""The cross-encoder: the scores that transformers and torch give for the same weights, and what it refuses."""

import json
import pickle
import shutil
from pathlib import Path

import numpy as np
import pytest

from agentgym_r1.errors import ConfigError, DataError
from agentgym_r1.retrieval import CrossEncoder, MemoryRetriever, Passage, RerankingRetriever

pytestmark = pytest.mark.dense
for module in ("onnx", "onnxruntime", "safetensors", "tokenizers"):
    pytest.importorskip(module, reason="needs the dense extra: pip install 'agentgym-r1[dense]'")

WORDS = ["[PAD]", "[CLS]", "[SEP]", "[UNK]", *"abcdefgh"]
PAIRS = [
    ("a b", Passage("1", "", "c d e", 0.0)),
    ("a", Passage("2", "f", "g", 0.0)),
    ("", Passage("3", "", "h", 0.0)),
    ("a b c d", Passage("4", "", " ".join("abcdefgh" * 4), 0.0)),
    ("c d e", Passage("5", "", "a b", 0.0)),
]


def write_tokenizer(folder: Path) -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    tokenizer.save(str(folder / "tokenizer.json"))


def write_model(folder: Path, *, labels: int = 1) -> Path:
    """Save a tiny BertForSequenceClassification of random weights, as transformers saves it."""
    torch = pytest.importorskip("torch", reason="needs the lm extra: pip install 'agentgym-r1[lm]'")
    transformers = pytest.importorskip("transformers", reason="needs the lm extra: pip install 'agentgym-r1[lm]'")
    config = transformers.BertConfig(
        vocab_size=len(WORDS),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=40,
        num_labels=labels,
    )
    torch.manual_seed(0)
    model = transformers.BertForSequenceClassification(config).eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    model.save_pretrained(folder, safe_serialization=True)
    write_tokenizer(folder)
    return folder


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("tiny"))


def torch_scores(folder: Path, *, max_length: int) -> list[float]:
    import torch
    import transformers
    from tokenizers import Tokenizer

    bert = transformers.BertForSequenceClassification.from_pretrained(folder).eval()
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.enable_truncation(max_length)
    scores = []
    for query, passage in PAIRS:
        text = f'"{passage.title}"\n{passage.text}' if passage.title else passage.text
        encoding = tokenizer.encode(query, text)
        ids, types = (torch.tensor([values]) for values in (encoding.ids, encoding.type_ids))
        with torch.no_grad():
            scores.append(bert(input_ids=ids, token_type_ids=types).logits.item())
    return scores


@pytest.mark.parametrize("max_length", [40, 12])
def test_scores_are_those_of_torch(model: Path, max_length: int) -> None:
    scores = CrossEncoder(model, max_length=max_length).score(PAIRS)
    assert scores == pytest.approx(torch_scores(model, max_length=max_length), abs=1e-5)
    assert len({round(score, 4) for score in scores}) == len(PAIRS)


def test_a_score_does_not_depend_on_its_neighbours_and_nothing_is_nothing(model: Path) -> None:
    reranker = CrossEncoder(model, max_length=40)
    assert reranker.score(PAIRS) == pytest.approx([reranker.score([pair])[0] for pair in PAIRS], abs=1e-6)
    assert reranker.score([]) == []


def test_a_reranker_orders_what_a_retriever_proposes_and_pickles(model: Path) -> None:
    reranker = pickle.loads(pickle.dumps(CrossEncoder(model, max_length=40)))
    passages = MemoryRetriever.from_texts([("", "a b"), ("", "b c"), ("", "b d e")])
    found = RerankingRetriever(passages, reranker).search(["b"], k=3)[0]
    pairs = [("b", passage) for passage in passages.search(["b"], k=3)[0]]
    assert [passage.score for passage in found] == pytest.approx(sorted(reranker.score(pairs), reverse=True))
    assert reranker.name == f"cross-encoder({model.name})"
    assert (reranker.device, len(reranker.weights_sha256)) == ("cpu", 64)


def test_a_model_without_one_class_is_refused(tmp_path: Path, model: Path) -> None:
    with pytest.raises(DataError, match="a classifier of 3 classes, expected the one score of a reranker"):
        CrossEncoder(write_model(tmp_path / "three", labels=3))
    from safetensors.numpy import load_file, save_file

    encoder = tmp_path / "encoder"
    encoder.mkdir()
    for name in ("config.json", "tokenizer.json"):
        (encoder / name).write_bytes((model / name).read_bytes())
    tensors = load_file(model / "model.safetensors")
    save_file(
        {name: np.asarray(value) for name, value in tensors.items() if "classifier" not in name},
        encoder / "model.safetensors",
    )
    with pytest.raises(DataError, match="no tensor 'classifier.weight'"):
        CrossEncoder(encoder)


def test_what_is_no_model_or_device_is_explained(model: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no model folder; give a folder, a hub name OWNER/NAME"):
        CrossEncoder("nonsense")
    with pytest.raises(ConfigError, match="expected 'cpu', 'cuda' or 'cuda:N'"):
        CrossEncoder(model, device="tpu")
    other = shutil.copytree(model, tmp_path / "other")
    config = json.loads((model / "config.json").read_text())
    (other / "config.json").write_text(json.dumps(config | {"model_type": "roberta"}))
    with pytest.raises(DataError, match=r"a model of type \('roberta'"):
        CrossEncoder(other)
