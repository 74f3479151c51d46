"""The reward of a purchase: by hand, and as the original recorded it."""

import json
import lzma
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentgym_r1.data.gold import ShopGold
from agentgym_r1.data.webshop import Catalogue, Product
from agentgym_r1.envs.webshop.reward import purchase_reward

PRODUCT = Product(
    asin="W1",
    title="Tin Whistle Easy Play",
    category="music",
    query="whistles",
    product_category="Music › Winds › Whistles",
    description="Quite LOUD.",
    bullets=("Six holes.", "Key of D."),
    options=(("color", ("red", "blue")),),
    prices=(9.5,),
    price_tag="$9.5",
    attributes=("brass made",),
    nouns=("tin", "whistle", "play"),
)
GOLD = ShopGold(
    asin="W1",
    query="whistles",
    product_category="Music › Winds › Whistles",
    nouns=("tin", "whistle", "play"),
    attributes=("brass made", "loud"),
    options=(("color", "red"),),
    price_upper=10.0,
)


def test_the_right_product_with_the_right_options_is_worth_one() -> None:
    verdict = purchase_reward(PRODUCT, GOLD, price=9.5, options={"color": "red"})
    assert verdict.reward == 1.0
    assert verdict.metrics() == {"r_type": 1.0, "r_att": 1.0, "r_option": 1.0, "r_price": 1.0}
    assert verdict.weights == {"w_att": 0.5, "w_option": 0.25, "w_price": 0.25}


def test_each_part_that_is_missing_costs_its_share() -> None:
    assert purchase_reward(PRODUCT, GOLD, price=9.5, options={}).reward == 0.75
    assert purchase_reward(PRODUCT, GOLD, price=10.01, options={"color": "red"}).reward == 0.75
    other = replace(GOLD, attributes=("brass made", "silent"))
    assert purchase_reward(PRODUCT, other, price=9.5, options={"color": "red"}).reward == 0.75


def test_attributes_are_found_in_title_features_and_description_too() -> None:
    for attribute in ("easy play", "key of d", "holes. key", "quite loud"):
        verdict = purchase_reward(PRODUCT, replace(GOLD, attributes=(attribute,)), price=9.5, options={})
        assert verdict.r_att == 1.0, attribute


def test_options_that_were_not_asked_for_cost_nothing() -> None:
    assert purchase_reward(PRODUCT, GOLD, price=9.5, options={"color": "red", "size": "7"}).reward == 1.0


@pytest.mark.parametrize(
    ("query", "path", "nouns", "r_type"),
    [
        ("whistles", "Other", ("tin", *"abcdefghi"), 1.0),
        ("flutes", "Whistles › Music", ("tin", *"abcdefghi"), 1.0),
        ("flutes", "Music › Drums", ("tin", "play", "a", "b", "c"), 1.0),
        ("flutes", "Music › Drums", ("tin", *"abcdefghi"), 0.5),
        ("flutes", "Music › Drums", (), 0.5),
        ("whistles", "Music › Winds", ("tin", *"abcdefghijk"), 0.1),
        ("whistles", "Music › Winds", ("drum",), 0.0),
    ],
)
def test_the_type_factor(query: str, path: str, nouns: tuple[str, ...], r_type: float) -> None:
    gold = replace(GOLD, query=query, product_category=path, nouns=nouns)
    verdict = purchase_reward(PRODUCT, gold, price=9.5, options={"color": "red"})
    assert verdict.r_type == verdict.reward == r_type


def test_where_the_original_fails_the_result_is_defined() -> None:
    nothing = replace(GOLD, attributes=(), options=())
    verdict = purchase_reward(PRODUCT, nothing, price=9.5, options={})
    assert (verdict.reward, verdict.r_att, verdict.r_option) == (1.0, None, None)
    assert verdict.metrics() == {"r_type": 1.0, "r_price": 1.0}
    for limit in (0.0, -5.0):
        assert purchase_reward(PRODUCT, replace(nothing, price_upper=limit), price=-9.0, options={}).reward == 0.0


TEXTS = st.lists(st.text(max_size=12), max_size=4).map(tuple)


@given(
    TEXTS,
    TEXTS,
    TEXTS,
    st.floats(allow_nan=False),
    st.dictionaries(st.text(max_size=6), st.text(max_size=6), max_size=3),
)
def test_every_purchase_is_worth_zero_to_one(
    attributes: tuple[str, ...], options: tuple[str, ...], nouns: tuple[str, ...], limit: float, chosen: dict[str, str]
) -> None:
    gold = replace(GOLD, attributes=attributes, options=options, nouns=nouns, price_upper=limit)
    verdict = purchase_reward(PRODUCT, gold, price=9.5, options=chosen)
    assert 0.0 <= verdict.reward <= 1.0
    assert sum(verdict.weights.values()) == pytest.approx(1.0)


@pytest.mark.real
def test_all_recorded_rewards_are_equal(real: Catalogue, samples: Path) -> None:
    with lzma.open(samples / "golden" / "webshop_nouns.json.xz", "rt", encoding="utf-8") as handle:
        nouns = json.load(handle)
    outcomes: Counter[str] = Counter()
    with lzma.open(samples / "golden" / "webshop_rewards.jsonl.xz", "rt", encoding="utf-8") as handle:
        for row in map(json.loads, handle):
            outcomes[_check(row, real, nouns)] += 1
    assert outcomes == {"equal": 3_197, "ZeroDivisionError": 13, "TypeError": 12}


def _check(row: dict[str, Any], real: Catalogue, nouns: dict[str, list[str]]) -> str:
    place = real.row_of(row["purchased_asin"])
    assert place is not None
    product = replace(real.product(place), nouns=tuple(nouns[real.product(place).title]))
    wanted = row["goal"]
    options = wanted["goal_options"]
    gold = ShopGold(
        asin=wanted["asin"],
        query=wanted["query"],
        product_category=wanted["product_category"],
        nouns=tuple(nouns[wanted["name"]]),
        attributes=tuple(wanted["attributes"]),
        options=tuple(options.items() if isinstance(options, dict) else options),
        price_upper=wanted["price_upper"],
    )
    verdict = purchase_reward(product, gold, price=row["price"], options=row["options"])
    if "error" in row:
        assert 0.0 <= verdict.reward <= 1.0
        assert verdict.r_att is None if row["error"] == "ZeroDivisionError" else not verdict.r_price
        return row["error"]
    assert verdict.reward == pytest.approx(row["reward"], abs=1e-9)
    for part in ("r_type", "r_att", "r_price", "query_match", "category_match", "title_score"):
        assert getattr(verdict, part) == row[part], part
    assert verdict.r_option == row.get("r_option")
    assert verdict.weights == {part: row.get(part, 0.0) for part in ("w_att", "w_option", "w_price")}
    return "equal"
