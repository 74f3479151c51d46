"""The driver process of a run: connects to Ray, installs the step-level trainers, and runs OpenRLHF's own command.

    python -m agentgym_r1.adapters.openrlhf.driver OPENRLHF_FLAGS

``agentgym-r1 train ppo`` starts it with the right environment.
"""

import os
import runpy

from agentgym_r1 import ray_pool

DEVICE = "AGENTGYM_R1_DEVICE"
RAY_ADDRESS = "AGENTGYM_R1_RAY"
FORWARDED = ("VLLM_", "NCCL_", "GLOO_", "DS_", "TOKENIZERS_", "TORCHDYNAMO_", "WANDB_")
# OpenRLHF asks Ray for GPUs; on a CPU they are a number and no more
_CPU_RAY = {"num_gpus": 8, "num_cpus": 32, "object_store_memory": 500 * 2**20, "include_dashboard": False}


def main() -> None:
    """Run OpenRLHF's train_ppo_ray with the flags of this process."""
    import ray

    variables = ray_pool.forwarded((*ray_pool.FORWARDED, *FORWARDED))
    variables.setdefault("TOKENIZERS_PARALLELISM", "true")
    address = os.environ.get(RAY_ADDRESS) or "local"  # without one Ray would join a cluster that somebody left here
    alone = os.environ.get(DEVICE) == "cpu" and address == "local"
    ray.init(address=address, runtime_env={"env_vars": variables}, **(_CPU_RAY if alone else {}))

    from agentgym_r1.adapters.openrlhf.trainer import install

    install()
    runpy.run_module("openrlhf.cli.train_ppo_ray", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
