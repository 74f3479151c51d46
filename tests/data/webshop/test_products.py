"""Products made from official records."""

from pathlib import Path

import pytest

from agentgym_r1.data.webshop.json_stream import objects
from agentgym_r1.data.webshop.products import Listing, is_sold, product_of, search_text
from agentgym_r1.errors import DataError
from tests.data.webshop.invented import choices, record


def test_texts_are_taken_over_and_the_query_is_normalised() -> None:
    product = product_of(record("A1"), Listing(("brass made",)), nouns=["tin", "whistle"])
    assert (product.title, product.query) == ("Tin Whistle A1", "tin whistles")
    assert product.image == "https://shop.invalid/1.jpg"
    assert (product.attributes, product.nouns) == (("brass made",), ("tin", "whistle"))


@pytest.mark.parametrize(
    ("pricing", "prices", "tag"),
    [
        ("$9.50", (9.5,), "$9.5"),
        ("$1,234.00", (1234.0,), "$1234.0"),
        ("$5 to $7.25", (5.0, 7.25), "$5.0 to $7.25"),
        ("$5 to $7.25 to $9", (5.0, 7.25), "$5.0 to $7.25"),
        ([5, 7.25], (5.0, 7.25), "$5.0 to $7.25"),
        ("", (100.0,), "$100.0"),
        (None, (100.0,), "$100.0"),
        ("free", (100.0,), "$100.0"),
    ],
)
def test_prices_are_one_number_or_a_range_and_100_when_unknown(pricing: object, prices: tuple, tag: str) -> None:
    product = product_of(record("A1", pricing=pricing), Listing(), nouns=())
    assert (product.prices, product.price_tag) == (prices, tag)


def test_option_names_and_values_are_lower_case_and_slashes_become_bars() -> None:
    options = choices(Color=[" Red/Gold", "BLUE"]) | {"Size": None}
    product = product_of(record("A1", customization_options=options), Listing(), nouns=())
    assert product.options == (("color", ("red | gold", "blue")),)


def test_the_search_text_has_title_description_first_bullet_and_options() -> None:
    options = choices(Color=["a", "b"], Size=["c"])
    made = product_of(record("A1", customization_options=options), Listing(), nouns=())
    assert search_text(made) == "tin whistle a1 a loud whistle. six holes.  color: a, b, and size: c"


def test_a_product_without_attributes_of_its_own_keeps_the_placeholder() -> None:
    assert product_of(record("A1"), Listing(), nouns=()).attributes == ("DUMMY_ATTR",)


@pytest.mark.parametrize(("asin", "sold"), [("A1", True), ("nan", False), ("ELEVENCHARS", False), (None, False)])
def test_the_shop_leaves_out_what_the_original_leaves_out(asin: str | None, sold: bool) -> None:
    assert is_sold({"asin": asin}) is sold


@pytest.mark.parametrize("field", ["name", "query", "small_description", "images"])
def test_a_record_without_a_field_names_product_and_field(field: str) -> None:
    broken = record("A1")
    del broken[field]
    with pytest.raises(DataError, match=f"product 'A1'.*{field}"):
        product_of(broken, Listing(), nouns=())


def test_a_price_that_is_no_number_is_refused() -> None:
    with pytest.raises(DataError, match="product 'A1' is not in the items_shuffle format"):
        product_of(record("A1", pricing="$1.2.3"), Listing(), nouns=())


@pytest.mark.real
def test_the_real_products_are_those_of_the_original_loader(samples: Path) -> None:
    path = samples / "data" / "webshop" / "resources_1k_documents.jsonl"
    count = 0
    for document, _ in objects(path):
        expected = document["product"]
        made = product_of(expected, Listing(tuple(expected["Attributes"])), nouns=())
        assert made.title == expected["Title"]
        assert made.description == expected["Description"]
        assert list(made.bullets) == expected["BulletPoints"]
        assert {name: list(values) for name, values in made.options} == expected["options"]
        assert (list(made.prices), made.price_tag) == (expected["pricing"], expected["Price"])
        assert (made.query, made.image) == (expected["query"], expected["MainImage"])
        assert search_text(made) == document["contents"]
        count += 1
    assert count == 1_000
