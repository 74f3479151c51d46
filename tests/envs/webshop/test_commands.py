"""What counts as a command; the reference is the pattern that the original matches."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentgym_r1.envs.webshop.commands import Command, parse_command

ORIGINAL = re.compile(r"(.+)\[(.+)\]")


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("search[tin whistle]", Command("search", "tin whistle")),
        ("click[Buy Now]", Command("click", "Buy Now")),
        ("click[< prev] and more", Command("click", "< prev")),
        ("search[a]b]", Command("search", "a]b")),
        ("search[ ]", Command("search", " ")),
        ("search[]]", Command("search", "]")),
        ("search[[]", Command("search", "[")),
        ("click[a\u2028b]", Command("click", "a\u2028b")),
    ],
)
def test_commands_are_read(text: str, command: Command) -> None:
    assert parse_command(text) == command


@pytest.mark.parametrize(
    "text",
    ["", " ", "search", "search[]", "click[", "click]", "[x]", " click[x]", "Click[x]", "buy[now]", "a[click[x]]"]
    + ["click[a\nb]", "\nclick[x]", "click[size [us]]", "search[[a]]", "click [x]"],
)
def test_anything_else_is_none(text: str) -> None:
    assert parse_command(text) is None


@given(st.text(alphabet="searchlik[]\n <", max_size=24) | st.text(max_size=24))
def test_commands_are_those_of_the_original_pattern(text: str) -> None:
    match = ORIGINAL.match(text)
    expected = Command(*match.groups()) if match and match.group(1) in ("search", "click") else None
    assert parse_command(text) == expected


@pytest.mark.parametrize("noise", ["[" * 100_000, "]" * 100_000, "[]" * 50_000, "search[" * 20_000, "x" * 100_000])
def test_noise_is_read_in_linear_time(noise: str) -> None:
    start = time.process_time()
    parse_command(noise)
    assert time.process_time() - start < 2


def test_a_command_is_written_as_it_is_read() -> None:
    assert parse_command(str(Command("click", "b001"))) == Command("click", "b001")
