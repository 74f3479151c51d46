"""What a format writes, it reads back; what it reads never breaks it."""

import math
import random
import time
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentgym_r1.actions import FORMATS, ActionFormat, ParsedAction, get_format
from agentgym_r1.types import ToolCall

JSON_FORMATS = ("hermes", "react", "native")
ANSWERING = ("hermes", "tags", "react", "native")
PIECES = (
    *("<think>", "</think>", "<tool_call>", "</tool_call>", "<answer>", "</answer>", "<search>", "</search>"),
    *("<action>", "</action>", "<tool_response>", "<information>", "<|im_end|>", "<|endoftext|>", "</s>", "<"),
    *("Thought:", "Action:", "Action Input:", "Observation:", "Final Answer:", "\n", "\n\n", "\r\n", " ", "\t"),
    *('{"name": "search", "arguments": {"query": "a"}}', '{"tool_calls": [', '{"role": "assistant", "content": "'),
    *(
        '{"function": {"name": "search", "arguments": "{}"}}',
        "{",
        "}",
        "[",
        "]",
        '"',
        "\\",
        "\\u003c",
        "\\u005c",
        "\\u000a",
    ),
    *("\\ud800", "u003c", "search", "Paris", "42", "NaN", "1e999", "\u2028", "｜", "日本", "\x00"),
)
marked = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=5)), max_size=12).map("".join)
texts = st.one_of(st.text(), marked)
names = st.from_regex(r"[A-Za-z_][A-Za-z0-9_.-]{0,20}", fullmatch=True)
numbers = st.integers(-(10**20), 10**20) | st.floats(allow_nan=False, allow_infinity=False)
values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
calls = st.builds(ToolCall, names, st.dictionaries(texts, values, max_size=3))


@pytest.mark.parametrize("name", JSON_FORMATS)
@given(made=st.lists(calls, min_size=1, max_size=3), thought=texts)
def test_written_calls_are_read_back(name: str, made: list[ToolCall], thought: str) -> None:
    action_format = get_format(name)
    assert action_format.parse(action_format.call(*made, thought=thought)) == ParsedAction(calls=tuple(made))


@given(made=st.builds(ToolCall, names, st.dictionaries(texts, values, max_size=3), id=texts))
def test_native_keeps_the_id_of_a_call(made: ToolCall) -> None:
    native = get_format("native")
    assert native.parse(native.call(made)).calls == (made,)


@pytest.mark.parametrize("name", ANSWERING)
@given(answer=texts, thought=texts)
def test_a_written_answer_is_read_back_without_surrounding_blanks(name: str, answer: str, thought: str) -> None:
    action_format = get_format(name)
    assert action_format.parse(action_format.answer(answer, thought=thought)) == ParsedAction(answer=answer.strip())


@given(queries=st.lists(texts, min_size=1, max_size=3), thought=texts)
def test_tags_carry_every_text_without_surrounding_blanks(queries: list[str], thought: str) -> None:
    tags = get_format("tags")
    written = tags.call(*(ToolCall("search", {"query": query}) for query in queries), thought=thought)
    assert tags.parse(written) == ParsedAction(tuple(ToolCall("search", {"query": q.strip()}) for q in queries))


@pytest.mark.parametrize("name", ["plain", "action_tags"])
@given(command=texts.filter(str.strip), thought=texts)
def test_every_command_is_read_back_without_surrounding_blanks(name: str, command: str, thought: str) -> None:
    action_format = get_format(name)
    written = action_format.call(ToolCall("env_step", {"command": command}), thought=thought)
    assert action_format.parse(written).calls == (ToolCall("env_step", {"command": command.strip()}),)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.slow
@settings(max_examples=1_700, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(response=texts, data=st.data())
def test_random_and_mutated_responses_are_always_read(name: str, response: str, data: st.DataObject) -> None:
    action_format = get_format(name)
    written = action_format.call(*([action_format_example(action_format)]), thought=response)
    start = data.draw(st.integers(0, len(written)))
    end = data.draw(st.integers(start, len(written)))
    for text in (response, written[:start] + data.draw(marked) + written[end:]):
        parsed = action_format.parse(text)
        assert bool(parsed.error) == (not parsed.calls and parsed.answer is None)
        assert not (parsed.calls and parsed.answer is not None)


def action_format_example(action_format: ActionFormat) -> ToolCall:
    """The call that the format's own errors show."""
    (call,) = action_format.parse(action_format.parse("").error.partition("A right example:\n")[2]).calls
    return call


NOISE = {
    "letters": "a",
    "blanks": " ",
    "newlines": "\n",
    "opening brackets": "[",
    "angle brackets": "<",
    "backslashes": "\\",
    "end pieces": "<|a|>",
    "blank end pieces": " <|im_end|> ",
    "thoughts": "<think></think>",
    "open thoughts": "<think>",
    "closed thoughts": "</think>",
    "open calls": "<tool_call>",
    "open objects": "<tool_call>{",
    "open names": '<tool_call>{"',
    "nested calls": '{"<tool_call>":',
    "nested calls, opened": '<tool_call>{"a":[{"',
    "empty calls": "<tool_call></tool_call>",
    "dropped calls": "<tool_call>{</think>",
    "good calls": '<tool_call>{"name": "a"}</tool_call>',
    "open answers": "<answer>",
    "answers": "<answer>a</answer>",
    "open searches": "<search>",
    "searches": "<search>a</search>",
    "open actions": "<action>",
    "labels": "Action:\n",
    "actions": "Action: a\n",
    "inputs": "Action: a\nAction Input: {\n",
    "blank lines": "\n \t ",
    "observations": "Observation:\n",
    "messages": '{"tool_calls":\n',
    "escapes": "\\u003c",
}


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("noise", NOISE)
def test_100_kb_of_noise_take_less_than_50_ms(name: str, noise: str) -> None:
    action_format = get_format(name)
    text = (NOISE[noise] * 100_000)[:100_000]
    assert min(seconds(action_format, text) for _ in range(3)) < 0.05


def seconds(action_format: ActionFormat, text: str) -> float:
    start = time.thread_time()
    parsed = action_format.parse(text)
    assert parsed.error or parsed.calls or parsed.answer is not None
    return time.thread_time() - start


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("seed", range(10))
def test_100_kb_of_mixed_noise_take_less_than_50_ms(name: str, seed: int) -> None:
    action_format, rng = get_format(name), random.Random(seed)
    pieces = rng.sample(PIECES, k=rng.randint(1, 8))
    text = "".join(rng.choices(pieces, k=math.ceil(100_000 / max(sum(map(len, pieces)) / len(pieces), 1))))[:100_000]
    assert min(seconds(action_format, text) for _ in range(3)) < 0.05
