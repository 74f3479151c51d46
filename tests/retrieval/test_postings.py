"""The index: Lucene's scores, whatever the number of runs, and a vocabulary that finds exactly its terms."""

import math
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentgym_r1.errors import ConfigError
from agentgym_r1.retrieval.analyzer import analyze
from agentgym_r1.retrieval.postings import Bm25Settings, Postings, _stored_lengths, build_postings, in_memory
from agentgym_r1.retrieval.spool import Spool
from agentgym_r1.retrieval.vocabulary import Vocabulary

words = st.sampled_from(["river", "bridge", "mill", "the", "ox", "wheel", "東", ""])
texts = st.lists(st.lists(words, max_size=60).map(" ".join), max_size=12)


def lucene_byte(length: int) -> int:
    """SmallFloat.intToByte4 and back, bit by bit as Lucene writes it."""
    if length < 24:
        return length
    rest = length - 24
    if rest.bit_length() < 4:
        return 24 + rest
    shift = rest.bit_length() - 4
    return 24 + ((rest >> shift) << shift)


def lucene_score(texts: list[str], term: str, position: int, settings: Bm25Settings) -> float:
    """BM25Similarity in double precision."""
    documents = [analyze(text) for text in texts]
    count = sum(bool(document) for document in documents)
    with_term = sum(term in document for document in documents)
    idf = math.log(1 + (count - with_term + 0.5) / (with_term + 0.5))
    average = sum(map(len, documents)) / count
    norm = settings.k1 * (1 - settings.b + settings.b * lucene_byte(len(documents[position])) / average)
    frequency = documents[position].count(term)
    return idf * frequency / (frequency + norm)


def table(postings: Postings, terms: list[str]) -> dict[str, list[tuple[int, float]]]:
    rows = {}
    for term in terms:
        number = postings.vocabulary.find(term)
        of_term = slice(postings.starts[number], postings.starts[number + 1])
        rows[term] = list(zip(postings.documents[of_term].tolist(), postings.scores[of_term].tolist()))
    return rows


@given(texts, st.sampled_from([Bm25Settings(), Bm25Settings(k1=1.2, b=0.75), Bm25Settings(k1=2.0, b=0.0)]))
def test_every_posting_scores_as_lucene_scores_it(texts: list[str], settings: Bm25Settings) -> None:
    postings = build_postings(texts, settings, allocate=in_memory)
    counts = [Counter(analyze(text)) for text in texts]
    terms = sorted(set().union(*counts))
    assert len(postings.vocabulary) == len(terms)
    for term, row in table(postings, terms).items():
        assert [position for position, _ in row] == [at for at, count in enumerate(counts) if term in count]
        for position, score in row:
            assert score == pytest.approx(lucene_score(texts, term, position, settings), rel=1e-5)


@given(texts)
def test_an_index_built_in_many_runs_is_the_same(texts: list[str]) -> None:
    whole = build_postings(texts, Bm25Settings(), allocate=in_memory)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("agentgym_r1.retrieval.postings.RUN_TERMS", 20)
        parts = build_postings(texts, Bm25Settings(), allocate=in_memory)
    for name in ("starts", "documents", "scores"):
        assert np.array_equal(getattr(whole, name), getattr(parts, name))
    assert np.array_equal(whole.vocabulary.hashes, parts.vocabulary.hashes)


@given(texts.filter(bool), st.data())
def test_a_build_that_was_interrupted_goes_on_to_the_same_index(texts: list[str], data: st.DataObject) -> None:
    stop = data.draw(st.integers(0, len(texts) - 1))
    read: list[int] = []

    def interrupted() -> Iterator[str]:
        yield from texts[:stop]
        raise KeyboardInterrupt

    def counted(first: int) -> Iterator[str]:
        for position, text in enumerate(texts):
            read.append(position >= first)
            yield text

    whole = build_postings(texts, Bm25Settings(), allocate=in_memory)
    with TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        patch.setattr("agentgym_r1.retrieval.postings.RUN_TERMS", 20)
        folder = Path(name) / "runs"
        with pytest.raises(KeyboardInterrupt):
            build_postings(interrupted(), Bm25Settings(), allocate=in_memory, spool=Spool(folder, key="a"))
        spooled = len(Spool(folder, key="a").lengths())
        resumed = build_postings(counted(spooled), Bm25Settings(), allocate=in_memory, spool=Spool(folder, key="a"))
    assert spooled <= stop
    assert sum(read) == len(texts) - spooled
    for field in ("starts", "documents", "scores"):
        assert np.array_equal(getattr(whole, field), getattr(resumed, field))
    for field in ("hashes", "offsets", "data"):
        assert np.array_equal(getattr(whole.vocabulary, field), getattr(resumed.vocabulary, field))


def test_runs_of_another_build_are_not_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentgym_r1.retrieval.postings.RUN_TERMS", 2)
    build_postings(["ox mill", "wheel"], Bm25Settings(), allocate=in_memory, spool=Spool(tmp_path / "runs", key="a"))
    assert len(Spool(tmp_path / "runs", key="a").runs()) == 1
    assert Spool(tmp_path / "runs", key="b").runs() == []
    assert not (tmp_path / "runs").exists()


def test_the_joining_of_runs_tells_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentgym_r1.retrieval.postings.RUN_TERMS", 2)
    told: list[tuple[int, int]] = []
    build_postings(
        ["ox mill", "wheel mill", "ox"], Bm25Settings(), allocate=in_memory, progress=lambda *step: told.append(step)
    )
    assert told == [(2, 5), (4, 5), (5, 5)]


def test_lengths_are_kept_as_coarse_as_lucene_keeps_them() -> None:
    lengths = np.concatenate([np.arange(5000), [10**6, 2**31 - 1]]).astype(np.int32)
    assert _stored_lengths(lengths).tolist() == [np.float32(lucene_byte(int(length))) for length in lengths]


@given(st.sets(st.text(st.characters(exclude_categories=["Cs"])), max_size=30), st.text(max_size=3))
def test_the_vocabulary_finds_its_terms_and_no_other(terms: set[str], other: str) -> None:
    other = other.encode(errors="replace").decode()
    listed = sorted(terms)
    vocabulary, order = Vocabulary.build(listed)
    assert [listed[order[vocabulary.find(term)]] for term in listed] == listed
    assert (vocabulary.find(other) >= 0) == (other in terms)


def test_terms_with_one_hash_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentgym_r1.retrieval.vocabulary.term_hash", lambda term: len(term))
    vocabulary, order = Vocabulary.build(["ab", "cd", "e"])
    assert [order[vocabulary.find(term)] for term in ("ab", "cd", "e")] == [0, 1, 2]
    assert vocabulary.find("xy") == -1


@pytest.mark.parametrize(("k1", "b", "message"), [(0, 0.4, "k1"), (-1, 0.4, "k1"), (0.9, -0.1, "b"), (0.9, 1.1, "b")])
def test_settings_outside_their_range_are_refused(k1: float, b: float, message: str) -> None:
    with pytest.raises(ConfigError, match=f"{message} must be"):
        Bm25Settings(k1=k1, b=b)
