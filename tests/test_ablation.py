"""The report of the ablation says what its figures say, and its pipeline is one."""

import json
import runpy
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[1] / "examples" / "learn"


@pytest.fixture
def ablation(monkeypatch: pytest.MonkeyPatch) -> dict:
    monkeypatch.syspath_prepend(str(FOLDER))
    for name in ("report", "small_grid"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return runpy.run_path(str(FOLDER / "ablation.py"))


def test_a_mean_over_three_seeds_has_students_interval(ablation: dict) -> None:
    mean, half = ablation["mean_of"]([0.5, 0.6, 0.7])
    assert mean == pytest.approx(0.6)
    assert half == pytest.approx(4.303 * 0.1 / 3**0.5)


@pytest.mark.parametrize(
    ("gains", "said"),
    [([0.1, 0.11, 0.12], "higher"), ([-0.1, -0.11, -0.12], "lower"), ([0.1, -0.1, 0.05], "no difference shown")],
)
def test_a_difference_is_said_only_where_the_interval_leaves_zero_out(
    ablation: dict, gains: list[float], said: str
) -> None:
    found = {"sft": [0.5, 0.6, 0.7], "offline": [0.5 + gains[0], 0.6 + gains[1], 0.7 + gains[2]]}
    text = ablation["difference"](found, "offline", "sft")
    assert text.endswith(said)
    assert text.startswith(f"{100 * sum(gains) / 3:+.1f} points [")


def test_the_table_stands_beside_what_was_published(ablation: dict) -> None:
    found = {name: [0.5, 0.6, 0.7] for name in ablation["VARIANTS"]}
    lines = ablation["table"](found)
    assert len(lines) == 2 + len(found)
    assert lines[2] == "| pre-training only (imitation) | 60.0 | [35.2, 84.8] | 50.0, 60.0, 70.0 | 52.1 |"
    assert [line.split("|")[-2].strip() for line in lines[2:5]] == ["52.1", "61.3", "68.9"]


def test_the_committed_page_says_what_the_committed_figures_say(ablation: dict) -> None:
    results = FOLDER.parents[1] / "docs" / "results" / "ablation"
    document = json.loads((results / "results.json").read_text(encoding="utf-8"))
    assert ablation["page"](document) == (results / "README.md").read_text(encoding="utf-8")
