"""The real OpenRLHF on the CPU, with tiny models: what is trained on is what was played."""

import re
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor

import pytest
from echo import EchoRetriever

from agentgym_r1.retrieval.service import RunningService

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
    assert {step.context["policy"] for t in played for step in t.transitions} >= {
        "append",
        "window",
        "state",
        "summary",
    }


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
    logged = {name: [event.value for event in events.Scalars(name)] for name in events.Tags()["scalars"]}
    for name in ("episode/return", "episode/steps", "logprob_gap", "mini_batches", "idle_rows", "actor_lr"):
        assert logged[f"train/{name}"] == pytest.approx(mixed.figures(name), rel=1e-5), name
    for name in ("eval_success", "eval_success_low", "eval_success_high", "eval_score"):
        assert logged[f"eval/{name}"] == pytest.approx(mixed.evaluations(name), rel=1e-5), name


def test_the_hotpotqa_world_trains_with_a_group_baseline(train, tiny_model):
    run = train(
        *("--env", "AgentR1/HotpotQA-v0", "--model", str(tiny_model("AgentR1/HotpotQA-v0"))),
        *("--env-arg", "source=world", "--env-arg", "max_steps=2", "--tasks", "12", "--eval-tasks", "0"),
        *("--algorithm", "group_norm", "--unit", "episode"),
        flags="--data.max_len 4096 --algo.kl.use_loss --algo.kl.estimator k3 --algo.kl.init_coef 0.001 "
        "--actor.entropy_coef 0.001",
    )
    assert run.figures("mini_batches") == [2.0, 2.0, 2.0] and max(run.figures("logprob_gap")) < 1e-2
    assert run.figures("episode/broken") == [0.0, 0.0, 0.0]


def test_the_alfworld_world_trains_with_gigpo_and_a_ratio_of_steps(train, tiny_model):
    run = train(
        *("--env", "AgentR1/ALFWorld-v0", "--model", str(tiny_model("AgentR1/ALFWorld-v0"))),
        *("--env-arg", "source=world", "--env-arg", "max_steps=3", "--tasks", "12", "--eval-tasks", "0"),
        *("--algorithm", "gigpo", "--record-every", "1"),
        flags="--data.max_len 3072 --actor.policy_loss_type gspo",
    )
    assert run.figures("mini_batches") == [2.0, 2.0, 2.0] and max(run.figures("logprob_gap")) < 1e-2
    tasks = [t.task_id for t in run.trajectories("step-000001.jsonl")]
    assert len(tasks) == 8 and {tasks.count(task) for task in tasks} == {2}


def test_training_goes_on_asynchronously_when_episodes_break(train, word_model, tmp_path):
    """One worker dies in an episode, one episode raises, one prompt is too long; one has 50 steps, one has 1."""
    run = train(
        *("--env", "training_worlds:Worlds/Colours-v0", "--model", str(word_model), "--algorithm", "reinforce"),
        *("--split", "faults", "--env-arg", f"grave={tmp_path / 'grave'}", "--workers", "2"),
        *("--eval-tasks", "8", "--eval-split", "held", "--eval-every", "1", "--record-every", "1"),
        flags="--train.async_enable --data.max_len 256 --rollout.max_new_tokens 1 --rollout.batch_size 8 "
        "--train.batch_size 8 --rollout.n_samples_per_prompt 1 --train.num_episodes 3",
    )
    assert (tmp_path / "grave").exists()
    assert run.figures("mini_batches") == [1.0, 1.0, 1.0]
    assert all(2 <= count < 8 for count in run.figures("episode/broken"))
    errors = {t.task_id: t.error for t in run.trajectories("step-000001.jsonl")}
    assert "the world broke" in errors["crash-3-0"] and "the prompt has" in errors["long-3-0"]
    assert "the worker that held the environment died" in errors["die-3-0"]
    later = run.trajectories("step-000002.jsonl") + run.trajectories("step-000003.jsonl")
    finished = {t.task_id: len(t.transitions) for t in later if not t.error}
    assert (finished["walk-1-0"], finished["walk-50-0"], finished["die-3-0"]) == (1, 50, 3)
    assert "is left out of training" in run.log and len(run.evaluations("eval_success")) >= 1


OUTAGE = 10.0  # seconds


def interrupt(service, asked):
    """Close a service as soon as an environment is about to ask it, and start one like it again after the outage."""
    while not asked.exists():
        time.sleep(0.05)
    port = int(service.address().rpartition(":")[2])
    service.close()
    asked.with_suffix(".down").touch()
    time.sleep(OUTAGE)
    return RunningService({"echo": EchoRetriever()}, port=port)


@pytest.fixture(scope="module")
def filtered(train, word_model, ray_cluster, tmp_path_factory):
    """Groups whose score says nothing are filtered out, wandb logs offline, and the retrieval service is away once.

    All on a Ray cluster that was there before.
    """
    folder = tmp_path_factory.mktemp("outage")
    with pytest.MonkeyPatch.context() as patch, ThreadPoolExecutor(1) as pool:
        patch.setenv("WANDB_MODE", "offline")
        patch.setenv("WANDB_DIR", str(folder))
        service = RunningService({"echo": EchoRetriever()})
        outage = pool.submit(interrupt, service, folder / "asked")
        try:
            run = train(
                *("--env", "training_worlds:Worlds/Colours-v0", "--model", str(word_model), "--algorithm", "rloo"),
                *("--split", "asking", "--env-arg", f"grave={folder / 'asked'}", "--threads", "32"),
                *("--env-arg", f"retriever={service.address()}", "--tasks", "24", "--record-every", "1"),
                *("--eval-tasks", "4", "--eval-split", "held", "--eval-every", "1", "--ray", ray_cluster),
                flags="--data.max_len 64 --rollout.max_new_tokens 1 --rollout.batch_size 8 --train.batch_size 32 "
                "--rollout.n_samples_per_prompt 4 --algo.dynamic_filtering_enable --algo.dynamic_filtering_range 0 1 "
                f"--logger.wandb.key {'0' * 40}",
            )
        finally:
            (folder / "asked").touch()
            outage.result(OUTAGE + 30).close()
    return run, folder


def test_dynamic_filtering_trains_on_the_groups_in_its_range_alone(filtered):
    run, _ = filtered
    assert "Filtered out: avg_reward=0.00" in run.log and run.figures("episode/count")[0] == 32
    assert 0 < run.figures("dynamic_filtering_pass_rate")[0] < 400  # of a prompt's four episodes
    for number in range(1, len(run.figures("episode/count")) + 1):
        scores = defaultdict(list)
        for trajectory in run.trajectories(f"step-{number:06d}.jsonl"):
            scores[trajectory.task_id].append(trajectory.score)
        assert all(len(group) == 4 and 0 < sum(group) / 4 < 1 for group in scores.values())


def test_training_waits_for_a_retrieval_service_that_is_down_for_ten_seconds(filtered):
    run, _ = filtered
    assert set(run.figures("episode/broken")) == {0.0}
    assert "no retrieval service answers" in run.log and "searches wait for it" in run.log
    waited = [float(seconds) for seconds in re.findall(r"answers again after ([\d.]+) s", run.log)]
    assert max(waited) > OUTAGE - 2
    assert max(t.seconds for t in run.trajectories("step-000001.jsonl")) > OUTAGE - 2


def test_a_run_joins_the_cluster_of_an_address(filtered, ray_cluster):
    run, _ = filtered
    port = ray_cluster.rpartition(":")[2]
    assert re.search(rf"Connecting to existing Ray cluster at address: \S+:{port}\b", run.log)


def test_wandb_logs_the_episode_figures_offline(filtered):
    _, folder = filtered
    (log,) = folder.glob("wandb/offline-run-*/run-*.wandb")
    written = log.read_bytes()
    for name in (b"train/episode/return", b"train/logprob_gap", b"eval/eval_success_low"):
        assert name in written


LEARN = (
    *("--env", "training_worlds:Worlds/Colours-v0", "--algorithm", "gae", "--record-every", "1"),
    *("--eval-tasks", "32", "--eval-split", "held", "--eval-every", "24", "--tasks", "256"),
)
LEARN_FLAGS = (
    "--data.max_len 64 --rollout.max_new_tokens 1 --rollout.batch_size 32 --rollout.n_samples_per_prompt 1 "
    "--train.batch_size 32 --train.micro_batch_size 32 --rollout.micro_batch_size 32 --train.num_episodes 3 "
    "--actor.adam.lr 1e-3 --critic.adam.lr 1e-3 --actor.lr_scheduler constant --critic.lr_scheduler constant "
    "--algo.advantage.gamma 0.9 --algo.advantage.lambd 0.9 --ckpt.save_steps 5"
)


@pytest.fixture(scope="module")
def learned(train, word_model):
    return train("--model", str(word_model), *LEARN, flags=LEARN_FLAGS)


def test_a_policy_learns_the_colours(learned):
    """Two of ten words are answers: a random policy's return is 3 steps x 1/10, the best one's 3."""
    returns = learned.figures("episode/return")
    assert len(returns) == 24
    assert returns[0] < 1.0
    assert sum(returns[-3:]) / 3 > 2.0
    assert learned.evaluations("eval_success_low")[-1] > 0.3


def test_a_killed_run_goes_on_with_the_data_that_it_has_not_seen(learned, train, kill_at, word_model, tmp_path):
    options = ("--model", str(word_model), *LEARN)
    out = tmp_path / "run"
    kill_at(*options, flags=LEARN_FLAGS, out=out, sign="step-000007.jsonl")
    resumed = train(*options, flags=LEARN_FLAGS + " --ckpt.load_enable", out=out)
    assert len(resumed.figures("episode/return")) == 19  # from the checkpoint of step 5 to step 24
    for step in (5, 6, 7, 8, 9, 16, 24):
        name = f"step-{step:06d}.jsonl"
        seen = sorted(t.task_id for t in learned.trajectories(name))
        assert sorted(t.task_id for t in resumed.trajectories(name)) == seen, step
