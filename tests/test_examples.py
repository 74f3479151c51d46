"""The examples run offline as they stand, and say what their readers are told they say."""

import importlib
import runpy
import sys
from pathlib import Path

import gymnasium as gym
import pytest

from agentgym_r1.testing import assert_conforms

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
SAID = {
    "custom_environment": "The shelf: ant bee cat dog",
    "custom_tool": "seconds",
    "evaluate": "100 pairs: told apart at the 5 % level",
    "tree_search": "game 0: won after 6 steps of the kept path",
    "vector_rollout": "128 episodes",
    "constrained": "unconstrained at first: reward 1 for 2 searches",
}


def test_every_example_is_known_here_and_short() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.py")} == set(SAID)
    for path in EXAMPLES.glob("*.py"):
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 60, path.name


@pytest.mark.parametrize("name", SAID)
def test_an_example_runs(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", [f"{name}.py", str(tmp_path)] if name == "evaluate" else [f"{name}.py"])
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    assert SAID[name] in capsys.readouterr().out


@pytest.mark.parametrize(
    ("module", "env_id"), [("custom_environment", "Examples/Shelf-v0"), ("custom_tool", "Examples/Times-v0")]
)
def test_environments_of_ones_own_conform(module: str, env_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    monkeypatch.delitem(sys.modules, module, raising=False)  # an example that ran as a script has registered itself
    importlib.import_module(module)
    assert_conforms(lambda: gym.make(env_id), resets=1_000)
