"""Make the products of the generated shop: one design, and siblings of it that differ in one attribute only.

The shares below are those of WebShop's 1,000 products: how many options a product has, how many values an option, how
often the price is a range or unknown, how many attributes are listed.
"""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from agentgym_r1.data.worlds.shop.vocabulary import (
    CLOTHES,
    COLORS,
    DEPARTMENTS,
    DIMENSIONS,
    FITS,
    LENGTHS,
    LETTER_SIZES,
    SERIES,
    SHADES,
    STYLES,
    SYLLABLES,
    TASTES,
    USES,
    VOLUMES,
    Department,
    Ware,
)

OPTION_COUNTS = {0: 0.577, 1: 0.245, 2: 0.165, 3: 0.013}
ATTRIBUTE_COUNTS = {0: 0.185, 1: 0.19, 2: 0.19, 3: 0.135, 4: 0.12, 5: 0.065, 6: 0.055, 7: 0.03, 8: 0.03}
FEW_VALUES = {2: 0.33, 3: 0.2, 4: 0.14, 5: 0.1, 6: 0.08, 8: 0.07, 11: 0.05, 16: 0.02, 24: 0.01}
MANY_VALUES = {2: 0.16, 3: 0.17, 4: 0.15, 5: 0.12, 6: 0.14, 7: 0.06, 9: 0.07, 12: 0.05, 20: 0.05, 42: 0.03}
BULLET_COUNTS = {1: 0.12, 3: 0.05, 4: 0.08, 5: 0.6, 6: 0.08, 8: 0.07}
UNPRICED, RANGED, UNDESCRIBED = 0.089, 0.093, 0.3
PRICE_SHIFT, PRICE_SPREAD = 0.3, 1.05
RANGE_RATIOS = (1.07, 1.11, 1.19, 1.25, 1.34, 1.62, 1.8, 2.15, 2.82)


@dataclass(frozen=True, slots=True)
class Design:
    """What siblings share.

    Attributes:
        department, ware: what it is.
        brand, series, material, uses: how its texts call it.
        attributes: listed properties, the first one being what siblings differ in.
        options: values by option name.
        price: the official price text, empty when unknown.
        bullets: number of features.
        described: whether it has a description.
    """

    department: Department
    ware: Ware
    brand: str
    series: str
    material: str
    uses: tuple[str, ...]
    attributes: tuple[str, ...]
    options: tuple[tuple[str, tuple[str, ...]], ...]
    price: str
    bullets: int
    described: bool


def design(rng: random.Random, *, siblings: int) -> list[Design]:
    """Return a design and its siblings, which have another first attribute and nothing else in which they differ."""
    department = rng.choice(DEPARTMENTS)
    ware = rng.choice(department.wares)
    attributes = rng.sample(department.attributes, _pick(rng, ATTRIBUTE_COUNTS) + siblings)
    listed, others = attributes[siblings:], attributes[:siblings]
    first = Design(
        department=department,
        ware=ware,
        brand="".join(rng.sample(SYLLABLES, 2)).capitalize(),
        series=rng.choice(SERIES),
        material=rng.choice(department.materials),
        uses=tuple(rng.sample(USES, 3)),
        attributes=tuple(listed),
        options=_options(rng, ware),
        price=_price(rng, ware.price),
        bullets=_pick(rng, BULLET_COUNTS),
        described=rng.random() >= UNDESCRIBED,
    )
    return [first, *(replace(first, attributes=(other, *listed[1:])) for other in others)]


def record(made: Design, *, asin: str, page: int) -> dict[str, Any]:
    """Return a design as a record of items_shuffle*.json."""
    ware, features = made.ware, _features(made)
    return {
        "asin": asin,
        "name": _title(made),
        "category": made.department.category,
        "query": ware.plural,
        "page": page,
        "product_category": " › ".join((made.department.root, *ware.path)),
        "full_description": " ".join(features[:3]) if made.described else "",
        "small_description": features[: made.bullets],
        "pricing": made.price,
        "images": [f"https://shop.invalid/{asin}.jpg"],
        "average_rating": "",
        "customization_options": {
            name.capitalize(): [{"value": value, "is_selected": False} for value in values]
            for name, values in made.options
        }
        or "",
    }


def _title(made: Design) -> str:
    """Return a title of about 18 words that names the first attribute."""
    ware, mentioned = made.ware, made.attributes[:2]
    parts = [
        f"{made.brand} {made.series} {made.material.title()} {ware.noun.title()}",
        *(attribute.title() for attribute in mentioned),
        f"with {ware.parts[0].title()} and {ware.parts[-1].title()}",
        f"for {made.uses[0].title()} and {made.uses[1].title()}",
    ]
    return ", ".join(parts)


def _features(made: Design) -> list[str]:
    """Return sentences for the features; each listed attribute is in one of the first."""
    ware = made.ware
    named = [f"The {ware.noun} is {attribute}, so it serves well for {made.uses[0]}." for attribute in made.attributes]
    return [
        *named,
        f"Made of {made.material} by {made.brand}, a workshop that makes nothing but {ware.plural}.",
        f"The {ware.parts[0]} can be taken off and replaced; the {ware.parts[-1]} is part of the {ware.noun}.",
        f"A thoughtful present for {made.uses[1]} and a companion for {made.uses[2]}.",
        f"Part of the {made.series} collection; goes with the other {ware.plural} in it.",
        f"Please compare the measures of the {ware.noun} with your own before you order.",
        "Questions are answered within a working day, and returns cost nothing.",
        f"Each {ware.noun} is checked by hand before it leaves the house.",
        "Delivered in a plain box without plastic.",
    ]


def _options(rng: random.Random, ware: Ware) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return 0 to 3 options in page order: mostly color and size, sometimes a taste, style or fit."""
    names = ["color", "size"]
    rng.shuffle(names)
    if ware.taste and rng.random() < 0.5:
        names.insert(0, ware.taste)
    names.append("fit type" if ware.sizes == CLOTHES else "style")
    if rng.random() < 0.05:
        names.insert(0, names.pop())
    names = names[: _pick(rng, OPTION_COUNTS)]
    counts = MANY_VALUES if len(names) == 2 else FEW_VALUES
    return tuple((name, _values(rng, name, ware, _pick(rng, counts))) for name in names)


def _values(rng: random.Random, name: str, ware: Ware, count: int) -> tuple[str, ...]:
    if name == "size":
        return _sizes(rng, ware.sizes, count)
    if name == "color":
        pool: Sequence[str] = [shade + color for color in rng.sample(COLORS, len(COLORS)) for shade in SHADES[:2]]
    else:
        pool = TASTES.get(name) or (FITS if name == "fit type" else STYLES)
    return tuple(rng.sample(pool, min(count, len(pool))))


def _sizes(rng: random.Random, system: str, count: int) -> tuple[str, ...]:
    """Return an ascending run of sizes."""
    step = rng.randint(1, 4)
    if system == CLOTHES:
        start = rng.randint(0, max(len(LETTER_SIZES) - count, 0))
        return LETTER_SIZES[start : start + count]
    if system == DIMENSIONS:
        return tuple(f"{10 * step + 5 * i} x {15 * step + 5 * i} cm" for i in range(count))
    if system == VOLUMES:
        return tuple(f"{100 * step + 150 * i} ml" for i in range(count))
    if system == LENGTHS:
        return tuple(f"{20 * step + 15 * i} cm long" for i in range(count))
    return tuple(f"pack of {step * (i + 1)}" for i in range(count))


def _price(rng: random.Random, median: float) -> str:
    """Return "", "$24.99" or "$19.99 to $24.99"; prices are log-normal around the ware's median."""
    kind, low = rng.random(), max(round(median * math.exp(rng.gauss(PRICE_SHIFT, PRICE_SPREAD)), 2), 1.0)
    if kind < UNPRICED:
        return ""
    if kind >= UNPRICED + RANGED:
        return f"${low}"
    return f"${low} to ${round(low * rng.choice(RANGE_RATIOS), 2)}"


def _pick(rng: random.Random, shares: dict[int, float]) -> int:
    return rng.choices(list(shares), weights=list(shares.values()))[0]
