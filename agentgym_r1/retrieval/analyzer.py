"""Text to index terms, token for token as Lucene's EnglishAnalyzer does it.

Word segmentation (Unicode 12.1 UAX #29 with the additions of Lucene's StandardTokenizer), removal of the possessive 's,
lower case, the default English stop words, Porter stems.
"""

import functools
import re
import string
from collections.abc import Callable
from importlib import resources

from agentgym_r1.retrieval.porter import stem

ANALYZER_ID = "english-porter-2"
"""Changes when a text gives other terms, or an index finds them in another way."""
MAX_TOKEN_LENGTH = 255
MAX_CHUNKS = 500_000
_STOP_WORDS = (
    "a an and are as at be but by for if in into is it no not of on or such that the their then there these they this"
    " to was will with"
)
STOP_WORDS = frozenset(_STOP_WORDS.split())

# Classes of code points, as word_break.txt gives them: L letter, H Hebrew letter, A letter that is also an emoji,
# N digit, K Katakana, I ideograph or Hiragana, T South-East Asian letter, t such a mark, P pictograph, E its skin tone,
# R regional indicator, b keycap base, k keycap, v text style, X mark or format, Z joiner, _ connector;
# m, n, q, ' and " join letters or digits.
_X = "[XZtkvE]*+"
_LETTER, _HEBREW, _DIGIT, _KATAKANA, _CONNECTOR = (f"(?:{c}{_X})" for c in ("[LAH]", "H", "N", "K", "_"))
_LETTERS, _DIGITS = f"{_LETTER}[LXZtkvE]*+", f"{_DIGIT}[NXZtkvE]*+"
_UNIT = (
    rf'(?:{_HEBREW}(?:"{_X}{_HEBREW}|\'{_X}(?![LAH]))'
    rf"|{_LETTERS}(?:[mq']{_X}{_LETTERS})*"
    rf"|{_DIGITS}(?:[nq']{_X}{_DIGITS})*)"
)
_RUN = f"(?:{_UNIT}(?:{_CONNECTOR}*+{_UNIT})*|{_KATAKANA}(?:{_CONNECTOR}*+{_KATAKANA})*)"
_WORD = f"{_CONNECTOR}*+{_RUN}(?:{_CONNECTOR}++{_RUN})*{_CONNECTOR}*+"
_EMOJI = "(?:Z*+[PA]|E)[XZtkE]*(?:(?<=Z)[PA][XZtkE]*)*"
_SKIPPED = "_++|Z++"  # tried last: without it a long run of these would be tried from each of its characters
_TOKEN = re.compile(f"({_WORD}|{_EMOJI}|[Tt][TtXZkvE]*|I{_X}|R{_X}R{_X}|bX?k{_X})|{_SKIPPED}")
_BREAKS = string.punctuation.replace("_", "") + string.whitespace
APOSTROPHES = frozenset("'\u2019\uff07")


@functools.cache
def _ranges() -> list[tuple[int, int, str]]:
    """Return the first and last code point of each range that has a class, and the class."""
    table = resources.files("agentgym_r1.retrieval").joinpath("word_break.txt").read_text(encoding="utf-8")
    ranges: list[tuple[int, int, str]] = []
    for line in table.splitlines()[1:]:
        name, *entries = line.split()
        bounds = (entry.partition("-") for entry in entries)
        ranges += [(int(first, 16), int(last or first, 16), name) for first, _, last in bounds]
    return ranges


def word_breaks_below(limit: int) -> list[str]:
    """Return the class of each code point below a limit, ``.`` for none."""
    classes = ["."] * limit
    for first, last, name in _ranges():
        classes[first : last + 1] = [name] * (min(last + 1, limit) - first)
    return classes


class _WordBreaks(dict[int, str]):
    """The class of a code point for ``str.translate``, found in the table when it is first asked for."""

    def __missing__(self, code_point: int) -> str:
        found = next((name for first, last, name in _ranges() if first <= code_point <= last), ".")
        self[code_point] = found
        return found


_WORD_BREAKS = _WordBreaks()


def segment(text: str) -> list[str]:
    """Return the words of a text in order, as Lucene's StandardTokenizer cuts them: no punctuation, nothing changed."""
    core = text.strip(_BREAKS)
    if core.isalnum() and core.isascii() and len(core) <= MAX_TOKEN_LENGTH:
        return [core]  # most chunks between blanks are one plain word in punctuation
    classes = text.translate(_WORD_BREAKS)
    words = [text[match.start() : match.end()] for match in _TOKEN.finditer(classes) if match[1]]
    if all(len(word) <= MAX_TOKEN_LENGTH for word in words):
        return words
    step = MAX_TOKEN_LENGTH
    return [word[start : start + step] for word in words for start in range(0, len(word), step)]


def analyze(text: str) -> list[str]:
    """Return the index terms of a text in order."""
    return [term for word in segment(text) if (term := _term(word))]


def _term(word: str) -> str:
    """Return the term of a word, empty for a stop word."""
    if word[-1] in "sS" and word[-2:-1] in APOSTROPHES:
        word = word[:-2]
    word = lower(word)
    return "" if word in STOP_WORDS else stem(word)


def lower(word: str) -> str:
    """Lower-case each character by itself, as Java does: a final sigma is no exception, a dotted capital I gives i."""
    if word.isascii():
        return word.lower()
    return "".join([character.lower()[0] for character in word])


class TermEncoder:
    """Turns text into term numbers, remembering what each blank-separated chunk gave: no term spans a blank.

    Args:
        number: the number of a term, or -1 for a term to leave out.
        chunks: how many are remembered, at about 130 bytes each; then all are forgotten.
    """

    def __init__(self, number: Callable[[str], int], *, chunks: int = MAX_CHUNKS) -> None:
        self._number = number
        self._chunks = chunks
        self._known: dict[str, int | tuple[int, ...]] = {}

    def __call__(self, text: str) -> list[int]:
        """Return the numbers of the text's terms in order."""
        known = self._known
        numbers: list[int] = []
        for chunk in text.replace("\n", " ").split(" "):
            found = known.get(chunk)
            if found is None:
                found = self._learn(chunk)
            if isinstance(found, int):
                numbers.append(found)
            else:
                numbers += found
        return numbers

    def _learn(self, chunk: str) -> int | tuple[int, ...]:
        """Remember and return the numbers of a chunk; a single one, as most have, without a tuple: half the memory."""
        found = tuple(number for term in analyze(chunk) if (number := self._number(term)) >= 0)
        numbers = found[0] if len(found) == 1 else found
        if len(self._known) >= self._chunks:
            self._known.clear()
        if len(chunk) <= MAX_TOKEN_LENGTH:
            self._known[chunk] = numbers
        return numbers
