"""The compiled engine against what the original engine said, and against all the games it was made for."""

import json
import lzma
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from agentgym_r1.data.alfworld import SPLITS, read_tasks
from agentgym_r1.envs.alfworld.engine import CompiledEngine
from agentgym_r1.envs.alfworld.games import compile_task

pytestmark = [pytest.mark.real, pytest.mark.slow]
PUBLISHED = {"train": 3_553, "valid_seen": 140, "valid_unseen": 134}


@pytest.fixture(scope="module")
def transcripts(samples: Path):
    """The recorded episodes by split and game."""
    episodes = defaultdict(lambda: defaultdict(list))
    with lzma.open(samples / "golden" / "alfworld_transcripts.jsonl.xz", "rt", encoding="utf-8") as lines:
        for line in lines:
            episode = json.loads(line)
            split, _, game = episode["game"].partition("/")
            episodes[split][game].append(episode["steps"])
    return episodes


def play(engine, step):
    """Return what a recorded step shows, as this engine has it."""
    if step["action"] is None:
        return {
            "action": None,
            "observation": engine.reset(),
            "reward": 0,
            "won": False,
            "admissible": engine.admissible,
        }
    outcome = engine.step(step["action"])
    return {
        "action": step["action"],
        "observation": outcome.text,
        "reward": outcome.reward,
        "won": outcome.won,
        "admissible": engine.admissible,
    }


@pytest.mark.parametrize("split", SPLITS)
def test_every_step_is_what_the_original_engine_answered(transcripts, all_games, split):
    compared = 0
    for task in read_tasks([all_games], split):
        for steps in transcripts[split].pop(task.id, ()):
            engine = CompiledEngine(compile_task(task), goal=task.prompt)
            for number, step in enumerate(steps):
                assert play(engine, step) == step, f"{task.id}, step {number}"
                compared += 1
    assert not transcripts[split]
    assert compared > 1_000


@pytest.mark.parametrize("split", SPLITS)
def test_every_walkthrough_is_admissible_and_wins_at_its_last_step(all_games, split):
    kinds = Counter()
    for task in read_tasks([all_games], split):
        engine = CompiledEngine(compile_task(task), goal=task.prompt)
        engine.reset()
        outcomes = [engine.step(command) for command in task.gold.walkthrough]
        assert all(outcome.accepted for outcome in outcomes), task.id
        assert [outcome.won for outcome in outcomes] == [False] * (len(outcomes) - 1) + [True], task.id
        kinds[task.kind] += 1
    assert kinds.total() == PUBLISHED[split]
    assert len(kinds) == 6
