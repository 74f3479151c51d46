"""The analyzer: what Lucene's EnglishAnalyzer gave for the same texts, and bounded time on noise."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentgym_r1.retrieval.analyzer import STOP_WORDS, TermEncoder, analyze, segment
from agentgym_r1.retrieval.porter import stem

# The expected terms were printed by Lucene 9.9 (Anserini's DefaultEnglishAnalyzer).
LUCENE = [
    ("Rivers and the bridges of Ostrava", "river bridg ostrava"),
    ("The miller's wife, the millers' guild, the miller’s OX", "miller wife miller guild miller ox"),
    ("Don't they'll 'quoted'", "don't they'll quot"),
    ("U.S.A. v1.2.3 3,141.59 a.b:c 10:30", "u.s.a v1.2.3 3,141.59 a.b:c 10 30"),
    ("foo_bar __init__ x-ray e-mail@host.org", "foo_bar __init__ x rai e mail host.org"),
    ("C++ C# #1 $5 50%", "c c 1 5 50"),
    ("naïve Ångström STRAßE ǅ", "naïv ångström straße ǆ"),
    ("İstanbul ΣΊΣΥΦΟΣ", "istanbul σίσυφοσ"),
    ("東京タワー ひらがな 한국어", "東 京 タワー ひ ら が な 한국어"),
    ("ภาษาไทย ไทย", "ภาษาไทย ไทย"),
    ("שלום צה\"ל ג'ירפה", "שלום צה\"ל ג'ירפה"),
    ("नमस्ते दुनिया", "नमस्ते दुनिया"),
    ("e\u0301te\u0301 a\u00adb zero\u200bwidth", "e\u0301te\u0301 a\u00adb zero width"),
    ("🎲 👍🏽👩\u200d🚀 🇩🇪🇫🇷 3\ufe0f\u20e3", "🎲 👍🏽 👩\u200d🚀 🇩🇪 🇫🇷 3\ufe0f\u20e3"),
    ("½ Ⅳ x² ٣٫١٤", "ⅳ x ٣٫١٤"),
    ("caresses ponies ties cats feed agreed plastered motoring", "caress poni ti cat feed agre plaster motor"),
    ("hopping falling hissing failing filing sized", "hop fall hiss fail file size"),
    ("as is by it's no o'clock's", "o'clock"),
    ("\t\n\u00a0  --- ...", ""),
    ("", ""),
]

STEMS = {
    "conflated": "conflat", "troubled": "troubl", "happy": "happi", "sky": "sky", "toy": "toi", "yyy": "yyi",
    "relational": "relat", "conditional": "condit", "rational": "ration", "valenci": "valenc", "digitizer": "digit",
    "conformabli": "conform", "vileli": "vile", "vietnamization": "vietnam", "operator": "oper", "apologi": "apolog",
    "sensibiliti": "sensibl", "triplicate": "triplic", "formative": "form", "electrical": "electr", "goodness": "good",
    "airliner": "airlin", "gyroscopic": "gyroscop", "replacement": "replac", "adoption": "adopt", "onion": "onion",
    "angulariti": "angular", "probate": "probat", "rate": "rate", "cease": "ceas", "controll": "control",
    "roll": "roll", "as": "as", "be": "be", "ies": "i",
}  # fmt: skip


@pytest.mark.parametrize(("text", "terms"), LUCENE)
def test_terms_are_those_of_lucene(text: str, terms: str) -> None:
    assert analyze(text) == terms.split()


@pytest.mark.parametrize(("word", "expected"), STEMS.items())
def test_stems_are_those_of_lucene(word: str, expected: str) -> None:
    assert stem(word) == expected


def test_the_stop_words_are_lucenes_thirty_three() -> None:
    assert len(STOP_WORDS) == 33
    assert analyze(" ".join(STOP_WORDS)) == []


def test_a_longer_word_is_cut_at_255_characters() -> None:
    assert [len(word) for word in segment("x" * 600)] == [255, 255, 90]


@given(st.text())
def test_any_text_gives_words_that_occur_in_it_in_order(text: str) -> None:
    position = 0
    for word in segment(text):
        position = text.index(word, position) + len(word)


@given(st.lists(st.text(), max_size=6))
def test_no_term_spans_a_blank(texts: list[str]) -> None:
    assert analyze(" ".join(texts)) == [term for text in texts for term in analyze(text)]


@given(st.text())
def test_the_encoder_numbers_what_the_analyzer_gives(text: str) -> None:
    numbers: dict[str, int] = {}
    encode = TermEncoder(lambda term: numbers.setdefault(term, len(numbers)))
    for _ in range(2):  # the second time from its memory
        assert [list(numbers)[number] for number in encode(text)] == analyze(text)


def test_the_encoder_leaves_out_unknown_terms_and_forgets_when_full() -> None:
    encode = TermEncoder(lambda term: {"river": 0, "bridg": 1}.get(term, -1), chunks=2)
    for _ in range(3):
        assert encode("rivers, many bridges; river\nx y z") == [0, 1, 0]


@pytest.mark.parametrize(
    "unit", ["_", "\u200d", "a_", "a.", "1,", "א'", 'א"', "👩\u200d", "\u0301", "ア_", "x", ".", "e\u0301"]
)
def test_a_hundred_kilobytes_of_noise_are_read_in_linear_time(unit: str) -> None:
    start = time.process_time()
    segment((unit * 100_000)[:100_000])
    assert time.process_time() - start < 5


def test_an_encoder_remembers_no_more_than_it_may_and_answers_the_same() -> None:
    asked: list[str] = []

    def number(term: str) -> int:
        asked.append(term)
        return len(term)

    encode = TermEncoder(number, chunks=2)
    assert [encode("ox mill"), encode("ox mill"), encode("wheel ox")] == [[2, 4], [2, 4], [5, 2]]
    assert asked == ["ox", "mill", "wheel", "ox"]
