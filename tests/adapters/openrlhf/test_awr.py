"""Weights of advantage-weighted regression, computed by hand."""

import json
import math

import pytest

from agentgym_r1.adapters.openrlhf.awr import Weighting, weigh, weigh_file
from agentgym_r1.errors import ConfigError, DataError


def rows(*episodes, task="t"):
    return [
        {"env": "E", "task": task, "episode": i, "step": k, "reward": reward, "prompt": [{"content": f"{k}"}]}
        for i, rewards in enumerate(episodes)
        for k, reward in enumerate(rewards)
    ]


def test_a_weight_is_the_exponential_of_the_whitened_return_to_go():
    found = weigh(rows((0.0, 2.0), (0.0, 0.0)), Weighting(gamma=0.5, beta=2.0))
    to_go = [1.0, 2.0, 0.0, 0.0]  # 0 + 0.5 * 2, 2, 0, 0
    mean = sum(to_go) / 4
    deviation = math.sqrt(sum((value - mean) ** 2 for value in to_go) / 4)
    for row, value in zip(found, to_go):
        assert row["advantage"] == pytest.approx((value - mean) / deviation)
        assert row["weight"] == pytest.approx(math.exp((value - mean) / deviation / 2))


def test_a_group_baseline_compares_the_episodes_of_a_task():
    found = weigh(rows((1.0,), (0.0,), (0.5,)), Weighting("dr_grpo"))
    assert [row["advantage"] for row in found] == pytest.approx([0.5, -0.5, 0.0])
    alone = weigh([*rows((1.0,)), {**rows((0.0,), task="u")[0], "episode": 1}], Weighting("dr_grpo"))
    assert [row["weight"] for row in alone] == [1.0, 1.0]  # each its task's only episode


def test_a_weight_is_cut_at_the_limit():
    found = weigh(rows((100.0,), *[(0.0,)] * 3), Weighting("dr_grpo", limit=20.0))
    assert found[0]["weight"] == pytest.approx(20.0)
    assert found[1]["weight"] == pytest.approx(math.exp(-25.0))


@pytest.mark.parametrize(
    ("options", "message"),
    [({"algorithm": "gae"}, "unknown algorithm over a log 'gae'"), ({"beta": 0.0}, "beta and limit must be above 0")],
)
def test_a_wrong_weighting_is_one_clear_line(options, message):
    with pytest.raises(ConfigError, match=message):
        Weighting(**options)


def test_rows_must_be_whole_episodes(tmp_path):
    with pytest.raises(DataError, match="weights need whole episodes"):
        weigh(rows((0.0, 1.0))[1:], Weighting())
    with pytest.raises(DataError, match="agentgym-r1 export sft wrote"):
        weigh([{"chosen": "a"}], Weighting())


def test_the_weighted_file_keeps_the_rows(tmp_path):
    source = tmp_path / "sft.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows((0.0, 1.0), (0.5,))), encoding="utf-8")
    assert weigh_file(source, tmp_path / "deep" / "w.jsonl", Weighting()) == 3
    found = [json.loads(line) for line in (tmp_path / "deep" / "w.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [{k: row[k] for k in row.keys() - {"weight", "advantage"}} for row in found] == rows((0.0, 1.0), (0.5,))
    with pytest.raises(DataError, match="cannot weigh"):
        weigh_file(tmp_path / "none.jsonl", tmp_path / "w.jsonl", Weighting())
