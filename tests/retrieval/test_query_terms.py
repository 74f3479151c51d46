"""The terms of queries: the compiled reader gives what Python gives, to the last count, and remembers nothing."""

import itertools
import random
import string
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentgym_r1.retrieval.analyzer import STOP_WORDS, analyze
from agentgym_r1.retrieval.porter import STEP_2, STEP_3, STEP_4
from agentgym_r1.retrieval.query_terms import QueryReader
from agentgym_r1.retrieval.vocabulary import Vocabulary, term_hash

SUFFIXES = [
    *(suffix for rules in (STEP_2, STEP_3, STEP_4) for group in rules.values() for suffix, _ in group),
    *("s", "es", "ies", "sses", "ed", "eed", "ing", "y", "e", "ll", "at", "bl", "iz", "'s", "'S", ""),
]  # fmt: skip

BEYOND_ASCII = (
    "éÉßİıſΣςЖǅẽᾳᎠ\u00b7\u2019\u2018\u203f\u00a0\u2013\u00ad\u0301\u200dא\u05f4٣日カก한\u00a9\u2060\U0001f600"
)
"""Letters of two and three bytes, joiners, blanks, marks, and what stands alone."""

roots = st.text("aeiouybcstlzwxdéΩẽ", max_size=5)
suffixes = st.lists(st.sampled_from(SUFFIXES), max_size=3).map("".join)
plain_words = st.builds(str.__add__, roots, suffixes)
shouted = plain_words.map(str.upper) | plain_words.map(str.title) | st.sampled_from(sorted(STOP_WORDS))
joined = st.text("ayS1_.:,;'\" -\n\x00#", max_size=12) | st.text("aS1_.:, \n'" + BEYOND_ASCII, max_size=12)
texts = st.lists(plain_words | shouted | joined | st.text(max_size=4), max_size=8).map(" ".join)


def with_near_misses(queries: list[str]) -> tuple[Vocabulary, list[str]]:
    """Return a vocabulary of the queries' terms and of all that a mistaken analyzer could give; and its terms."""
    words = {word.lower() for query in queries for word in query.split()}
    pieces = {word[first:last] for word in words for first, last in itertools.combinations(range(len(word) + 1), 2)}
    terms = {piece.encode(errors="replace").decode() for piece in pieces} | {
        term.encode(errors="replace").decode() for query in queries for term in analyze(query)
    }
    listed = sorted(terms)
    vocabulary, order = Vocabulary.build(listed)
    return vocabulary, [listed[position] for position in order]


def counted(terms_of: list[str], rows: list[tuple[np.ndarray, np.ndarray]]) -> list[dict[str, float]]:
    return [{terms_of[number]: count for number, count in zip(*map(np.ndarray.tolist, row))} for row in rows]


@given(st.lists(texts, min_size=1, max_size=4))
def test_the_compiled_reader_gives_the_terms_of_the_analyzer(queries: list[str]) -> None:
    vocabulary, terms = with_near_misses(queries)
    reader = QueryReader(vocabulary)
    python, compiled = reader.read(queries), reader.read_compiled(queries)
    assert counted(terms, compiled.rows()) == counted(terms, python.rows())
    for field in ("firsts", "numbers", "counts"):
        assert np.array_equal(getattr(compiled, field), getattr(python, field))
        assert getattr(compiled, field).dtype == getattr(python, field).dtype


def test_every_ending_and_every_character_between_others_is_read_alike() -> None:
    letters = string.ascii_lowercase
    ends = [one + more for one, more in itertools.product(letters, ["", "s", "ly"])] + [
        letter * 2 for letter in letters
    ]
    words = {root + end + suffix for root in ("", "fa", "trol", "syl") for end in ends for suffix in SUFFIXES}
    around = ("a{}b", "1{}2", "a{}1", "1{}a", "{}a", "a{}", "a{}{}b", "1{}{}2", "_{}a", "a{}_", "ba{}'s", "{}'S")
    words |= {pattern.replace("{}", chr(code)) for pattern in around for code in range(0x2070)}
    terms = {term for word in words for term in analyze(word)}
    near = {word.lower()[:size] for word in words for size in range(1, len(word) + 1)}
    vocabulary, _ = Vocabulary.build(terms | near | {word + "e" for word in near})
    reader, queries = QueryReader(vocabulary), sorted(words)
    python, compiled = reader.read(queries), reader.read_compiled(queries)
    assert len(python.numbers) > 20_000
    wrong = [
        query
        for query, mine, its in zip(queries, python.rows(), compiled.rows())
        if not np.array_equal(mine[0], its[0])
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("The miller's wife, the millers' guild", {"miller": 2, "wife": 1, "guild": 1}),
        ("U.S.A. v1.2.3 3,141.59 a.b:c 10:30", {"u.s.a": 1, "v1.2.3": 1, "3,141.59": 1, "a.b:c": 1, "10": 1, "30": 1}),
        ("foo_bar __init__ ___ x-ray", {"foo_bar": 1, "__init__": 1, "x": 1, "rai": 1}),
        ("relational Rivers' river RIVERS naïve river", {"relat": 1, "river": 4, "naïv": 1}),
        ("river été mill\nété rivers naïve été’s", {"river": 2, "été": 3, "mill": 1, "naïv": 1}),
        ("ŘEKA Ωμέγας Ẽasing’s река—реки", {"řeka": 1, "ωμέγας": 1, "ẽase": 1, "река": 1, "реки": 1}),
        (
            "e\u0301te\u0301 river\ne\u0301te\u0301 日本\u2060 mills",
            {"e\u0301te\u0301": 2, "river": 1, "日": 1, "mill": 1},
        ),
        ("日本河川水車 ẽ", {"日": 1, "本": 1, "河": 1, "川": 1, "水": 1, "車": 1, "ẽ": 1}),
        ("ẽ" * 300, {"ẽ" * 255: 1, "ẽ" * 45: 1}),
        ("x" * 600, {"x" * 255: 2, "x" * 90: 1}),
        ("x" * 255 + "'s is " + "y" * 253 + "'s", {"x" * 255: 1, "y" * 252 + "i": 1, "'s": 0}),
    ],
)
def test_both_readers_count_what_lucene_counts(query: str, expected: dict[str, int]) -> None:
    present = {term: count for term, count in expected.items() if count}
    vocabulary, order = Vocabulary.build(expected)
    terms = [[*expected][position] for position in order]
    reader = QueryReader(vocabulary)
    for read in (reader.read, reader.read_compiled):
        assert counted(terms, read([query]).rows()) == [present]


@given(st.sets(st.text("abc_1", min_size=1, max_size=12), max_size=200), st.text("abc_1", min_size=1, max_size=12))
def test_the_compiled_search_finds_the_terms_of_the_vocabulary_and_no_other(terms: set[str], other: str) -> None:
    listed = sorted({term for word in terms for term in analyze(word)})
    vocabulary, _ = Vocabulary.build(listed)
    found = QueryReader(vocabulary).read_compiled([*terms, other]).rows()
    for word, (numbers, _) in zip([*terms, other], found):
        assert numbers.tolist() == [number for term in analyze(word) if (number := vocabulary.find(term)) >= 0]


def test_terms_with_one_hash_are_told_apart() -> None:
    key = term_hash(b"mill")
    data = np.frombuffer(b"oxenwolfmill", np.uint8)
    vocabulary = Vocabulary(np.array([key] * 3, np.uint64), np.arange(0, 13, 4), data)
    reader = QueryReader(vocabulary)
    for read in (reader.read, reader.read_compiled):
        assert read(["mill", "wolf"]).rows()[0][0].tolist() == [2]
        assert len(read(["mill", "wolf"]).numbers) == 1


def test_hashes_are_those_that_indexes_on_disk_have() -> None:
    assert term_hash(b"\1") == 0xE220A8397B1DCDAF  # what SplitMix64 gives first from the seed 0
    assert [term_hash(term) for term in (b"river", b"a longer term of words")] == [
        11425127535830965890,
        16038843449574706713,
    ]


def test_a_long_text_among_short_ones_is_counted_whole() -> None:
    rng = random.Random(3)
    words = ["".join(rng.choices("bdgkmnpr", k=5)) for _ in range(3000)]
    vocabulary, _ = Vocabulary.build({term for word in words for term in analyze(word)})
    queries = [words[0], " ".join(rng.choices(words, k=50_000)), "", " ".join(words[:40])]
    reader = QueryReader(vocabulary)
    python, compiled = reader.read(queries), reader.read_compiled(queries)
    assert np.array_equal(python.numbers, compiled.numbers)
    assert np.array_equal(python.counts, compiled.counts)
    assert python.firsts.tolist() == compiled.firsts.tolist()


def test_reading_keeps_no_memory_of_the_words_it_met() -> None:
    vocabulary, _ = Vocabulary.build(["river"])
    reader = QueryReader(vocabulary)
    reader.read_compiled(["warm up"])
    tracemalloc.start()
    for number in range(1300):
        reader.read_compiled([f"word{number} term{number} river{number}"])
    ours = tracemalloc.take_snapshot().filter_traces([tracemalloc.Filter(True, "*/agentgym_r1/retrieval/*")])
    tracemalloc.stop()
    assert sum(trace.size for trace in ours.traces) < 20_000  # in Python the 3,900 words take 340,000
