"""Signatures become schemas, calls are checked against them, and equal tools share a batch."""

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from agentgym_r1.actions import get_format
from agentgym_r1.errors import AgentGymError, ConfigError, RetrievalError
from agentgym_r1.tools.base import BoundCall, Tool, ToolBox, bind, run_batch
from agentgym_r1.types import ToolCall, ToolResult


class Weather:
    name = "weather"
    description = "Tell the weather."

    def __call__(
        self,
        city: Annotated[str, Field(description="name of the city")],
        days: Annotated[int, Field(ge=1)] = 1,
        unit: Literal["C", "F"] = "C",
        title: bool = False,
    ) -> ToolResult:
        return ToolResult(f"{city!r} {days!r} {unit!r} {title!r}")


class Echo:
    name = "echo"
    description = "Say it again."
    example: Mapping[str, Any] = {"text": "hello"}

    def __init__(self, key: str = "") -> None:
        self.key = key
        self.batches: list[int] = []

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Echo) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __call__(self, text: str) -> ToolResult:
        return ToolResult(text)

    def batch(self, arguments: Sequence[Mapping[str, Any]]) -> list[ToolResult]:
        self.batches.append(len(arguments))
        return [self(**one) for one in arguments]


class Finish:
    name = "finish"
    description = "Say that you are done."

    def __call__(self) -> ToolResult:
        return ToolResult("done")


BOX = ToolBox([Weather(), Echo(), Finish()])


def refusal(call: ToolCall, *, box: ToolBox = BOX) -> str:
    result = box.check(call)
    assert isinstance(result, ToolResult)
    assert not result.ok
    return result.text


def test_the_signature_becomes_the_schema() -> None:
    schema = BOX.schemas[0]
    assert (schema.name, schema.description) == ("weather", "Tell the weather.")
    assert schema.parameters == {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "city": {"type": "string", "description": "name of the city"},
            "days": {"type": "integer", "minimum": 1, "default": 1},
            "unit": {"type": "string", "enum": ["C", "F"], "default": "C"},
            "title": {"type": "boolean", "default": False},
        },
        "required": ["city"],
    }
    assert schema.example == ToolCall("weather", {"city": "text"})
    assert BOX.schemas[1].example == ToolCall("echo", {"text": "hello"})
    assert BOX.schemas[2].example == ToolCall("finish", {})


def test_a_derived_example_fits_lists_and_choices() -> None:
    class Sort:
        name = "sort"
        description = "Sort."

        def __call__(self, items: list[int], order: Literal["up", "down"]) -> ToolResult:
            return ToolResult(f"{sorted(items, reverse=order == 'down')}")

    assert bind(Sort()).schema.example == ToolCall("sort", {"items": [1], "order": "up"})


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"city": "Rome"}, "'Rome' 1 'C' False"),
        ({"city": "Rome", "days": "3"}, "'Rome' 3 'C' False"),
        ({"city": "Rome", "days": 3.0, "title": "true"}, "'Rome' 3 'C' True"),
        ({"city": 1984}, "'1984' 1 'C' False"),
    ],
)
def test_arguments_are_converted_where_that_is_unambiguous(arguments: dict[str, Any], text: str) -> None:
    assert BOX.run([ToolCall("weather", arguments)]) == [ToolResult(text)]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({}, "the argument 'city' is missing"),
        ({"city": "Rome", "town": "Rome"}, "there is no argument 'town'"),
        ({"city": None}, "the argument 'city' is wrong (Input should be a valid string)"),
        ({"city": ["Rome"]}, "the argument 'city' is wrong"),
        ({"city": "Rome", "days": "a few"}, "the argument 'days' is wrong"),
        ({"city": "Rome", "days": 1.5}, "the argument 'days' is wrong"),
        ({"city": "Rome", "days": 0}, "greater than or equal to 1"),
        ({"city": "Rome", "unit": "K"}, "'C' or 'F'"),
        ({"city": "Rome", **{f"x{i}": 1 for i in range(9)}}, "and more"),
    ],
)
def test_a_misfit_names_tool_argument_schema_and_a_right_example(arguments: dict[str, Any], complaint: str) -> None:
    text = refusal(ToolCall("weather", arguments))
    assert text.startswith("The call of weather was not carried out: ")
    assert complaint in text
    assert json.dumps(BOX.schemas[0].parameters) in text
    assert text.endswith('A right example:\n{"name": "weather", "arguments": {"city": "text"}}')
    assert len(text) < 1_000


@pytest.mark.parametrize(
    ("name", "hint"), [("wether", "did you mean weather? "), ("fly" * 50, "The tools are: weather")]
)
def test_an_unknown_tool_is_answered_with_the_known_ones(name: str, hint: str) -> None:
    text = refusal(ToolCall(name, {"city": "Rome"}))
    assert text.startswith(f"There is no tool '{name[:60]}'; {hint}")
    assert text.endswith('A right example:\n{"name": "weather", "arguments": {"city": "text"}}')
    assert refusal(ToolCall(name, {}), box=ToolBox([])) == "There are no tools to call here."


@pytest.mark.parametrize("name", ["hermes", "react", "native"])
def test_the_right_example_is_written_in_the_environments_format(name: str) -> None:
    action_format = get_format(name)
    result = BOX.check(ToolCall("weather", {}), action_format)
    assert isinstance(result, ToolResult)
    example = result.text.partition("A right example:\n")[2]
    (call,) = action_format.parse(example).calls
    assert isinstance(BOX.check(call), BoundCall)


@given(
    name=st.sampled_from(["weather", "echo", "finish", "unknown"]),
    arguments=st.dictionaries(
        st.sampled_from(["city", "days", "unit", "text", "x"]),
        st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(), st.lists, max_leaves=3),
    ),
)
def test_a_call_is_either_bound_or_answered(name: str, arguments: dict[str, Any]) -> None:
    checked = BOX.check(ToolCall(name, arguments))
    (result,) = BOX.run([ToolCall(name, arguments)])
    assert result.ok == isinstance(checked, BoundCall)
    assert len(result.text) < 3_000 or result.ok


def test_results_keep_the_order_of_the_calls() -> None:
    calls = [
        ToolCall("echo", {"text": "a"}),
        ToolCall("nothing", {}),
        ToolCall("finish", {}),
        ToolCall("echo", {"text": "b"}),
    ]
    assert [result.text for result in BOX.run(calls) if result.ok] == ["a", "done", "b"]
    assert [result.ok for result in BOX.run(calls)] == [True, False, True, True]


def test_equal_tools_share_a_batch() -> None:
    first, second, other = Echo("a"), Echo("a"), Echo("b")
    calls = [BoundCall(tool, {"text": str(n)}) for n, tool in enumerate([first, other, second, first])]
    calls.insert(2, BoundCall(Finish(), {}))
    assert [result.text for result in run_batch(calls)] == ["0", "1", "done", "2", "3"]
    assert (first.batches, second.batches, other.batches) == ([3], [], [1])
    assert run_batch([]) == []


def test_a_batch_of_the_wrong_length_is_an_error() -> None:
    class Short(Echo):
        def batch(self, arguments: Sequence[Mapping[str, Any]]) -> list[ToolResult]:
            return []

    with pytest.raises(ConfigError, match="tool 'echo' answered 0 results for 1 calls"):
        ToolBox([Short()]).run([ToolCall("echo", {"text": "a"})])


def test_the_exception_of_a_broken_tool_reaches_the_caller() -> None:
    class Broken(Finish):
        def __call__(self) -> ToolResult:
            raise RetrievalError("the index is gone")

    with pytest.raises(AgentGymError, match="the index is gone"):
        ToolBox([Broken()]).run([ToolCall("finish", {})])


class Untyped(Finish):
    def __call__(self, text) -> ToolResult:  # type: ignore[no-untyped-def, override]
        return ToolResult(text)


class Variadic(Finish):
    def __call__(self, *texts: str) -> ToolResult:
        return ToolResult(" ".join(texts))


class WrongExample(Echo):
    example: Mapping[str, Any] = {"word": "hello"}


@pytest.mark.parametrize(
    ("tools", "message"),
    [
        ([Untyped()], "argument text of tool 'finish' must be named and annotated"),
        ([Variadic()], "argument \\*texts: str of tool 'finish' must be named and annotated"),
        ([WrongExample()], "the example of tool 'echo' does not fit its signature"),
        ([Echo(), Echo()], "tool names must differ, got echo, echo"),
    ],
)
def test_tools_without_a_usable_signature_are_refused(tools: list[Tool], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        ToolBox(tools)


def test_tools_of_one_kind_share_the_model_and_not_the_schema():
    one, other = bind(Echo("a")), bind(Echo("b"))
    assert one.model is other.model
    one.schema.to_openai()["function"]["parameters"]["properties"]["text"]["type"] = "integer"
    assert other.schema.parameters["properties"]["text"]["type"] == "string"
