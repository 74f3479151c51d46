"""Language-model policies: an engine answers the chat messages of each step.

``tool_calling`` and ``react`` differ in the action format the environment must be made with; the environment's prompt
explains the format, so that the policies add no words of their own.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import gymnasium as gym

from agentgym_r1.policies.engines.base import Engine, Sampling
from agentgym_r1.types import Agent, Message, Response, digest

GREEDY = Sampling()


class ToolCallingPolicy:
    """Plays with tool calls: in text (``hermes``, ``tags``) or through the engine's own tool calling (``native``).

    Args:
        engine: the language model; whoever made it closes it.
        sampling: how responses are drawn. Its stop strings are added to the environment's, and its seed is replaced by
            one of the episode's seed and the step, so that an episode can be repeated.
        action_format: the format the environment must be made with; ``native`` hands the tool schemas to the engine.
    """

    kind: ClassVar[str] = "tool_calling"

    def __init__(self, engine: Engine, *, sampling: Sampling = GREEDY, action_format: str = "hermes") -> None:
        self.engine = engine
        self.sampling = sampling
        self.action_format = action_format

    @property
    def name(self) -> str:
        """The policy's kind and the engine's name."""
        return f"{self.kind}:{self.engine.name}"

    def begin(self, env: gym.Env[str, str], *, seed: int) -> Agent:
        """Return the agent of one episode."""
        return _LmAgent(self, seed)


class ReActPolicy(ToolCallingPolicy):
    """Plays in the Thought / Action / Observation format (arXiv 2210.03629)."""

    kind = "react"

    def __init__(self, engine: Engine, *, sampling: Sampling = GREEDY) -> None:
        super().__init__(engine, sampling=sampling, action_format="react")


class _LmAgent:
    def __init__(self, policy: ToolCallingPolicy, seed: int) -> None:
        self._policy = policy
        self._seed = seed
        self._step = 0

    async def act(self, observation: str, info: Mapping[str, Any]) -> Response:
        """Ask the engine; an environment that gives no messages has its observation sent as the user's."""
        chat = info.get("messages") or [{"role": "user", "content": observation}]
        policy = self._policy
        sampling = replace(
            policy.sampling,
            stop=tuple(dict.fromkeys((*policy.sampling.stop, *info.get("stop", ())))),
            seed=int(digest([self._seed, self._step])[:8], 16) >> 1,
        )
        self._step += 1
        return await policy.engine.generate(
            [Message(message["role"], message["content"]) for message in chat],
            tools=info.get("tools", ()) if policy.action_format == "native" else (),
            sampling=sampling,
        )
