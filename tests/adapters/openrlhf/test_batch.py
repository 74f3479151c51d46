"""Masks and gradients of a batch, through OpenRLHF's own classes in a process of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.openrlhf, pytest.mark.timeout(300)]
TESTS = Path(__file__).resolve().parents[2]


def test_only_sampled_tokens_of_finished_episodes_get_a_gradient(tmp_path):
    shim = TESTS.parent / "agentgym_r1" / "adapters" / "openrlhf" / "shim"
    path = os.pathsep.join(map(str, (shim, TESTS, TESTS.parent)))
    command = [sys.executable, str(TESTS / "training_batch.py"), str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": path, "DS_ACCELERATOR": "cpu"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["masked"] == found["sampled"] > 0
    assert found["outside"] == 0.0 < found["inside"]
    assert found["rows"] > 8 and found["rows"] % 4 == 0
