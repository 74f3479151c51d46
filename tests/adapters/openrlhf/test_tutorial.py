"""The tutorial on training: its commands, run in their order, teach the model the lights."""

from pathlib import Path

import pytest
from docs_blocks import ROOT, Session, blocks_of

from agentgym_r1.trajectories import read_trajectories

pytestmark = [pytest.mark.openrlhf, pytest.mark.timeout(700)]
LEFT_OUT = ("make train-env", "ls traffic-run")
"""Making this environment, and looking at what the run left."""


def test_the_tutorial_trains_a_model_that_reads_the_lights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    session = Session(tmp_path)
    blocks = [block for block in blocks_of(ROOT / "docs" / "tutorials" / "train-on-cpu.md") if block.needs]
    commands = [block.code for block in blocks if not block.first_line.startswith(LEFT_OUT)]
    assert len(commands) == 3
    said = session.shell("\n".join(commands))
    assert "Qwen/Qwen2.5-3B-Instruct" in said  # the dry run of the recipe
    first, later = (list(read_trajectories(tmp_path / "traffic-run" / f"step-{n:06d}.jsonl")) for n in (1, 17))
    assert sum(trajectory.episode_return for trajectory in first) / len(first) < 1.0
    assert sum(trajectory.episode_return for trajectory in later) / len(later) > 2.0
    assert (tmp_path / "traffic-run" / "model" / "model.safetensors").is_file()
