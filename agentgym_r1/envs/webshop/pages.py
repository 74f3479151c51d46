"""The pages of the shop as text, equal to what WebShop reads out of its HTML, without making HTML."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from agentgym_r1.data.webshop import Product
from agentgym_r1.data.webshop.choices import BACK, ITEM_BUTTONS, NEXT, PREVIOUS

SEPARATOR = " [SEP] "
RATING = "N.A."
_HTML_SPACE = " \t\n\r\f"

NodeKind = Literal["text", "button", "option", "product"]
Node = tuple[NodeKind, str]


@dataclass(frozen=True, slots=True)
class Page:
    """A page without its instruction.

    Attributes:
        nodes: what is on it, from top to bottom.
        clickables: what can be clicked, in the original's order, and the option name of each that chooses one.
        text: the nodes in ``text`` mode.
    """

    nodes: tuple[Node, ...]
    clickables: Mapping[str, str | None]
    text: str


def _page(nodes: Iterable[Node | None], clickables: Mapping[str, str | None]) -> Page:
    visible = tuple(node for node in nodes if node is not None)
    return Page(visible, clickables, SEPARATOR.join(text.strip() for _, text in visible))


def _node(kind: NodeKind, text: str) -> Node | None:
    """Return the node that an HTML parser makes of a text; None where the original drops it.

    Empty texts make no node. A text of white space becomes one character: a line break, which the original leaves out,
    if it holds one, otherwise a blank.
    """
    if text.strip(_HTML_SPACE):
        return kind, text
    return (kind, " ") if text and "\n" not in text else None


def start_page() -> Page:
    """Return the page with the search bar."""
    return _page([("button", "Search")], {"search": None})


def results_page(products: Sequence[tuple[str, str, str]], *, number: int, total: int) -> Page:
    """Return a page of results, given (asin, title, price tag) of its products and the number of all results."""
    previous = number > 1
    nodes: list[Node | None] = [("button", "Back to Search"), ("text", f"Page {number} (Total results: {total})")]
    if previous:
        nodes.append(("button", "< Prev"))
    nodes.append(("button", "Next >"))
    for asin, title, price_tag in products:
        nodes += [_node("product", asin), _node("text", title), _node("text", price_tag)]
    links = [BACK] + [PREVIOUS] * previous + [NEXT] + [asin.lower() for asin, _, _ in products]
    return _page(nodes, dict.fromkeys(links))


def item_page(product: Product) -> Page:
    """Return the page of a product. Where two options share a value, a click chooses the last one's."""
    nodes: list[Node | None] = [("button", "Back to Search"), ("button", "< Prev")]
    clickables: dict[str, str | None] = dict.fromkeys(ITEM_BUTTONS)
    for name, values in product.options:
        nodes += [_node("text", name), *(_node("option", value) for value in values)]
        clickables |= dict.fromkeys(values, name)
    texts = (product.title, f"Price: {product.price_tag}", f"Rating: {RATING}")
    buttons = ("Description", "Features", "Reviews", "Buy Now")
    nodes += [_node("text", text) for text in texts]
    nodes += [("button", text) for text in buttons]
    return _page(nodes, clickables)


def sub_page(product: Product, name: str) -> Page:
    """Return the description, the features or the reviews (always empty) of a product."""
    texts = {"description": [product.description], "features": [f" {bullet}" for bullet in product.bullets]}
    nodes: list[Node | None] = [("button", "Back to Search"), ("button", "< Prev")]
    return _page(nodes + [_node("text", text) for text in texts.get(name, [])], dict.fromkeys([BACK, PREVIOUS]))


def end_page(asin: str, options: Mapping[str, str], reward: float | None) -> Page:
    """Return the original's last page; without a reward, only its part that says what was bought."""
    thanks = ("Thank you for shopping with us!", "Your code: ", "None", " (Paste it in your MTurk interface.)")
    purchase = ("Purchased", "asin", asin, "options", _html_json(options))
    if reward is None:
        return _page([("text", text) for text in (thanks[0], *purchase)], {})
    unknown = ("attrs", "None", "category", "None", "query", "None", "product category", "None")
    target = ("asin", "options", "attrs", "price upper", "instuction text", "category", "product category", "query")
    score = ("Reward", "Your score (min 0.0, max 1.0)", str(reward), "Reward Details ", "None")
    texts = (*thanks, *purchase, *unknown, "Target", *target, "Goal ", "None", *score)
    return _page([("text", text) for text in texts], {})


def as_text(page: Page, header: Sequence[str]) -> str:
    """Return a page in ``text`` mode behind the texts of its header."""
    shown = [node[1].strip() for node in (_node("text", text) for text in header) if node]
    return SEPARATOR.join([*shown, page.text])


def as_rich_text(page: Page, header: Sequence[str], *, url: str, seen: Collection[str]) -> str:
    """Return a page in ``text_rich`` mode: buttons are marked, and those that were clicked.

    As in the original, an option counts as clicked when the page's address holds it in double quotes.

    Args:
        page: the page.
        header: the texts above it.
        url: the page's address.
        seen: asins of the products that were opened.
    """
    lines, clicked = [f"{node[1]}\n" for node in (_node("text", text) for text in header) if node], []
    for kind, text in page.nodes:
        if kind == "text":
            lines.append(f"{text}\n")
            continue
        hit = (kind == "product" and text in seen) or (kind == "option" and f'"{text}"' in url)
        if hit and kind == "option":
            clicked.append(f"You have clicked {text}.\n")
        mark = "clicked button" if hit else "button"
        lines.append(f"{_INDENT.get(kind, '')}[{mark}] {text} [{mark}_]\n")
    return "".join([*reversed(clicked), *lines])


_INDENT: Mapping[str, str] = {"option": "  ", "product": "\n"}


def _html_json(options: Mapping[str, str]) -> str:
    """Return JSON with sorted keys as the original's templates write it into HTML."""
    text = json.dumps(dict(options), sort_keys=True)
    for character in "<>&'":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text
