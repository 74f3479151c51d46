"""A phase without rollouts as one command: OpenRLHF's train_sft or train_dpo over an export, started by torchrun."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from agentgym_r1.adapters.openrlhf.driver import DEVICE
from agentgym_r1.adapters.openrlhf.launch import (
    CPU_VARIABLES,
    Device,
    flag_words,
    python_path,
    show_command,
)
from agentgym_r1.adapters.openrlhf.processes import run_to_end
from agentgym_r1.errors import AgentGymError, ConfigError, DataError

Command = Literal["train_sft", "train_dpo"]
METHODS = ("dpo", "awr")
_DRIVER = "agentgym_r1.adapters.openrlhf.offline_driver"


@dataclass(frozen=True, slots=True)
class OfflineLaunch:
    """What the user asked for.

    Attributes:
        command: OpenRLHF's command.
        model: folder or hub name of the policy to start from; for DPO the reference, too.
        data: a file that ``agentgym-r1 export`` wrote: sft for train_sft, dpo for train_dpo.
        out: the run folder; the policy goes to ``out/model``.
        device: ``gpu``, or ``cpu`` with the shim.
        processes: data-parallel processes, on a GPU each.
        seed: of the order of the rows.
        flags: OpenRLHF's flags by name, without the dashes; True is a switch.
        extra: flags given after ``--``, untouched; they come last and so override the others.
    """

    command: Command
    model: str
    data: Path
    out: Path
    device: Device = "gpu"
    processes: int = 1
    seed: int = 0
    flags: Mapping[str, Any] = field(default_factory=dict)
    extra: tuple[str, ...] = ()

    def openrlhf_flags(self) -> list[str]:
        """Return the flags of OpenRLHF's command, those that the user gave last."""
        own: dict[str, Any] = {
            "model.model_name_or_path": self.model,
            "data.dataset": self.data,
            "train.seed": self.seed,
            "ckpt.output_dir": self.out / "model",
            "ckpt.path": self.out / "checkpoints",
            "logger.tensorboard_dir": self.out / "tensorboard",
        }
        cpu = {"ds.attn_implementation": "eager"} if self.device == "cpu" else {}
        merged = {**cpu, **own, **self.flags}
        return [part for name, value in merged.items() for part in flag_words(name, value)] + list(self.extra)

    def variables(self) -> dict[str, str]:
        """Return the environment variables that the run adds."""
        variables = {DEVICE: self.device, "PYTHONPATH": python_path(self.device), "TOKENIZERS_PARALLELISM": "true"}
        return variables | (CPU_VARIABLES if self.device == "cpu" else {})

    def start(self) -> list[str]:
        """Return the command line without OpenRLHF's flags."""
        torchrun = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(self.processes)]
        return [sys.executable, *torchrun, "-m", _DRIVER, self.command]

    def shown(self) -> str:
        """Return the whole command as a shell takes it, one flag a line."""
        return show_command(self.variables(), self.start(), self.openrlhf_flags())


def offline_launch(method: str, model: str, data: Path, out: Path, **options: Any) -> OfflineLaunch:
    """Return the launch of an offline method; ``options`` are OfflineLaunch's.

    DPO reads ``data`` itself. Advantage-weighted regression reads ``out/weighted.jsonl``, which awr.weigh_file writes.
    """
    flags = options.pop("flags", {})
    if method == "dpo":  # OpenRLHF's own limit of 512 tokens would leave out most prompts of an environment
        return OfflineLaunch("train_dpo", model, data, out, flags={"data.max_len": 2048, **flags}, **options)
    return OfflineLaunch("train_sft", model, out / "weighted.jsonl", out, flags=flags, **options)


def check(launch: OfflineLaunch, args: Any, *, rows_in: Path | None = None) -> None:
    """Check the data against OpenRLHF's resolved arguments, before anything is loaded.

    Args:
        launch: the run.
        args: what ``flags.resolve_flags`` returned.
        rows_in: the file whose rows are counted; by default the launch's.

    Raises:
        ConfigError: there are fewer rows than a batch, or the batch cannot be shared out.
        DataError: the file cannot be read.
    """
    rows = count_rows(rows_in or launch.data)
    batch, smallest = args.train.batch_size, launch.processes * args.train.micro_batch_size
    if batch % smallest:
        raise ConfigError(f"--train.batch_size must be a multiple of {smallest} (processes x micro), got {batch}")
    if rows < batch:
        raise ConfigError(
            f"{rows_in or launch.data} has {rows} rows and a batch takes {batch}: lower --train.batch_size"
        )


def count_rows(path: Path) -> int:
    """Return the rows of a JSON Lines file.

    Raises:
        DataError: it cannot be read.
    """
    try:
        with path.open("rb") as file:
            return sum(1 for _ in file)
    except OSError as err:
        raise DataError(f"cannot read {path}: {err.strerror or err}; agentgym-r1 export writes such files") from err


def run(launch: OfflineLaunch) -> None:
    """Run the training to its end.

    Raises:
        AgentGymError: the run failed.
    """
    command = [*launch.start(), *launch.openrlhf_flags()]
    code = run_to_end(command, launch.variables())
    if code:
        raise AgentGymError(f"the training run failed with exit code {code}: its own messages are above")
