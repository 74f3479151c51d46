"""A small grid, a careless demonstrator and a tiny model that knows the grid's words: what learning is shown on.

The demonstrator is BabyAI's bot, but two moves of five are random ones. A clone of it wastes moves as it does, more
than the step limit allows: that is what reinforcement learning has to find out. The model is a Llama of 100 thousand
parameters with a word for each word of the demonstrations, and one for each phrase that every view repeats.
"""

import asyncio
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import gymnasium as gym

import agentgym_r1  # noqa: F401 - registers the environments
from agentgym_r1.policies import ExpertPolicy, RandomPolicy
from agentgym_r1.policies.lm import ToolCallingPolicy
from agentgym_r1.rollout import Episode, episode_seed, rollout, rollout_many
from agentgym_r1.trajectories import TrajectoryWriter
from agentgym_r1.types import Agent, Response, Trajectory

ENV: Final = "AgentR1/MiniGrid-v0"
ARGUMENTS: Final[Mapping[str, Any]] = {
    "level": ["BabyAI-GoToObj-v0", "BabyAI-GoToRedBallNoDists-v0"],
    "action_format": "plain",
    "context": "window",
    "context_turns": 1,
    "max_steps": 12,
}
DEMONSTRATION_STEPS: Final = 30
"""Step limit of demonstrations: nearly all succeed, although careless."""
CARELESS: Final = 0.4
LONGEST: Final = 256
"""Tokens of a step at most; the longest seen had 154."""
_PHRASES: Final = (
    "and carry nothing.\nYou see:",
    "You face",
    "steps ahead and",
    "step ahead and",
    "steps ahead",
    "step ahead",
    "steps to the left",
    "step to the left",
    "steps to the right",
    "step to the right",
    "go to the",
    "go to a",
    "\n- a",
    "Nothing changes.",
    "earlier steps are not shown",
)
_PIECES: Final = "|".join([*map(re.escape, _PHRASES), r"<\w+>", r"\w+", r"[^\w\s]"])
_SPECIAL: Final = ("<pad>", "<eos>", "<unk>", "<said>", "<move>")
_TEMPLATE: Final = (
    "{% for m in messages %}{% if m['role'] == 'user' %}{{ m['content'] }} "
    "{% elif m['role'] == 'assistant' %}<said> {{ m['content'] }} {% endif %}{% endfor %}<move>"
)
"""Leaves the instructions out: the same words before every move tell a model nothing that it could not learn."""


class CarelessExpert:
    """Plays the environment's solution, but a share of its moves is random; the solution goes on from where that led.

    Args:
        share: of random moves.
    """

    name = "careless expert"

    def __init__(self, share: float = CARELESS) -> None:
        self._share = share

    def begin(self, env: gym.Env[str, str], *, seed: int) -> Agent:
        """Return the agent of an episode."""
        agents = ExpertPolicy().begin(env, seed=seed), RandomPolicy().begin(env, seed=seed)
        return _Careless(*agents, self._share, random.Random(seed))


@dataclass(slots=True)
class _Careless:
    expert: Agent
    other: Agent
    share: float
    rng: random.Random

    async def act(self, observation: str, info: Mapping[str, Any]) -> Response:
        chosen = self.other if self.rng.random() < self.share else self.expert
        return await chosen.act(observation, info)


def demonstrate(
    path: Path, *, episodes: int, seed: int, levels: Sequence[str] = ARGUMENTS["level"]
) -> list[Trajectory]:
    """Record demonstrations on the training split of some levels."""
    env = gym.make(ENV, split="train", **{**ARGUMENTS, "level": list(levels), "max_steps": DEMONSTRATION_STEPS})
    tasks = random.Random(seed).sample(env.unwrapped.tasks.ids(), episodes)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    played = []
    with TrajectoryWriter(path) as writer:
        for task in tasks:
            played.append(rollout(env, CarelessExpert(), task=task, seed=episode_seed(seed, task, 0)))
            writer.write(played[-1])
    env.close()
    return played


def make_model(folder: Path, demonstrations: list[Trajectory], *, seed: int) -> int:
    """Save a random model and a tokenizer of the demonstrations' words, and return the number of its parameters."""
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    texts = [t for d in demonstrations for step in d.transitions for t in (step.observation, step.action)]
    found = sorted(
        {piece for text in texts for piece in re.findall(_PIECES, text.rpartition("[system]")[2])} - {*_SPECIAL}
    )
    words = {word: i for i, word in enumerate((*_SPECIAL, *found))}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(_PIECES), behavior="removed", invert=True)
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<eos>", pad_token="<pad>", unk_token="<unk>")
    fast.chat_template = _TEMPLATE
    fast.save_pretrained(folder)
    return _save_llama(folder, len(words), seed)


def _save_llama(folder: Path, vocabulary: int, seed: int) -> int:
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=vocabulary,
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=1024,
        initializer_range=0.12,  # with the usual 0.02 so small a model learns several times slower
        tie_word_embeddings=False,
        pad_token_id=0,
        eos_token_id=1,
        bos_token_id=None,
    )
    model = LlamaForCausalLM(config)
    model.save_pretrained(folder)
    return sum(p.numel() for p in model.parameters())


def evaluate(model: Path, *, temperature: float, seed: int = 0, split: str = "test") -> list[Trajectory]:
    """Play every task of a held-out split once, the whole of it in one batch."""
    from agentgym_r1.policies.engines import Sampling
    from agentgym_r1.policies.engines.transformers import TransformersEngine

    env = gym.make(ENV, split=split, **ARGUMENTS)
    episodes = [Episode(task, episode_seed(seed, task, 0)) for task in env.unwrapped.tasks.ids()]
    env.close()
    sampling = Sampling(temperature=temperature, max_tokens=8)
    policy = ToolCallingPolicy(TransformersEngine(str(model), max_batch=64), sampling=sampling)

    async def play() -> list[Trajectory]:
        make_env = lambda: gym.make(ENV, split=split, **ARGUMENTS)  # noqa: E731
        return [t async for t in rollout_many(make_env, policy, episodes, concurrency=64)]

    return sorted(asyncio.run(play()), key=lambda t: t.task_id)
