"""The file that OpenRLHF loads by its path: an AgentExecutor that plays episodes of the run's environment."""

from typing import Any

import msgspec
from openrlhf.utils.agent import AgentExecutorBase

from agentgym_r1.adapters.openrlhf.engine import RolloutEngine
from agentgym_r1.adapters.openrlhf.player import Player
from agentgym_r1.adapters.openrlhf.spec import Job, RunSpec


class AgentExecutor(AgentExecutorBase):  # type: ignore[misc]  # OpenRLHF has no types
    """Plays one episode of the run's environment a call."""

    def __init__(self) -> None:
        self._player = Player(RunSpec.from_environment())

    async def execute(  # noqa: PLR0917 - OpenRLHF's signature
        self,
        prompt: str,
        label: str,
        sampling_params: Any,
        max_length: int,
        hf_tokenizer: Any,
        llm_engine: Any,
        images: Any = None,
    ) -> bytes:
        """Return the episode as msgpack; the trainer's generator reads it. OpenRLHF passes it on untouched."""
        engine = RolloutEngine(llm_engine, hf_tokenizer, sampling_params, max_length=max_length)
        return msgspec.msgpack.encode(await self._player.play(prompt, Job.decode(label), engine))
