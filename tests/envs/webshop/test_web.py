"""The web page of the shop: a person can do what an agent can, and sees what it reads."""

import html
import re

import pytest
from starlette.testclient import TestClient

from agentgym_r1.envs.webshop.env import make
from agentgym_r1.envs.webshop.web import Visit, make_app


@pytest.fixture
def visit() -> Visit:
    env = make(source="world", action_format="plain")
    with_options = next(task for task in map(env.tasks.__getitem__, range(100)) if task.gold.options)
    return Visit(env, task=with_options.id)


@pytest.fixture
def browser(visit: Visit) -> TestClient:
    return TestClient(make_app(visit), base_url="http://127.0.0.1")


def commands(page: str) -> set[str]:
    """What the buttons of a page say to the shop."""
    return {html.unescape(value) for value in re.findall(r'name="command" value="([^"]*)"', page)}


def test_a_person_shops_with_the_buttons_to_the_full_score(browser: TestClient, visit: Visit) -> None:
    page = browser.get("/").text
    assert 'name="words"' in page
    page = browser.post("/act", data={"words": visit.env.expert().removeprefix("search[").removesuffix("]")}).text
    while not visit.env.over:
        assert commands(page) == set(visit.info["available_actions"])
        assert html.escape(visit.env.task.prompt, quote=False) in html.unescape(page)
        command = visit.env.expert()
        assert command in commands(page)
        page = browser.post("/act", data={"command": command}).text
    assert visit.info["success"]
    assert "<dt>score</dt><dd>1.000</dd>" in page
    assert "<dt>r_option</dt><dd>1.000</dd>" in page


def test_chosen_options_are_marked(browser: TestClient, visit: Visit) -> None:
    while visit.env.session.options == ():
        page = browser.post("/act", data={"command": visit.env.expert()}).text
    ((_, value),) = visit.env.session.options
    assert re.findall(r'value="([^"]*)" class="chosen"', page) == [f"click[{value}]"]


@pytest.mark.parametrize("sub", ["description", "features", "reviews"])
def test_sub_pages_have_a_way_back(browser: TestClient, visit: Visit, sub: str) -> None:
    while visit.env.session.page != "item":
        visit.act(visit.env.expert())
    page = browser.post("/act", data={"command": f"click[{sub}]"}).text
    assert visit.env.session.sub == sub
    assert commands(page) == {"click[back to search]", "click[< prev]"}


def test_what_the_agent_reads_stands_beside_the_shop_without_the_score(browser: TestClient, visit: Visit) -> None:
    browser.post("/act", data={"words": "<b>cup</b> & saucer"})
    page = browser.get("/").text
    assert html.unescape(re.search("<pre>(.*)</pre>", page, re.DOTALL)[1]) == visit.observation
    assert "<b>cup</b>" not in page
    while not visit.env.over:
        page = browser.post("/act", data={"command": visit.env.expert()}).text
    assert "1.000" in page
    assert "1.000" not in re.search("<pre>(.*)</pre>", page, re.DOTALL)[1]


def test_nonsense_is_noted_and_nothing_happens_after_the_end(browser: TestClient, visit: Visit) -> None:
    assert "That did nothing" in browser.post("/act", data={"command": "click[nothing]"}).text
    assert browser.post("/act", content=b"\xff\xfe=%%%").status_code == 200
    while not visit.env.over:
        page = browser.post("/act", data={"words": "cup"}).text
    assert "Out of steps" in page
    assert browser.post("/act", data={"command": "click[buy now]"}).text == page


def test_another_goal_can_be_drawn(browser: TestClient, visit: Visit) -> None:
    browser.post("/act", data={"words": "cup"})
    first = visit.env.task.id
    page = browser.post("/new").text
    assert visit.env.task.id != first
    assert "step 0 of 15" in page


def test_only_this_machine_is_answered(visit: Visit) -> None:
    assert TestClient(make_app(visit), base_url="http://shop.example").get("/").status_code == 400
