"""The learning proof's own parts: its demonstrations, its model's words, and what its report says of figures."""

import importlib
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = ROOT / "examples" / "learn"


@pytest.fixture
def grid(monkeypatch):
    pytest.importorskip("minigrid", reason="the grid needs the minigrid package")
    monkeypatch.syspath_prepend(str(EXAMPLE))
    return importlib.import_module("small_grid")


@pytest.fixture
def arithmetic(monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLE))
    return importlib.import_module("small_arithmetic")


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


def test_a_hasty_demonstrator_errs_as_often_as_it_says(arithmetic, tmp_path):
    played = arithmetic.demonstrate(tmp_path / "hasty.jsonl", episodes=300, seed=3)
    assert {t.split for t in played} == {"train"} and len({t.task_id for t in played}) == 300
    assert {t.task_kind for t in played} == set(arithmetic.ARGUMENTS["kinds"])
    early = sum(len(t.transitions) == 2 for t in played) / 300
    assert 0.4 < early < 0.6
    assert {len(t.transitions) for t in played} == {2, 3}
    done = [t.success for t in played if len(t.transitions) == 3]
    assert 0.5 < sum(done) / len(done) < 0.8  # two computations, each right four times in five
    assert all(step.valid_action for t in played for step in t.transitions)
    again = arithmetic.demonstrate(tmp_path / "again.jsonl", episodes=300, seed=3)
    assert [[s.action for s in t.transitions] for t in again] == [[s.action for s in t.transitions] for t in played]


def test_the_model_reads_digits_and_writes_exactly_what_it_was_shown(arithmetic, tmp_path):
    pytest.importorskip("transformers", reason="the tokenizer needs transformers")
    from transformers import AutoTokenizer

    played = arithmetic.demonstrate(tmp_path / "demonstrations.jsonl", episodes=100, seed=0)
    parameters = arithmetic.make_model(tmp_path / "model", played, seed=0)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "model")
    assert 80_000 < parameters < 110_000
    for step in (step for t in played for step in t.transitions):
        assert tokenizer.decode(tokenizer(text=step.action)["input_ids"]) == step.action
        chat = [{"role": message.role, "content": message.content} for message in step.messages]
        text = tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
        assert tokenizer.decode(tokenizer(text=text)["input_ids"]) == text
        assert "calculator for every computation" not in text
    ids = tokenizer(text="<answer>1428</answer>")["input_ids"]
    assert tokenizer.convert_ids_to_tokens(ids) == ["<answer>", "1", "4", "2", "8", "</answer>"]


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


def test_the_page_gives_every_run_with_its_intervals(grid, report):
    results = [_result(0, 40, {"gae": 100, "token_gae": 70})]
    learn = importlib.import_module("learn")
    settings = learn.settings("arithmetic")
    document = {
        "settings": settings,
        "machine": {"cores": 2, "load_average": [1.0, 2.0, 3.0]},
        "summary": report.summary(results),
        "seeds": results,
    }
    page = report.page(json.loads(json.dumps(document)))
    assert "| 0 | step-level GAE | 20.0 [15.0, 26.1] | 50.0 [43.1, 56.9] | +30.0 | 30.0 and 60.0 | 1.0 |" in page
    assert "Played greedily, the same policies changed by +30.0 points" in " ".join(page.split())
    assert "in 1 of 1 seeds" in page
    assert "Time: 3 minutes in all" in page
    assert "--actor.adam.lr 5e-4" in page and "step-level GAE 0.95, token-level GAE 0.9936" in page


@pytest.mark.parametrize("world", ["arithmetic", "grid"])
def test_the_published_page_is_that_of_its_figures_and_of_these_settings(grid, report, world):
    learn = importlib.import_module("learn")
    folder = ROOT / "docs" / "results" / f"learn-{world}"
    document = json.loads((folder / "results.json").read_text())
    assert document["settings"] == json.loads(json.dumps(learn.settings(world)))
    assert document["summary"] == json.loads(json.dumps(report.summary(document["seeds"])))
    assert (folder / "README.md").read_text() == report.page(document)
    assert all(run["shown"] for run in document["summary"]["runs"] if run["algorithm"] == "gae")
