"""Pipelines: the YAML file, what is run again and what is not, and all phases with the real OpenRLHF on the CPU."""

import csv
import json
from pathlib import Path

import pytest

from agentgym_r1.adapters.openrlhf.pipeline_plan import read_pipeline
from agentgym_r1.errors import ConfigError
from agentgym_r1.trajectories import read_trajectories

ENV = "training_worlds:Worlds/Colours-v0"
_FOLDER = Path(__file__).resolve().parents[3] / "examples"
EXAMPLES = sorted([*(_FOLDER / "pipelines").glob("*.yaml"), *(_FOLDER / "learn").glob("*.yaml")])


@pytest.fixture
def write(tmp_path):
    def write(phases, **options):
        path = tmp_path / "pipeline.yaml"
        document = {"env": ENV, "model": "M", "device": "cpu", "eval_split": "held", "phases": phases, **options}
        path.write_text(json.dumps(document), encoding="utf-8")  # JSON is YAML
        return path

    return write


def test_phases_go_on_from_the_newest_policy_with_all_that_was_played(write):
    plan = read_pipeline(
        write(
            [
                {"kind": "play"},
                {"kind": "sft"},
                {"kind": "play", "name": "log", "policy": "model"},
                {"kind": "offline"},
                {"kind": "ppo"},
                {"kind": "ppo", "name": "ppo-no-kl", "from": "offline"},
            ]
        )
    )
    assert [(phase.name, phase.start) for phase in plan.phases] == [
        ("play", "start"),
        ("sft", "start"),
        ("log", "sft"),
        ("offline", "sft"),
        ("ppo", "offline"),
        ("ppo-no-kl", "offline"),
    ]
    assert plan.phases[1].data == ["play"] and plan.phases[3].data == ["play", "log"]


PLAY = {"kind": "play"}


def test_a_seed_takes_the_place_of_the_files(write):
    path = write([PLAY], seed=3)
    assert (read_pipeline(path).seed, read_pipeline(path, seed=0).seed) == (3, 0)


@pytest.mark.parametrize(
    ("phases", "message"),
    [
        ([], "at least one phase"),
        ([{"kind": "sft"}], "'sft' needs data: put a phase of kind play before it"),
        ([PLAY, PLAY], "two phases are named 'play'"),
        ([{"kind": "pla"}], "Invalid value 'pla' - at `\\$.phases\\[0\\].kind`"),
        ([{"kind": "play", "episodes": 3}], "unknown field `episodes` - at `\\$.phases\\[0\\]`"),
        ([PLAY, {"kind": "sft", "data": ["plya"]}], "unknown phase that played 'plya'; did you mean 'play'"),
        ([PLAY, {"kind": "sft", "from": "ppo"}], "unknown phase with a policy 'ppo'"),
        (
            [{"kind": "ppo", "options": {"algoritm": "gae"}}],
            "option of a ppo phase 'algoritm'; did you mean 'algorithm'",
        ),
        ([PLAY, {"kind": "offline", "method": "awr", "algorithm": "gae"}], "unknown algorithm over a log 'gae'"),
        ([{"kind": "play", "name": "../x"}], "a phase's name is a folder's"),
    ],
)
def test_a_mistake_in_the_file_is_one_clear_line(write, phases, message):
    with pytest.raises(ConfigError, match=message) as caught:
        read_pipeline(write(phases))
    assert "\n" not in str(caught.value)


@pytest.mark.openrlhf
def test_a_wrong_flag_of_a_late_phase_is_found_before_anything_runs(write):
    from agentgym_r1.adapters.openrlhf.pipeline import check_flags

    phases = [PLAY, {"kind": "sft", "openrlhf": {"adam.lr": "fast"}}]
    with pytest.raises(ConfigError, match="phase 'sft': .* invalid float value: 'fast'"):
        check_flags(read_pipeline(write(phases)))


@pytest.mark.openrlhf
def test_a_phase_that_was_killed_starts_again_and_the_others_do_not(write, word_model, tmp_path):
    from agentgym_r1.adapters.openrlhf.pipeline import Run

    phases = [{"kind": "play", "tasks": 4}, {"kind": "play", "name": "second", "tasks": 4, "policy": "model"}]
    plan = read_pipeline(write(phases, model=str(word_model), eval_tasks=3, max_tokens=1))
    out, said, reported = tmp_path / "run", [], []
    Run(plan, out).run()
    before = {name: (out / name / "trajectories.jsonl").stat().st_mtime_ns for name in ("play", "second")}
    (out / "second" / "done.json").unlink()
    (out / "second").rename(out / "second.1")  # as a killed process leaves it
    rows = Run(plan, out, say=said.append, report=lambda *progress: reported.append(progress)).run()
    assert reported == [("second", done, 4) for done in (1, 2, 3, 4)]
    assert said[1:] == ["play: done before", "second: phase 2 of 2"]
    assert [row["phase"] for row in rows] == ["start"] and rows[0]["episodes"] == 3
    after = {name: (out / name / "trajectories.jsonl").stat().st_mtime_ns for name in ("play", "second")}
    assert before["play"] == after["play"] and before["second"] != after["second"]
    assert sorted(path.name for path in out.iterdir() if path.is_dir()) == ["evaluation", "play", "second"]
    with pytest.raises(ConfigError, match="holds a pipeline with another max_tokens"):
        Run(read_pipeline(write(phases, model=str(word_model), eval_tasks=3, max_tokens=2)), out)
    with pytest.raises(ConfigError, match="is not empty and holds no pipeline"):
        Run(plan, out / "play")


SUPERVISED = {"train.batch_size": 32, "train.micro_batch_size": 32, "data.max_len": 64, "adam.lr": 3e-3}
ONLINE = {
    "data.max_len": 64,
    "rollout.max_new_tokens": 1,
    "rollout.batch_size": 32,
    "rollout.n_samples_per_prompt": 1,
    "rollout.micro_batch_size": 32,
    "train.batch_size": 32,
    "train.micro_batch_size": 32,
    "actor.adam.lr": 3e-3,
    "actor.lr_scheduler": "constant",
    "algo.advantage.gamma": 0.0,
    "algo.kl.init_coef": 0,
}
PHASES = [
    {"kind": "play", "name": "demonstrations", "tasks": 32},
    {"kind": "sft", "openrlhf": {**SUPERVISED, "train.max_epochs": 2}},
    {"kind": "play", "name": "log", "policy": "model", "tasks": 32, "repeats": 4},
    {
        "kind": "offline",
        "data": ["log"],
        "method": "awr",
        "gamma": 0.0,
        "beta": 0.5,
        "openrlhf": {**SUPERVISED, "train.max_epochs": 2},
    },
    {"kind": "ppo", "options": {"algorithm": "reinforce", "tasks": 64, "openrlhf": ONLINE}},
]


@pytest.fixture(scope="module")
def finished(launched, kill_command, word_model, tmp_path_factory):
    """All phases, and what the command printed; it was killed while sft ran, and given again."""
    folder = tmp_path_factory.mktemp("pipeline")
    document = {"env": ENV, "model": str(word_model), "device": "cpu", "eval_split": "held", "phases": PHASES}
    path = folder / "p.yaml"
    path.write_text(json.dumps({**document, "eval_tasks": 64, "max_tokens": 1, "concurrency": 32}), encoding="utf-8")
    kill_command("train", "pipeline", path, "--out", folder / "run", sign=folder / "run", pattern="sft.*/log.txt")
    assert not (folder / "run" / "sft").exists()
    return folder, launched("train", "pipeline", path, "--out", folder / "run", "--json")


@pytest.mark.openrlhf
@pytest.mark.timeout(600)
def test_every_trained_policy_solves_the_held_out_tasks(finished):
    rows = json.loads(finished[1])
    assert [row["phase"] for row in rows] == ["start", "sft", "offline", "ppo"]
    scores = [row["score"] for row in rows]
    assert scores[0] < 0.5 and min(scores[1:]) > 0.9, scores
    for row in rows:
        assert row["episodes"] == 64 and row["errors"] == 0
        assert row["success_ci"][0] <= row["success"] <= row["success_ci"][1]
        assert row["score_ci"][0] <= row["score"] <= row["score_ci"][1]
    assert len({row["panel"] for row in rows}) == 1  # the same held-out tasks


@pytest.mark.openrlhf
def test_the_run_folder_holds_config_logs_curves_and_table(finished):
    run = finished[0] / "run"
    assert json.loads((run / "config.json").read_text(encoding="utf-8"))["env"] == ENV
    assert json.loads((run / "results.json").read_text(encoding="utf-8"))["rows"] == json.loads(finished[1])
    assert json.loads((run / "results.json").read_text(encoding="utf-8"))["versions"]["openrlhf"] == "0.11.2"
    with (run / "curves.csv").open(encoding="utf-8") as file:
        points = [
            (row["phase"], row["figure"].removeprefix("train/"), float(row["value"])) for row in csv.DictReader(file)
        ]
    losses = [
        [value for at, figure, value in points if (at, figure) == (phase, "loss_mean")] for phase in ("sft", "offline")
    ]
    assert losses[0][0] > losses[0][-1] and losses[1][0] < losses[0][0] / 2  # offline goes on from sft
    returns = [value for at, figure, value in points if at == "ppo" and figure.endswith("episode/return")]
    assert len(returns) == 2 and min(returns) > 1.5  # and ppo from offline: at random it would be 0.3
    for phase in ("sft", "offline", "ppo"):
        assert (run / phase / "log.txt").stat().st_size and (run / phase / "model" / "model.safetensors").exists()
    assert {t.split for t in read_trajectories(run / "evaluation" / "ppo.jsonl")} == {"held"}
    assert {t.split for t in read_trajectories(run / "log" / "trajectories.jsonl")} == {"train"}


@pytest.mark.openrlhf
def test_the_same_command_again_runs_nothing_again(finished, launched):
    run = finished[0] / "run"
    before = {path: path.stat().st_mtime_ns for path in run.rglob("*.safetensors")}
    shown = launched("train", "pipeline", finished[0] / "p.yaml", "--out", run)
    assert before == {path: path.stat().st_mtime_ns for path in run.rglob("*.safetensors")}
    lines = [line.split()[0] for line in shown.splitlines()]
    assert lines[1:5] == ["start", "sft", "offline", "ppo"]


@pytest.mark.openrlhf
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_a_pipeline_whose_flags_openrlhf_takes(path):
    from agentgym_r1.adapters.openrlhf.pipeline import check_flags

    check_flags(read_pipeline(path))
