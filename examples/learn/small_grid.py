"""A small grid, a careless demonstrator and a tiny model that knows the grid's words: what learning is shown on.

The demonstrator is BabyAI's bot, but two moves of five are random ones. A clone of it wastes moves as it does, more
than the step limit allows: that is what reinforcement learning has to find out. The model is a Llama of 100 thousand
parameters with a word for each word of the demonstrations, and one for each phrase that every view repeats.
"""

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import gymnasium as gym
from tiny import SPECIAL, World, record, save_model, word_level

from agentgym_r1.policies import ExpertPolicy, RandomPolicy
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
_MARKS: Final = ("<said>", "<move>")
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
    arguments = {**ARGUMENTS, "level": list(levels), "max_steps": DEMONSTRATION_STEPS}
    return record(path, CarelessExpert(), env_id=ENV, arguments=arguments, episodes=episodes, seed=seed)


def make_model(folder: Path, demonstrations: list[Trajectory], *, seed: int) -> int:
    """Save a random model and a tokenizer of the demonstrations' words, and return the number of its parameters."""
    texts = [t for d in demonstrations for step in d.transitions for t in (step.observation, step.action)]
    found = {piece for text in texts for piece in re.findall(_PIECES, text.rpartition("[system]")[2])}
    tokenizer = word_level((*_MARKS, *sorted(found - {*SPECIAL, *_MARKS})), _PIECES)
    return save_model(folder, tokenizer, _TEMPLATE, seed=seed, initial=0.12, tied=False)


WORLD: Final = World(
    env=ENV,
    arguments=ARGUMENTS,
    demonstrate=demonstrate,
    make_model=make_model,
    demonstrations=100,
    epochs=6,
    learning_rate="1e-3",
    longest=LONGEST,
    longest_action=8,
    tokens=3,
    rounds=2,
    demonstrator="of BabyAI's bot in BabyAI-GoToObj-v0 and BabyAI-GoToRedBallNoDists-v0, with two random moves in five",
    success="reaching the goal within 12 moves",
    learned="mostly not to waste moves as the demonstrator does",
    chosen="""\
after a look at results. The same command on BabyAI-GoToObj-v0 with BabyAI-GoToRedBallGrey-v0, and 200 demonstrations,
gave 26.0 to 58.5, 35.0 to 54.5 and 19.5 to 55.0 % with step-level GAE: intervals apart three times, 20 points twice.
Of the layouts of GoToRedBallGrey a trained policy solved 21 in 100, of GoToObj 94, so the harder level was replaced by
one without distractors.""",
)
