"""Text to counted term numbers, compiled: what ``analyzer``, ``porter`` and ``Vocabulary.find`` do in Python.

It reads characters below ``LIMIT`` that need no more than a look at their neighbours: Latin, Greek, Cyrillic and their
punctuation, but no combining marks. ``UNREAD`` finds what is left to Python.

Importing this module compiles it, or loads it from numba's cache on disk. Nothing is remembered between calls, so that
a process that searches keeps no words of its own.
"""

import re

import numba as nb
import numpy as np
import numpy.typing as npt

from agentgym_r1.retrieval.analyzer import APOSTROPHES, MAX_TOKEN_LENGTH, STOP_WORDS, lower, word_breaks_below
from agentgym_r1.retrieval.kernels.jit import jit
from agentgym_r1.retrieval.porter import STEP_2, STEP_3, STEP_4, Rules

Bytes = npt.NDArray[np.uint8]
Text = npt.NDArray[np.uint32]
Counted = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.float32]]

LIMIT = 0x2060
MARK = chr(LIMIT)
"""Stands, between blanks, in the place of what Python has read."""
LETTER, DIGIT, CONNECTOR, LETTER_JOINER, DIGIT_JOINER, OTHER = 1, 2, 4, 8, 16, 32
WORD = LETTER | DIGIT | CONNECTOR
KIND_OF_CLASS = dict.fromkeys('.b"', 0) | {"L": LETTER, "N": DIGIT, "_": CONNECTOR}
KIND_OF_CLASS |= {"m": LETTER_JOINER, "n": DIGIT_JOINER} | dict.fromkeys("q'", LETTER_JOINER | DIGIT_JOINER)
KINDS = np.array([KIND_OF_CLASS.get(name, OTHER) for name in word_breaks_below(LIMIT)] + [OTHER], np.int64)
LOWER = np.array([ord(lower(chr(code))) for code in range(LIMIT)], np.uint16)
D, E, G, L, S, T, W, X, Y, Z, Y_AS_VOWEL = map(ord, "deglstwxyzi")
BEHIND_ASCII, BEHIND_TWO_BYTES = 0x80, 0x800
TAIL = 7
"""The length of the longest suffix that a rule has."""


def _packed(text: str) -> int:
    """Return up to seven characters as a number, the last in its lowest byte."""
    return int.from_bytes(text.encode(), "big")


def _table(rules: Rules) -> npt.NDArray[np.int64]:
    """Return the rules of a step, the longest suffix first: suffix, its length, replacement, its length."""
    entries = sorted((entry for group in rules.values() for entry in group), key=lambda entry: -len(entry[0]))
    return np.array([(_packed(old), len(old), _packed(new), len(new)) for old, new in entries], np.int64)


def _unread() -> re.Pattern[str]:
    """Return what finds a chunk between blanks with a character that the kernel cannot read, in linear time."""
    read = "".join([re.escape(chr(code)) for code in range(LIMIT) if KINDS[code] != OTHER and chr(code) not in " \n"])
    return re.compile(rf"(?<![^ \n])[{read}]*+[^{read} \n][^ \n]*")


UNREAD = _unread()
VOWELS = np.array([chr(code) in "aeiou" for code in range(BEHIND_ASCII)])
APOSTROPHE_CODES = np.array(sorted(map(ord, APOSTROPHES)), np.int64)
STOPS = np.array(sorted(map(_packed, STOP_WORDS)), np.int64)
LONGEST_STOP = max(map(len, STOP_WORDS))
RULES_2, RULES_3, RULES_4 = map(_table, (STEP_2, STEP_3, STEP_4))
ION, SSES, IES, EED, ED, ING, AT, BL, IZ = map(_packed, ("ion", "sses", "ies", "eed", "ed", "ing", "at", "bl", "iz"))


@jit
def _word_end(text: Text, start: int, stop: int) -> int:
    """Return where the word that begins at ``start`` ends."""
    at = start + 1
    while at < stop:
        kind = KINDS[text[at]]
        if not kind & WORD:
            around = KINDS[text[at - 1]] & KINDS[text[at + 1]] if at + 1 < stop else 0
            if not ((kind & LETTER_JOINER and around & LETTER) or (kind & DIGIT_JOINER and around & DIGIT)):
                return at
        at += 1
    return stop


@jit
def _next_word(text: Text, at: int, stop: int) -> tuple[int, int]:
    """Return where the first word or mark from ``at`` on begins and ends, twice ``stop`` when there is none."""
    while at < stop:
        if text[at] == LIMIT:
            return at, at + 1
        if KINDS[text[at]] & WORD:
            end = _word_end(text, at, stop)
            for place in range(at, end):
                if KINDS[text[place]] != CONNECTOR:
                    return at, end
            at = end
        at += 1
    return stop, stop


@jit
def _scan(word: Text, size: int) -> tuple[int, int]:
    """Return Porter's measure of the first characters, and which of the last ones are vowels, the last in bit 0."""
    measure, vowels = 0, 0
    for at in range(size):
        letter = word[at]
        vowel = letter < BEHIND_ASCII and (VOWELS[letter] or (letter == Y and at > 0 and not vowels & 1))
        measure += (vowels & 1) and not vowel
        vowels = ((vowels << 1) | vowel) & 0xFFFF
    return measure, vowels


@jit
def _has_vowel(word: Text, size: int) -> bool:
    measure, vowels = _scan(word, size)
    return measure > 0 or vowels & 1 == 1


@jit
def _ends_short(word: Text, size: int, vowels: int) -> bool:
    """Porter's *o: consonant, vowel, consonant, the last not w, x or y."""
    return size >= 3 and vowels & 7 == 2 and word[size - 1] not in (W, X, Y)


@jit
def _tail(word: Text, size: int) -> int:
    """Return the last seven characters as ``_packed`` does, all behind ASCII as one that no suffix has."""
    tail = 0
    for at in range(max(0, size - TAIL), size):
        tail = (tail << 8) | min(word[at], BEHIND_ASCII)
    return tail


@jit
def _ends(tail: int, suffix: int, length: int) -> bool:
    return tail & ((1 << (8 * length)) - 1) == suffix


@jit
def _step_1(word: Text, size: int) -> int:
    """Remove plurals, -ed and -ing, and turn a final y into i behind a vowel."""
    if word[size - 1] == S:
        tail = _tail(word, size)
        if _ends(tail, SSES, 4) or _ends(tail, IES, 3):
            size -= 2
        elif word[size - 2] != S:
            size -= 1
    size = _strip_past(word, size)
    if word[size - 1] == Y and _has_vowel(word, size - 1):
        word[size - 1] = Y_AS_VOWEL
    return size


@jit
def _strip_past(word: Text, size: int) -> int:
    if word[size - 1] != D and word[size - 1] != G:
        return size
    tail = _tail(word, size)
    if _ends(tail, EED, 3):
        return size - 1 if _scan(word, size - 3)[0] > 0 else size
    if _ends(tail, ED, 2) and _has_vowel(word, size - 2):
        return _restore(word, size - 2)
    if _ends(tail, ING, 3) and _has_vowel(word, size - 3):
        return _restore(word, size - 3)
    return size


@jit
def _restore(word: Text, size: int) -> int:
    """Mend what the removal of -ed or -ing left behind."""
    tail = _tail(word, size)
    measure, vowels = _scan(word, size)
    last = word[size - 1]
    if not (_ends(tail, AT, 2) or _ends(tail, BL, 2) or _ends(tail, IZ, 2)):
        if size > 1 and last == word[size - 2] and not vowels & 1:
            return size if last in (L, S, Z) else size - 1
        if not (measure == 1 and _ends_short(word, size, vowels)):
            return size
    word[size] = E
    return size + 1


@jit
def _replace(word: Text, size: int, rules: npt.NDArray[np.int64], above: int) -> int:
    """Apply the rule of the longest suffix, if the measure of what precedes it is greater than ``above``."""
    tail = _tail(word, size)
    for suffix, length, replacement, new_length in rules:
        if _ends(tail, suffix, length):
            rest: int = size - length
            if suffix == ION and not (rest and (word[rest - 1] == S or word[rest - 1] == T)):
                return size
            if _scan(word, rest)[0] <= above:
                return size
            for at in range(new_length):
                word[rest + at] = (replacement >> (8 * (new_length - 1 - at))) & 0xFF
            return rest + int(new_length)
    return size


@jit
def _step_5(word: Text, size: int) -> int:
    """Remove a final e and one of a final double l."""
    measure, vowels = _scan(word, size)
    if word[size - 1] == E and (measure > 1 or (measure == 1 and not _ends_short(word, size - 1, vowels >> 1))):
        size -= 1
    if measure > 1 and word[size - 1] == L and word[size - 2] == L:
        size -= 1
    return size


@jit
def _stem(word: Text, size: int) -> int:
    if size <= 2:
        return size
    size = _step_1(word, size)
    size = _replace(word, size, RULES_2, 0)
    size = _replace(word, size, RULES_3, 0)
    size = _replace(word, size, RULES_4, 1)
    return _step_5(word, size)


@jit
def _is_stop_word(word: Text, size: int) -> bool:
    return size <= LONGEST_STOP and _tail(word, size) in STOPS


@jit
def _term(text: Text, start: int, stop: int, term: Text) -> int:
    """Write the term of the word at start:stop and return its length, 0 for a stop word."""
    size = stop - start
    if size >= 2 and LOWER[text[stop - 1]] == S and text[stop - 2] in APOSTROPHE_CODES:
        size -= 2
    for at in range(size):
        term[at] = LOWER[text[start + at]]
    return 0 if _is_stop_word(term, size) else _stem(term, size)


@jit
def _encode(term: Text, size: int, encoded: Bytes) -> int:
    """Write a term of characters below U+10000 in UTF-8 and return its length in bytes."""
    length = 0
    for at in range(size):
        code = term[at]
        if code < BEHIND_ASCII:
            encoded[length] = code
            length += 1
            continue
        if code < BEHIND_TWO_BYTES:
            encoded[length] = 0xC0 | code >> 6
        else:
            encoded[length] = 0xE0 | code >> 12
            encoded[length + 1] = 0x80 | code >> 6 & 0x3F
            length += 1
        encoded[length + 1] = 0x80 | code & 0x3F
        length += 2
    return length


@jit
def _hash(term: Bytes, size: int) -> np.uint64:
    """Return ``vocabulary.term_hash``."""
    state = np.uint64(size)
    for start in range(0, size, 8):
        for at in range(start, min(start + 8, size)):
            state ^= np.uint64(term[at]) << np.uint64(8 * (at - start))
        state += np.uint64(0x9E3779B97F4A7C15)
        state = (state ^ state >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
        state = (state ^ state >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
        state ^= state >> np.uint64(31)
    return state


@jit
def _first(hashes: npt.NDArray[np.uint64], key: np.uint64) -> int:
    """Return the first place that is not below ``key``, searched around where evenly spread hashes have it."""
    count, step = len(hashes), 1
    low = min(int(np.float64(key) * 2.0**-64 * count), count) - 1
    while low >= 0 and hashes[low] >= key:
        low -= step
        step *= 2
    high, step = max(low, -1) + 1, 1
    while high < count and hashes[high] < key:
        low = high
        high += step
        step *= 2
    low, high = max(low, -1), min(high, count)
    while low + 1 < high:
        middle = (low + high) // 2
        if hashes[middle] < key:
            low = middle
        else:
            high = middle
    return high


@jit
def _same(data: Bytes, start: int, term: Bytes, size: int) -> bool:
    at = 0
    while at < size and data[start + at] == term[at]:
        at += 1
    return at == size


@jit
def _find(term: Bytes, size: int, hashes: npt.NDArray[np.uint64], offsets: npt.NDArray[np.int64], data: Bytes) -> int:
    """Return the number of a term, -1 when it is not in the vocabulary."""
    key = _hash(term, size)
    number = _first(hashes, key)
    while number < len(hashes) and hashes[number] == key:
        start = offsets[number]
        if offsets[number + 1] - start == size and _same(data, start, term, size):
            return number
        number += 1
    return -1


@jit
def _count(number: int, counted: Counted, first: int, last: int, slots: npt.NDArray[np.int64]) -> int:
    """Count a term of the query that begins at ``first``; return where its last term ends now.

    ``slots`` is an open-addressed table of places; what is below ``first`` there was another query's.
    """
    _, terms, counts = counted
    slot = number & (len(slots) - 1)
    while slots[slot] >= first:
        if terms[slots[slot]] == number:
            counts[slots[slot]] += 1
            return last
        slot = (slot + 1) & (len(slots) - 1)
    slots[slot], terms[last], counts[last] = last, number, 1
    return last + 1


@jit
def _power_of_two(least: int) -> int:
    power = 1
    while power < least:
        power *= 2
    return power


_NAMES = "uint8", "uint32", "uint64", "int64"
_READ_ONLY = {name: nb.types.Array(getattr(nb, name), 1, "C", readonly=True) for name in _NAMES}
_COUNTED = nb.types.Tuple((nb.int64[::1], nb.int64[::1], nb.float32[::1]))
_SIGNATURE = _COUNTED(
    _READ_ONLY["uint32"],
    _READ_ONLY["int64"],
    _READ_ONLY["int64"],
    _READ_ONLY["int64"],
    _READ_ONLY["uint64"],
    _READ_ONLY["int64"],
    _READ_ONLY["uint8"],
)


@nb.njit(_SIGNATURE, nogil=True, cache=True)  # type: ignore[untyped-decorator]
def count_terms(  # noqa: PLR0917 - numba takes positional arguments fastest
    text: Text,
    lengths: npt.NDArray[np.int64],
    given_firsts: npt.NDArray[np.int64],
    given: npt.NDArray[np.int64],
    hashes: npt.NDArray[np.uint64],
    offsets: npt.NDArray[np.int64],
    data: Bytes,
) -> Counted:
    """Count the terms of each text that the vocabulary has, in the order in which they first occur.

    Args:
        text: code points of the texts one behind the other, of characters that ``UNREAD`` does not find and ``MARK``.
        lengths: (texts,) of each, in characters.
        given_firsts: (marks + 1,) where the terms in the place of each mark begin.
        given: the numbers of those terms.
        hashes: this and the last two are those of ``Vocabulary``.

    Returns:
        (texts + 1,) where the terms of each text begin, the numbers of the terms, how often each occurs.
    """
    longest = 0
    most = (len(text) + len(lengths)) // 2 + len(given)  # a word takes a character and, but for the last, a blank
    for length in lengths:
        longest = max(longest, length)
    counted = np.zeros(len(lengths) + 1, np.int64), np.empty(most, np.int64), np.empty(most, np.float32)
    slots = np.full(_power_of_two(longest + len(given) + 1), -1, np.int64)
    term, encoded = np.empty(MAX_TOKEN_LENGTH, np.uint32), np.empty(3 * MAX_TOKEN_LENGTH, np.uint8)
    at, last, mark = 0, 0, 0
    for row, length in enumerate(lengths):
        stop, first = at + length, last
        start, end = _next_word(text, at, stop)
        while start < stop:
            if text[start] == LIMIT:
                for number in given[given_firsts[mark] : given_firsts[mark + 1]]:
                    last = _count(number, counted, first, last, slots)
                mark += 1
            else:
                for piece in range(start, end, MAX_TOKEN_LENGTH):
                    size = _term(text, piece, min(piece + MAX_TOKEN_LENGTH, end), term)
                    size = _encode(term, size, encoded)
                    number = _find(encoded, size, hashes, offsets, data) if size else -1
                    if number >= 0:
                        last = _count(number, counted, first, last, slots)
            start, end = _next_word(text, end, stop)
        counted[0][row + 1] = last
        at = stop
    return counted[0], counted[1][:last], counted[2][:last]
