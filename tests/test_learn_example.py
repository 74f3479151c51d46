"""The learning proof's own parts: its demonstrations, its model's words, and what its report says of figures."""

import importlib
import json
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "learn"


@pytest.fixture
def grid(monkeypatch):
    pytest.importorskip("minigrid", reason="the grid needs the minigrid package")
    monkeypatch.syspath_prepend(str(EXAMPLE))
    return importlib.import_module("small_grid")


@pytest.fixture
def report(monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLE))
    return importlib.import_module("report")


def test_a_careless_demonstrator_takes_longer_and_still_arrives(grid, tmp_path):
    played = grid.demonstrate(tmp_path / "careless.jsonl", episodes=12, seed=3)
    assert {t.split for t in played} == {"train"} and len({t.task_id for t in played}) == 12
    assert sum(t.success for t in played) >= 11
    assert sum(len(t.transitions) for t in played) > 12 * 7  # the expert alone takes five or six
    again = grid.demonstrate(tmp_path / "again.jsonl", episodes=12, seed=3)
    assert [[s.action for s in t.transitions] for t in again] == [[s.action for s in t.transitions] for t in played]


def test_the_model_reads_every_word_of_the_task_and_none_of_the_instructions(grid, tmp_path):
    pytest.importorskip("transformers", reason="the tokenizer needs transformers")
    from transformers import AutoTokenizer

    played = grid.demonstrate(tmp_path / "demonstrations.jsonl", episodes=12, seed=0)
    parameters = grid.make_model(tmp_path / "model", played, seed=0)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "model")
    assert 80_000 < parameters < 110_000
    chat = [
        {"role": "system", "content": "You move in a grid."},
        {"role": "user", "content": "Mission: go to the red ball\n\nYou face east and carry nothing.\nYou see:"},
        {"role": "assistant", "content": "turn left"},
        {"role": "user", "content": "You face north and carry nothing.\nYou see:\n- a wall 2 steps ahead"},
    ]
    text = tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
    pieces = tokenizer.convert_ids_to_tokens(tokenizer(text=text)["input_ids"])
    assert " ".join(" ".join(pieces).split()) == (
        "Mission : go to the red ball You face east and carry nothing. You see: <said> turn left "
        "You face north and carry nothing. You see: - a wall 2 steps ahead <move>"
    )
    assert tokenizer.decode(tokenizer(text="turn left")["input_ids"]) == "turn left"


def _part(solved, seconds=60.0, **more):
    held_out = {"sampled": [1] * solved + [0] * (200 - solved), "greedy": [1] * (solved + 20) + [0] * (180 - solved)}
    return {"seconds": seconds, "held_out": held_out, **more}


def _result(seed, before, after):
    curves = {"training": [(1, 0.2), (2, 0.3)], "held_out": [(2, 0.3)], "steps": [(1, 10.0), (2, 9.0)]}
    runs = {name: _part(solved, curves=curves) for name, solved in after.items()}
    return {"seed": seed, "warm": _part(before, parameters=93_000), "runs": runs}


def test_a_rise_counts_only_when_it_is_large_and_its_intervals_are_apart(report):
    results = [_result(0, 40, {"gae": 100, "token_gae": 70}), _result(1, 40, {"gae": 79, "token_gae": 80})]
    found = report.summary(results)
    assert [(run["algorithm"], run["shown"]) for run in found["runs"]] == [
        ("gae", True),
        ("token_gae", False),  # 15 points
        ("gae", False),  # 19.5 points
        ("token_gae", True),
    ]
    assert found["minutes"] == 6.0
    assert "in 1 of 2 seeds" in report.verdict(found["runs"])
    assert "step-level GAE +24.8 points, token-level GAE +17.5 points" in report.comparison(found["runs"])


def test_the_page_gives_every_run_with_its_intervals(report):
    results = [_result(0, 40, {"gae": 100, "token_gae": 70})]
    settings = {
        "env": "AgentR1/MiniGrid-v0",
        "arguments": {"level": ["BabyAI-GoToObj-v0"], "max_steps": 12},
        "demonstrations": 200,
        "updates": 24,
        "episodes_per_update": 128,
        "sft_flags": "--adam.lr 1",
        "ppo_flags": "--actor.adam.lr 2",
        "discounts": {"gae": 0.95, "token_gae": 0.983},
    }
    document = {
        "settings": settings,
        "machine": {"cores": 2, "load_average": [1.0, 2.0, 3.0]},
        "summary": report.summary(results),
        "seeds": results,
    }
    page = report.page(json.loads(json.dumps(document)))
    assert "| 0 | step-level GAE | 20.0 [15.0, 26.1] | 50.0 [43.1, 56.9] | +30.0 | 30.0 and 60.0 | 1.0 |" in page
    assert "Played greedily, the same policies changed by +30.0 points" in page
    assert "in 1 of 1 seeds" in page and "3 minutes in all" in page
