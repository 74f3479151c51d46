"""Exports: what is taken, what is left out, the card beside the file, and one clear line for each mistake."""

import hashlib
import json
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from agentgym_r1.cli import app
from agentgym_r1.errors import ConfigError, DataError
from agentgym_r1.exports import Filters, export
from agentgym_r1.exports.card import card_path


def rows_of(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_row_is_a_step_with_its_exact_prompt_and_what_was_said(run, expert, tmp_path):
    out = tmp_path / "sft.jsonl"
    export("sft", [run(expert)], out)
    steps = [step for t in expert for step in t.transitions]
    rows = rows_of(out)
    assert [row["prompt"] for row in rows] == [[m.to_dict() for m in step.messages] for step in steps]
    assert [row["completion"] for row in rows] == [[{"role": "assistant", "content": s.action}] for s in steps]
    assert [(row["episode"], row["step"]) for row in rows] == [
        (i, k) for i, t in enumerate(expert) for k in range(len(t.transitions))
    ]


def test_recorded_token_ids_are_written_as_they_were_sampled(run, expert, tmp_path):
    steps = tuple(
        replace(step, prompt_ids=(1, 2, k), action_ids=(7, k)) for k, step in enumerate(expert[0].transitions)
    )
    out = tmp_path / "sft.jsonl"
    export("sft", [run([replace(expert[0], transitions=steps)])], out)
    assert [(row["prompt_ids"], row["completion_ids"]) for row in rows_of(out)] == [
        ([1, 2, k], [7, k]) for k in range(len(steps))
    ]


def test_episodes_with_and_without_token_ids_are_not_mixed_in_silence(run, expert, tmp_path):
    steps = tuple(replace(step, prompt_ids=(1,), action_ids=(2,)) for step in expert[1].transitions)
    folder = run([expert[0], replace(expert[1], transitions=steps)])
    with pytest.raises(ConfigError, match="others without: give --tokenizer MODEL"):
        export("sft", [folder], tmp_path / "sft.jsonl")
    assert not (tmp_path / "sft.jsonl").exists() and not list(tmp_path.glob("*.tmp"))


@pytest.mark.parametrize(
    ("filters", "taken"),
    [
        (Filters(), 8),
        (Filters(success=True), 4),
        (Filters(success=False), 4),
        (Filters(min_score=0.5), 4),
        (Filters(max_score=0.5), 4),
        (Filters(max_steps=1), 4),
        (Filters(policies=("expert",)), 4),
        (Filters(split=None), 8),
    ],
    ids=str,
)
def test_filters_take_whole_episodes(run, expert, failing, tmp_path, filters, taken):
    card = export("sft", [run(expert, failing)], tmp_path / "f.jsonl", filters=filters, held_out=True)
    assert card["episodes"] == taken
    assert card["episodes"] + sum(card["left_out"].values()) == 8
    episodes = {row["episode"]: row["step"] for row in rows_of(tmp_path / "f.jsonl")}
    assert sorted(episodes) == list(range(taken))


def test_tasks_can_be_named(run, expert, tmp_path):
    wanted = expert[2].task_id
    export("sft", [run(expert)], tmp_path / "f.jsonl", filters=Filters(tasks=(wanted,)))
    assert {row["task"] for row in rows_of(tmp_path / "f.jsonl")} == {wanted}


def test_broken_episodes_are_never_taken(run, expert, tmp_path):
    folder = run([replace(expert[0], error="policy: it broke"), *expert[1:]])
    card = export("sft", [folder], tmp_path / "f.jsonl")
    assert card["left_out"] == {"broken": 1} and card["episodes"] == 3


def test_training_and_evaluation_files_of_a_training_run_stay_apart(run, expert, evaluated, tmp_path):
    folder = run(expert, file="step-000001.jsonl")
    run(evaluated, file="evaluation-0001.jsonl")
    (folder / "prompts-train.jsonl").write_text("{}\n", encoding="utf-8")
    card = export("sft", [folder], tmp_path / "f.jsonl")
    assert card["splits"] == {"train": 4} and card["left_out"] == {"split": 3}
    assert {row["split"] for row in rows_of(tmp_path / "f.jsonl")} == {"train"}


@pytest.mark.parametrize("split", ["test", "dev", None])
def test_a_held_out_split_is_refused_for_training_unless_asked(run, evaluated, tmp_path, split):
    folder = run(evaluated)
    with pytest.raises(ConfigError, match="--held-out"):
        export("sft", [folder], tmp_path / "f.jsonl", filters=Filters(split=split))
    assert not (tmp_path / "f.jsonl").exists()
    if split != "dev":
        card = export("sft", [folder], tmp_path / "f.jsonl", filters=Filters(split=split), held_out=True)
        assert card["splits"] == {"test": 3}


def test_a_training_task_that_is_also_a_held_out_one_is_an_error(run, expert, evaluated, tmp_path):
    leaked = replace(evaluated[0], task_digest=expert[0].task_digest)
    folder = run(expert, [leaked])
    with pytest.raises(DataError, match="the splits leak"):
        export("sft", [folder], tmp_path / "f.jsonl")
    assert not (tmp_path / "f.jsonl").exists()
    export("sft", [folder], tmp_path / "f.jsonl", held_out=True)


def test_the_worlds_splits_share_no_task(run, expert, evaluated, tmp_path):
    export("sft", [run(expert, evaluated)], tmp_path / "f.jsonl")
    assert not {t.task_digest for t in expert} & {t.task_digest for t in evaluated}


def test_the_card_says_where_the_rows_come_from(run, expert, failing, tmp_path):
    folder, out = run(expert, failing), tmp_path / "sft.jsonl"
    card = export("sft", [folder], out, filters=Filters(success=True))
    assert json.loads(card_path(out).read_text(encoding="utf-8")) == json.loads(json.dumps(card))
    assert (card["rows"], card["episodes"], card["tasks"]) == (sum(len(t.transitions) for t in expert), 4, 4)
    assert card["filters"]["success"] is True and card["left_out"] == {"success": 4}
    (env,) = card["environments"]
    assert (env["id"], env["source"], env["kwargs"]["max_steps"]) == ("AgentR1/GSM8K-v0", "world", 4)
    assert env["licences"] == {"world": "Apache-2.0 (generated by agentgym-r1)"}
    (source,) = card["sources"]
    journal = folder / "trajectories.jsonl"
    assert source == {"file": str(journal), "sha256": hashlib.sha256(journal.read_bytes()).hexdigest()}
    assert card["sha256"] == hashlib.sha256(out.read_bytes()).hexdigest()


def test_real_tasks_carry_the_licence_of_their_data(run, expert, tmp_path):
    real = [replace(t, source="real") for t in expert]
    card = export("sft", [run(real)], tmp_path / "f.jsonl")
    assert card["environments"][0]["licences"] == {"gsm8k": "MIT"}


def test_an_empty_export_says_why_and_leaves_the_old_file(run, expert, tmp_path):
    out = tmp_path / "f.jsonl"
    export("sft", [run(expert)], out)
    before = out.read_bytes()
    with pytest.raises(DataError, match=r"nothing to write: of the episodes seen \(4 of train\) .* \(task 4\)"):
        export("sft", [tmp_path / "run"], out, filters=Filters(tasks=("nobody",)))
    assert out.read_bytes() == before and not list(tmp_path.glob("*.tmp"))


def test_a_folder_without_trajectories_is_an_error(tmp_path):
    with pytest.raises(DataError, match="holds no trajectories"):
        export("sft", [tmp_path], tmp_path / "f.jsonl")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--min-score", "0.9", "--max-score", "0.1"], "min_score must not be above max_score"),
        (["--max-steps", "0"], "max_steps must be at least 1"),
        (["--split", "all"], "every split holds evaluation tasks"),
    ],
)
def test_a_wrong_filter_is_one_clear_line(run, expert, tmp_path, options, message):
    arguments = ["export", "sft", str(run(expert)), "--out", str(tmp_path / "f.jsonl"), *options]
    result = CliRunner().invoke(app, arguments)
    assert isinstance(result.exception, ConfigError) and message in str(result.exception)


def test_the_command_prints_what_it_wrote(run, expert, tmp_path):
    out = tmp_path / "f.jsonl"
    arguments = ["export", "sft", str(run(expert)), "--out", str(out)]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    count = sum(len(t.transitions) for t in expert)
    assert result.stdout == f"{out}: {count} rows of 4 episodes, 0 episodes left out\n"
    printed = CliRunner().invoke(app, [*arguments, "--json"]).stdout
    assert json.loads(printed)["rows"] == count
    assert "did you mean 'sft'" in str(CliRunner().invoke(app, ["export", "sftt", "x", "--out", "y"]).exception)
