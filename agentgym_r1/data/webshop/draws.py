"""The random draws of a shop: what a product costs within its price range, and what a goal may cost at most.

``seeded`` draws depend on the product alone, so that no goal depends on its neighbours. ``original`` draws are one
stream over the whole catalogue, in WebShop's order: all prices, then the limits of the goals, then the goals' order.
"""

import random
from collections.abc import Sequence

NO_LIMIT = 1_000_000.0
ORIGINAL_SEED = 42
ORIGINAL_ORDER_SEED = 233
_LIMITS = tuple(10.0 * tens for tens in range(1, 100))
_CHOICES = 4


def seeded_price(asin: str, prices: Sequence[float]) -> float:
    """Return the price of a product: its one price, or a fixed draw from its range."""
    return price(random.Random(f"price/{asin}"), prices)


def seeded_limit(asin: str, number: int, cost: float) -> float:
    """Return the price limit of the ``number``-th instruction for a product that costs ``cost``."""
    return limit(random.Random(f"limit/{asin}/{number}"), cost)


def price(rng: random.Random, prices: Sequence[float]) -> float:
    """Return the one price, or draw from the range."""
    return prices[0] if len(prices) == 1 else rng.uniform(prices[0], prices[1])


def limit(rng: random.Random, cost: float) -> float:
    """Return the larger of two of the next four multiples of 10 above a cost, below 1,000; NO_LIMIT without two."""
    above = [choice for choice in _LIMITS if choice > cost][:_CHOICES]
    return max(rng.sample(above, 2)) if len(above) >= 2 else NO_LIMIT


def original_order(count: int) -> list[int]:
    """Return, for each position of the original's goals, which generated goal stands there."""
    order = list(range(count))
    random.Random(ORIGINAL_ORDER_SEED).shuffle(order)
    return order


def limit_clause(price_upper: float) -> str:
    """Return how an instruction states the limit; empty without one."""
    return "" if price_upper >= NO_LIMIT else f", and price lower than {price_upper:.2f} dollars"
