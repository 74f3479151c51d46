"""Masks and gradients of a batch, through OpenRLHF's own classes in a process of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.openrlhf, pytest.mark.timeout(300)]
TESTS = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    shim = TESTS.parent / "agentgym_r1" / "adapters" / "openrlhf" / "shim"
    path = os.pathsep.join(map(str, (shim, TESTS, TESTS.parent)))
    command = [sys.executable, str(TESTS / "training_batch.py"), str(tmp_path_factory.mktemp("model"))]
    environment = {**os.environ, "PYTHONPATH": path, "DS_ACCELERATOR": "cpu"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_only_sampled_tokens_of_finished_episodes_get_a_gradient(found):
    some = found["some"]
    assert some["masked"] == some["sampled"] > 0
    assert some["outside"] == 0.0 < some["inside"]
    assert some["rows"] > 8 and some["rows"] % 4 == 0


def test_a_mini_batch_whose_episodes_all_broke_keeps_one_token_without_a_gradient(found):
    none = found["none"]
    assert (none["sampled"], none["masked"], none["inside"], none["outside"]) == (0, 1, 0.0, 0.0)
