"""The commands ``agentgym-r1 train`` without rollouts of their own: sft, offline and pipeline."""

import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer
from rich.console import Console
from rich.table import Table

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


def offline(
    context: typer.Context,
    *,
    model: Model,
    data: Data,
    method: Annotated[str, typer.Option(help="dpo, on an export dpo; or awr, on an export sft.")] = "dpo",
    algorithm: Annotated[str, typer.Option(help="awr: the advantage over the log.")] = "reinforce",
    gamma: Annotated[float, typer.Option(help="awr: discount a step.")] = 1.0,
    beta: Annotated[float, typer.Option(help="awr: temperature of the weights. DPO's is --model.beta.")] = 1.0,
    device: DeviceOption = "gpu",
    processes: Processes = 1,
    seed: Seed = 0,
    out: Out = None,
    dry_run: DryRun = False,
) -> None:
    """Train on logged steps: DPO, or advantage-weighted regression; flags after -- go to OpenRLHF untouched."""
    from agentgym_r1.adapters.openrlhf.awr import Weighting, weigh_file
    from agentgym_r1.adapters.openrlhf.offline import METHODS, offline_launch

    if method not in METHODS:
        raise unknown_name("offline method", method, METHODS)
    weighting = Weighting(algorithm, gamma=gamma, beta=beta)
    launch = offline_launch(
        method,
        model,
        data,
        out or _folder("offline"),
        device=check_device(device),
        processes=processes,
        seed=seed,
        extra=tuple(context.args),
    )
    start(
        launch,
        dry_run=dry_run,
        rows_in=data,
        prepare=lambda: weigh_file(data, launch.data, weighting) if method == "awr" else None,
    )


def pipeline(
    file: Annotated[Path, typer.Argument(metavar="F.yaml", help="The pipeline.")],
    *,
    out: Annotated[Path | None, typer.Option(help="The run folder, new or to go on. Default: runs/NAME.")] = None,
    seed: Annotated[int | None, typer.Option(help="In the place of the file's.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check every phase's flags, and stop.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Run the phases of a YAML file, evaluate every policy on held-out tasks, and print the table.

    The same command goes on with a run that was stopped: what is done is not run again.
    """
    from agentgym_r1.adapters.openrlhf.launch import check_here, check_model
    from agentgym_r1.adapters.openrlhf.pipeline import Run, check_flags
    from agentgym_r1.adapters.openrlhf.pipeline_plan import read_pipeline
    from agentgym_r1.data.progress import bars

    plan = read_pipeline(file, seed=seed)
    check_flags(plan)
    if dry_run:
        typer.echo(" -> ".join(phase.name for phase in plan.phases))
        return
    check_here(plan.device)
    check_model(plan.model, generates_on=plan.device)
    folder = out or Path("runs") / file.stem
    with bars() as report:
        rows = Run(plan, folder, say=lambda line: typer.echo(line, err=True), report=report).run()
    if as_json:
        typer.echo(json.dumps(rows, indent=2, ensure_ascii=False))
        return
    table = Table("phase", "success", "95 %", "score", "95 %", "return", "steps", "invalid", "errors", box=None)
    for row in rows:
        table.add_row(row["phase"], *_cells(row))
    Console(width=120).print(table)
    typer.echo(str(folder))


def _cells(row: dict[str, Any]) -> list[str]:
    success, score = (
        (f"{row[name]:.3f}", f"[dim]{row[f'{name}_ci'][0]:.3f} to {row[f'{name}_ci'][1]:.3f}[/dim]")
        for name in ("success", "score")
    )
    others = f"{row['return']:.2f}", f"{row['steps']:.1f}", f"{row['invalid_rate']:.2f}", str(row["errors"])
    return [*success, *score, *others]


def start(
    launch: "OfflineLaunch",
    *,
    dry_run: bool,
    rows_in: Path | None = None,
    prepare: Callable[[], object] = lambda: None,
) -> None:
    """Check a phase, and run it or print its command; ``prepare`` writes what it reads."""
    from agentgym_r1.adapters.openrlhf.launch import check_here, check_model
    from agentgym_r1.adapters.openrlhf.offline import check, run

    args = resolve(launch.openrlhf_flags(), command=launch.command, needed=not dry_run)
    if args is not None:
        check(launch, args, rows_in=rows_in)
    if dry_run:
        typer.echo(launch.shown())
        return
    check_here(launch.device)
    check_model(launch.model)
    typer.echo(f"everything goes to {launch.out}", err=True)
    prepare()
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
