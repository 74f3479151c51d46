"""The environment over the shop: prompts, limits, scores, snapshots, batches, and what it answers to nonsense."""

import asyncio
import logging
import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentgym_r1.data.get import get
from agentgym_r1.envs.sources import _warn_once
from agentgym_r1.envs.webshop.env import WebShopEnv, make, make_vector
from agentgym_r1.envs.webshop.pages import SEPARATOR
from agentgym_r1.envs.webshop.reward import purchase_reward
from agentgym_r1.errors import ConfigError, DataError, EpisodeError
from agentgym_r1.policies import EXPLOITS, ExpertPolicy, RandomPolicy
from agentgym_r1.retrieval import MemoryRetriever, Passage
from agentgym_r1.rollout import Episode, rollout_many
from agentgym_r1.types import Document, Policy, Trajectory

ID = "AgentR1/WebShop-v0"


def shop(**kwargs: Any) -> WebShopEnv:
    """The environment over the generated shop, which takes plain commands."""
    return make(**{"source": "world", "action_format": "plain", **kwargs})


def play(policy: Policy, count: int, **kwargs: Any) -> list[Trajectory]:
    """Play the first goals of a split."""

    async def episodes() -> list[Trajectory]:
        tasks = make(**kwargs).tasks
        chosen = [Episode(tasks[index].id, seed=index) for index in range(min(count, len(tasks)))]
        return [t async for t in rollout_many(lambda: gym.make(ID, **kwargs), policy, chosen)]

    return asyncio.run(episodes())


def walk_to(env: WebShopEnv, page: str) -> dict[str, Any]:
    """Let the expert shop until a kind of page is on the screen, and return the last info."""
    _, info = env.reset(options={"index": 0})
    while env.session.page != page:
        *_, info = env.step(env.expert())
    return info


def test_the_prompt_holds_instruction_history_page_and_actions() -> None:
    env = shop()
    observation, info = env.reset(options={"index": 0})
    query = env.expert()
    observation, *_, info = env.step(query)
    assert info["feedback"] == f"{env._page}\n\nAvailable actions:\n{env._commands()}"
    for part in (f"Instruction: {env.task.prompt}", f"1. {query}", env._page, *info["available_actions"]):
        assert part in observation
    assert observation.count("Available actions") == 1


@pytest.mark.parametrize("mode", ["text", "text_rich", "url"])
def test_pages_are_shown_in_the_mode_asked_for(mode: Any) -> None:
    env = shop(observation_mode=mode)
    info = walk_to(env, "item")
    shown = env.shop.observe(env.session, env.task.prompt, mode=mode)
    assert info["feedback"].startswith(shown)
    assert (SEPARATOR in shown, "[button]" in shown, shown.startswith("http")) == tuple(
        mode == other for other in ("text", "text_rich", "url")
    )


def test_every_listed_action_is_carried_out_and_no_other_click() -> None:
    env = shop()
    for page in ("start", "results", "item"):
        info = walk_to(env, page)
        saved, before = env.snapshot(), env.session
        for command in info["available_actions"]:
            env.restore(saved)
            *_, after = env.step(command)
            assert after["valid_action"]
            assert env.session != before
        env.restore(saved)
        *_, after = env.step("click[a thing that is nowhere]")
        assert not after["valid_action"]
        assert env.session == before


def test_the_last_page_says_what_was_bought_and_not_what_it_is_worth() -> None:
    for mode in ("text", "text_rich", "url"):
        env = shop(observation_mode=mode)
        info = walk_to(env, "end")
        assert env.goal.gold.asin in info["feedback"]
        assert "score" not in info["feedback"].lower()
        assert "reward" not in info["feedback"].lower()
        assert info["available_actions"] == []
        with pytest.raises(EpisodeError, match="call reset"):
            env.expert()
        with pytest.raises(EpisodeError, match="over"):
            env.step("click[buy now]")


def test_a_purchase_is_scored_by_the_formula_with_its_parts() -> None:
    env = shop()
    for index in range(30):
        env.reset(options={"index": index})
        env.step(f"search[{env.task.prompt}]")
        *_, info = env.step(env.last()[1]["available_actions"][2])
        _, reward, terminated, _, info = env.step("click[buy now]")
        bought = env.shop.product(env.session.row)
        price = env.tasks.goals.price(env.session.row)
        worth = purchase_reward(bought, env.goal.gold, price=price, options={})
        assert terminated
        assert (reward, info["score"], info["success"]) == (worth.reward, worth.reward, worth.reward == 1.0)
        assert info["metrics"] == worth.metrics()
        assert {"r_type", "r_att", "r_price"} <= set(info["metrics"])


def test_after_fifteen_steps_nothing_is_bought() -> None:
    env = shop()
    env.reset(seed=0)
    for step in range(1, 16):
        _, reward, terminated, truncated, info = env.step("search[spoon]")
        assert (reward, terminated, truncated) == (0.0, False, step == 15)
    assert (info["success"], info["score"]) == (False, 0.0)
    assert set(info["metrics"].values()) == {0.0}


def test_success_alone_can_be_rewarded_as_gigpo_does() -> None:
    env = gym.make(ID, source="world", protocol="gigpo").unwrapped
    assert (env.max_steps, env.options.context_turns, env.format.name) == (15, 2, "action_tags")
    walk_to(env, "item")
    _, reward, *_, info = env.step("<action>click[buy now]</action>")
    assert 0 < info["score"] < 1
    assert reward == 0.0
    env.reset(options={"index": 0})
    over = False
    while not over:
        _, reward, over, _, info = env.step(env.expert())
    assert (reward, info["score"], info["success"]) == (10.0, 1.0, True)
    env.reset()
    assert env.step("<action>click[nothing]</action>")[1] == -0.1


@pytest.mark.parametrize("action_format", ["hermes", "tags", "react", "native", "plain", "action_tags"])
def test_the_expert_buys_the_right_product_in_every_format(action_format: str) -> None:
    found = play(ExpertPolicy(), 10, source="world", action_format=action_format)
    assert {t.score for t in found} == {1.0}


@pytest.mark.slow
@pytest.mark.parametrize(("goals", "count"), [("synthetic", 500), ("human", 471)])
def test_the_expert_earns_full_reward_on_500_goals_of_the_world(goals: str, count: int) -> None:
    found = play(ExpertPolicy(), 500, source="world", products=4_000, goals=goals, split="train")
    assert len(found) == count
    assert [t.task_id for t in found if not t.success or t.score != 1.0 or t.error] == []


@pytest.fixture(scope="module")
def installed(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("home")
    get("webshop", source=samples / "data" / "webshop", home=home)
    return home


@pytest.mark.real
@pytest.mark.parametrize(("goals", "count"), [("synthetic", 500), ("human", 3)])
def test_the_expert_earns_full_reward_on_the_real_products(
    installed: Path, monkeypatch: pytest.MonkeyPatch, goals: str, count: int
) -> None:
    monkeypatch.setenv("AGENTGYM_R1_HOME", str(installed))
    found = play(ExpertPolicy(), count, source="real", goals=goals)
    assert len(found) == count
    assert [t.task_id for t in found if not t.success or t.score != 1.0 or t.error] == []
    assert {t.source for t in found} == {"real"}


@pytest.mark.real
def test_the_originals_stream_is_drawn_by_the_originals_odds(installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTGYM_R1_HOME", str(installed))
    env = make(source="real", goal_sampling="original", split="train")
    assert len(env.tasks) > len(make(source="real", split="train").tasks)
    env.reset(seed=0)
    drawn = [env._draw() for _ in range(4_000)]
    chances = env.tasks.chances
    often = set(sorted(range(len(chances)), key=lambda index: -chances[index])[: len(chances) // 10])
    expected = sum(chances[index] for index in often)
    assert sum(index in often for index in drawn) / len(drawn) == pytest.approx(expected, abs=0.03)
    assert expected > 0.2


def test_the_potential_grows_on_the_way_to_the_purchase() -> None:
    env = shop()
    env.reset(options={"index": 0})
    seen = [env.potential()]
    while not env.over:
        *_, info = env.step(env.expert())
        seen.append(env.potential())
        assert info["events"]["new_gold"] == (seen[-2] < 0.5 <= seen[-1])
    assert seen == sorted(seen)
    assert (seen[0], seen[-1]) == (0.0, 1.0)
    assert {0.25, 0.5} < set(seen)


def test_a_repeated_search_is_told_to_the_reward_wrappers() -> None:
    env = shop()
    env.reset(seed=0)
    repeated = [env.step(f"search[{query}]")[4]["events"]["repeated_query"] for query in ("cup", "hat", "CUP", "cup")]
    assert repeated == [0.0, 0.0, 1.0, 1.0]


def test_equal_pages_have_equal_anchors_whatever_came_before() -> None:
    env = shop()
    env.reset(options={"index": 0})
    env.step("search[cup]")
    first = env.anchor()
    env.step("click[next >]")
    assert env.anchor() != first
    env.step("click[< prev]")
    assert env.anchor() == first


BAD = [
    "search[]",
    "click[]",
    "nonsense",
    "click[size [us]]",
    "click[search]",
    "buy now",
    "search",
    "[]",
    "click[<a> x]",
]


@pytest.mark.parametrize("action", BAD)
def test_a_bad_action_is_answered_with_a_right_example_and_the_page(action: str) -> None:
    env = shop()
    for page, example in (("start", "search[wool blanket]"), ("results", "click[back to search]")):
        walk_to(env, page)
        before = env.session
        observation, reward, terminated, _, info = env.step(action)
        assert (env.session, reward, terminated, info["valid_action"]) == (before, 0.0, False, False)
        assert f"A right example:\n{example}" in info["feedback"]
        assert env._page in info["feedback"]
        assert f"A right example:\n{example}" in observation
        observation, *_ = env.step("search[cup]")
        assert "A right example" not in observation


def test_a_response_without_a_call_shows_the_page_again_in_a_short_window() -> None:
    env = make(source="world", context="window", context_turns=1)
    walk_to(env, "item")
    for action in ("what now?", "<answer>it</answer>", '<tool_call>{"name": "buy", "arguments": {}}</tool_call>'):
        observation, *_, info = env.step(action)
        assert not info["valid_action"]
        assert env._page in observation
        assert "env_step" in info["feedback"]


def test_only_the_first_of_several_calls_is_carried_out_and_the_policy_is_told() -> None:
    env = make(source="world")
    env.reset(seed=0)
    observation, *_, info = env.step("\n".join(env._say(f"search[{query}]") for query in ("cup", "hat")))
    assert env.session.query == "cup"
    assert "1 more calls were ignored" in info["feedback"]
    assert "1 more calls were ignored" in observation


ODD = ["search[<a> x]", "search[" + "a b" * 5_000 + "]", "search[[[]]]", "click[[[x]]]", "search[\n]", "search[\ud800]"]


@settings(max_examples=60)
@given(actions=st.lists(st.one_of(st.sampled_from(ODD), st.text(), st.text().map("search[{}]".format)), max_size=6))
def test_no_action_raises_or_pays(actions: list[str]) -> None:
    env = shop()
    env.reset(seed=0)
    for action in actions:
        observation, reward, *_ = env.step(action)
        assert env.observation_space.contains(observation)
        assert reward == 0.0


def test_a_snapshot_holds_little_and_continues_anywhere() -> None:
    env, other = shop(), shop()
    walk_to(env, "item")
    assert len(env.session.to_bytes()) < 600
    other.restore(env.snapshot())
    assert other.last()[0] == env.last()[0]
    while not env.over:
        action = env.expert()
        assert other.expert() == action
        assert other.step(action)[:4] == env.step(action)[:4]


def test_environments_of_a_process_share_catalogue_and_shop() -> None:
    first, second, dev = shop(), shop(), shop(split="dev")
    assert first.shop is second.shop is dev.shop
    assert first.tasks is second.tasks is not dev.tasks
    assert len(pickle.dumps(first)) < 5_000


class Counting:
    """A retriever that counts how often it is asked."""

    name = "counting"

    def __init__(self, asins: list[str]) -> None:
        self.asins, self.batches = asins, []

    def search(self, queries: Any, *, k: int) -> list[list[Passage]]:
        self.batches.append(len(queries))
        return [[Passage(asin, "", "", 1.0) for asin in self.asins[:k]] for _ in queries]


def test_the_batched_environment_searches_once_a_step() -> None:
    retriever = Counting([shop().tasks.goal(0).gold.asin, "NOT SOLD"])
    envs = make_vector(5, source="world", action_format="plain", retriever=retriever)
    envs.reset(seed=0)
    envs.step([f"search[{word}]" for word in ("cup", "hat", "cup", "tea", "pan")])
    assert retriever.batches == [4]
    assert {env.last()[1]["available_actions"][2] for env in envs.envs} == {f"click[{retriever.asins[0].lower()}]"}
    envs.close()


def test_a_retriever_over_another_corpus_is_asked_by_asin() -> None:
    goal = shop().tasks.goal(0)
    env = shop(retriever=MemoryRetriever([Document(goal.gold.asin, "", "a wonderful thing")]))
    env.reset(options={"index": 0})
    *_, info = env.step("search[wonderful]")
    assert f"click[{goal.gold.asin.lower()}]" in info["available_actions"]


def bought(trajectory: Trajectory, choose: Callable[[WebShopEnv], dict[str, str]]) -> float:
    """Return what the formula gives for the product on the last page of a recorded episode."""
    env = shop()
    env.reset(options={"task": trajectory.task_id})
    for transition in trajectory.transitions:
        env.step(transition.action)
    row, options = env.session.row, dict(env.session.options)
    assert options == choose(env)
    return purchase_reward(
        env.shop.product(row), env.goal.gold, price=env.tasks.goals.price(row), options=options
    ).reward


def everything(env: WebShopEnv) -> dict[str, str]:
    """The last value of each option, which remains when all are clicked in order within the steps."""
    product = env.shop.product(env.session.row)
    values = [(name, value) for name, values in product.options for value in values][: env.max_steps - 3]
    return dict(values)


@pytest.mark.parametrize(
    ("name", "choose"),
    [("exploit-first", lambda env: {}), ("exploit-no-options", lambda env: {}), ("exploit-click", everything)],
)
def test_an_exploit_scores_what_the_formula_gives_and_no_more(name: str, choose: Any) -> None:
    found = play(EXPLOITS[name], 60, source="world", action_format="plain")
    assert [t.error for t in found if t.error] == []
    for trajectory in found:
        if trajectory.transitions[-1].terminated:
            assert trajectory.score == bought(trajectory, choose)
        else:
            assert trajectory.score == 0.0
    assert sum(t.success for t in found) < 30
    assert sum(t.score for t in found) < 50


def test_random_moves_search_for_words_of_the_instruction() -> None:
    for trajectory in play(RandomPolicy(), 20, source="world", action_format="plain"):
        words = trajectory.transitions[0].action.removeprefix("search[").removesuffix("]")
        assert words
        assert set(words.split()) <= set(re.findall(r"[\w'-]+", trajectory.transitions[0].observation))
        assert words != "keywords"


def test_buying_without_options_loses_exactly_their_share() -> None:
    for trajectory in play(EXPLOITS["exploit-no-options"], 60, source="world"):
        gold = shop().tasks[shop().tasks.index_of(trajectory.task_id)].gold
        asked = len(gold.attributes) + len(gold.options) + 1
        assert trajectory.score == pytest.approx(1 - len(gold.options) / asked)


@pytest.mark.parametrize(
    ("kwargs", "error", "message"),
    [
        ({"goals": "robot"}, ConfigError, "unknown kind of goals 'robot'"),
        ({"goal_sampling": "orignal"}, ConfigError, "did you mean 'original'"),
        ({"observation_mode": "html"}, ConfigError, "observation_mode must be one of 'text', 'text_rich', 'url'"),
        ({"outcome": "sucess"}, ConfigError, "outcome must be one of 'score', 'success'"),
        ({"products": 0}, ConfigError, "products must be at least 1, got 0"),
        ({"products": "all"}, ConfigError, "products must be a number, or 'full' for the real set, got 'all'"),
        ({"products": "full"}, ConfigError, "products must be a number"),
        ({"products": "full", "source": "auto"}, DataError, "agentgym-r1 data get webshop-full"),
        ({"products": 5_000, "source": "real"}, ConfigError, "the real sets have 1000 products or 'full'"),
        ({"retriever": "bm26"}, ConfigError, "did you mean 'bm25'"),
    ],
)
def test_a_wrong_argument_says_what_is_right(kwargs: dict[str, Any], error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        shop(**kwargs)


def test_auto_takes_the_world_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("AGENTGYM_R1_HOME", str(tmp_path))
    _warn_once.cache_clear()
    with caplog.at_level(logging.WARNING):
        env = make(products=1_000)
    assert "webshop is not installed, so its embedded world is used" in caplog.text
    _, info = env.reset(seed=0)
    assert (info["task"]["source"], info["task"]["set"], info["task"]["split"]) == ("world", "webshop", "test")


def test_goals_of_people_and_other_sizes_can_be_asked_for() -> None:
    env = shop(goals="human", products=300, split="train")
    assert len(env.shop.catalogue) == 300
    env.reset(seed=0)
    assert env.tasks.goals.kind == "human"
    _, info = env.reset(options={"task": f"goal:{int(env.tasks._positions[3])}"})
    assert info["task"]["index"] == 3
    assert info["available_actions"] == ["search[<keywords>]"]
