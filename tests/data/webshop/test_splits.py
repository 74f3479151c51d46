"""The splits of goals."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentgym_r1.data.webshop.splits import RANGES, SPLITS, check_split, split_of
from agentgym_r1.errors import ConfigError


@given(
    st.lists(st.sampled_from(["soft", "tin", "Whistle", "7"]), min_size=1, max_size=5),
    st.sampled_from([" ", ", ", "! "]),
)
def test_case_and_punctuation_do_not_change_the_split(words: list[str], between: str) -> None:
    assert split_of(between.join(words).upper()) == split_of(" ".join(words).lower())


def test_a_fifth_is_test_and_a_tenth_dev() -> None:
    counts = Counter(split_of(f"instruction number {number}") for number in range(10_000))
    assert set(counts) == set(SPLITS)
    assert 1900 < counts["test"] < 2100
    assert 900 < counts["dev"] < 1100


def test_the_split_of_a_text_is_fixed() -> None:
    assert [split_of(text) for text in ("", "a", "b", "c")] == ["dev", "test", "train", "test"]


def test_the_ranges_of_the_full_catalogue_are_the_originals() -> None:
    positions = list(range(12_087))
    sizes = {split: len(positions[place]) for split, place in RANGES.items()}
    assert sizes == {"test": 500, "dev": 1_000, "train": 10_587}
    assert sorted(position for place in RANGES.values() for position in positions[place]) == positions


def test_an_unknown_split_is_named() -> None:
    with pytest.raises(ConfigError, match="unknown split of webshop 'valid'"):
        check_split("valid")
