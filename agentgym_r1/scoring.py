"""Scores of final answers, equal to each set's official scorer; the only place where an answer is judged.

Sources: hotpot_evaluate_v1.py (HotpotQA), 2wikimultihop_evaluate_v1.1.py (2WikiMultiHopQA), the answer metric of
MuSiQue (SQuAD's, Rajpurkar et al. 2016), and GSM8K's exact match of the final number (Cobbe et al. 2021).
"""

import re
import string
from collections import Counter
from collections.abc import Collection, Hashable, Sequence
from dataclasses import astuple, dataclass
from fractions import Fraction
from typing import Literal

from agentgym_r1.errors import ConfigError, unknown_name

Flavour = Literal["hotpotqa", "2wiki", "musique"]
FLAVOURS = ("hotpotqa", "2wiki", "musique")
EXTRACTIONS = ("strict", "flexible")

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_CLOSED = frozenset({"yes", "no", "noanswer"})

_DIGITS = r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?|\.\d+"
_NUMBER = rf"-?(?:[$€£]\s?-?)?(?:{_DIGITS})(?:\s?/\s?\d+)?"
_ANY_NUMBER = re.compile(rf"(?<![\w.]){_NUMBER}", re.ASCII)
_WHOLE_NUMBER = re.compile(rf"[-+]?\s?{_NUMBER}\s?%?\.?", re.ASCII)
_FIRST_NUMBER = re.compile(rf"\s*({_NUMBER})", re.ASCII)
_VALUE = re.compile(r"(-?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d{1,3})?)(?:/(\d+))?", re.ASCII | re.IGNORECASE)
_SIGNS = re.compile(r"[$€£%,]")
_BLANKS_AND_PLUS = re.compile(r"[\s+]")
_MAX_DIGITS = 400


@dataclass(frozen=True, slots=True)
class Score:
    """Exact match, F1, precision and recall, each from 0 to 1."""

    em: float
    f1: float
    precision: float
    recall: float


def normalize_answer(text: str) -> str:
    """Return ``text`` in lower case without punctuation, articles and extra blanks (SQuAD's normalisation)."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_NO_PUNCTUATION)).split())


def qa_score(prediction: str, answers: Sequence[str], *, flavour: Flavour) -> Score:
    """Score an answer against the accepted ones as the set's official scorer does.

    Each figure is the best one over ``answers``, on its own. HotpotQA and 2WikiMultiHopQA give
    F1 0 to an answer that should be, or is, yes, no or noanswer and does not match; MuSiQue has no such rule, and
    counts an empty side as right only when both are empty.

    Args:
        prediction: the final answer as the policy gave it.
        answers: accepted answers, at least one.
        flavour: ``hotpotqa``, ``2wiki`` or ``musique``.

    Raises:
        ConfigError: no accepted answer, or an unknown flavour.
    """
    if not answers:
        raise ConfigError("an answer is scored against at least one accepted answer, got none")
    if flavour not in FLAVOURS:
        raise unknown_name("flavour", flavour, FLAVOURS)
    scores = [_score(normalize_answer(prediction), normalize_answer(answer), flavour) for answer in answers]
    return Score(*(max(column) for column in zip(*map(astuple, scores))))


def supporting_facts_score(predicted: Collection[Hashable], gold: Collection[Hashable]) -> Score:
    """Score predicted supporting facts, pairs (title, sentence), as HotpotQA's official scorer does."""
    return set_score(predicted, gold)


def set_score(predicted: Collection[Hashable], gold: Collection[Hashable]) -> Score:
    """Return precision, recall and F1 of a set, and whether it equals the gold set; repeats count once."""
    found, wanted = set(predicted), set(gold)
    hits = len(found & wanted)
    precision = hits / len(found) if found else 0.0
    recall = hits / len(wanted) if wanted else 0.0
    return Score(float(found == wanted), _harmonic(precision, recall), precision, recall)


def extract_number(text: str, *, mode: str = "strict") -> str | None:
    """Return the number that a GSM8K answer gives, as plain text, or None; takes time linear in the text.

    Args:
        text: the final answer.
        mode: ``strict`` takes the number right after the last ``####``, or without that mark the whole text, which must
            be a number; ``flexible`` takes the last number anywhere.

    Raises:
        ConfigError: unknown mode.
    """
    if mode not in EXTRACTIONS:
        raise unknown_name("extraction", mode, EXTRACTIONS)
    text = text.replace("−", "-")
    if mode == "flexible":
        numbers = _ANY_NUMBER.findall(text)
        return _plain(numbers[-1]) if numbers else None
    _, mark, behind = text.rpartition("####")
    if mark:
        first = _FIRST_NUMBER.match(behind)
        return _plain(first[1]) if first else None
    return _plain(text) if _WHOLE_NUMBER.fullmatch(text.strip()) else None


def numbers_equal(first: str, second: str) -> bool:
    """Return whether two numbers as text are the same number: 18 = 18.0 = 18.00, 1/2 = 0.5; false for no number.

    A text of more than 400 digits is no number.
    """
    one, other = _value(first), _value(second)
    return one is not None and one == other


def _score(prediction: str, answer: str, flavour: Flavour) -> Score:
    em = float(prediction == answer)
    if flavour != "musique" and prediction != answer and (prediction in _CLOSED or answer in _CLOSED):
        return Score(em, 0.0, 0.0, 0.0)
    said, wanted = prediction.split(), answer.split()
    if flavour == "musique" and not (said and wanted):
        return Score(em, em, em, em)
    hits = sum((Counter(said) & Counter(wanted)).values())
    if not hits:
        return Score(em, 0.0, 0.0, 0.0)
    precision, recall = hits / len(said), hits / len(wanted)
    return Score(em, _harmonic(precision, recall), precision, recall)


def _harmonic(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0


def _plain(number: str) -> str:
    """Return a number without currency, percent, thousands separators, blanks and a closing dot."""
    return _BLANKS_AND_PLUS.sub("", _SIGNS.sub("", number)).rstrip(".")


def _value(text: str) -> Fraction | None:
    number = _SIGNS.sub("", text).strip().rstrip(".")
    match = _VALUE.fullmatch(number) if len(number) <= _MAX_DIGITS else None
    if match is None:
        return None
    divisor = int(match[2] or 1)
    return Fraction(match[1]) / divisor if divisor else None
