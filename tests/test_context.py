"""Context policies: what a prompt keeps, drops and cuts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentgym_r1.context import (
    CONTEXTS,
    Parts,
    Section,
    Turn,
    cut_middle,
    estimate_tokens,
    get_context,
)
from agentgym_r1.errors import ConfigError

HUGE = 10**9


def parts(turns: int = 3, size: int = 10) -> Parts:
    history = tuple(Turn(f"action {n} " + "a" * size, f"feedback {n} " + "f" * size) for n in range(turns))
    sections = (
        Section("Queries", tuple(f"query {n}" for n in range(turns)), keep=turns),
        Section("Passages", tuple(f"passage {n} " + "p" * size for n in range(turns)), keep=1),
    )
    return Parts("SYSTEM tools", "TASK question", "OPENING", history, sections)


@pytest.mark.parametrize("name", CONTEXTS)
def test_nothing_is_dropped_when_everything_fits(name: str) -> None:
    prompt = get_context(name).compose(parts(2), budget=HUGE, count=len)
    assert prompt.report["dropped"] == 0
    assert prompt.report["cut_tokens"] == 0
    assert prompt.report["fits"]
    assert prompt.messages[0].content == "SYSTEM tools"


def test_append_keeps_the_conversation_in_order() -> None:
    prompt = get_context("append").compose(parts(2), budget=HUGE, count=len)
    assert [message.role for message in prompt.messages] == ["system", "user", "assistant", "user", "assistant", "user"]
    assert prompt.messages[1].content == "TASK question\n\nOPENING"
    assert prompt.messages[2].content.startswith("action 0")
    assert prompt.messages[5].content.startswith("feedback 1")


def test_append_drops_the_oldest_turns_first_and_says_so() -> None:
    prompt = get_context("append").compose(parts(10, size=100), budget=700, count=len)
    text = prompt.text()
    assert prompt.report["fits"]
    assert 0 < prompt.report["dropped"] < 10
    assert f"[{prompt.report['dropped']} earlier steps are not shown]" in text
    assert "feedback 9" in text
    assert "feedback 0" not in text


def test_window_keeps_its_number_of_turns() -> None:
    prompt = get_context("window", turns=2).compose(parts(5), budget=HUGE, count=len)
    text = prompt.text()
    assert "action 2" not in text
    assert "action 3" in text
    assert "[3 earlier steps are not shown]" in text


def test_summary_tells_earlier_steps_in_one_line_each() -> None:
    prompt = get_context("summary", turns=1).compose(parts(3), budget=HUGE, count=len)
    assert "1. action 0 aaaaaaaaaa -> feedback 0 ffffffffff" in prompt.messages[1].content
    assert prompt.messages[-1].content.startswith("feedback 2")
    assert len(prompt.messages) == 4


def test_state_drops_the_oldest_passages_and_keeps_the_rest() -> None:
    prompt = get_context("state").compose(parts(10, size=100), budget=500, count=len)
    text = prompt.text()
    assert prompt.report["fits"]
    assert "passage 9" in text
    assert "passage 0" not in text
    assert all(f"query {n}" in text for n in range(10))


@pytest.mark.parametrize("name", CONTEXTS)
def test_a_huge_newest_observation_is_cut_in_the_middle_visibly(name: str) -> None:
    newest = "BEGIN " + "x" * 5000 + " END"
    sections = (Section("Observation", (newest,)),)
    prompt = get_context(name).compose(
        Parts("SYSTEM", "TASK", "", (Turn("go", newest),), sections), budget=600, count=len
    )
    text = prompt.text()
    assert prompt.report["fits"]
    assert prompt.report["cut_tokens"] > 4000
    assert "BEGIN" in text
    assert "END" in text
    assert "tokens cut ..." in text


@pytest.mark.parametrize("name", ["append", "window"])
@pytest.mark.parametrize("budget", range(300, 700, 7))
def test_a_huge_newest_observation_leaves_room_to_say_what_is_not_shown(name: str, budget: int) -> None:
    turns = (Turn("before", "o" * 900), Turn("go", "BEGIN " + "x y " * 500 + " END"))
    prompt = get_context(name).compose(Parts("SYSTEM", "TASK", "OPENING", turns), budget=budget, count=len)
    assert "[1 earlier steps are not shown]" in prompt.messages[1].content
    assert prompt.report["fits"]


@pytest.mark.parametrize("name", CONTEXTS)
@given(
    turns=st.lists(st.tuples(st.text(max_size=300), st.text(max_size=300)), max_size=8), budget=st.integers(100, 3000)
)
def test_the_task_and_the_instructions_survive_any_history(
    name: str, turns: list[tuple[str, str]], budget: int
) -> None:
    history = tuple(Turn(action, feedback) for action, feedback in turns)
    sections = (Section("History", tuple(f"{t.action} -> {t.feedback}" for t in history)),)
    composed = get_context(name).compose(
        Parts("SYSTEM", "TASK", "", history, sections), budget=budget, count=estimate_tokens
    )
    assert composed.messages[0].content == "SYSTEM"
    assert composed.messages[1].content.startswith("TASK")
    if budget >= 300:
        assert composed.report["fits"]


def test_the_report_counts_tokens_as_the_counter_does() -> None:
    prompt = get_context("append").compose(parts(1), budget=HUGE, count=len)
    assert prompt.report["tokens"] == sum(len(message.content) + 8 for message in prompt.messages)


@given(st.text(max_size=2000), st.integers(50, 500))
def test_a_cut_text_keeps_its_ends_and_its_limit(text: str, room: int) -> None:
    cut = cut_middle(text, room, len)
    assert len(cut) <= max(room, len(text) if len(text) <= room else room)
    assert cut[:1] == text[:1]
    assert cut[-1:] == text[-1:]


@pytest.mark.parametrize(
    ("name", "turns", "message"),
    [
        ("windw", None, "did you mean 'window'"),
        ("append", 2, "takes no context_turns"),
        ("window", 0, "at least 1 turn, got 0"),
        ("summary", 0, "at least 1 turn, got 0"),
    ],
)
def test_a_wrong_context_says_what_is_right(name: str, turns: int | None, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        get_context(name, turns=turns)
