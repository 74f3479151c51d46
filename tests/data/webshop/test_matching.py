"""When texts match."""

import json
import lzma
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentgym_r1.data.webshop.colours import COLOURS, normal_colour
from agentgym_r1.data.webshop.matching import is_among, matches, option_text


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ("machine washable", "washable machine", True),
        ("machine washable", "machine wash", True),
        ("easy clean", "easy to clean", True),
        ("Café noir", "caf noir", True),
        ("12 cm", "13 cm", False),
        ("", "", False),
        ("!!!", "???", False),
        ("漢字", "漢字", True),
    ],
)
def test_texts_match_by_their_sets_of_words(left: str, right: str, same: bool) -> None:
    assert matches(left, right) is same


@given(st.text(max_size=20), st.text(max_size=20))
def test_matching_is_total_and_symmetric(left: str, right: str) -> None:
    assert matches(left, right) == matches(right, left)


@pytest.mark.parametrize(
    ("wanted", "text"),
    [
        ("deep teal stripes", "teal"),
        (("color", "teal"), "teal"),
        (("color", "deep teal"), "('color', 'deep teal')"),
        (("size", '28" x 28"'), "('size', '28\" x 28\"')"),
        (("gold", "large"), "gold"),
        ("large", "large"),
    ],
)
def test_what_an_option_is_compared_as(wanted: tuple[str, str] | str, text: str) -> None:
    assert option_text(wanted) == text


def test_a_pair_matches_its_value_its_name_and_not_a_colours_variant() -> None:
    assert is_among(("size", "large"), ["blue", "large"])
    assert is_among(("size", "large"), ["size"])
    assert not is_among(("color", "1877black"), ["1877black"])
    assert is_among("1877black", ["1877black"])
    assert not is_among(("size", "large"), [])


def test_the_first_colour_of_the_list_counts_not_the_first_of_the_text() -> None:
    assert normal_colour("white and black") == "black"
    assert normal_colour("size 7") == "size 7"
    assert list(COLOURS) == sorted(COLOURS)


@pytest.mark.real
def test_colours_are_normalised_as_recorded(samples: Path) -> None:
    with lzma.open(samples / "golden" / "webshop_normalize_color.json.xz", "rt", encoding="utf-8") as handle:
        recorded = json.load(handle)
    assert {value: normal_colour(value) for value in recorded} == recorded
