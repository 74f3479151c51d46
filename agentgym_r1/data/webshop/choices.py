"""Which option values a shopper can choose on a product's page, and which to choose for a goal."""

from collections.abc import Iterable, Sequence

from agentgym_r1.data.webshop.matching import WantedOption, is_among
from agentgym_r1.data.webshop.products import Options

BACK, PREVIOUS, NEXT, BUY = "back to search", "< prev", "next >", "buy now"
SUB_PAGES = ("description", "features", "reviews")
ITEM_BUTTONS = (BACK, PREVIOUS, *SUB_PAGES, BUY)
_NOT_SAID = frozenset("[]\n")


def offered(options: Options) -> dict[str, str]:
    """Return the values that a click can choose, and the option that it chooses each for.

    Where two options share a value, a click chooses the last one's. A value that is called like a button, or that
    ``click[...]`` cannot say, cannot be chosen.
    """
    names = {value: name for name, values in options for value in values}
    return {value: name for value, name in names.items() if value and _can_click(value)}


def choose(options: Options, wanted: Sequence[WantedOption]) -> dict[str, str]:
    """Return the value to choose for each option name, so that as much as possible of what is wanted is met."""
    chosen: dict[str, str] = {}
    for option in wanted:
        left = {value: name for value, name in offered(options).items() if name not in chosen}
        exact = option if isinstance(option, str) else option[1]
        near = (value for value in left if is_among(option, [value]))
        value = exact if exact in left else next(near, None)
        if value is not None:
            chosen[left[value]] = value
    return chosen


def can_meet(options: Options, wanted: Sequence[WantedOption]) -> bool:
    """Return whether a shopper can choose values that count as all that is wanted."""
    values = choose(options, wanted).values()
    return all(is_among(option, values) for option in wanted)


def choosable(options: Options) -> list[tuple[str, ...]]:
    """Return, for each option in the order of the names, the values that count when a generated goal asks for them."""
    names = offered(options)

    def counts(name: str, value: str) -> bool:
        return names.get(value) == name and is_among((name, value), [value])

    return [tuple(_unique(value for value in values if counts(name, value))) for name, values in sorted(options)]


def _can_click(value: str) -> bool:
    return value not in ITEM_BUTTONS and value != "search" and _NOT_SAID.isdisjoint(value)


def _unique(values: Iterable[str]) -> Iterable[str]:
    return dict.fromkeys(values)
