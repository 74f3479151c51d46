"""What a tool is, and the ToolBox that checks calls against typed signatures and runs them in batches."""

import copy
import difflib
import functools
import inspect
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, get_type_hints

from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from agentgym_r1.actions import ActionFormat
from agentgym_r1.errors import ConfigError
from agentgym_r1.types import ToolCall, ToolResult, ToolSchema

_SHOWN = 5
_LONGEST_NAME = 60
_SAMPLES: Mapping[str, Any] = {"string": "text", "integer": 1, "number": 1.5, "boolean": True, "object": {}}


class Tool(Protocol):
    """Something an agent can call: a name, a description, and a ``__call__`` whose arguments are named and typed.

    The signature becomes the JSON schema; ``Annotated[str, pydantic.Field(description=...)]`` describes an argument. A
    tool may have an attribute ``example``, the arguments of a right call, else one is derived from the schema.

    A wrong use by the agent is a ToolResult with ``ok=False`` that says how to do it right. An exception means that the
    tool itself is broken or cannot reach what it needs; nobody catches it on the way to the caller of ``env.step``.
    """

    @property
    def name(self) -> str:
        """The name in calls."""
        ...

    @property
    def description(self) -> str:
        """What it does, as the policy reads it."""
        ...

    def __call__(self, *args: Any, **kwargs: Any) -> ToolResult:
        """Answer a call."""
        ...


class BatchTool(Protocol):
    """A tool that answers many calls at once. Tools that are equal (and hash so) share a batch."""

    def batch(self, arguments: Sequence[Mapping[str, Any]]) -> list[ToolResult]:
        """Return one result a call, in order, each as ``__call__`` would return it."""
        ...


@dataclass(frozen=True, slots=True)
class BoundCall:
    """A call whose arguments fit the tool's signature."""

    tool: Tool
    arguments: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The tool's name."""
        return self.tool.name


@dataclass(frozen=True, slots=True)
class BoundTool:
    """A tool with its schema and the model that validates its arguments; made by ``bind``."""

    tool: Tool
    schema: ToolSchema
    model: type[BaseModel]

    def validate(self, arguments: Mapping[str, Any]) -> BoundCall:
        """Return the call with these arguments, converted where that is unambiguous (``"3"`` to 3, 3 to ``"3"``).

        Raises:
            ValidationError: an argument is missing, unknown or of another type.
        """
        valid = self.model.model_validate(dict(arguments))
        return BoundCall(self.tool, {name: getattr(valid, name) for name in self.model.model_fields})


class ToolBox:
    """The tools of an environment.

    Raises:
        ConfigError: two tools share a name, or one has no usable signature or example (see ``bind``).
    """

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._tools = {tool.name: bind(tool) for tool in tools}
        if len(self._tools) != len(tools):
            raise ConfigError(f"tool names must differ, got {', '.join(tool.name for tool in tools)}")

    def __reduce__(self) -> tuple[type["ToolBox"], tuple[list[Tool]]]:
        return ToolBox, ([bound.tool for bound in self._tools.values()],)

    @property
    def schemas(self) -> tuple[ToolSchema, ...]:
        """The schemas, in the order of the tools."""
        return tuple(bound.schema for bound in self._tools.values())

    def check(self, call: ToolCall, action_format: ActionFormat | None = None) -> BoundCall | ToolResult:
        """Return the call bound to its tool, or the feedback that says what is wrong with it.

        Args:
            call: what the policy asks for.
            action_format: writes the right example in the feedback; without it the example is JSON.
        """
        bound = self._tools.get(call.name)
        if bound is None:
            return ToolResult(self._unknown(call.name, action_format), ok=False)
        try:
            return bound.validate(call.arguments)
        except ValidationError as err:
            schema = json.dumps(bound.schema.parameters, ensure_ascii=False)
            text = (
                f"The call of {call.name} was not carried out: {_complaints(err)}. Its arguments must follow this JSON "
                f"schema: {schema} A right example:\n{_write(bound.schema.example, action_format)}"
            )
            return ToolResult(text, ok=False)

    def run(self, calls: Sequence[ToolCall], action_format: ActionFormat | None = None) -> list[ToolResult]:
        """Check the calls and run those that fit; return one result a call, in order."""
        checked = [self.check(call, action_format) for call in calls]
        fresh = iter(run_batch([call for call in checked if isinstance(call, BoundCall)]))
        return [next(fresh) if isinstance(call, BoundCall) else call for call in checked]

    def _unknown(self, name: str, action_format: ActionFormat | None) -> str:
        if not self._tools:
            return "There are no tools to call here."
        close = difflib.get_close_matches(name[:_LONGEST_NAME], self._tools, n=1)
        hint = f"did you mean {close[0]}? " if close else ""
        example = self._tools[close[0] if close else next(iter(self._tools))].schema.example
        return (
            f"There is no tool {name[:_LONGEST_NAME]!r}; {hint}The tools are: {', '.join(self._tools)}. "
            f"A right example:\n{_write(example, action_format)}"
        )


def run_batch(calls: Sequence[BoundCall]) -> list[ToolResult]:
    """Run calls, also of many environments, and return one result a call, in order.

    The calls of equal tools that have a ``batch`` method are answered by one call of it, the others one by one.

    Raises:
        ConfigError: a batch answered another number of results than it was asked.
    """
    groups: dict[Tool, list[int]] = {}
    for position, call in enumerate(calls):
        groups.setdefault(call.tool, []).append(position)
    results: dict[int, ToolResult] = {}
    for tool, positions in groups.items():
        arguments = [calls[position].arguments for position in positions]
        results.update(zip(positions, _run(tool, arguments)))
    return [results[position] for position in range(len(calls))]


def bind(tool: Tool) -> BoundTool:
    """Return the tool with the schema of its signature.

    Raises:
        ConfigError: an argument has no type or no name of its own, or the example does not fit the signature.
    """
    model, shared = _signature(type(tool), tool.name)
    parameters = copy.deepcopy(shared)
    example = ToolCall(tool.name, getattr(tool, "example", None) or _sample(parameters))
    bound = BoundTool(tool, ToolSchema(tool.name, tool.description, parameters, example), model)
    try:
        bound.validate(example.arguments)
    except ValidationError as err:
        raise ConfigError(
            f"the example of tool {tool.name!r} does not fit its signature ({_complaints(err)}): "
            "give the tool an attribute `example` with the arguments of a right call"
        ) from err
    return bound


def _run(tool: Tool, arguments: Sequence[Mapping[str, Any]]) -> list[ToolResult]:
    batch = getattr(tool, "batch", None)
    if batch is None:
        return [tool(**one) for one in arguments]
    results: list[ToolResult] = batch(arguments)
    if len(results) != len(arguments):
        raise ConfigError(f"tool {tool.name!r} answered {len(results)} results for {len(arguments)} calls")
    return results


_CONFIG = ConfigDict(extra="forbid", coerce_numbers_to_str=True)


@functools.lru_cache(maxsize=256)
def _signature(kind: type[Tool], name: str) -> tuple[type[BaseModel], Mapping[str, Any]]:
    """Return the model that validates the arguments of a kind of tool and its JSON schema, made once for all."""
    model = create_model(name, __config__=_CONFIG, **_fields(kind, name))
    return model, _without_titles(model.model_json_schema())


def _fields(kind: type[Tool], tool: str) -> dict[str, Any]:
    """Return the model fields of a tool's arguments."""
    hints = get_type_hints(kind.__call__, include_extras=True)
    fields = {}
    for name, parameter in list(inspect.signature(kind.__call__).parameters.items())[1:]:
        if name not in hints or parameter.kind in {parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD}:
            raise ConfigError(f"argument {parameter} of tool {tool!r} must be named and annotated with a type")
        fields[name] = (hints[name], ... if parameter.default is parameter.empty else parameter.default)
    return fields


def _without_titles(schema: Any) -> Any:
    """Return a JSON schema without the titles that pydantic derives from names."""
    if isinstance(schema, dict):
        return {
            key: _without_titles(value)
            for key, value in schema.items()
            if not (key == "title" and isinstance(value, str))
        }
    return [_without_titles(item) for item in schema] if isinstance(schema, list) else schema


def _sample(schema: Mapping[str, Any]) -> Any:
    """Return a plausible value of a JSON schema; of an object only the required properties."""
    if "properties" in schema:
        required = schema.get("required", ())
        return {name: _sample(value) for name, value in schema["properties"].items() if name in required}
    for key in ("enum", "examples"):
        if schema.get(key):
            return schema[key][0]
    if schema.get("type") == "array":
        return [_sample(schema.get("items", {}))]
    return _SAMPLES.get(schema.get("type", "string"), "text")


def _complaints(error: ValidationError) -> str:
    """Say what is wrong with the arguments, each argument in a few words."""
    found = [
        _complaint(one["type"], ".".join(map(str, one["loc"]))[:_LONGEST_NAME], one["msg"]) for one in error.errors()
    ]
    return "; ".join([*found[:_SHOWN], *(["and more"] if len(found) > _SHOWN else [])])


def _complaint(kind: str, where: str, message: str) -> str:
    if kind == "missing":
        return f"the argument {where!r} is missing"
    if kind == "extra_forbidden":
        return f"there is no argument {where!r}"
    return f"the argument {where!r} is wrong ({message})"


def _write(call: ToolCall, action_format: ActionFormat | None) -> str:
    if action_format is not None:
        return action_format.call(call)
    return json.dumps({"name": call.name, "arguments": dict(call.arguments)}, ensure_ascii=False)
