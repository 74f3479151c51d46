"""The command ``agentgym-r1 train sft``."""

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from agentgym_r1.errors import MissingExtra, unknown_name

if TYPE_CHECKING:
    from agentgym_r1.adapters.openrlhf.launch import Device
    from agentgym_r1.adapters.openrlhf.offline import OfflineLaunch

Model = Annotated[str, typer.Option(help="Folder or hub name of the policy to start from.")]
Data = Annotated[Path, typer.Option(help="A file that agentgym-r1 export wrote.")]
DeviceOption = Annotated[str, typer.Option(help="gpu, or cpu for tiny models.")]
Processes = Annotated[int, typer.Option(min=1, help="Data-parallel processes, a GPU each.")]
Seed = Annotated[int, typer.Option(help="Orders the rows.")]
Out = Annotated[Path | None, typer.Option(help="The run folder. Default: runs/PHASE-TIME.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Check and print the command, and stop.")]


def sft(
    context: typer.Context,
    *,
    model: Model,
    data: Data,
    device: DeviceOption = "gpu",
    processes: Processes = 1,
    seed: Seed = 0,
    out: Out = None,
    dry_run: DryRun = False,
) -> None:
    """Fine-tune on the steps of an `export sft` file; flags after -- go to OpenRLHF untouched."""
    from agentgym_r1.adapters.openrlhf.offline import OfflineLaunch

    launch = OfflineLaunch(
        "train_sft",
        model,
        data,
        out or _folder("sft"),
        device=check_device(device),
        processes=processes,
        seed=seed,
        extra=tuple(context.args),
    )
    start(launch, dry_run=dry_run)


def start(launch: "OfflineLaunch", *, dry_run: bool) -> None:
    """Check a phase, and run it or print its command."""
    from agentgym_r1.adapters.openrlhf.launch import check_here
    from agentgym_r1.adapters.openrlhf.offline import check, run

    args = resolve(launch.openrlhf_flags(), command=launch.command, needed=not dry_run)
    if args is not None:
        check(launch, args)
    if dry_run:
        typer.echo(launch.shown())
        return
    check_here(launch.device)
    typer.echo(f"everything goes to {launch.out}", err=True)
    run(launch)
    typer.echo(str(launch.out))


def check_device(device: str) -> "Device":
    """Return a device's name, or raise ConfigError."""
    if device not in {"gpu", "cpu"}:
        raise unknown_name("device", device, ("gpu", "cpu"))
    return cast("Device", device)


def resolve(flags: list[str], *, command: str = "train_ppo_ray", needed: bool) -> Any:
    """Return the arguments of an OpenRLHF command; None where it is not installed and is only to be shown."""
    from agentgym_r1.adapters.openrlhf.flags import resolve_flags

    try:
        return resolve_flags(flags, command=command)
    except MissingExtra as err:
        if needed:
            raise
        typer.echo(f"note: the flags were not checked: {err}", err=True)
        return None


def _folder(phase: str) -> Path:
    return Path("runs") / f"{phase}-{datetime.now():%Y%m%d-%H%M%S}"
