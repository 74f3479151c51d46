"""The nouns of titles."""

import importlib.util
import json
import logging
import lzma
import sys
from collections import Counter
from pathlib import Path

import pytest

from agentgym_r1.data.webshop.nouns import MODELS, SpacyNouns, WordNouns, best_tagger
from agentgym_r1.errors import MissingExtra

HAS_SPACY = any(importlib.util.find_spec(model) is not None for model in MODELS)


@pytest.fixture(scope="module")
def recorded(samples: Path) -> dict[str, list[str]]:
    with lzma.open(samples / "golden" / "webshop_nouns.json.xz", "rt", encoding="utf-8") as handle:
        return json.load(handle)


def test_words_of_a_closed_class_numbers_and_single_letters_are_no_nouns() -> None:
    assert WordNouns()(["Set of 2 Mugs with 12oz Handle, made for the Kid's X"]) == [("set", "mugs", "handle", "kid")]


def test_nouns_keep_their_order_and_repeats() -> None:
    assert WordNouns()(["Tea pot, Tea cup", ""]) == [("tea", "pot", "tea", "cup"), ()]


@pytest.mark.real
def test_the_words_are_nearly_the_recorded_nouns(recorded: dict[str, list[str]]) -> None:
    same = found = expected = 0
    for words, nouns in zip(WordNouns()(list(recorded)), recorded.values()):
        same += sum((Counter(words) & Counter(nouns)).values())
        found += len(words)
        expected += len(nouns)
    assert same / expected > 0.945
    assert same / found > 0.93


@pytest.mark.real
@pytest.mark.skipif(not HAS_SPACY, reason="spaCy's model is not installed: pip install 'agentgym-r1[webshop-build]'")
def test_spacy_gives_exactly_the_recorded_nouns(recorded: dict[str, list[str]]) -> None:
    tagger = SpacyNouns()
    assert tagger.name.startswith("spacy-3.8")
    assert tagger(list(recorded)) == [tuple(nouns) for nouns in recorded.values()]


def test_without_spacy_the_fallback_is_announced(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(MissingExtra, match=r"agentgym-r1\[webshop-build\]"):
        SpacyNouns()
    with caplog.at_level(logging.WARNING):
        assert best_tagger().name == "words"
    assert "rewards can differ from published ones" in caplog.text
