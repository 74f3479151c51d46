"""What the formats say around actions: instructions, stop strings, feedback, and what they refuse to write."""

import json
import pickle

import pytest

from agentgym_r1.actions import FORMATS, get_format
from agentgym_r1.errors import ConfigError
from agentgym_r1.types import ToolCall, ToolSchema


def schema(name: str, *arguments: str, required: tuple[str, ...] = ()) -> ToolSchema:
    parameters = {"type": "object", "properties": {a: {"type": "string"} for a in arguments}, "required": [*required]}
    example = ToolCall(name, {argument: f"an {argument}" for argument in required or arguments})
    return ToolSchema(name, f"What {name} does.", parameters, example)


SEARCH = schema("search", "query", required=("query",))
CALCULATOR = schema("calculator", "expression", "digits", required=("expression",))
FINISH = schema("finish")
EXPAND = schema("expand", "paper", "direction", required=("paper", "direction"))
COMMAND = schema("act", "text", required=("text",))
ANSWERING = ("hermes", "tags", "react", "native")


def test_an_unknown_format_is_named_with_the_closest_one() -> None:
    with pytest.raises(ConfigError, match="unknown action format 'herms'; did you mean 'hermes'"):
        get_format("herms")


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_says_its_name_and_pickles(name: str) -> None:
    action_format = get_format(name)
    assert action_format.name == name
    assert pickle.loads(pickle.dumps(action_format)) == action_format


@pytest.mark.parametrize("name", ANSWERING)
def test_instructions_hold_a_right_example_and_the_answer_only_where_there_is_one(name: str) -> None:
    tools = (CALCULATOR, SEARCH)
    action_format = get_format(name, tools)
    closed = action_format.instructions(tools, answers=False)
    assert "answer" not in closed.lower()
    told = action_format.instructions(tools, answers=True)
    assert told.startswith(closed)
    assert action_format.parse(told.removeprefix(closed)).answer == "the answer"
    if name != "native":
        assert "What calculator does." in closed
        assert "What search does." in closed
        assert action_format.parse(closed).calls[-1].name == "calculator"


@pytest.mark.parametrize("name", ["hermes", "react"])
def test_instructions_hold_the_schemas_as_json(name: str) -> None:
    lines = get_format(name, (SEARCH,)).instructions((SEARCH,), answers=True).splitlines()
    assert [json.loads(line) for line in lines if line.startswith('{"type": "function"')] == [SEARCH.to_openai()]
    assert SEARCH.to_openai() == {
        "type": "function",
        "function": {"name": "search", "description": "What search does.", "parameters": SEARCH.parameters},
    }


@pytest.mark.parametrize("name", ["plain", "action_tags"])
def test_instructions_for_commands_hold_a_right_example(name: str) -> None:
    action_format = get_format(name, (COMMAND,))
    told = action_format.instructions((COMMAND,), answers=False)
    assert "What act does." in told
    assert "an text" in told


@pytest.mark.parametrize("name", FORMATS)
def test_errors_show_the_example_of_the_first_tool(name: str) -> None:
    action_format = get_format(name, (COMMAND,))
    example = action_format.parse("").error.partition("A right example:\n")[2]
    assert action_format.parse(example).calls == (COMMAND.example,)


@pytest.mark.parametrize(
    ("name", "feedback"),
    [
        ("hermes", "<tool_response>\nIt is 3.\n</tool_response>"),
        ("tags", "<information>It is 3.</information>"),
        ("react", "Observation: It is 3."),
        ("native", "It is 3."),
        ("plain", "It is 3."),
        ("action_tags", "It is 3."),
    ],
)
def test_feedback_is_wrapped_as_the_format_does(name: str, feedback: str) -> None:
    assert get_format(name).feedback("It is 3.") == feedback


@pytest.mark.parametrize("name", ["tags", "action_tags"])
def test_a_written_action_ends_with_a_stop_string(name: str) -> None:
    action_format = get_format(name)
    example = action_format.parse("").error.partition("A right example:\n")[2]
    assert example.endswith(action_format.stop)


def test_what_a_policy_makes_up_after_its_action_is_behind_a_stop_string() -> None:
    for name in ("hermes", "react"):
        action_format = get_format(name)
        made_up = action_format.call(SEARCH.example) + "\n" + action_format.feedback("a made-up passage")
        (stop,) = action_format.stop
        assert action_format.parse(made_up.partition(stop)[0] + stop).calls == (SEARCH.example,)


def test_tags_take_their_argument_from_the_schema() -> None:
    tags = get_format("tags", (CALCULATOR, FINISH))
    assert tags.stop == ("</calculator>", "</finish>", "</answer>")
    calls = (ToolCall("calculator", {"expression": "2 < 3"}), ToolCall("finish", {}))
    assert tags.call(*calls) == "<calculator>2 < 3</calculator>\n<finish></finish>"
    assert tags.parse(tags.call(*calls)).calls == calls


def test_tags_write_what_is_not_text_as_json() -> None:
    tags = get_format("tags", (CALCULATOR,))
    written = tags.call(ToolCall("calculator", {"expression": 3}))
    assert tags.parse(written).calls == (ToolCall("calculator", {"expression": "3"}),)


def test_react_takes_plain_text_as_the_input_of_a_tool_with_one_argument() -> None:
    react = get_format("react", (SEARCH, FINISH))
    assert react.parse("Action: search\nAction Input: Ada Lovelace").calls == (
        ToolCall("search", {"query": "Ada Lovelace"}),
    )
    assert react.parse("Action: finish").calls == (ToolCall("finish", {}),)
    assert react.parse("Action: finish\nAction: search\nAction Input: a").calls == (
        ToolCall("finish", {}),
        ToolCall("search", {"query": "a"}),
    )


@pytest.mark.parametrize("name", ["tags", "plain", "action_tags"])
def test_formats_without_argument_names_refuse_tools_with_several(name: str) -> None:
    with pytest.raises(ConfigError, match="takes paper, direction, but this action format writes one text a call"):
        get_format(name, (EXPAND,))


@pytest.mark.parametrize("name", ["plain", "action_tags"])
@pytest.mark.parametrize("tools", [(SEARCH, COMMAND), (FINISH,)])
def test_command_formats_need_one_tool_with_one_argument(name: str, tools: tuple[ToolSchema, ...]) -> None:
    with pytest.raises(ConfigError, match="needs one tool with one argument"):
        get_format(name, tools)


def test_tags_refuse_a_tool_named_like_another_tag() -> None:
    with pytest.raises(ConfigError, match="cannot be named 'answer'"):
        get_format("tags", (schema("answer", "text"),))


def test_tags_refuse_calls_they_cannot_write() -> None:
    with pytest.raises(ConfigError, match="no tag stands for the tool 'calculator'"):
        get_format("tags").call(ToolCall("calculator", {"expression": "1"}))
    with pytest.raises(ConfigError, match="takes the arguments"):
        get_format("tags").call(ToolCall("search", {"query": "a", "k": 3}))


def test_plain_refuses_calls_it_cannot_write() -> None:
    plain = get_format("plain")
    with pytest.raises(ConfigError, match="writes one call of 'env_step'"):
        plain.call()
    with pytest.raises(ConfigError, match="writes one call of 'env_step'"):
        plain.call(SEARCH.example)


@pytest.mark.parametrize("name", ["plain", "action_tags"])
def test_command_formats_have_no_answer(name: str) -> None:
    with pytest.raises(ConfigError, match="no final answer"):
        get_format(name).answer("Paris")
    with pytest.raises(ConfigError, match="no final answer"):
        get_format(name).instructions((), answers=True)
