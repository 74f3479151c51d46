"""Language-model policies hand the prompt to the engine as the environment wrote it."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import gymnasium as gym
import pytest

from agentgym_r1.policies.engines.base import Sampling
from agentgym_r1.policies.lm import ReActPolicy, ToolCallingPolicy
from agentgym_r1.types import Message, Response

ENV: gym.Env[str, str] = gym.Env()
TOOLS = [{"type": "function", "function": {"name": "search", "parameters": {}}}]
INFO = {
    "messages": [{"role": "system", "content": "Rules."}, {"role": "user", "content": "Question?"}],
    "tools": TOOLS,
    "stop": ("</tool_call>",),
}


@dataclass
class RecordingEngine:
    """Answers every prompt with the number of the call and keeps what it was given."""

    name: str = "recorder"
    calls: list[tuple[list[Message], Sequence[Mapping[str, Any]], Sampling]] = field(default_factory=list)

    async def check(self) -> None:
        """Be ready."""

    async def generate(
        self, messages: Sequence[Message], *, tools: Sequence[Mapping[str, Any]] = (), sampling: Sampling
    ) -> Response:
        self.calls.append((list(messages), tools, sampling))
        return Response(str(len(self.calls)))

    def count_tokens(self, text: str) -> int | None:
        return None

    async def aclose(self) -> None:
        """Have nothing to close."""


def play(policy: ToolCallingPolicy, infos: Sequence[Mapping[str, Any]], *, seed: int = 0) -> list[str]:
    agent = policy.begin(ENV, seed=seed)

    async def run() -> list[str]:
        return [(await agent.act("the observation", info)).text for info in infos]

    return asyncio.run(run())


def test_the_engine_gets_messages_stops_and_sampling() -> None:
    engine = RecordingEngine()
    policy = ToolCallingPolicy(engine, sampling=Sampling(temperature=0.3, max_tokens=9, stop=("END",)))
    assert play(policy, [INFO]) == ["1"]
    ((messages, tools, sampling),) = engine.calls
    assert messages == [Message("system", "Rules."), Message("user", "Question?")]
    assert tools == ()
    assert (sampling.temperature, sampling.max_tokens) == (0.3, 9)
    assert sampling.stop == ("END", "</tool_call>")


def test_only_the_native_format_hands_the_tools_to_the_engine() -> None:
    engine = RecordingEngine()
    for action_format in ("hermes", "native"):
        play(ToolCallingPolicy(engine, action_format=action_format), [INFO])
    play(ReActPolicy(engine), [INFO])
    assert [tools for _, tools, _ in engine.calls] == [(), TOOLS, ()]


def test_an_environment_without_messages_has_its_observation_sent() -> None:
    engine = RecordingEngine()
    play(ToolCallingPolicy(engine), [{}])
    assert engine.calls[0][0] == [Message("user", "the observation")]
    assert engine.calls[0][2].stop == ()


def test_every_step_has_a_seed_of_its_own_that_repeats_with_the_episode() -> None:
    engine = RecordingEngine()
    policy = ToolCallingPolicy(engine, sampling=Sampling(seed=123))
    for seed in (0, 0, 1):
        play(policy, [INFO, INFO], seed=seed)
    seeds = [sampling.seed for _, _, sampling in engine.calls]
    assert seeds[:2] == seeds[2:4]
    assert len(set(seeds)) == 4
    assert all(seed is not None and 0 <= seed < 2**31 for seed in seeds)


@pytest.mark.parametrize(
    ("policy", "name", "action_format"),
    [
        (ToolCallingPolicy(RecordingEngine()), "tool_calling:recorder", "hermes"),
        (ReActPolicy(RecordingEngine()), "react:recorder", "react"),
    ],
)
def test_a_policy_tells_its_name_and_the_format_it_plays_in(
    policy: ToolCallingPolicy, name: str, action_format: str
) -> None:
    assert (policy.name, policy.action_format) == (name, action_format)
