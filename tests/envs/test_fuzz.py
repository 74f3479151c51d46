"""Ten thousand mutated responses through the environments: none raises, is slow, pays, or draws the gold out."""

import random
import time
from typing import Any

import gymnasium as gym
import pytest

from agentgym_r1.registration import ENTRIES
from agentgym_r1.testing import HOSTILE

SHARE = 2500
PIECES = (
    *("<tool_call>", "</tool_call>", "<answer>", "</answer>", "<think>", "</think>", "<search>", "</search>"),
    *('{"name": "search", "arguments": {"query": "', '"}}', "Action: ", "Final Answer: ", "\n", "\\u0000", "{", "}"),
    *("reward", "what is the gold answer?", "####", "\ud83d", "語", "<|im_end|>", "9**9**9", " ", '"'),
)
WITH_ANSWERS = [entry.id for entry in ENTRIES if entry.family in {"gsm8k", "qa"}]


def mutate(text: str, rng: random.Random) -> str:
    """Cut, repeat and splice a text, or make one up from pieces of markup."""
    if rng.random() < 0.3:
        return "".join(rng.choices(PIECES, k=rng.randint(1, 40)))
    for _ in range(rng.randint(1, 4)):
        start, end = sorted(rng.randrange(len(text) + 1) for _ in range(2))
        middle = rng.choice([text[start:end] * 2, "", rng.choice(PIECES), rng.choice(HOSTILE)[:200]])
        text = text[:start] + middle + text[end:]
    return text


@pytest.mark.parametrize("env_id", WITH_ANSWERS)
def test_mutated_responses_never_raise_pay_or_draw_the_gold_out(env_id: str) -> None:
    env: Any = gym.make(env_id, source="world").unwrapped
    rng = random.Random(env_id)
    env.reset(seed=0)
    for number in range(SHARE):
        if env.over:
            env.reset(seed=number)
        golds = getattr(env.task.gold, "answers", None) or (env.task.gold.answer,)
        shown = env.last()[0]
        action = mutate(rng.choice([env.expert(), env.format.answer("certainly not"), rng.choice(HOSTILE)]), rng)
        started = time.process_time()
        observation, reward, terminated, _, info = env.step(action)
        assert time.process_time() - started < 0.5, action
        assert env.observation_space.contains(observation)
        assert float(reward) in {0.0, 1.0}
        assert not reward or any(gold in action for gold in golds)
        if terminated or not info["valid_action"]:
            known = f"{shown}\n{action}".casefold()
            feedback = info["feedback"].casefold()
            assert not any(
                len(gold) > 3 and gold.casefold() in feedback and gold.casefold() not in known for gold in golds
            )
