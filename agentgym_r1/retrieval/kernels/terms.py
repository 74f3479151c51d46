"""ASCII text to counted term numbers, compiled: what ``analyzer``, ``porter`` and ``Vocabulary.find`` do in Python.

Importing this module compiles it, or loads it from numba's cache on disk. Nothing is remembered between calls, so that
a process that searches keeps no words of its own.
"""

import numba as nb
import numpy as np
import numpy.typing as npt

from agentgym_r1.retrieval.analyzer import MAX_TOKEN_LENGTH, STOP_WORDS
from agentgym_r1.retrieval.kernels.jit import jit
from agentgym_r1.retrieval.porter import STEP_2, STEP_3, STEP_4, Rules

Bytes = npt.NDArray[np.uint8]
Counted = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.float32]]

LETTER, DIGIT, CONNECTOR, LETTER_JOINER, DIGIT_JOINER = 1, 2, 4, 8, 16
WORD = LETTER | DIGIT | CONNECTOR
APOSTROPHE, UNDERSCORE, LOWER_CASE = ord("'"), ord("_"), ord("a") ^ ord("A")
D, E, G, L, S, T, W, X, Y, Z, Y_AS_VOWEL = map(ord, "deglstwxyzi")
TAIL = 7
"""The length of the longest suffix that a rule has."""


def _packed(text: str) -> int:
    """Return up to seven characters as a number, the last in its lowest byte."""
    return int.from_bytes(text.encode(), "big")


def _table(rules: Rules) -> npt.NDArray[np.int64]:
    """Return the rules of a step, the longest suffix first: suffix, its length, replacement, its length."""
    entries = sorted((entry for group in rules.values() for entry in group), key=lambda entry: -len(entry[0]))
    return np.array([(_packed(old), len(old), _packed(new), len(new)) for old, new in entries], np.int64)


def _kinds(character: str) -> int:
    """Return what an ASCII character is: a letter, a digit, the connector, what joins two letters or two digits."""
    kinds = (character.isalpha(), character.isdigit(), character == "_", character in ":.'", character in ",;.'")
    return sum(kind << place for place, kind in enumerate(kinds))


KINDS = np.array([_kinds(chr(code)) for code in range(128)], np.int64)
VOWELS = np.array([chr(code) in "aeiou" for code in range(128)])
STOPS = np.array(sorted(map(_packed, STOP_WORDS)), np.int64)
LONGEST_STOP = max(map(len, STOP_WORDS))
RULES_2, RULES_3, RULES_4 = map(_table, (STEP_2, STEP_3, STEP_4))
ION, SSES, IES, EED, ED, ING, AT, BL, IZ = map(_packed, ("ion", "sses", "ies", "eed", "ed", "ing", "at", "bl", "iz"))


@jit
def _word_end(text: Bytes, start: int, stop: int) -> int:
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
def _next_word(text: Bytes, at: int, stop: int) -> tuple[int, int]:
    """Return where the first word from ``at`` on begins and ends, twice ``stop`` when there is none."""
    while at < stop:
        if KINDS[text[at]] & WORD:
            end = _word_end(text, at, stop)
            for place in range(at, end):
                if text[place] != UNDERSCORE:
                    return at, end
            at = end
        at += 1
    return stop, stop


@jit
def _scan(word: Bytes, size: int) -> tuple[int, int]:
    """Return Porter's measure of the first characters, and which of the last ones are vowels, the last in bit 0."""
    measure, vowels = 0, 0
    for at in range(size):
        vowel = VOWELS[word[at]] or (word[at] == Y and at > 0 and not vowels & 1)
        measure += (vowels & 1) and not vowel
        vowels = ((vowels << 1) | vowel) & 0xFFFF
    return measure, vowels


@jit
def _has_vowel(word: Bytes, size: int) -> bool:
    measure, vowels = _scan(word, size)
    return measure > 0 or vowels & 1 == 1


@jit
def _ends_short(word: Bytes, size: int, vowels: int) -> bool:
    """Porter's *o: consonant, vowel, consonant, the last not w, x or y."""
    return size >= 3 and vowels & 7 == 2 and word[size - 1] not in (W, X, Y)


@jit
def _tail(word: Bytes, size: int) -> int:
    """Return the last seven characters as ``_packed`` does."""
    tail = 0
    for at in range(max(0, size - TAIL), size):
        tail = (tail << 8) | word[at]
    return tail


@jit
def _ends(tail: int, suffix: int, length: int) -> bool:
    return tail & ((1 << (8 * length)) - 1) == suffix


@jit
def _step_1(word: Bytes, size: int) -> int:
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
def _strip_past(word: Bytes, size: int) -> int:
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
def _restore(word: Bytes, size: int) -> int:
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
def _replace(word: Bytes, size: int, rules: npt.NDArray[np.int64], above: int) -> int:
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
def _step_5(word: Bytes, size: int) -> int:
    """Remove a final e and one of a final double l."""
    measure, vowels = _scan(word, size)
    if word[size - 1] == E and (measure > 1 or (measure == 1 and not _ends_short(word, size - 1, vowels >> 1))):
        size -= 1
    if measure > 1 and word[size - 1] == L and word[size - 2] == L:
        size -= 1
    return size


@jit
def _stem(word: Bytes, size: int) -> int:
    if size <= 2:
        return size
    size = _step_1(word, size)
    size = _replace(word, size, RULES_2, 0)
    size = _replace(word, size, RULES_3, 0)
    size = _replace(word, size, RULES_4, 1)
    return _step_5(word, size)


@jit
def _is_stop_word(word: Bytes, size: int) -> bool:
    return size <= LONGEST_STOP and _tail(word, size) in STOPS


@jit
def _term(text: Bytes, start: int, stop: int, term: Bytes) -> int:
    """Write the term of the word at start:stop and return its length, 0 for a stop word."""
    size = stop - start
    if size >= 2 and text[stop - 1] | LOWER_CASE == S and text[stop - 2] == APOSTROPHE:
        size -= 2
    for at in range(size):
        character = text[start + at]
        term[at] = character | LOWER_CASE if KINDS[character] & LETTER else character
    return 0 if _is_stop_word(term, size) else _stem(term, size)


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


_READ_ONLY = {name: nb.types.Array(getattr(nb, name), 1, "C", readonly=True) for name in ("uint8", "uint64", "int64")}
_COUNTED = nb.types.Tuple((nb.int64[::1], nb.int64[::1], nb.float32[::1]))
_SIGNATURE = _COUNTED(
    _READ_ONLY["uint8"], _READ_ONLY["int64"], _READ_ONLY["uint64"], _READ_ONLY["int64"], _READ_ONLY["uint8"]
)


@nb.njit(_SIGNATURE, nogil=True, cache=True)  # type: ignore[untyped-decorator]
def count_terms(
    text: Bytes,
    lengths: npt.NDArray[np.int64],
    hashes: npt.NDArray[np.uint64],
    offsets: npt.NDArray[np.int64],
    data: Bytes,
) -> Counted:
    """Count the terms of each text that the vocabulary has, in the order in which they first occur.

    Args:
        text: ASCII, the texts one behind the other.
        lengths: (texts,) of each, in characters.
        hashes: this and the last two are those of ``Vocabulary``.

    Returns:
        (texts + 1,) where the terms of each text begin, the numbers of the terms, how often each occurs.
    """
    most, longest = (len(text) + len(lengths)) // 2, 0  # a word takes a character and, but for the last, a blank
    for length in lengths:
        longest = max(longest, length)
    counted = np.zeros(len(lengths) + 1, np.int64), np.empty(most, np.int64), np.empty(most, np.float32)
    slots = np.full(_power_of_two(longest + 1), -1, np.int64)
    term = np.empty(MAX_TOKEN_LENGTH, np.uint8)
    at, last = 0, 0
    for row, length in enumerate(lengths):
        stop, first = at + length, last
        start, end = _next_word(text, at, stop)
        while start < stop:
            for piece in range(start, end, MAX_TOKEN_LENGTH):
                size = _term(text, piece, min(piece + MAX_TOKEN_LENGTH, end), term)
                number = _find(term, size, hashes, offsets, data) if size else -1
                if number >= 0:
                    last = _count(number, counted, first, last, slots)
            start, end = _next_word(text, end, stop)
        counted[0][row + 1] = last
        at = stop
    return counted[0], counted[1][:last], counted[2][:last]
