"""Goals: of invented products, and those that the original made of the real ones."""

import json
import lzma
from pathlib import Path
from typing import Any

import pytest

from agentgym_r1.data.webshop import Catalogue, Goals, build_catalogue
from agentgym_r1.data.webshop.nouns import WordNouns
from agentgym_r1.data.webshop.splits import SPLITS
from agentgym_r1.data.worlds.shop import WorldShop
from agentgym_r1.errors import ConfigError


def rows(path: Path) -> list[dict[str, Any]]:
    with lzma.open(path, "rt", encoding="utf-8") as handle:
        return [json.loads(line) for line in handle]


def test_a_generated_instruction_has_a_goal_for_each_choice_of_options(small: Catalogue) -> None:
    goals = sorted((goal for goal in Goals(small) if goal.gold.asin == "A1"), key=lambda goal: goal.gold.options)
    assert [goal.gold.options for goal in goals] == [
        (("color", "blue"), ("size", "large")),
        (("color", "blue"), ("size", "small")),
        (("color", "red | gold"), ("size", "large")),
        (("color", "red | gold"), ("size", "small")),
    ]
    assert goals[0].instruction.startswith("Get a whistle with color: blue, and size: large, and price lower than ")
    assert goals[0].gold.attributes == ("easy play",)
    assert (goals[0].category, goals[0].gold.query) == ("music", "tin whistles")


def test_seeded_goals_leave_out_values_that_the_reward_does_not_recognise(small: Catalogue) -> None:
    seeded = [goal.gold.options for goal in Goals(small)]
    original = [goal.gold.options for goal in Goals(small, sampling="original")]
    assert {*original} - {*seeded} == {(("style", "1877black"),)}
    assert len(original) == len(seeded) + 1


def test_a_persons_instruction_has_one_goal_when_it_names_attributes(small: Catalogue) -> None:
    goals = list(Goals(small, kind="human", sampling="original"))
    assert sorted(goal.gold.options for goal in goals) == [("red | gold",), ("tiny",)]
    assert {goal.instruction.split(", and price")[0] for goal in goals} == {"a red one please", "a tiny one"}


def test_seeded_goals_of_people_leave_out_options_that_the_product_does_not_have(small: Catalogue) -> None:
    assert [goal.gold.options for goal in Goals(small, kind="human")] == [("red | gold",)]


def test_a_product_that_costs_nearly_1000_has_no_limit(small: Catalogue) -> None:
    (goal,) = [goal for goal in Goals(small) if goal.gold.asin == "A4"]
    assert goal.gold.price_upper == 1_000_000
    assert "price" not in goal.instruction


def test_prices_are_within_the_range_and_below_the_limit(small: Catalogue) -> None:
    for sampling in ("seeded", "original"):
        goals = Goals(small, sampling=sampling)
        assert 5 <= goals.price(1) <= 7.25
        assert [goals.price(row) for row in (0, 2, 3)] == [9.5, 100.0, 985.0]
        assert all(goals.price(goal.row) < goal.gold.price_upper for goal in goals)


def test_ids_are_different_and_depend_on_the_goal_alone(small: Catalogue, tmp_path: Path) -> None:
    shop = build_catalogue(WorldShop(200), tmp_path / "shop", nouns=WordNouns())
    ids = [goal.id for goal in Goals(shop)]
    assert len(set(ids)) == len(ids)
    assert [goal.id for goal in Goals(shop)] == ids
    assert {len(goal_id) for goal_id in ids} == {16}


@pytest.mark.parametrize("position", [-1, 6])
def test_a_position_outside_is_an_index_error(small: Catalogue, position: int) -> None:
    with pytest.raises(IndexError, match="the shop has synthetic goals 0 to 5"):
        Goals(small)[position]


def test_unknown_kinds_and_samplings_are_named(small: Catalogue) -> None:
    with pytest.raises(ConfigError, match="did you mean 'human'"):
        Goals(small, kind="humans")
    with pytest.raises(ConfigError, match="unknown goal_sampling 'sampled'"):
        Goals(small, sampling="sampled")


def test_splits_share_no_goal_and_no_instruction_and_hold_all(tmp_path: Path) -> None:
    shop = build_catalogue(WorldShop(400), tmp_path / "shop", nouns=WordNouns())
    for kind in ("synthetic", "human"):
        goals = Goals(shop, kind=kind)
        positions = {split: set(goals.positions(split).tolist()) for split in SPLITS}
        assert sorted(set().union(*positions.values())) == list(range(len(goals)))
        assert sum(map(len, positions.values())) == len(goals)
        requests = {split: {_request(goals[place].instruction) for place in positions[split]} for split in SPLITS}
        assert not requests["train"] & requests["test"]
        assert not requests["train"] & requests["dev"]
        assert not requests["dev"] & requests["test"]


def test_both_samplings_put_an_instruction_into_the_same_split(tmp_path: Path) -> None:
    shop = build_catalogue(WorldShop(300), tmp_path / "shop", nouns=WordNouns())
    for split in SPLITS:
        seeded, original = (
            {goals[int(place)].gold.asin for place in goals.positions(split)}
            for goals in (Goals(shop), Goals(shop, sampling="original"))
        )
        assert seeded <= original


def _request(instruction: str) -> str:
    return instruction.split(" with ")[0].split(", and price")[0]


@pytest.mark.real
@pytest.mark.parametrize(("kind", "file"), [("synthetic", "webshop_goals"), ("human", "webshop_goals_human")])
def test_original_goals_are_the_recorded_ones(real: Catalogue, samples: Path, kind: str, file: str) -> None:
    recorded = rows(samples / "golden" / f"{file}.jsonl.xz")
    goals = Goals(real, kind=kind, sampling="original")
    weights = goals.weights()
    assert len(goals) == len(weights) == len(recorded)
    for row in recorded:
        goal, options = goals[row["idx"]], row["goal_options"]
        assert goal.instruction == row["instruction_text"]
        assert goal.gold.options == tuple(options.items() if isinstance(options, dict) else options)
        assert (goal.gold.asin, goal.gold.query, goal.category) == (row["asin"], row["query"], row["category"])
        assert goal.gold.product_category == row["product_category"]
        assert list(goal.gold.attributes) == row["attributes"]
        assert goal.gold.price_upper == row["price_upper"]
        assert real.product(goal.row).title == row["name"]
        assert weights[row["idx"]] == pytest.approx(row["weight"], rel=1e-12)


@pytest.mark.real
def test_original_prices_are_the_recorded_ones(real: Catalogue, samples: Path) -> None:
    with lzma.open(samples / "golden" / "webshop_prices.json.xz", "rt", encoding="utf-8") as handle:
        recorded = json.load(handle)
    goals = Goals(real, sampling="original")
    assert {real.product(row).asin: goals.price(row) for row in range(len(real))} == recorded


@pytest.mark.real
def test_the_real_panels_are_large_enough_and_share_no_instruction(real: Catalogue) -> None:
    goals = Goals(real)
    assert len(goals) == 6_447
    assert {split: len(goals.positions(split)) for split in SPLITS} == {"train": 4376, "dev": 530, "test": 1541}
    asins = {split: {goals[int(place)].gold.asin for place in goals.positions(split)} for split in SPLITS}
    assert not asins["train"] & asins["test"]
