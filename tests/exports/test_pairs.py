"""Preference pairs and labelled answers."""

import json

import pytest

from agentgym_r1.errors import ConfigError
from agentgym_r1.exports import export
from agentgym_r1.exports.pairs import dpo_rows, kto_rows
from agentgym_r1.exports.rows import recorded_ids
from agentgym_r1.types import Message, Trajectory, Transition


def step(prompt, action, reward=0.0, **ids):
    return Transition(prompt, (Message("user", prompt),), action, reward, "", False, False, True, **ids)


def episode(*steps, task="t", success=False, score=0.0):
    return Trajectory(
        "E-v0", {}, task, "", f"d-{task}", "train", "world", "p", 0, 0, tuple(steps), "", success, score, {}
    )


def pairs(*episodes, kind="episode"):
    return [
        (row["prompt"][0]["content"], row["chosen"][0]["content"], row["rejected"][0]["content"], row["margin"])
        for row in dpo_rows(episodes, recorded_ids, pairs=kind)
    ]


def test_episodes_of_a_task_are_paired_where_they_part():
    good = episode(step("a", "x"), step("b", "y"), step("c", "z", 1.0))
    bad = episode(step("a", "x"), step("b", "w"), step("d", "z", 0.25))
    assert pairs(bad, good) == [("b", "y", "w", 0.75)]


def test_the_best_episode_is_paired_with_every_worse_one_once():
    best, middle, worst = (episode(step("a", action, reward)) for action, reward in (("x", 1.0), ("y", 0.5), ("z", 0)))
    assert pairs(worst, best, middle, worst) == [("a", "x", "z", 1.0), ("a", "x", "y", 0.5)]


@pytest.mark.parametrize(
    "other",
    [
        episode(step("a", "x", 1.0)),  # the same return
        episode(step("a", "x", 0.0)),  # nothing else was said
        episode(step("b", "y", 0.0)),  # another state
        episode(step("a", "y", 0.0), task="u"),  # another task
    ],
)
def test_nothing_is_preferred_without_a_reason(other):
    assert pairs(episode(step("a", "x", 1.0)), other) == []


def test_equal_states_are_compared_by_the_mean_of_what_followed():
    # in b: y was followed by 1 and 0 (mean 0.5), w by 0.25
    runs = [
        episode(step("a", "x"), step("b", "y", 1.0)),
        episode(step("a", "u"), step("b", "y", 0.0)),
        episode(step("a", "v"), step("b", "w", 0.25)),
    ]
    found = pairs(*runs, kind="step")
    assert ("b", "y", "w", 0.25) in found
    assert [pair for pair in found if pair[0] == "a"] == [("a", "x", "u", 1.0), ("a", "x", "v", 0.75)]


def test_an_equal_state_later_in_an_episode_counts_too():
    runs = [episode(step("a", "x"), step("b", "y"), step("a", "z", 1.0)), episode(step("a", "w", 0.5))]
    # x and z were both followed by 1.0; the first of them stands against w
    assert pairs(*runs, kind="step") == [("a", "x", "w", 0.5)]


def test_both_kinds_never_contradict_each_other():
    # the best episode began with x, but on average y was better
    runs = [
        episode(step("a", "x", 1.0)),
        episode(step("a", "x", 0.0)),
        episode(step("a", "y", 0.9)),
    ]
    assert pairs(*runs) == [("a", "x", "y", pytest.approx(0.1))]
    assert pairs(*runs, kind="both") == [("a", "y", "x", pytest.approx(0.4))]


def test_recorded_ids_come_with_a_pair():
    good = episode(step("a", "x", 1.0, prompt_ids=(1, 2), action_ids=(3,)))
    bad = episode(step("a", "y", 0.0, prompt_ids=(1, 2), action_ids=(4, 5)))
    (row,) = dpo_rows([good, bad], recorded_ids)
    assert (row["prompt_ids"], row["chosen_ids"], row["rejected_ids"]) == ((1, 2), (3,), (4, 5))
    foreign = episode(step("a", "y", 0.0, prompt_ids=(9,), action_ids=(4, 5)))
    with pytest.raises(ConfigError, match="give --tokenizer MODEL"):
        list(dpo_rows([good, foreign], recorded_ids))


def test_every_step_is_labelled_by_its_episode():
    good = episode(step("a", "x"), step("b", "y"), success=True, score=1.0)
    close, bad = episode(step("a", "w"), score=0.6), episode(step("a", "z"), score=0.1)
    rows = list(kto_rows([good, close, bad], recorded_ids))
    assert [(row["completion"][0]["content"], row["label"]) for row in rows] == [
        ("x", True),
        ("y", True),
        ("w", False),
        ("z", False),
    ]
    assert [row["label"] for row in kto_rows([good, close, bad], recorded_ids, threshold=0.5)] == [True] * 3 + [False]


def test_pairs_of_real_episodes_are_written(run, expert, failing, wandering, tmp_path):
    card = export("dpo", [run(expert, failing, wandering)], tmp_path / "dpo.jsonl", options={"pairs": "both"})
    rows = [json.loads(line) for line in (tmp_path / "dpo.jsonl").read_text(encoding="utf-8").splitlines()]
    assert card["rows"] == len(rows) >= 4 and card["options"] == {"pairs": "both"}
    said = {t.transitions[0].action for t in expert}
    assert {row["task"] for row in rows if row["chosen"][0]["content"] in said} == {t.task_id for t in expert}
    assert all(row["margin"] > 0 for row in rows)


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("dpo", {"pairs": "steps"}, "did you mean 'step'"),
        ("sft", {"pairs": "step"}, "--pairs belongs to export dpo, got export sft"),
        ("dpo", {"threshold": 0.5}, "--threshold belongs to export kto"),
    ],
)
def test_a_wrong_option_is_one_clear_line(run, expert, tmp_path, kind, options, message):
    with pytest.raises(ConfigError, match=message):
        export(kind, [run(expert)], tmp_path / "f", options=options)


def test_no_pair_at_all_is_an_error(run, expert, tmp_path):
    from agentgym_r1.errors import DataError

    with pytest.raises(DataError, match="no row came of them"):
        export("dpo", [run(expert)], tmp_path / "dpo.jsonl")
