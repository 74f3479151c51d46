"""What the small worlds of the learning proof share: how one is described, a tiny Llama, and play on held-out tasks."""

import asyncio
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import gymnasium as gym

import agentgym_r1  # noqa: F401 - registers the environments
from agentgym_r1.policies.lm import ToolCallingPolicy
from agentgym_r1.rollout import Episode, Policy, episode_seed, rollout, rollout_many
from agentgym_r1.trajectories import TrajectoryWriter
from agentgym_r1.types import Trajectory

if TYPE_CHECKING:
    from tokenizers import Tokenizer

SPECIAL: Final = ("<pad>", "<eos>", "<unk>")
HELD_OUT: Final = 200


@dataclass(frozen=True, slots=True)
class World:
    """A small world, what warms up a policy in it, and the words that its report needs.

    Attributes:
        env: the id of the environment, made with ``arguments``; training plays its split train, evaluation test.
        demonstrate: records so many episodes with a seed at a path.
        make_model: saves a random model that knows the words of the demonstrations, and returns its parameters.
        demonstrations: the number of episodes that the warm-up imitates.
        epochs: of the warm-up.
        learning_rate: of the policy in PPO.
        longest: tokens of a prompt and its action.
        longest_action: tokens of an action.
        tokens: of a usual action, which tells what token-level GAE has to discount.
        rounds: how often PPO plays each training task.
        demonstrator: what the demonstrations are, after "imitates N".
        success: what success is, after "Success is".
        learned: what there is to learn, after "what there is to learn is".
        chosen: how the tasks were chosen.
    """

    env: str
    arguments: Mapping[str, Any]
    demonstrate: Callable[..., list[Trajectory]]
    make_model: Callable[..., int]
    demonstrations: int
    epochs: int
    learning_rate: str
    longest: int
    longest_action: int
    tokens: int
    rounds: int
    demonstrator: str
    success: str
    learned: str
    chosen: str


def record(
    path: Path, policy: Policy, *, env_id: str, arguments: Mapping[str, Any], episodes: int, seed: int
) -> list[Trajectory]:
    """Record a policy on tasks of the training split, each once."""
    env = gym.make(env_id, split="train", **arguments)
    tasks = random.Random(seed).sample(env.unwrapped.tasks.ids(), episodes)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    played = []
    with TrajectoryWriter(path) as writer:
        for task in tasks:
            played.append(rollout(env, policy, task=task, seed=episode_seed(seed, task, 0)))
            writer.write(played[-1])
    env.close()
    return played


def save_model(folder: Path, tokenizer: "Tokenizer", template: str, *, seed: int, initial: float, tied: bool) -> int:
    """Save a word-level tokenizer and a random Llama for it, and return the number of its parameters.

    Args:
        folder: where both go.
        tokenizer: has ``SPECIAL`` as its first words.
        template: of a chat.
        seed: of the weights.
        initial: standard deviation of the weights; with the usual 0.02 so small a model learns several times slower.
        tied: whether the words that are read and said have the same vectors, which makes copying easy to learn.
    """
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    names = dict(zip(("pad_token", "eos_token", "unk_token"), SPECIAL))
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names)
    fast.chat_template = template
    fast.save_pretrained(folder)
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=tokenizer.get_vocab_size(),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=1024,
        initializer_range=initial,
        tie_word_embeddings=tied,
        pad_token_id=0,
        eos_token_id=1,
        bos_token_id=None,
    )
    model = LlamaForCausalLM(config)
    model.save_pretrained(folder)
    return sum(p.numel() for p in model.parameters())


def word_level(words: Sequence[str], pieces: str) -> "Tokenizer":
    """Return a tokenizer that cuts a text into matches of a pattern; it knows ``SPECIAL``, then the words in order."""
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers

    numbers = {word: number for number, word in enumerate(dict.fromkeys((*SPECIAL, *words)))}
    tokenizer = Tokenizer(models.WordLevel(numbers, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(pieces), behavior="removed", invert=True)
    return tokenizer


def evaluate(world: World, model: Path, *, temperature: float) -> list[Trajectory]:
    """Play the first ``HELD_OUT`` tasks of the test split once, all in one batch."""
    from agentgym_r1.policies.engines import Sampling
    from agentgym_r1.policies.engines.transformers import TransformersEngine

    def make_env() -> gym.Env[str, str]:
        return gym.make(world.env, split="test", **world.arguments)

    env = make_env()
    episodes = [Episode(task, episode_seed(0, task, 0)) for task in env.unwrapped.tasks.ids()[:HELD_OUT]]
    env.close()
    sampling = Sampling(temperature=temperature, max_tokens=world.longest_action)
    policy = ToolCallingPolicy(TransformersEngine(str(model), max_batch=64), sampling=sampling)

    async def play() -> list[Trajectory]:
        return [t async for t in rollout_many(make_env, policy, episodes, concurrency=64)]

    return sorted(asyncio.run(play()), key=lambda t: t.task_id)
