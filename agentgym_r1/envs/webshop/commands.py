"""The two commands of the shop: ``search[words]`` and ``click[element]``."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Command:
    """Something a shopper does; the argument's case does not matter."""

    verb: Literal["search", "click"]
    argument: str

    def __str__(self) -> str:
        return f"{self.verb}[{self.argument}]"


def parse_command(text: str) -> Command | None:
    """Return the command at the start of a text, or None when there is none.

    As the original reads it: the first line counts, text behind the last "]" is dropped, and the argument begins behind
    the last "[" that leaves it at least one character. So ``click[size [us]]`` is no command, in linear time.
    """
    line = text.split("\n", 1)[0]
    end = line.rfind("]")
    start = line.rfind("[", 0, max(end - 1, 0))
    verb, argument = line[: max(start, 0)], line[start + 1 : end]
    if verb == "search":
        return Command("search", argument)
    return Command("click", argument) if verb == "click" else None
