"""The expert: full reward for every goal, from any page, in few steps."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentgym_r1.data.webshop import Catalogue, Goals
from agentgym_r1.envs.webshop.commands import Command, parse_command
from agentgym_r1.envs.webshop.engine import Shop
from agentgym_r1.envs.webshop.expert import best_query, next_command
from agentgym_r1.envs.webshop.reward import purchase_reward
from agentgym_r1.envs.webshop.session import Session

MAX_STEPS = 15
START = Session()


def finish(shop: Shop, goals: Goals, position: int, session: Session = START) -> tuple[float, int]:
    """Let the expert shop and return the reward and the number of steps."""
    goal, steps = goals[position], 0
    while (command := next_command(shop, session, goal)) is not None and steps < MAX_STEPS:
        spoken = parse_command(str(command))
        assert spoken == command
        after = shop.step(session, spoken)
        assert after != session
        session, steps = after, steps + 1
    if session.page != "end":
        return 0.0, steps
    product = shop.product(session.row)
    verdict = purchase_reward(product, goal.gold, price=goals.price(session.row), options=dict(session.options))
    return verdict.reward, steps


@pytest.mark.parametrize("kind", ["synthetic", "human"])
def test_the_expert_earns_full_reward_in_the_world(shop: Shop, kind: str) -> None:
    goals = Goals(shop.catalogue, kind=kind)
    outcomes = [finish(shop, goals, position) for position in range(0, len(goals), max(len(goals) // 500, 1))]
    assert {reward for reward, _ in outcomes} == {1.0}
    assert max(steps for _, steps in outcomes) <= 7


@pytest.mark.real
@pytest.mark.parametrize("kind", ["synthetic", "human"])
def test_the_expert_earns_full_reward_on_the_real_products(real_shop: Shop, kind: str) -> None:
    goals = Goals(real_shop.catalogue, kind=kind)
    outcomes = [finish(real_shop, goals, position) for position in range(0, len(goals), max(len(goals) // 500, 1))]
    assert len(outcomes) >= 500 or kind == "human"
    assert {reward for reward, _ in outcomes} == {1.0}


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_the_expert_recovers_from_any_page(shop: Shop, data: st.DataObject) -> None:
    goals, session = Goals(shop.catalogue), Session()
    position = data.draw(st.integers(0, len(goals) - 1))
    query = data.draw(st.sampled_from(["hand", best_query(shop, goals[position].row), "nothing like it"]))
    session = shop.step(session, Command("search", query))
    for _ in range(data.draw(st.integers(0, 6))):
        clickable = data.draw(st.sampled_from([name for name in shop.clickables(session) if name != "buy now"]))
        session = shop.step(session, Command("click", clickable))
    reward, _ = finish(shop, goals, position, session)
    assert reward == 1.0


def test_without_an_index_the_expert_searches_by_field(world: Catalogue) -> None:
    shop = Shop(world, lambda queries: [[] for _ in queries])
    goals = Goals(world)
    assert best_query(shop, goals[0].row) == f"<q> {goals[0].gold.query}"
    assert finish(shop, goals, 0)[0] == 1.0
