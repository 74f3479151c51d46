"""Masks and gradients of a batch, through OpenRLHF's own classes in a process of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from agentgym_r1.adapters.openrlhf.advantages import ALGORITHMS, EpisodeSteps, Estimator, estimate

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


REWARDS, ANCHORS = ((1.0, 0.0, 2.0), (0.0,), (0.5, 1.5), (4.0, -1.0)), "sst"  # those of training_batch.py


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_algorithm_reaches_the_rows_that_openrlhf_trains_on(found, algorithm):
    episodes = [
        EpisodeSteps(
            group=i // 2,
            rewards=rewards,
            tokens=tuple(1 + k % 2 for k in range(len(rewards))),
            values=tuple(np.full(1 + k % 2, 0.5) for k in range(len(rewards))),
            anchors=tuple(ANCHORS[: len(rewards)]),
            token_rewards=tuple(-np.array((3.0, 4.0)[: 1 + k % 2]) for k in range(len(rewards))),
        )
        for i, rewards in enumerate(REWARDS)
    ]
    wanted = estimate(episodes, Estimator(algorithm))
    assert len(found["targets"][algorithm]) == sum(map(len, REWARDS))
    for place, row in found["targets"][algorithm].items():
        i, k = map(int, place.split("-"))
        np.testing.assert_allclose(row["advantages"], wanted[i][k].advantages, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(row["returns"], wanted[i][k].returns, rtol=1e-5, atol=1e-6)


def test_the_group_of_an_episode_is_its_prompt(found):
    # returns 3 and 0 in one group, 2 and 3 in the other: each less the other's
    rows = found["targets"]["rloo"]
    assert [rows[f"{i}-0"]["advantages"] for i in range(4)] == [[3.0], [-3.0], [-1.0], [1.0]]
