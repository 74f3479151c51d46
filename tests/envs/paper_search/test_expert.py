"""The expert of paper search."""

from kites import PAPERS, make_env

from agentgym_r1.corpus import MemoryPapers, Paper
from agentgym_r1.data.gold import PaperGold
from agentgym_r1.data.tasks import ListTasks
from agentgym_r1.envs.paper_search.env import PaperSearchEnv
from agentgym_r1.retrieval import MemoryRetriever
from agentgym_r1.retrieval.library import LocalLibrary
from agentgym_r1.text_env import Options
from agentgym_r1.types import Task


def play(env: PaperSearchEnv) -> list[str]:
    """Let the expert play an episode that has begun; return its actions."""
    actions = []
    over = False
    while not over:
        actions.append(env.expert())
        *_, terminated, truncated, _ = env.step(actions[-1])
        over = terminated or truncated
    return actions


def one_task(gold: PaperGold, *more: Paper, max_steps: int = 5) -> PaperSearchEnv:
    papers = MemoryPapers((*PAPERS, *more))
    tasks = ListTasks([Task("t", "sailing bread", gold)], name="kites", split="test", source="world")
    library = LocalLibrary(papers, MemoryRetriever(papers.documents))
    env = PaperSearchEnv(tasks, library, options=Options(max_steps=max_steps), k=1)
    env.reset(seed=0)
    return env


def test_the_query_comes_first_then_expansions_that_show_what_is_missing() -> None:
    env = make_env(k=1)
    env.reset(options={"task": "kites"})
    first, second, third = play(env)
    assert '{"query": "kites"}' in first
    assert '{"paper_id": ' in second
    assert '"finish"' in third
    assert env.potential() == 1.0


def test_what_no_expansion_shows_is_searched_by_title() -> None:
    env = one_task(PaperGold(("k1", "b1"), ("Kite tails", "Bread ovens")))
    actions = play(env)
    assert any('{"query": "Kite tails"}' in action for action in actions)
    assert env.potential() == 1.0


def test_a_misleading_title_is_searched_again_with_the_abstract() -> None:
    env = one_task(PaperGold(("p1",), ("Kite tails",)), Paper("p1", "Kite paint", "Paint dries."))
    actions = play(env)
    assert any("Kite tails Paint dries." in action for action in actions)
    assert env.potential() == 1.0


def test_what_cannot_be_reached_is_named_at_the_end() -> None:
    env = one_task(PaperGold(("p1",), ("Bread",)), Paper("p1", "", ""))
    actions = play(env)
    assert [action.count('"search"') for action in actions] == [1, 1, 0]
    assert "Not reachable here: Bread." in actions[-1]
    assert env.potential() == 0.0


def test_the_last_step_ends_with_finish() -> None:
    env = one_task(PaperGold(("k1", "b1"), ("Kite tails", "Bread ovens")), max_steps=1)
    (action,) = play(env)
    assert action.count('"search"') == 2
    assert action.endswith('{"name": "finish", "arguments": {}}\n</tool_call>')
    assert env.potential() == 1.0
