"""Scores against the official scorers' recorded answers and against a table of numbers."""

import json
import lzma
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentgym_r1.errors import ConfigError
from agentgym_r1.scoring import (
    extract_number,
    normalize_answer,
    numbers_equal,
    qa_score,
    set_score,
    supporting_facts_score,
)


@pytest.mark.real
def test_every_recorded_score_of_the_official_scorers_is_met(samples: Path) -> None:
    counts: dict[str, int] = {}
    with lzma.open(samples / "golden" / "scoring.jsonl.xz", "rt", encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            if row["set"] == "hotpotqa_sp":
                pairs = [[tuple(fact) for fact in row[key]] for key in ("prediction", "golds")]
                score = supporting_facts_score(*pairs)
            else:
                score = qa_score(row["prediction"], row["golds"], flavour=row["set"])
            for name in ("em", "f1", "precision", "recall"):
                if name in row:
                    assert getattr(score, name) == pytest.approx(row[name], abs=1e-12), row
            counts[row["set"]] = counts.get(row["set"], 0) + 1
    assert set(counts) == {"hotpotqa", "2wiki", "musique", "hotpotqa_sp"}
    assert min(counts.values()) > 100


@pytest.mark.parametrize(
    ("prediction", "answers", "flavour", "em", "f1"),
    [
        ("The  Eiffel-Tower!", ["eiffeltower"], "hotpotqa", 1.0, 1.0),
        ("yes", ["no"], "hotpotqa", 0.0, 0.0),
        ("yes it is", ["yes"], "hotpotqa", 0.0, 0.0),
        ("yes it is", ["yes"], "musique", 0.0, 0.5),
        ("Ada", ["Ada Lovelace", "Ada"], "2wiki", 1.0, 1.0),
        ("", ["Ada"], "hotpotqa", 0.0, 0.0),
        ("the", ["a"], "musique", 1.0, 1.0),
        ("one two three", ["two three four"], "hotpotqa", 0.0, 2 / 3),
    ],
)
def test_an_answer_is_judged_as_its_set_judges(
    prediction: str, answers: list[str], flavour: str, em: float, f1: float
) -> None:
    score = qa_score(prediction, answers, flavour=flavour)  # type: ignore[arg-type]
    assert (score.em, score.f1) == (em, pytest.approx(f1))


def test_scoring_needs_an_answer_and_a_known_set() -> None:
    with pytest.raises(ConfigError, match="got none"):
        qa_score("x", [], flavour="hotpotqa")
    with pytest.raises(ConfigError, match="did you mean 'hotpotqa'"):
        qa_score("x", ["y"], flavour="hotpot")  # type: ignore[arg-type]


@given(st.text(max_size=60), st.lists(st.text(max_size=60), min_size=1, max_size=3))
def test_scores_stay_between_none_and_full_and_an_accepted_answer_is_right(text: str, answers: list[str]) -> None:
    for flavour in ("hotpotqa", "2wiki", "musique"):
        score = qa_score(text, answers, flavour=flavour)  # type: ignore[arg-type]
        assert all(0.0 <= value <= 1.0 for value in (score.em, score.f1, score.precision, score.recall))
        assert qa_score(answers[0], answers, flavour=flavour).em == 1.0  # type: ignore[arg-type]


@given(st.text(max_size=80))
def test_normalising_twice_changes_nothing_more(text: str) -> None:
    once = normalize_answer(text)
    assert normalize_answer(once).split() == [word for word in once.split() if word not in {"a", "an", "the"}]


@pytest.mark.parametrize(
    ("text", "strict", "flexible"),
    [
        ("18", "18", "18"),
        ("$1,234.50", "1234.50", "1234.50"),
        ("-3", "-3", "-3"),
        ("50%", "50", "50"),
        ("3/4", "3/4", "3/4"),
        ("18.", "18", "18"),
        (".5", ".5", ".5"),
        ("the answer is 18 apples", None, "18"),
        ("first 3 then 4\n#### 7", "7", "7"),
        ("#### 7\n#### 8", "8", "8"),
        ("#### about 7", None, "7"),
        ("#### 18 dollars, from 20", "18", "20"),
        ("#### 1 and #### -$2,000.", "-2000", "-2000"),
        ("$-5", "-5", "-5"),
        ("−5", "-5", "-5"),
        ("10-3", None, "3"),
        ("10 - 3", None, "3"),
        ("it falls by (-3/4).", None, "-3/4"),
        ("it is 18, I think", None, "18"),
        ("1,23", None, "23"),
        ("٣", None, None),
        ("it costs $12, or -$5", None, "-5"),
        ("1,2,3", None, "3"),
        ("no number", None, None),
        ("", None, None),
        ("v2.0b", None, None),
    ],
)
def test_the_number_of_an_answer_is_found(text: str, strict: str | None, flexible: str | None) -> None:
    assert extract_number(text, mode="strict") == strict
    assert extract_number(text, mode="flexible") == flexible


def test_an_unknown_extraction_is_refused() -> None:
    with pytest.raises(ConfigError, match="did you mean 'strict'"):
        extract_number("1", mode="strikt")


@pytest.mark.parametrize(
    ("first", "second", "equal"),
    [
        ("18", "18.00", True),
        ("1,000", "1000", True),
        ("$5", "5", True),
        ("1/2", "0.5", True),
        ("-0", "0", True),
        ("1e3", "1000", True),
        ("1.5/2", "0.75", True),
        ("1 1", "11", False),
        ("1+1", "11", False),
        ("1e9999999999", "1e9999999999", False),
        ("18", "18.01", False),
        ("1/0", "1/0", False),
        ("", "", False),
        ("x", "x", False),
        ("9" * 1000, "9" * 1000, False),
    ],
)
def test_numbers_are_compared_by_value(first: str, second: str, equal: bool) -> None:
    assert numbers_equal(first, second) is equal


@given(st.text(max_size=200))
def test_any_text_is_searched_for_a_number_without_raising(text: str) -> None:
    for mode in ("strict", "flexible"):
        found = extract_number(text, mode=mode)
        assert found is None or isinstance(numbers_equal(found, "1"), bool)


@given(st.integers(-(10**15), 10**15), st.sampled_from(["{:,}", "{}", "${:,}", "{}.0", "{:,}.", "{}%"]))
def test_the_spelling_of_a_number_does_not_matter(number: int, spelling: str) -> None:
    text = spelling.format(number)
    for stated in (extract_number(text), extract_number(f"#### {text}"), extract_number(f"So {text}", mode="flexible")):
        assert numbers_equal(str(stated), str(number))


NOISE = ("1", "1,", "1,111", "1.", ".1", "1/", "1 / ", "-", "$", " ", "####", "#### 1", "1e", "a ", "the ")


@pytest.mark.parametrize("noise", NOISE)
@pytest.mark.parametrize("end", ["", "x"])
def test_100_kb_of_noise_are_scored_in_less_than_50_ms(noise: str, end: str) -> None:
    text = (noise * 100_000)[:100_000] + end
    for score in (extract_number, _flexible, lambda text: numbers_equal(text, "1"), _musique):
        start = time.thread_time()
        score(text)
        assert time.thread_time() - start < 0.05


def _flexible(text: str) -> str | None:
    return extract_number(text, mode="flexible")


def _musique(text: str) -> float:
    return qa_score(text, ["one"], flavour="musique").f1


def test_a_set_is_scored_without_repeats() -> None:
    score = set_score(["a", "a", "b"], ["a", "c"])
    assert (score.precision, score.recall, score.f1, score.em) == (0.5, 0.5, 0.5, 0.0)
    assert set_score([], []).em == 1.0
