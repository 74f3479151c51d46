"""When two texts of the shop count as the same: thefuzz 0.22.1's token_set_ratio above 85, computed by rapidfuzz."""

from collections.abc import Iterable

from rapidfuzz.fuzz import token_set_ratio
from rapidfuzz.utils import default_process

from agentgym_r1.data.webshop.colours import COLOURS, normal_colour

MATCH_ABOVE = 85
_NOT_ASCII = dict.fromkeys(range(128, 256))

WantedOption = tuple[str, str] | str


def matches(left: str, right: str) -> bool:
    """Return whether two texts match; the ratio is rounded to a whole number, as thefuzz does."""
    return round(token_set_ratio(_processed(left), _processed(right))) > MATCH_ABOVE


def is_among(wanted: WantedOption, values: Iterable[str]) -> bool:
    """Return whether one of the chosen values counts as an option that a goal asks for."""
    text = option_text(wanted)
    return any(matches(normal_colour(value), text) for value in values)


def option_text(wanted: WantedOption) -> str:
    """Return what an option asked for is compared as.

    A person's option is normalised as a colour. A generated (name, value) pair is normalised only when name or value
    *is* a colour; otherwise the pair's text as Python writes it is compared, so that its name alone can match, and a
    colour's variants often do not: a choice of "1877black" counts as "black", which is not like the pair's text.
    """
    if isinstance(wanted, str):
        return normal_colour(wanted)
    return next((colour for colour in COLOURS if colour in wanted), str(wanted))


def _processed(text: str) -> str:
    """Return a text without the characters 128-255, which thefuzz takes for all that is not ASCII, and normalised."""
    return default_process(text.translate(_NOT_ASCII))
