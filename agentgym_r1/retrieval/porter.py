"""The Porter stemmer (Porter 1980, An algorithm for suffix stripping) with the departures of Lucene's PorterStemmer.

The departures: a word of one or two letters stays as it is, ``bli`` becomes ``ble`` and ``logi`` becomes ``log``.
"""

Rules = dict[str, list[tuple[str, str]]]


def _rules(table: str) -> Rules:
    """Return (suffix, replacement) pairs by the last two letters, the longest suffix first."""
    grouped: Rules = {}
    for entry in sorted(table.split(), key=len, reverse=True):
        suffix, _, replacement = entry.partition(">")
        grouped.setdefault(suffix[-2:], []).append((suffix, replacement))
    return grouped


STEP_2 = _rules(
    "ational>ate tional>tion enci>ence anci>ance izer>ize bli>ble alli>al entli>ent eli>e ousli>ous ization>ize"
    " ation>ate ator>ate alism>al iveness>ive fulness>ful ousness>ous aliti>al iviti>ive biliti>ble logi>log"
)
STEP_3 = _rules("icate>ic ative> alize>al iciti>ic ical>ic ful> ness>")
STEP_4 = _rules("al ance ence er ic able ible ant ement ment ent ion ou ism ate iti ous ive ize")


def stem(word: str) -> str:
    """Return the stem of a lower-case word."""
    if len(word) <= 2 and len(word.encode("utf-16-le")) <= 4:  # Java counts a character beyond U+FFFF twice
        return word
    word = _step_1(word)
    word = _replace(word, STEP_2, above=0)
    word = _replace(word, STEP_3, above=0)
    word = _replace(word, STEP_4, above=1)
    return _step_5(word)


class _Kinds(dict[int, str]):
    """``v`` for a vowel, ``y`` for y, ``c`` for every other character, for ``str.translate``."""

    def __missing__(self, code_point: int) -> str:
        return "c"


_KINDS = _Kinds({ord(letter): "v" for letter in "aeiou"} | {ord("y"): "y"})


def _shape(word: str) -> str:
    """Return one letter a character: ``v`` for a vowel, ``c`` for anything else; y is a vowel behind a consonant."""
    shape = word.translate(_KINDS)
    while (at := shape.find("y")) >= 0:
        shape = shape.replace("y", "v" if shape[at - 1 : at] == "c" else "c", 1)
    return shape


def _measure(shape: str) -> int:
    """Return Porter's m: how often a vowel is followed by a consonant."""
    return shape.count("vc")


def _ends_short(word: str, shape: str) -> bool:
    """Porter's *o: consonant, vowel, consonant, the last not w, x or y."""
    return shape.endswith("cvc") and word[-1] not in "wxy"


def _ends_double(word: str, shape: str) -> bool:
    return len(word) > 1 and word[-1] == word[-2] and shape[-1] == "c"


def _step_1(word: str) -> str:
    """Remove plurals, -ed and -ing, and turn a final y into i behind a vowel."""
    if word[-1] == "s":
        if word.endswith(("sses", "ies")):
            word = word[:-2]
        elif word[-2] != "s":
            word = word[:-1]
    word = _strip_past(word)
    if word[-1] == "y" and "v" in _shape(word)[:-1]:
        word = word[:-1] + "i"
    return word


def _strip_past(word: str) -> str:
    if word[-1] not in "dg":
        return word
    if word.endswith("eed"):
        return word[:-1] if _measure(_shape(word[:-3])) > 0 else word
    for suffix in ("ed", "ing"):
        if word.endswith(suffix) and "v" in _shape(word[: -len(suffix)]):
            return _restore(word[: -len(suffix)])
    return word


def _restore(word: str) -> str:
    """Mend what the removal of -ed or -ing left behind: conflat(e), hop(p), fil(e)."""
    if word.endswith(("at", "bl", "iz")):
        return word + "e"
    shape = _shape(word)
    if _ends_double(word, shape):
        return word if word[-1] in "lsz" else word[:-1]
    if _measure(shape) == 1 and _ends_short(word, shape):
        return word + "e"
    return word


def _replace(word: str, rules: Rules, *, above: int) -> str:
    """Apply the rule of the longest suffix, if the measure of what precedes it is greater than ``above``."""
    for suffix, replacement in rules.get(word[-2:], ()):
        if word.endswith(suffix):
            rest = word[: -len(suffix)]
            if suffix == "ion" and not rest.endswith(("s", "t")):
                return word
            return rest + replacement if _measure(_shape(rest)) > above else word
    return word


def _step_5(word: str) -> str:
    """Remove a final e and one of a final double l."""
    if word[-1] not in "el":
        return word
    shape = _shape(word)
    measure = _measure(shape)
    if word.endswith("e") and (measure > 1 or (measure == 1 and not _ends_short(word[:-1], shape[:-1]))):
        word, shape = word[:-1], shape[:-1]
    if word.endswith("ll") and measure > 1:
        word = word[:-1]
    return word
