"""A training run as one command: the prompt sets, the environment variables and OpenRLHF's flags."""

import itertools
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import gymnasium as gym

import agentgym_r1
from agentgym_r1.adapters.openrlhf.advantages import DISTILLATION
from agentgym_r1.adapters.openrlhf.distill import EXPERT
from agentgym_r1.adapters.openrlhf.doctor import examine
from agentgym_r1.adapters.openrlhf.driver import DEVICE, RAY_ADDRESS
from agentgym_r1.adapters.openrlhf.processes import run_to_end
from agentgym_r1.adapters.openrlhf.prompts import INPUT_KEY, LABEL_KEY, write_prompts
from agentgym_r1.adapters.openrlhf.spec import VARIABLE, RunSpec
from agentgym_r1.errors import AgentGymError, ConfigError, MissingExtra, require, unknown_name
from agentgym_r1.exports.tokens import load_tokenizer
from agentgym_r1.ray_pool import check_address

Device = Literal["gpu", "cpu"]
HERE = Path(__file__).resolve().parent
# What OpenRLHF's parser knows our algorithms as; those it lacks pass as the nearest in what they need.
_ESTIMATORS = {"token_gae": "gae", "gigpo": "group_norm", DISTILLATION: "reinforce"}
# The reverse KL itself is the reward, each token's its own (as thinkingmachines.ai/blog/on-policy-distillation).
_DISTILLATION_FLAGS = {"algo.kl.init_coef": 1.0, "algo.kl.estimator": "k1", "algo.advantage.gamma": 0.0}
CPU_VARIABLES = {
    "DS_ACCELERATOR": "cpu",
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "VLLM_NO_USAGE_STATS": "1",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_worker_niceness": "0",
    "GLOO_SOCKET_IFNAME": "lo",
    "TORCHDYNAMO_DISABLE": "1",  # compiling takes longer than a short run
}
CPU_HEAD_SIZES = (32, 64, 80, 96, 112, 128, 160, 192, 224, 256, 512)
"""Of vllm-cpu 0.29."""
_CPU_FLAGS: dict[str, Any] = {
    "actor.num_gpus_per_node": 1,
    "critic.num_gpus_per_node": 1,
    "ref.num_gpus_per_node": 1,
    "vllm.num_engines": 1,
    "vllm.enforce_eager": True,
    "vllm.gpu_memory_utilization": 0.1,
    "vllm.sync_backend": "gloo",
    "ds.attn_implementation": "eager",
}


@dataclass(frozen=True, slots=True)
class Launch:
    """What the user asked for.

    Attributes:
        spec: the adapter's settings.
        model: folder or hub name of the policy.
        device: ``gpu``, or ``cpu`` with the shim.
        tasks: tasks to train on, None for the whole split.
        eval_tasks: tasks to evaluate on, 0 for none.
        eval_every: steps between evaluations.
        ray: address of a running Ray cluster, or empty to start one here.
        flags: OpenRLHF's flags by name, without the dashes; True is a switch.
        extra: flags given after ``--``, untouched; they come last and so override the others.
    """

    spec: RunSpec
    model: str
    device: Device = "gpu"
    tasks: int | None = None
    eval_tasks: int = 100
    eval_every: int = 10
    ray: str = ""
    flags: Mapping[str, Any] = field(default_factory=dict)
    extra: tuple[str, ...] = ()

    @property
    def out(self) -> Path:
        """The run folder."""
        return Path(self.spec.out)

    def openrlhf_flags(self) -> list[str]:
        """Return the flags of OpenRLHF's command, those that the user gave last."""
        own: dict[str, Any] = {
            "actor.model_name_or_path": self.model,
            "train.agent_func_path": HERE / "executor.py",
            "train.seed": self.spec.seed,
            "data.prompt_dataset": self.out / "prompts-train.jsonl",
            "data.input_key": INPUT_KEY,
            "data.label_key": LABEL_KEY,
            "algo.advantage.estimator": _ESTIMATORS.get(self.spec.algorithm, self.spec.algorithm),
            "ckpt.output_dir": self.out / "model",
            "ckpt.path": self.out / "checkpoints",
            "logger.tensorboard_dir": self.out / "tensorboard",
        }
        if self.eval_tasks:
            own |= {
                "eval.dataset": self.out / "prompts-eval.jsonl",
                "eval.steps": self.eval_every,
                "eval.n_samples_per_prompt": 1,
                "eval.temperature": 0.0,
            }
        if self.spec.algorithm == DISTILLATION:  # the expert needs no reference worker
            own |= _DISTILLATION_FLAGS | ({"algo.kl.init_coef": 0.0} if self.spec.teacher == EXPERT else {})
        merged = {**(_CPU_FLAGS if self.device == "cpu" else {}), **own, **self.flags}
        return [part for name, value in merged.items() for part in flag_words(name, value)] + list(self.extra)

    def variables(self) -> dict[str, str]:
        """Return the environment variables that the run adds."""
        variables = {VARIABLE: self.spec.encode(), DEVICE: self.device, "PYTHONPATH": python_path(self.device)}
        if self.ray:
            variables[RAY_ADDRESS] = self.ray
        return variables | (CPU_VARIABLES if self.device == "cpu" else {})

    def command(self) -> list[str]:
        """Return the driver's command line."""
        return [sys.executable, "-m", "agentgym_r1.adapters.openrlhf.driver", *self.openrlhf_flags()]

    def shown(self) -> str:
        """Return the whole command as a shell takes it, one flag a line."""
        return show_command(self.variables(), self.command()[:3], self.openrlhf_flags())


def check(launch: Launch, args: Any) -> None:
    """Check what the padding plan and the rollout need of OpenRLHF's resolved arguments.

    Args:
        launch: the run.
        args: what ``flags.resolve_flags`` returned.

    Raises:
        ConfigError: a value does not suit step-level training; the message says which would.
    """
    ranks = (
        args.actor.num_nodes * args.actor.num_gpus_per_node // args.ds.ring_attn_size // args.ds.tensor_parallel_size
    )
    episodes = args.rollout.batch_size * args.rollout.n_samples_per_prompt
    smallest = ranks * args.train.micro_batch_size
    batch, limit, longest = args.train.batch_size, args.data.max_len, args.rollout.max_new_tokens
    actor, critic = ((part.num_nodes, part.num_gpus_per_node) for part in (args.actor, args.critic))
    rules = [
        (not args.train.dynamic_batch_enable, "--train.dynamic_batch_enable counts rows: leave it out"),
        (bool(args.vllm.num_engines), "--vllm.num_engines must be at least 1"),
        (
            batch % smallest == 0,
            f"--train.batch_size must be a multiple of {smallest} (ranks x micro), got {batch}",
        ),
        (episodes % batch == 0, f"--train.batch_size must divide the {episodes} episodes of a batch, got {batch}"),
        (bool(longest) and longest < limit, f"--rollout.max_new_tokens must be 1 to {limit - 1}, got {longest}"),
        (
            launch.spec.teacher in {"", EXPERT}
            or (args.algo.kl.init_coef > 0 and args.algo.kl.estimator == "k1" and not args.algo.kl.use_loss),
            "distill needs --algo.kl.init_coef above 0, --algo.kl.estimator k1 and no --algo.kl.use_loss",
        ),
        (launch.spec.teacher != EXPERT or not launch.spec.workers, "the expert teaches with --workers 0"),
        (not args.critic.model_name_or_path or critic == actor, "the critic needs as many nodes and GPUs as the actor"),
    ]
    for holds, message in rules:
        if not holds:
            raise ConfigError(message)
    if launch.spec.env not in gym.registry and ":" not in launch.spec.env:
        raise unknown_name("environment", launch.spec.env, [i for i in gym.registry if i.startswith("AgentR1/")])


def check_machine(launch: Launch) -> None:
    """Check that this machine can run it, or that the cluster is there, before anything is written.

    Raises:
        ConfigError: a GPU is asked for and there is none, or no cluster answers at the address.
        MissingExtra: a package is not installed.
    """
    if launch.ray:
        check_address(launch.ray)
        return
    check_here(launch.device)


def check_here(device: Device) -> None:
    """Check that this machine has what training on a device needs.

    Raises:
        ConfigError: a GPU is asked for and there is none.
        MissingExtra: a package is not installed.
    """
    failed = sorted((f for f in examine(device) if f.status == "fail"), key=lambda f: f.point != "gpu")
    for finding in failed:
        kind = ConfigError if finding.point == "gpu" else MissingExtra
        raise kind(f"{finding.point}: {finding.detail}")


def prepare(launch: Launch) -> tuple[int, int]:
    """Write the prompt sets and return how many tasks each has (training, evaluation).

    Raises:
        ConfigError, DataError: see prompts.write_prompts.
    """
    spec = launch.spec
    if spec.teacher not in {"", EXPERT}:
        check_teacher(launch.model, spec.teacher)
    train = write_prompts(
        launch.out / "prompts-train.jsonl",
        spec.env,
        spec.kwargs("train"),
        phase="train",
        count=launch.tasks,
        seed=spec.seed,
    )
    if not launch.eval_tasks:
        return train, 0
    evaluation = write_prompts(
        launch.out / "prompts-eval.jsonl", spec.env, spec.kwargs("eval"), phase="eval", count=launch.eval_tasks
    )
    return train, evaluation


def check_model(model: str, *, generates_on: Device | None = None) -> None:
    """Check that a model is one to train, in the second that this takes and not after a minute of start-up.

    Args:
        model: folder or hub name.
        generates_on: the device of its rollouts; vLLM's attention on the CPU has kernels for some sizes of heads only.

    Raises:
        ConfigError: no Transformers model and tokenizer are there, or vLLM cannot run it.
    """
    from agentgym_r1.policies.engines.transformers import SMOLLM2, find_model

    if model == SMOLLM2 or model.endswith(".gguf"):
        raise ConfigError(f"{model} is a GGUF file, which cannot be trained: give a Transformers folder or a hub name")
    transformers = require("transformers", "lm")
    try:
        config = transformers.AutoConfig.from_pretrained(str(find_model(model)), trust_remote_code=False)
    except (OSError, ValueError, KeyError) as err:
        if "trust_remote_code" in str(err):
            return  # OpenRLHF runs the model's own code, and nothing can be said without doing so
        raise ConfigError(f"cannot load the model in {model}: {' '.join(str(err).split())[:300]}") from err
    load_tokenizer(model)
    if generates_on == "cpu":
        text = config.get_text_config()
        size = getattr(text, "head_dim", None) or text.hidden_size // text.num_attention_heads
        if size not in CPU_HEAD_SIZES:
            known = ", ".join(map(str, CPU_HEAD_SIZES))
            raise ConfigError(f"{model} has attention heads of {size} numbers: vLLM on the CPU takes {known}")


def check_teacher(model: str, teacher: str) -> None:
    """Check that a teacher can score the tokens of a student: their vocabularies are one.

    Raises:
        ConfigError: they are not, or a tokenizer cannot be loaded.
    """
    own, other = load_tokenizer(model).get_vocab(), load_tokenizer(teacher).get_vocab()
    if own != other:
        differ = len(own.items() ^ other.items())
        raise ConfigError(f"{teacher} cannot teach {model}: {differ} entries of their vocabularies differ")


def run(launch: Launch) -> None:
    """Run the training to its end.

    Raises:
        AgentGymError: the run failed.
    """
    code = run_to_end(launch.command(), launch.variables())
    if code:
        raise AgentGymError(f"the training run failed with exit code {code}: its own messages are above")


def python_path(device: Device) -> str:
    """Return the PYTHONPATH of a run's processes: this package, and on the CPU the shim before it."""
    package = str(Path(agentgym_r1.__file__).resolve().parents[1])
    shim = [str(HERE / "shim")] if device == "cpu" else []
    return os.pathsep.join([*shim, package, *filter(None, [os.environ.get("PYTHONPATH")])])


def show_command(variables: Mapping[str, str], start: Sequence[str], flags: Sequence[str]) -> str:
    """Return a command as a shell takes it, one variable and one flag a line."""
    lines = [f"{name}={shlex.quote(value)}" for name, value in variables.items()]
    lines.append(shlex.join(start))
    starts = [i for i, flag in enumerate(flags) if flag.startswith("--")] + [len(flags)]
    lines += [shlex.join(flags[begin:end]) for begin, end in itertools.pairwise(starts)]
    return " \\\n  ".join(lines)


def flag_words(name: str, value: Any) -> list[str]:
    """Return a flag as a command line takes it; True is a switch, False and None leave it out."""
    if value is True:
        return [f"--{name}"]
    if value is False or value is None:
        return []
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [f"--{name}", *map(str, value)]
    return [f"--{name}", str(value)]
