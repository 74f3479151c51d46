"""The generated shop."""

import math
import statistics
from collections import Counter
from pathlib import Path

import pytest

from agentgym_r1.data.webshop import Catalogue, Goals, build_catalogue, find_official
from agentgym_r1.data.webshop.matching import matches
from agentgym_r1.data.webshop.nouns import WordNouns
from agentgym_r1.data.webshop.products import Product, is_sold, product_of
from agentgym_r1.data.worlds.shop import WorldShop
from agentgym_r1.data.worlds.shop.vocabulary import DEPARTMENTS
from agentgym_r1.errors import ConfigError
from agentgym_r1.types import digest

FIRST_40_PRODUCTS = "7d307ee39ef0519e"


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Catalogue:
    return build_catalogue(WorldShop(1_000), tmp_path_factory.mktemp("shop") / "shop", nouns=WordNouns())


@pytest.fixture(scope="module")
def products(shop: Catalogue) -> list[Product]:
    return [shop.product(row) for row in range(len(shop))]


def test_a_seed_gives_the_same_shop_and_another_seed_another_one() -> None:
    first, second, other = (list(WorldShop(50, seed=seed).records(0)) for seed in (0, 0, 1))
    assert first == second
    assert [entry["name"] for entry, _, _ in first] != [entry["name"] for entry, _, _ in other]


def test_the_shop_of_a_seed_is_the_same_on_every_platform() -> None:
    records = [entry for entry, _, _ in WorldShop(40).records(0)]
    assert digest(records)[:16] == FIRST_40_PRODUCTS


def test_records_can_be_made_from_any_position_on() -> None:
    shop = WorldShop(60)
    assert list(shop.records(47)) == list(shop.records(0))[47:]


def test_records_have_the_official_format() -> None:
    for entry, listing, _ in WorldShop(200).records(0):
        assert is_sold(entry)
        assert product_of(entry, listing, nouns=()).title == entry["name"]


def test_there_are_at_least_six_departments_with_their_own_words(products: list[Product]) -> None:
    counts = Counter(product.category for product in products)
    assert len(counts) == len(DEPARTMENTS) >= 6
    assert min(counts.values()) > 60
    attributes = [attribute for department in DEPARTMENTS for attribute in department.attributes]
    assert len(set(attributes)) == len(attributes)


def test_no_two_attributes_of_a_department_count_as_one() -> None:
    for department in DEPARTMENTS:
        for place, attribute in enumerate(department.attributes):
            assert not any(matches(attribute, other) for other in department.attributes[place + 1 :])


def test_siblings_differ_in_one_attribute_only(products: list[Product]) -> None:
    for place in range(750, 1_000):
        sibling, first = products[place], products[place - 750]
        assert (sibling.query, sibling.options, sibling.prices) == (first.query, first.options, first.prices)
        if first.attributes:
            assert sibling.attributes[0] != first.attributes[0]
            assert sibling.attributes[1:] == first.attributes[1:]
            assert sibling.attributes[0].title() in sibling.title
            assert sibling.attributes[0] not in " ".join((first.title, *first.bullets, first.description)).lower()


def test_an_instruction_names_the_attribute_in_which_siblings_differ(shop: Catalogue) -> None:
    for kind in ("synthetic", "human"):
        for goal in list(Goals(shop, kind=kind))[::37]:
            attributes = shop.product(goal.row).attributes
            assert goal.gold.attributes[0] == attributes[0]
            assert set(goal.gold.attributes) <= set(attributes)


def test_there_are_goals_of_both_kinds_in_every_split(shop: Catalogue) -> None:
    for kind, least in (("synthetic", 300), ("human", 10)):
        goals = Goals(shop, kind=kind)
        assert min(len(goals.positions(split)) for split in ("train", "dev", "test")) >= least


def test_a_large_shop_has_no_more_instructions_than_a_middling_one(tmp_path: Path) -> None:
    shop = build_catalogue(WorldShop(6_000), tmp_path / "shop", nouns=WordNouns())
    assert 1_000 < shop.table("synthetic").num_rows < 2_200


def test_a_shop_needs_a_product() -> None:
    with pytest.raises(ConfigError, match="products must be at least 1, got 0"):
        WorldShop(0)


@pytest.mark.real
def test_options_prices_and_texts_are_spread_as_in_the_real_products(
    products: list[Product], samples: Path, tmp_path: Path
) -> None:
    source = find_official(samples / "data" / "webshop")
    real = build_catalogue(source, tmp_path / "real", nouns=WordNouns())
    ours, theirs = _statistics(products), _statistics([real.product(row) for row in range(len(real))])
    for name, (ours_value, tolerance) in ours.items():
        assert ours_value == pytest.approx(theirs[name][0], abs=tolerance), name


def _statistics(products: list[Product]) -> dict[str, tuple[float, float]]:
    """Return what is compared, with the difference that is allowed."""
    count = len(products)
    values = [len(values) for product in products for _, values in product.options]
    prices = [math.log(product.prices[0]) for product in products]

    def share(test: list[bool]) -> float:
        return sum(test) / count

    return {
        **{f"{n} options": (share([len(p.options) == n for p in products]), 0.04) for n in range(4)},
        "color": (share([any(name == "color" for name, _ in p.options) for p in products]), 0.06),
        "size": (share([any(name == "size" for name, _ in p.options) for p in products]), 0.06),
        "mean number of values": (statistics.mean(values), 1.0),
        "median number of values": (statistics.median(values), 1.0),
        "price ranges": (share([len(p.prices) == 2 for p in products]), 0.04),
        "unknown prices": (share([p.prices == (100.0,) for p in products]), 0.04),
        "median log price": (statistics.median(prices), 0.3),
        "spread of log prices": (statistics.stdev(prices), 0.25),
        "no attributes": (share([not p.attributes for p in products]), 0.06),
        "mean number of attributes": (statistics.mean(len(p.attributes) for p in products), 0.6),
        "no description": (share([not p.description for p in products]), 0.06),
        "mean words of a title": (statistics.mean(len(p.title.split()) for p in products), 3.0),
        "mean number of bullets": (statistics.mean(len(p.bullets) for p in products), 1.0),
    }
