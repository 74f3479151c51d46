"""On-policy distillation: the reverse KL of each sampled token is its reward."""

import math

import numpy as np
import pytest
from typer.testing import CliRunner

from agentgym_r1.adapters.openrlhf.advantages import EpisodeSteps, Estimator, estimate
from agentgym_r1.adapters.openrlhf.distill import expert_logprobs
from agentgym_r1.cli import app
from agentgym_r1.errors import ConfigError

STUDENT = ((0.5, 0.25), (0.8,))  # probabilities of the sampled tokens, two steps
TEACHER = ((0.25, 0.5), (0.1,))


def episode():
    rewards = tuple(
        np.log(teacher) - np.log(student) for student, teacher in zip(map(np.array, STUDENT), map(np.array, TEACHER))
    )
    return EpisodeSteps(group=0, rewards=(5.0, 7.0), tokens=(2, 1), token_rewards=rewards)


def test_the_advantage_of_a_token_is_the_teachers_log_ratio():
    (steps,) = estimate([episode()], Estimator("distill", gamma=0.0))
    assert steps[0].advantages == pytest.approx([math.log(0.5), math.log(2)])
    assert steps[1].advantages == pytest.approx([math.log(0.125)])


def test_discounting_runs_over_the_tokens_of_a_step_and_not_beyond():
    (steps,) = estimate([episode()], Estimator("distill", gamma=0.5))
    assert steps[0].advantages == pytest.approx([math.log(0.5) + 0.5 * math.log(2), math.log(2)])
    assert steps[1].advantages == pytest.approx([math.log(0.125)])


def test_distillation_without_a_teachers_rewards_is_an_error():
    with pytest.raises(ConfigError, match="needs the teacher's reward of every token"):
        estimate([EpisodeSteps(group=0, rewards=(1.0,), tokens=(1,))], Estimator("distill"))


SURE, DEVIANT = math.log(0.9), math.log(0.1 / 9)


@pytest.mark.parametrize(
    ("sampled", "expected"),
    [
        ((3, 4, 1), [SURE, SURE, SURE]),
        ((3, 5, 1), [SURE, DEVIANT, None]),
        ((5, 4, 1), [DEVIANT, None, None]),
        ((3,), [SURE]),  # cut by the length limit
        ((3, 4, 1, 7), [SURE, SURE, SURE, None]),  # nothing follows the end
    ],
)
def test_the_expert_is_sure_of_its_own_words_and_silent_after_a_deviation(sampled, expected):
    found = expert_logprobs(sampled, (3, 4, 1), vocabulary=10, epsilon=0.1)
    assert [None if math.isnan(value) else value for value in found] == [
        value if value is None else pytest.approx(value) for value in expected
    ]


RUN = ["train", "ppo", "--env", "AgentR1/GSM8K-v0", "--model", "M", "--dry-run"]


@pytest.mark.parametrize("options", [["--algorithm", "distill"], ["--teacher", "T"]])
def test_a_teacher_and_the_algorithm_belong_together(options):
    result = CliRunner().invoke(app, [*RUN, *options])
    assert "distillation takes both" in str(result.exception)


@pytest.mark.openrlhf
def test_the_reverse_kl_must_be_the_reward():
    small = ["--rollout.batch_size", "8", "--train.batch_size", "8", "--rollout.max_new_tokens", "8"]
    options = [*RUN, "--device", "cpu", "--algorithm", "distill", "--teacher", "T", "--", *small]
    assert "--algo.kl.init_coef 1.0" in CliRunner().invoke(app, options).stdout
    of_the_expert = ["expert" if option == "T" else option for option in options]
    assert "--algo.kl.init_coef 0.0" in CliRunner().invoke(app, of_the_expert).stdout  # no reference worker
    for flags in (["--algo.kl.init_coef", "0"], ["--algo.kl.estimator", "k3"], ["--algo.kl.use_loss"]):
        result = CliRunner().invoke(app, [*options, *flags])
        assert "distill needs --algo.kl.init_coef above 0" in str(result.exception), flags


@pytest.mark.openrlhf
def test_a_teacher_with_another_vocabulary_is_refused(word_model, tiny_model):
    from agentgym_r1.adapters.openrlhf.launch import check_teacher

    check_teacher(str(word_model), str(word_model))
    with pytest.raises(ConfigError, match="entries of their vocabularies differ"):
        check_teacher(str(word_model), str(tiny_model("AgentR1/GSM8K-v0")))


@pytest.fixture(params=["a model", "the expert"])
def teacher(request, launched, word_model, colour_demonstrations, tmp_path):
    """A policy that learned the colours, and the world's expert."""
    if request.param == "the expert":
        return "expert"
    launched("export", "sft", colour_demonstrations, "--out", tmp_path / "sft.jsonl")
    flags = "--train.batch_size 32 --train.micro_batch_size 32 --data.max_len 64 --train.max_epochs 4 --adam.lr 3e-3"
    data = ("--data", tmp_path / "sft.jsonl", "--device", "cpu", "--out", tmp_path)
    launched("train", "sft", "--model", word_model, *data, "--", *flags.split())
    return str(tmp_path / "model")


@pytest.mark.openrlhf
@pytest.mark.timeout(600)
def test_a_student_learns_the_colours_from_a_teacher_alone(train, word_model, teacher):
    run = train(
        *("--env", "training_worlds:Worlds/Colours-v0", "--model", str(word_model), "--algorithm", "distill"),
        *("--teacher", teacher, "--tasks", "256", "--eval-tasks", "32", "--eval-split", "held"),
        *("--eval-every", "24"),
        flags="--data.max_len 64 --rollout.max_new_tokens 1 --rollout.batch_size 32 --rollout.n_samples_per_prompt 1 "
        "--train.batch_size 32 --train.micro_batch_size 32 --rollout.micro_batch_size 32 --train.num_episodes 3 "
        "--actor.adam.lr 3e-3 --actor.lr_scheduler constant"
        + ("" if teacher == "expert" else " --algo.kl.init_coef 1.0"),  # the fixture's flags turn it off
    )
    kl = run.figures("reverse_kl")
    assert len(kl) == 24 and kl[0] > 1.0
    assert sum(kl[-3:]) / 3 < kl[0] / 4
    returns = run.figures("episode/return")
    assert returns[0] < 1.0 and sum(returns[-3:]) / 3 > 2.0  # nothing of it was in the reward
    assert run.evaluations("eval_score")[-1] > 0.8
