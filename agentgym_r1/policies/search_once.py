"""The ``bm25`` policy: search the query once and keep the papers that come, the baseline of literature search."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import gymnasium as gym

from agentgym_r1.policies.scripted import text_env
from agentgym_r1.text_env import TextEnv
from agentgym_r1.types import Agent, Response, ToolCall


class SearchOncePolicy:
    """Searches the task's text with the environment's retriever (BM25 unless it was given another) and finishes."""

    name = "bm25"

    def begin(self, env: gym.Env[str, str], *, seed: int) -> Agent:
        """Return an agent that has not searched yet."""
        return _SearchOnce(text_env(env))


@dataclass(frozen=True, slots=True)
class _SearchOnce:
    env: TextEnv

    async def act(self, observation: str, info: Mapping[str, Any]) -> Response:
        call = ToolCall("finish", {}) if self.env.steps else ToolCall("search", {"query": self.env.task.prompt})
        return Response(self.env.format.call(call))
