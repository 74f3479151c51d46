"""What the shop knows of a product, made from a record of the official product files."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from agentgym_r1.errors import DataError

PRICE_WHEN_UNKNOWN = 100.0
ATTRIBUTES_WHEN_UNLISTED = ("DUMMY_ATTR",)
LONGEST_ASIN = 10

Options = tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class Instruction:
    """What a shopper asks for, without the price.

    Attributes:
        text: the request.
        attributes: the properties it asks for, as the product lists them.
        options: the option values that a person named; a generated instruction names none, its goals add them.
    """

    text: str
    attributes: tuple[str, ...]
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Listing:
    """What stands beside a product in the official files: its mined attributes and the instructions that aim at it."""

    attributes: tuple[str, ...] = ATTRIBUTES_WHEN_UNLISTED
    synthetic: Instruction | None = None
    human: tuple[Instruction, ...] = ()


@dataclass(frozen=True, slots=True)
class Product:
    """One product, as its pages, the search index and the reward need it.

    Attributes:
        asin: unique id, at most 10 characters.
        title: the name on the pages; ``nouns`` are its lower-cased nouns in order, with repeats.
        category: one of a handful of departments ("beauty"); ``product_category`` is the path below it.
        query: the search that found it when the shop was collected; goals name the product by it.
        description: one text, may be empty.
        bullets: the features, at least one (it may be empty).
        options: (name, values) pairs in the order of the page, all lower case.
        prices: one price, or the two ends of a range.
        price_tag: the price as the pages show it.
        image: address of the main picture, or empty.
        attributes: mined properties such as "machine washable"; what goals ask for.
    """

    asin: str
    title: str
    category: str
    query: str
    product_category: str
    description: str
    bullets: tuple[str, ...]
    options: Options
    prices: tuple[float, ...]
    price_tag: str
    attributes: tuple[str, ...]
    nouns: tuple[str, ...]
    image: str = ""


def is_sold(record: Mapping[str, Any]) -> bool:
    """Return whether the shop lists the record: the original leaves out a missing or over-long asin."""
    asin = record.get("asin")
    return isinstance(asin, str) and asin != "nan" and len(asin) <= LONGEST_ASIN


def product_of(record: Mapping[str, Any], listing: Listing, *, nouns: Sequence[str]) -> Product:
    """Return the product of an official record, with the normalisation of the original's loader.

    Args:
        record: an element of items_shuffle*.json.
        listing: what the other files say of it.
        nouns: lower-cased nouns of its name, in order.

    Raises:
        DataError: a field is missing or of another type; the message names the product and the field.
    """
    try:
        prices = _prices(record.get("pricing"))
        return Product(
            asin=record["asin"],
            title=record["name"],
            category=record["category"],
            query=record["query"].lower().strip(),
            product_category=record["product_category"],
            description=record["full_description"],
            bullets=_bullets(record["small_description"]),
            options=_options(record["customization_options"]),
            prices=prices,
            price_tag=" to ".join(f"${price}" for price in prices),
            attributes=listing.attributes,
            nouns=tuple(nouns),
            image=next(iter(record["images"]), ""),
        )
    except (KeyError, TypeError, AttributeError, InvalidOperation) as err:
        raise DataError(
            f"product {record.get('asin')!r} is not in the items_shuffle format: {type(err).__name__} {err}"
        ) from err


def _bullets(value: Any) -> tuple[str, ...]:
    return tuple(value) or ("",) if isinstance(value, list) else (value,)


def _prices(value: Any) -> tuple[float, ...]:
    """Return one or two prices from "$5.99", "$5 to $7.50" or a list of numbers."""
    if not value:
        return (PRICE_WHEN_UNKNOWN,)
    if isinstance(value, str):
        value = [Decimal(re.sub(r"[^\d.]", "", amount)) for amount in value.split("$")[1:]]
    return tuple(float(amount) for amount in value[:2]) or (PRICE_WHEN_UNKNOWN,)


def _options(value: Any) -> Options:
    """Return the choices of customization_options, which is "" or {name: [{"value": ...}, ...] | None}."""
    choices = {
        name.lower(): tuple(entry["value"].strip().replace("/", " | ").lower() for entry in entries)
        for name, entries in (value or {}).items()
        if entries is not None
    }
    return tuple(choices.items())


def search_text(product: Product) -> str:
    """Return the text that the search index holds: title, description, first bullet and options, lower case."""
    options = ", and ".join(f"{name}: {', '.join(values)}" for name, values in product.options)
    return " ".join([product.title, product.description, product.bullets[0], options]).lower()
