"""Each process of a phase without rollouts: puts our data sets in place and runs OpenRLHF's own command.

    torchrun ... -m agentgym_r1.adapters.openrlhf.offline_driver train_sft|train_dpo OPENRLHF_FLAGS

``agentgym-r1 train sft`` and ``train offline`` start it with the right environment.
"""

import runpy
import sys

from agentgym_r1.errors import ConfigError


def install() -> None:
    """Put our data sets where OpenRLHF's commands look them up."""
    import openrlhf.datasets

    from agentgym_r1.adapters.openrlhf.step_datasets import StepPairDataset, StepSFTDataset

    openrlhf.datasets.SFTDataset = StepSFTDataset
    openrlhf.datasets.RewardDataset = StepPairDataset


def main() -> None:
    """Run the command named first in the arguments."""
    command = sys.argv.pop(1)
    install()
    try:
        runpy.run_module(f"openrlhf.cli.{command}", run_name="__main__", alter_sys=True)
    except ConfigError as err:
        sys.exit(f"error: {err}")


if __name__ == "__main__":
    main()
