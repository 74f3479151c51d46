"""The commands ``agentgym-r1 train``: ppo and doctor; those without rollouts are in cli_offline."""

import json
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from agentgym_r1.adapters.openrlhf.advantages import ALGORITHMS
from agentgym_r1.adapters.openrlhf.cli_offline import check_device, offline, pipeline, resolve, sft
from agentgym_r1.adapters.openrlhf.plan import UNITS
from agentgym_r1.arguments import read_arguments

train_app = typer.Typer(no_args_is_help=True, help="Train policies with OpenRLHF, on step-level transitions.")
_FORWARDS = {"allow_extra_args": True}
train_app.command(context_settings=_FORWARDS)(sft)
train_app.command(context_settings=_FORWARDS)(offline)
train_app.command()(pipeline)


@train_app.command(context_settings=_FORWARDS)
def ppo(
    context: typer.Context,
    *,
    env: Annotated[str | None, typer.Option(help="A Gymnasium id.")] = None,
    model: Annotated[str | None, typer.Option(help="Folder or hub name of the policy.")] = None,
    recipe: Annotated[Path | None, typer.Option(help="A YAML file with these options and OpenRLHF's flags.")] = None,
    algorithm: Annotated[str | None, typer.Option(help=", ".join(ALGORITHMS) + ". Default: gae.")] = None,
    unit: Annotated[str | None, typer.Option(help="What counts the same: " + ", ".join(UNITS) + ".")] = None,
    env_arg: Annotated[list[str] | None, typer.Option(help="KEY=VALUE for gym.make; VALUE is JSON or text.")] = None,
    split: Annotated[str | None, typer.Option(help="The training split. Default: train.")] = None,
    eval_split: Annotated[str | None, typer.Option(help="The held-out split. Default: the environment's own.")] = None,
    tasks: Annotated[int | None, typer.Option(min=1, help="Tasks to train on. Default: the whole split.")] = None,
    eval_tasks: Annotated[int | None, typer.Option(min=0, help="Tasks to evaluate on; 0: none. Default: 100.")] = None,
    eval_every: Annotated[int | None, typer.Option(min=1, help="Steps between evaluations. Default: 10.")] = None,
    record_every: Annotated[int | None, typer.Option(min=0, help="Write the trajectories of every n-th step.")] = None,
    workers: Annotated[int | None, typer.Option(min=0, help="Ray actors that hold the environments; 0: none.")] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="Threads that step environments, an engine.")] = None,
    bootstrap: Annotated[bool | None, typer.Option(help="Go on with V(s) where a limit cut an episode off.")] = None,
    teacher: Annotated[
        str | None, typer.Option(help="distill: who scores the student's tokens: a model, or expert.")
    ] = None,
    anchor_weight: Annotated[float | None, typer.Option(help="GiGPO's weight of the step-level advantage.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seeds environments, plan and OpenRLHF.")] = None,
    device: Annotated[str | None, typer.Option(help="gpu, or cpu for tiny models. Default: gpu.")] = None,
    ray: Annotated[str | None, typer.Option(help="Address of a running Ray cluster.")] = None,
    out: Annotated[Path | None, typer.Option(help="The run folder. Default: runs/ppo-TIME.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check and print the command, and stop.")] = False,
) -> None:
    """Train a policy; flags after -- go to OpenRLHF untouched."""
    options = {key: value for key, value in locals().items() if value is not None}
    given = {key: options[key] for key in options.keys() - {"context", "recipe", "env_arg", "dry_run"}}
    from agentgym_r1.adapters.openrlhf.launch import check, check_machine, check_model, prepare, run
    from agentgym_r1.adapters.openrlhf.recipes import build_launch

    given.setdefault("out", Path("runs") / f"ppo-{datetime.now():%Y%m%d-%H%M%S}")
    launch = build_launch(recipe, given, env_args=read_arguments(env_arg or ()), extra=tuple(context.args))
    resolved = resolve(launch.openrlhf_flags(), needed=not dry_run)
    if resolved is not None:
        check(launch, resolved)
    if dry_run:
        typer.echo(launch.shown())
        return
    check_machine(launch)
    if not launch.ray:  # on a cluster's own disks it may be elsewhere
        check_model(launch.model, generates_on=launch.device)
    training, evaluation = prepare(launch)
    typer.echo(f"{training} tasks to train on, {evaluation} to evaluate on; everything goes to {launch.out}", err=True)
    run(launch)
    typer.echo(str(launch.out))


@train_app.command()
def doctor(
    *,
    device: Annotated[str, typer.Option(help="gpu or cpu.")] = "gpu",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Say what this machine lacks for training."""
    from agentgym_r1.adapters.openrlhf.doctor import examine

    findings = list(examine(check_device(device)))
    if as_json:
        typer.echo(json.dumps([{"point": f.point, "status": f.status, "detail": f.detail} for f in findings], indent=2))
    else:
        table = Table("point", "", "detail", box=None, header_style="bold")
        for finding in findings:
            table.add_row(finding.point, finding.status, finding.detail)
        Console(width=140).print(table)
    if any(finding.status == "fail" for finding in findings):
        raise typer.Exit(1)
