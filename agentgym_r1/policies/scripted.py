"""Policies without a model: expert, scripted and random."""

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import gymnasium as gym

from agentgym_r1.errors import ConfigError
from agentgym_r1.text_env import TextEnv
from agentgym_r1.types import Agent, Response, ToolCall, ToolSchema

_WORD = re.compile(r"\w[\w'-]*")
_FREE_TEXT = re.compile(r"<\w+>")


class ExpertPolicy:
    """Plays each environment's own solution; the upper line of a benchmark and the source of demonstrations."""

    name = "expert"

    def begin(self, env: gym.Env[str, str], *, seed: int) -> Agent:
        """Return an agent that asks ``env`` what to do.

        Raises:
            ConfigError: the environment has no ``expert()``.
        """
        expert = getattr(env.unwrapped, "expert", None)
        if expert is None:
            raise ConfigError(f"{type(env.unwrapped).__name__} has no expert(): let another policy play it")
        return _Expert(expert)


@dataclass(frozen=True, slots=True)
class _Expert:
    say: Callable[[], str]

    async def act(self, observation: str, info: Mapping[str, Any]) -> Response:
        return Response(self.say())


class ScriptedPolicy:
    """Says the given actions in order, the last one again when they run out.

    Raises:
        ConfigError: there are no actions.
    """

    name = "scripted"

    def __init__(self, actions: Sequence[str]) -> None:
        if not actions:
            raise ConfigError("a scripted policy needs at least one action")
        self._actions = tuple(actions)

    def begin(self, env: gym.Env[str, str], *, seed: int) -> Agent:
        """Return an agent at the start of the script."""
        return _Scripted(self._actions)


@dataclass(slots=True)
class _Scripted:
    actions: tuple[str, ...]
    said: int = 0

    async def act(self, observation: str, info: Mapping[str, Any]) -> Response:
        self.said += 1
        return Response(self.actions[min(self.said, len(self.actions)) - 1])


class RandomPolicy:
    """Makes legal random moves: a listed command, a call drawn from the tool schemas, or now and then an answer."""

    name = "random"

    def begin(self, env: gym.Env[str, str], *, seed: int) -> Agent:
        """Return an agent with its own generator."""
        return _Random(text_env(env), random.Random(seed))


_COMMAND: Final = ToolSchema(
    "env_step", "", {"properties": {"command": {"type": "string"}}}, ToolCall("env_step", {"command": "look"})
)
"""What an environment without tools reads: a command, as the formats name it."""


@dataclass(frozen=True, slots=True)
class _Random:
    env: TextEnv
    rng: random.Random

    async def act(self, observation: str, info: Mapping[str, Any]) -> Response:
        words = _WORD.findall(self.env.task.prompt) or ["nothing"]
        if self.env.answers and self.rng.random() < 0.25:
            return Response(self.env.format.answer(self._phrase(words)))
        schema = self.rng.choice(self.env.tools or (_COMMAND,))
        commands = info.get("available_actions")
        if commands:
            command = _FREE_TEXT.sub(lambda _: self._phrase(words), self.rng.choice(commands))
            arguments: dict[str, Any] = {next(iter(schema.parameters["properties"])): command}
        else:
            arguments = {
                name: self._value(spec, words) for name, spec in schema.parameters.get("properties", {}).items()
            }
        return Response(self.env.format.call(ToolCall(schema.name, arguments)))

    def _phrase(self, words: Sequence[str]) -> str:
        start = self.rng.randrange(len(words))
        return " ".join(words[start : start + self.rng.randint(1, 3)])

    def _value(self, spec: Mapping[str, Any], words: Sequence[str]) -> Any:
        if "enum" in spec:
            return self.rng.choice(spec["enum"])
        kinds: dict[str, Any] = {
            "integer": self.rng.randint(0, 9),
            "number": float(self.rng.randint(0, 9)),
            "boolean": self.rng.random() < 0.5,
            "array": [self._phrase(words)],
            "object": {},
        }
        return kinds.get(spec.get("type", "string"), self._phrase(words))


def text_env(env: gym.Env[str, str]) -> TextEnv:
    """Return the TextEnv inside the wrappers.

    Raises:
        ConfigError: there is none; only policies over the observation alone can play such an environment.
    """
    inner = env.unwrapped
    if not isinstance(inner, TextEnv):
        raise ConfigError(f"this policy plays a TextEnv of agentgym_r1, got {type(inner).__name__}")
    return inner
