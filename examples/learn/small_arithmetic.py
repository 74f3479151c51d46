"""Short word problems, a hasty demonstrator and a tiny model that knows the stories' words: learning is shown on them.

Five kinds of story, each of two steps: the policy has to find the numbers that matter, put them to the calculator, take
the result to a second computation, and give that result as the answer. The demonstrator knows all that but is hasty: it
mistakes an operation now and then, and half of the time it answers before it is done.
"""

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import gymnasium as gym
from tiny import World, record, save_model, word_level

from agentgym_r1.tools.calculator import Calculator
from agentgym_r1.types import Agent, Response, ToolCall, Trajectory

ENV: Final = "AgentR1/GSM8K-v0"
ARGUMENTS: Final[Mapping[str, Any]] = {
    "source": "world",
    "kinds": ["ages", "commute", "fence", "orchard", "wages"],
    "solution_steps": 2,
    "distractors": 0,
    "max_steps": 4,
}
WRONG: Final = 0.2
"""Share of computations with a wrong operation."""
IMPATIENT: Final = 0.5
"""Share of episodes whose first result is the answer."""
_PHRASES: Final = (
    '<tool_call>\n{"name": "calculator", "arguments": {"expression": "',
    '"}}\n</tool_call>',
    "<tool_response>\n",
    "\n</tool_response>",
    "<answer>",
    "</answer>",
)
_MARKS: Final = ("<asked>", "<said>")
_PIECES: Final = "|".join([*map(re.escape, (*_PHRASES, *_MARKS)), r"\d", r" ?[A-Za-z']+", r"[\n ]", r"[^\w\s]"])
_TEMPLATE: Final = (
    "{% for m in messages %}{% if m['role'] == 'user' %}<asked>{{ m['content'] }}"
    "{% elif m['role'] == 'assistant' %}<said>{{ m['content'] }}{% endif %}{% endfor %}<said>"
)
"""Leaves the instructions out: the same words before every step tell a model nothing that it could not learn."""


class HastyExpert:
    """Plays the environment's solution in haste: see ``WRONG`` and ``IMPATIENT``."""

    name = "hasty expert"

    def begin(self, env: gym.Env[str, str], *, seed: int) -> Agent:
        """Return the agent of an episode."""
        return _Hasty(env.unwrapped, random.Random(seed))


@dataclass(slots=True)
class _Hasty:
    env: Any
    rng: random.Random

    async def act(self, observation: str, info: Mapping[str, Any]) -> Response:
        results = re.findall(r"<tool_response>\n(.*)\n</tool_response>", observation)
        if len(results) == len(self.env.task.gold.solution) or (results and self.rng.random() < IMPATIENT):
            return Response(self.env.format.answer(results[-1]))
        return Response(self.env.format.call(ToolCall("calculator", {"expression": self._expression(results)})))

    def _expression(self, results: Sequence[str]) -> str:
        """Return the next computation, with the result that the last one really gave."""
        solution = self.env.task.gold.solution
        left, operation, right = solution[len(results)].split()
        if results:
            meant = Calculator()(solution[0]).text
            left, right = (results[0] if number == meant else number for number in (left, right))
        if self.rng.random() < WRONG:
            operation = self.rng.choice([other for other in "+-*" if other != operation])
        return f"{left} {operation} {right}"


def demonstrate(path: Path, *, episodes: int, seed: int) -> list[Trajectory]:
    """Record demonstrations on the training split."""
    return record(path, HastyExpert(), env_id=ENV, arguments=ARGUMENTS, episodes=episodes, seed=seed)


def make_model(folder: Path, demonstrations: list[Trajectory], *, seed: int) -> int:
    """Save a random model and a tokenizer of the stories' words and digits, and return its parameters."""
    from tokenizers import decoders

    texts = [message.content for d in demonstrations for step in d.transitions for message in step.messages[1:]]
    found = sorted({piece for text in texts for piece in re.findall(_PIECES, text)})
    tokenizer = word_level((*_MARKS, *_PHRASES, *"0123456789", *found), _PIECES)
    tokenizer.decoder = decoders.Fuse()
    return save_model(folder, tokenizer, _TEMPLATE, seed=seed, initial=0.05, tied=True)


WORLD: Final = World(
    env=ENV,
    arguments=ARGUMENTS,
    demonstrate=demonstrate,
    make_model=make_model,
    demonstrations=600,
    epochs=16,
    learning_rate="5e-4",
    longest=256,
    longest_action=24,
    tokens=8,
    rounds=1,
    demonstrator=(
        "of an expert in haste, who takes a wrong operation in one computation of five and gives the first of two "
        "results as the answer half of the time"
    ),
    success="giving the right answer to a word problem of two computations",
    learned="to work a problem to its end and to take the right operation, where the demonstrator often did not",
    chosen="""\
after a look at results. These are five two-step kinds whose numbers a model of this size learns to copy; of
installments, loads and travel a clone solved few, and of seating mostly fewer than of these. Demonstrations without
haste left little to learn (400, sixteen epochs: 90 %), and fewer of them a clone that solved 12.5, 0.5 or 1.0 % of the
tasks, by seed (300, ten epochs).""",
)
