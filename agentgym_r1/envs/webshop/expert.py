"""The shopper who knows the goal's product: from any page, the next command on the way to buying it as asked for."""

import re

from agentgym_r1.data.webshop import Goal, search_text
from agentgym_r1.data.webshop.choices import BACK, BUY, NEXT, PREVIOUS, choose
from agentgym_r1.envs.webshop.commands import Command
from agentgym_r1.envs.webshop.engine import PAGE_SIZE, Shop
from agentgym_r1.envs.webshop.session import Session

_UNSPEAKABLE = re.compile(r"[\[\]<>\s]+")


def next_command(shop: Shop, session: Session, goal: Goal) -> Command | None:
    """Return what to do next, or None after the purchase."""
    if session.page == "end":
        return None
    if session.page == "start":
        return Command("search", best_query(shop, goal.row))
    if session.page == "results":
        return _towards_product(shop, session, goal)
    if session.row != goal.row:
        return Command("click", BACK)
    if session.page == "sub":
        return Command("click", PREVIOUS)
    chosen = choose(shop.product(goal.row).options, goal.gold.options)
    missing = [value for name, value in chosen.items() if (name, value) not in session.options]
    return Command("click", missing[0] if missing else BUY)


def best_query(shop: Shop, row: int) -> str:
    """Return the words that bring a product nearest to the top: of its title, or of all that the index holds of it.

    Where neither finds it, the answer is the search by field, which always does.
    """
    product = shop.product(row)
    words = [_UNSPEAKABLE.sub(" ", text).strip().lower() for text in (product.title, search_text(product))]
    found = [query for query in words if query and row in shop.results(query)]
    return min(found, key=lambda query: _page_number(shop, query, row), default=f"<q> {product.query}")


def _towards_product(shop: Shop, session: Session, goal: Goal) -> Command:
    if goal.row not in shop.results(session.query):
        return Command("click", BACK)
    number = _page_number(shop, session.query, goal.row)
    if number == session.number:
        return Command("click", goal.gold.asin.lower())
    return Command("click", NEXT if number > session.number else PREVIOUS)


def _page_number(shop: Shop, query: str, row: int) -> int:
    return shop.results(query).index(row) // PAGE_SIZE + 1
