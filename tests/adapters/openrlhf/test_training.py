"""The real OpenRLHF on the CPU, with tiny models: what is trained on is what was played."""

import pytest

pytestmark = [pytest.mark.openrlhf, pytest.mark.timeout(600)]
GSM8K = ("--env-arg", "source=world", "--env-arg", "max_steps=3", "--tasks", "12", "--eval-tasks", "4")


@pytest.fixture(scope="module")
def mixed(train, tiny_model):
    """GSM8K's world under all four context policies: 3 global steps with critic and reference, one evaluation."""
    return train(
        *("--env", "training_worlds:Worlds/MixedContexts-v0", "--model", str(tiny_model("AgentR1/GSM8K-v0"))),
        *(*GSM8K, "--eval-split", "test", "--eval-every", "3", "--record-every", "1", "--algorithm", "gae"),
        flags="--algo.kl.init_coef 0.01",
    )


def test_three_global_steps_of_two_optimizer_steps_run_to_the_end(mixed):
    assert len(mixed.figures("episode/count")) == 3
    assert mixed.figures("mini_batches") == [2.0, 2.0, 2.0]
    assert mixed.figures("episode/broken") == [0.0, 0.0, 0.0]
    assert (mixed.out / "model" / "model.safetensors").exists()


def test_the_learning_rate_schedule_ends_with_the_run(mixed):
    # cosine down to a tenth of the peak of 1e-6, over 3 steps of 2 mini-batches: the last step reads the end
    assert mixed.figures("actor_lr")[-1] == pytest.approx(1e-7, rel=1e-3)


def test_the_trainer_finds_the_log_probabilities_of_the_engine_under_every_context_policy(mixed):
    assert max(mixed.figures("logprob_gap")) < 1e-2
    played = mixed.trajectories("step-000001.jsonl")
    assert {step.context["policy"] for t in played for step in t.transitions} >= {"append", "window", "state"}


def test_every_recorded_step_keeps_the_ids_that_were_sampled(mixed):
    for trajectory in mixed.trajectories("step-000002.jsonl"):
        for step in trajectory.transitions:
            assert step.prompt_ids and 1 <= len(step.action_ids) <= 12
            assert len(step.logprobs) == len(step.action_ids) and all(logprob <= 0 for logprob in step.logprobs)


def test_the_held_out_split_is_evaluated_with_intervals(mixed):
    (success,) = mixed.evaluations("eval_success")
    assert mixed.evaluations("eval_success_low")[0] <= success <= mixed.evaluations("eval_success_high")[0]
    assert [t.split for t in mixed.trajectories("evaluation-0001.jsonl")] == ["test"] * 4


def test_tensorboard_holds_the_episode_figures(mixed):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    (folder,) = (mixed.out / "tensorboard").iterdir()
    events = EventAccumulator(str(folder)).Reload()
    names = events.Tags()["scalars"]
    assert any(name.endswith("episode/return") for name in names) and any("eval_success" in name for name in names)


def test_a_policy_learns_the_colours(train, word_model):
    """Two of ten words are answers; the expected return of a random policy is 3 steps x 1/10."""
    run = train(
        *("--env", "training_worlds:Worlds/Colours-v0", "--model", str(word_model), "--algorithm", "gae"),
        *("--eval-tasks", "32", "--eval-split", "held", "--eval-every", "24", "--tasks", "256"),
        flags="--data.max_len 64 --rollout.max_new_tokens 1 --rollout.batch_size 32 --rollout.n_samples_per_prompt 1 "
        "--train.batch_size 32 --train.micro_batch_size 32 --rollout.micro_batch_size 32 --train.num_episodes 3 "
        "--actor.adam.lr 3e-3 --critic.adam.lr 1e-3 --actor.lr_scheduler constant --critic.lr_scheduler constant "
        "--algo.advantage.gamma 0.9 --algo.advantage.lambd 0.9",
    )
    returns = run.figures("episode/return")
    assert sum(returns[:3]) / 3 < 1.0
    assert sum(returns[-3:]) / 3 > 2.0
    assert run.evaluations("eval_success_low")[-1] > 0.3
