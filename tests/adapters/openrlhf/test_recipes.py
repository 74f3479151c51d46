"""The recipes, against OpenRLHF's own parser and our environments."""

from operator import attrgetter
from pathlib import Path

import gymnasium as gym
import pytest

from agentgym_r1.adapters.openrlhf.advantages import ALGORITHMS, CRITIC_ALGORITHMS
from agentgym_r1.adapters.openrlhf.flags import resolve_flags
from agentgym_r1.adapters.openrlhf.launch import check
from agentgym_r1.adapters.openrlhf.recipes import build_launch, read_recipe
from agentgym_r1.errors import ConfigError

pytestmark = pytest.mark.openrlhf
RECIPES = sorted((Path(__file__).resolve().parents[3] / "examples" / "openrlhf").glob("*.yaml"))


def launch(recipe=None, *, extra=(), **given):
    return build_launch(recipe, {"out": Path("runs/x"), **given}, env_args={}, extra=tuple(extra))


GIGPO = {
    "actor.adam.lr": 1e-6,
    "algo.kl.init_coef": 0.01,
    "algo.kl.use_loss": True,
    "algo.advantage.gamma": 0.95,
    "rollout.batch_size": 16,
    "rollout.n_samples_per_prompt": 8,
    "rollout.max_new_tokens": 512,
    "eval.temperature": 0.4,
    "eval.steps": 5,
}
PUBLISHED = {
    # Search-R1 (arXiv 2503.09516), train_ppo.sh and train_grpo.sh
    "gsm8k": {
        "actor.adam.lr": 1e-6,
        "critic.adam.lr": 1e-5,
        "algo.kl.init_coef": 0.001,
        "algo.kl.use_loss": False,
        "rollout.batch_size": 512,
        "train.batch_size": 256,
        "rollout.temperature": 1.0,
        "algo.advantage.gamma": 1.0,
        "algo.advantage.lambd": 1.0,
        "train.num_episodes": 15,
    },
    "hotpotqa": {
        "actor.adam.lr": 1e-6,
        "actor.lr_warmup_ratio": 0.285,
        "algo.kl.init_coef": 0.001,
        "algo.kl.use_loss": True,
        "rollout.batch_size": 512,
        "rollout.n_samples_per_prompt": 5,
        "rollout.max_new_tokens": 500,
        "rollout.temperature": 1.0,
    },
    # GiGPO (arXiv 2505.10978), examples/gigpo_trainer
    "alfworld": GIGPO,
    "webshop": GIGPO,
    # Agent-R1 (arXiv 2511.14460), examples/run_qwen3-4b_gsm8k_tool.sh
    "paper_search": {
        "actor.adam.lr": 1e-6,
        "algo.kl.init_coef": 0.001,
        "algo.kl.use_loss": True,
        "rollout.batch_size": 256,
        "rollout.n_samples_per_prompt": 5,
        "train.batch_size": 160,
        "rollout.max_new_tokens": 2048,
        "eval.steps": 5,
    },
}


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda path: path.stem)
def test_a_recipe_has_the_published_values(recipe):
    args = resolve_flags(launch(recipe).openrlhf_flags())
    published = PUBLISHED[recipe.stem]
    assert {name: attrgetter(name)(args) for name in published} == published


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_algorithm_is_a_run_that_openrlhf_takes(algorithm):
    flags = [*BASE, "--rollout.n_samples_per_prompt", "2"]
    teacher = {"teacher": "T"} if algorithm == "distill" else {}
    run = launch(env="AgentR1/GSM8K-v0", model="M", device="cpu", algorithm=algorithm, extra=flags, **teacher)
    args = resolve_flags(run.openrlhf_flags())
    check(run, args)
    assert bool(args.critic.model_name_or_path) == (algorithm in CRITIC_ALGORITHMS)


def test_more_nodes_are_flags_after_the_dashes():
    flags = ["--actor.num_nodes", "2", "--ref.num_nodes", "2", "--vllm.num_engines", "16"]
    run = launch(next(path for path in RECIPES if path.stem == "hotpotqa"), extra=flags, ray="head:6379")
    check(run, resolve_flags(run.openrlhf_flags()))
    assert run.variables()["AGENTGYM_R1_RAY"] == "head:6379"


def test_there_are_recipes():
    assert {path.stem for path in RECIPES} == set(PUBLISHED)


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda path: path.stem)
def test_a_recipe_is_a_run_that_openrlhf_takes(recipe):
    run = launch(recipe)
    args = resolve_flags(run.openrlhf_flags())
    check(run, args)
    assert args.data.max_len >= run.spec.env_kwargs["context_budget"] + args.rollout.max_new_tokens
    assert args.actor.adam.lr == 1e-6


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda path: path.stem)
@pytest.mark.parametrize("phase", ["train", "eval"])
def test_a_recipe_is_an_environment_that_can_be_made(recipe, phase):
    spec = launch(recipe).spec
    env = gym.make(spec.env, **{**spec.kwargs(phase), "source": "world"})
    env.reset(seed=0)
    env.close()


def test_flags_after_the_dashes_win():
    args = resolve_flags(launch(RECIPES[0], extra=["--actor.adam.lr", "2e-6"]).openrlhf_flags())
    assert args.actor.adam.lr == 2e-6


BASE = (
    "--rollout.batch_size",
    "8",
    "--train.batch_size",
    "8",
    "--rollout.max_new_tokens",
    "8",
    "--vllm.num_engines",
    "1",
)


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--bogus", "1"], "unrecognized arguments: --bogus 1"),
        (["--actor.adam.lr", "fast"], "invalid float value: 'fast'"),
        (["--train.batch_size", "6"], "--train.batch_size must divide the 8 episodes of a batch, got 6"),
        (["--train.micro_batch_size", "3"], "must be a multiple of 3"),
        (["--rollout.max_new_tokens", "4096"], "--rollout.max_new_tokens must be 1 to 2047, got 4096"),
        (["--critic.num_gpus_per_node", "2"], "the critic needs as many nodes and GPUs as the actor"),
        (["--vllm.num_engines", "0"], "--vllm.num_engines must be at least 1"),
        (["--algo.advantage.estimator", "rloo"], "rloo requires n_samples_per_prompt > 1"),
    ],
)
def test_a_wrong_flag_is_one_clear_line(flags, message):
    run = launch(env="AgentR1/GSM8K-v0", model="M", device="cpu", extra=[*BASE, *flags])
    with pytest.raises(ConfigError) as caught:
        check(run, resolve_flags(run.openrlhf_flags()))
    assert message in str(caught.value) and "\n" not in str(caught.value)


def test_a_recipe_with_an_unknown_option_is_refused(tmp_path):
    path = tmp_path / "r.yaml"
    path.write_text("enviroment: x\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="unknown option of a recipe 'enviroment'"):
        read_recipe(path)
    path.write_text("[", encoding="utf-8")
    with pytest.raises(ConfigError, match="is not YAML"):
        read_recipe(path)
