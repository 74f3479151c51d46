"""Every recorded step of the original engine, in text and text_rich mode.

The searches are fed from the record, as its index was not Lucene's. The original finds out which page it is on by
looking for page names in an address that also holds the query; the episodes of QUIRKS have such a query, and go back to
a page that ours does not confuse.
"""

import json
import lzma
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agentgym_r1.data.gold import ShopGold
from agentgym_r1.data.webshop import Catalogue, Goals
from agentgym_r1.envs.webshop.commands import parse_command
from agentgym_r1.envs.webshop.engine import Shop
from agentgym_r1.envs.webshop.reward import PurchaseReward, purchase_reward
from agentgym_r1.envs.webshop.session import Session

pytestmark = pytest.mark.real

QUIRKS = (13, 49, 66, 89, 246, 264, 276, 279, 301, 311, 317)
PAGE_NAMES = ("search_results", "item_page")

Episode = dict[str, Any]


@pytest.fixture(scope="module")
def episodes(samples: Path) -> list[Episode]:
    with lzma.open(samples / "golden" / "webshop_transcripts.jsonl.xz", "rt", encoding="utf-8") as handle:
        return [json.loads(line) for line in handle]


@pytest.fixture(scope="module")
def nouns(samples: Path) -> dict[str, tuple[str, ...]]:
    with lzma.open(samples / "golden" / "webshop_nouns.json.xz", "rt", encoding="utf-8") as handle:
        return {title: tuple(words) for title, words in json.load(handle).items()}


def replay(episode: Episode, goals: Goals, nouns: dict[str, tuple[str, ...]]) -> Iterator[dict[str, Any]]:
    """Yield what the recording has of each step, played again."""
    row_of = goals.catalogue.row_of
    shop = Shop(goals.catalogue, lambda queries: [[row_of(asin) for asin in episode["searches"][q]] for q in queries])
    session = Session()
    for recorded in episode["steps"]:
        before, command = session, parse_command(recorded["action"] or "")
        session = shop.step(session, command) if command else session
        ended = session is not before and session.page == "end"
        reward = verdict(shop, session, episode["goal"], goals, nouns).reward if ended else 0.0
        instruction = episode["goal"]["instruction_text"]
        yield {
            "action": recorded["action"],
            "observation": shop.observe(session, instruction, mode=episode["mode"], reward=reward),
            "available_actions": {
                "has_search_bar": session.page == "start",
                "clickables": list(shop.clickables(session)),
            },
            "reward": reward,
            "done": ended,
        }


def verdict(
    shop: Shop, session: Session, goal: dict[str, Any], goals: Goals, nouns: dict[str, tuple[str, ...]]
) -> PurchaseReward:
    """Return the reward of the purchase, with spaCy's nouns."""
    product, wanted = shop.product(session.row), goal["goal_options"]
    gold = ShopGold(
        asin=goal["asin"],
        query=goal["query"],
        product_category=goal["product_category"],
        nouns=nouns[goal["name"]],
        attributes=tuple(goal["attributes"]),
        options=tuple(wanted.items() if isinstance(wanted, dict) else wanted),
        price_upper=goal["price_upper"],
    )
    product = replace(product, nouns=nouns[product.title])
    return purchase_reward(product, gold, price=goals.price(session.row), options=dict(session.options))


def test_every_step_is_the_recorded_one(
    episodes: list[Episode], real: Catalogue, nouns: dict[str, tuple[str, ...]]
) -> None:
    goals = Goals(real, sampling="original")
    different = {}
    for number, episode in enumerate(episodes):
        for place, (ours, theirs) in enumerate(zip(replay(episode, goals, nouns), episode["steps"], strict=True)):
            if ours != theirs:
                different[number] = (place, ours, theirs)
                break
    assert tuple(different) == QUIRKS
    for number, (place, ours, theirs) in different.items():
        assert episodes[number]["kind"] == "quirk"
        assert ours["action"] == "click[< prev]"
        assert (ours["reward"], ours["done"]) == (theirs["reward"], theirs["done"])
        assert any(name in query for name in PAGE_NAMES for query in episodes[number]["searches"]), place


def test_the_recording_covers_what_matters(episodes: list[Episode]) -> None:
    steps = Counter(episode["mode"] for episode in episodes for step in episode["steps"][1:])
    assert steps == {"text": 1_635, "text_rich": 1_124}
    rewards = {step["reward"] for episode in episodes for step in episode["steps"] if step["done"]}
    assert len(rewards) == 22


def test_purchases_have_the_recorded_price_options_and_parts(
    episodes: list[Episode], real: Catalogue, nouns: dict[str, tuple[str, ...]]
) -> None:
    goals, checked = Goals(real, sampling="original"), 0
    shop = Shop(real, lambda queries: [[] for _ in queries])
    for episode in episodes:
        bought = episode["purchase"]
        if bought is None:
            continue
        row = real.row_of(bought["asin"])
        assert row is not None
        assert goals.price(row) == bought["price"]
        session = Session(page="end", row=row, options=tuple(bought["options"].items()))
        parts = verdict(shop, session, episode["goal"], goals, nouns)
        assert parts.metrics() == {name: bought["info"][name] for name in parts.metrics()}
        checked += 1
    assert checked == 190


def test_recorded_edge_cases_are_answered_and_the_crashes_are_not(samples: Path, real: Catalogue) -> None:
    """Blank and punctuation queries, crashes, and actions after the purchase, on the first goal."""
    sequences = json.loads((samples / "golden" / "webshop_edge_cases.json").read_text(encoding="utf-8"))
    instruction = Goals(real, sampling="original")[0].instruction
    for sequence in sequences:
        session, found = Session(), _listed(sequence, real)
        shop = Shop(real, lambda queries, found=found: [found for _ in queries])
        for recorded in sequence:
            command = parse_command(recorded["action"])
            assert command is not None
            after_end = session.page == "end"
            session = shop.step(session, command)
            shown = shop.observe(session, instruction, reward=0.0)
            if "error" in recorded:
                assert "Page 1 (Total results: 0)" in shown or recorded["action"] == "search[<a> soft]"
            elif after_end:
                assert session.page == "end"
            elif "search_results" not in sequence[0]["action"]:
                assert _without_total(shown)[:200] == _without_total(recorded["observation"])[:200]


def _listed(sequence: list[dict[str, Any]], real: Catalogue) -> list[int | None]:
    """Return the rows of the products that the sequence's first page of results shows."""
    clickables = next((step["clickables"] for step in sequence if "clickables" in step), [])
    return [real.row_of(name.upper()) for name in clickables if name.startswith("b0")]


def _without_total(text: str) -> str:
    start, _, rest = text.partition(" (Total results: ")
    return start + rest.partition(")")[2]
