"""The command line: results on stdout, progress on stderr, usage errors exit 2, failures exit 1, one line each."""

import importlib
import json
import sys
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

import agentgym_r1
from agentgym_r1.adapters.openrlhf.cli import train_app
from agentgym_r1.arguments import read_arguments
from agentgym_r1.cli_export import export
from agentgym_r1.cli_index import app as index_app
from agentgym_r1.errors import AgentGymError, ConfigError, require
from agentgym_r1.registration import ENTRIES, make_env
from agentgym_r1.serving import LOCAL

app = typer.Typer(
    name="agentgym-r1",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Gymnasium text environments for reinforcement learning of LLM agents.",
)
data_app = typer.Typer(no_args_is_help=True, help="Real data sets and generated worlds.")
app.add_typer(data_app, name="data")
app.add_typer(index_app, name="index")
app.add_typer(train_app, name="train")
app.command()(export)

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
EnvArg = Annotated[list[str] | None, typer.Option(help="KEY=VALUE for gym.make; VALUE is JSON or text.")]


def main() -> None:
    """Run the command line; the console script's entry point."""
    try:
        app()
    except AgentGymError as err:
        typer.echo(f"error: {' '.join(str(err).split())}", err=True)
        sys.exit(2 if isinstance(err, ConfigError) else 1)
    except BrokenPipeError:
        sys.exit(1)


@app.callback(invoke_without_command=True)
def _root(
    version: Annotated[bool, typer.Option("--version", help="Print the version.", is_eager=True)] = False,
) -> None:
    if version:
        typer.echo(agentgym_r1.__version__)
        raise typer.Exit


@app.command()
def envs(*, as_json: Json = False) -> None:
    """List the registered environments, their data and extras."""
    from agentgym_r1.data.installed import is_installed
    from agentgym_r1.envs.presets import protocols

    rows: list[dict[str, Any]] = [
        {
            "id": entry.id,
            "summary": entry.summary,
            "data": {name: is_installed(name) for name in entry.data},
            "world": entry.world,
            "split": entry.split,
            "protocols": list(protocols(entry.family)),
            "extras": list(entry.extras),
        }
        for entry in ENTRIES
    ]
    if as_json:
        _print_json(rows)
        return
    table = Table("environment", "task", "real data", "world", "protocols", "extras", box=None, header_style="bold")
    for item in rows:
        installed = ", ".join(f"{n} ({'installed' if ok else 'not installed'})" for n, ok in item["data"].items())
        protocol_names = ", ".join(item["protocols"])
        table.add_row(item["id"], item["summary"], installed, item["world"], protocol_names, ", ".join(item["extras"]))
    _console().print(table)


@app.command()
def bench(
    *,
    env: Annotated[
        list[str] | None, typer.Option(help="A Gymnasium id, or module:id of your own; repeatable. Default: all.")
    ] = None,
    policy: Annotated[list[str] | None, typer.Option(help="A policy; repeat for several. Default: built-in.")] = None,
    source: Annotated[str, typer.Option(help="auto, real or world.")] = "auto",
    split: Annotated[str | None, typer.Option(help="Default: each environment's evaluation split.")] = None,
    protocol: Annotated[str | None, typer.Option(help="A protocol preset. Default: agent-r1.")] = None,
    env_arg: EnvArg = None,
    repeats: Annotated[int, typer.Option(min=1, help="Evaluations of each task.")] = 1,
    episodes: Annotated[int | None, typer.Option(min=1, help="Tasks of each panel. Default: 100.")] = 100,
    full: Annotated[bool, typer.Option("--all-episodes", help="Evaluate every task of the split.")] = False,
    seed: Annotated[int, typer.Option(help="Chooses the panel and seeds the episodes.")] = 0,
    workers: Annotated[int, typer.Option(min=1, help="Processes; episodes in flight for language models.")] = 1,
    ray: Annotated[str, typer.Option(metavar="ADDRESS", help="A Ray cluster whose actors are the workers.")] = "",
    max_tokens: Annotated[int, typer.Option(min=1, help="Most tokens of a language model's response.")] = 512,
    temperature: Annotated[float, typer.Option(min=0.0, help="Of a language model; 0 is greedy.")] = 0.0,
    out: Annotated[Path | None, typer.Option(help="The run folder. Default: runs/bench-TIME.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue the run in --out.")] = False,
    as_json: Json = False,
) -> None:
    """Run policies over environments and print the table."""
    from agentgym_r1.bench.run import BenchConfig
    from agentgym_r1.bench.table import show

    if resume and out is None:
        raise ConfigError("--resume needs --out DIR, the folder of the run to continue")
    if source not in {"auto", "real", "world"}:
        raise ConfigError(f"--source must be auto, real or world, got {source!r}")
    config = BenchConfig(
        envs=tuple(env or _playable()),
        policies=tuple(policy or ()),
        source=source,  # type: ignore[arg-type]  # checked above
        split=split,
        protocol=protocol,
        repeats=repeats,
        episodes=None if full else episodes,
        seed=seed,
        workers=workers,
        max_tokens=max_tokens,
        temperature=temperature,
        out=out or Path("runs") / f"bench-{datetime.now():%Y%m%d-%H%M%S}",
        resume=resume,
        ray=ray,
        env_args=read_arguments(env_arg or ()),
    )
    results = _bench_with_progress(config)
    if as_json:
        _print_json(results)
    else:
        show(results, _console())
        typer.echo(f"results: {config.out}", err=True)
    if any(item["errors"] for item in results["rows"]):
        raise typer.Exit(1)


def _playable() -> list[str]:
    """Return the environments that can be made here, and say on stderr which are left out."""
    for entry in ENTRIES:
        if not entry.is_playable():
            extras = ",".join(entry.extras)
            typer.echo(f"{entry.id} is left out: pip install 'agentgym-r1[{extras}]'", err=True)
    return [entry.id for entry in ENTRIES if entry.is_playable()]


def _bench_with_progress(config: Any) -> dict[str, Any]:
    from agentgym_r1.bench.run import run

    with _progress() as progress:
        bar = progress.add_task("episodes", total=None)
        return run(
            config,
            on_plan=lambda total, done: progress.update(bar, total=total, completed=done),
            on_episode=lambda trajectory: progress.update(
                bar, advance=1, description=f"{trajectory.env_id.removeprefix('AgentR1/')} {trajectory.policy}"
            ),
        )


@app.command()
def replay(
    file: Annotated[Path, typer.Argument(help="A trajectories.jsonl.")],
    *,
    modules: Annotated[
        list[str] | None,
        typer.Option("--import", metavar="MODULE", help="Registers environments of your own; repeatable."),
    ] = None,
) -> None:
    """Step every recorded episode again; any difference is an error."""
    from agentgym_r1.trajectories import read_trajectories
    from agentgym_r1.trajectories import replay as replay_all

    for module in modules or ():
        try:
            importlib.import_module(module)
        except ImportError as err:
            raise ConfigError(f"cannot import {module}: {err}; is its folder on PYTHONPATH?") from err
    count = 0
    differences = []
    with _progress() as progress:
        bar = progress.add_task("replay", total=None)
        for difference in replay_all(read_trajectories(file)):
            count += 1
            progress.update(bar, advance=1)
            if difference is not None:
                differences.append(difference)
    for difference in differences:
        typer.echo(str(difference))
    typer.echo(f"{count} episodes replayed, {len(differences)} differ")
    if differences:
        raise typer.Exit(1)


@app.command()
def view(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder that `bench --out` wrote.")],
    *,
    host: Annotated[str, typer.Option(help="Where to listen; this machine only by default.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535)] = 8765,
) -> None:
    """Show the table and the episodes of a run in the browser."""
    from agentgym_r1.bench.viewer import create_app

    application = create_app(folder)
    typer.echo(f"http://{host}:{port} (stop with Ctrl-C)", err=True)
    require("uvicorn", "viewer").run(application, host=host, port=port, log_level="warning")


@app.command()
def serve(
    *,
    env: Annotated[list[str] | None, typer.Option(help="An environment to offer; repeatable. Default: all.")] = None,
    host: Annotated[str, typer.Option(help="Where to listen. There is no authentication.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 8766,
    sessions: Annotated[int, typer.Option(min=1, help="Most environments held at once.")] = 1024,
    idle: Annotated[float, typer.Option(min=1.0, help="Seconds without a call that end a session.")] = 3600.0,
) -> None:
    """Serve environments over HTTP until it is stopped; gym.make("AgentR1/Remote-v0", url=..., env=ID) plays them."""
    require("starlette", "serve")
    from agentgym_r1.envs.remote import SessionLimits, Sessions
    from agentgym_r1.envs.remote.server import serve as run

    def ready(url: str) -> None:
        typer.echo(f"{len(held.ids)} environments at {url}")
        if host not in LOCAL:
            typer.echo(f"{host} can be reached from other machines, and there is no authentication", err=True)

    held = Sessions(tuple(env or ()), limits=SessionLimits(sessions, idle))
    run(held, host=host, port=port, on_ready=ready)


@app.command()
def play(
    env_id: Annotated[str, typer.Argument(metavar="ID", help="A Gymnasium id.")],
    *,
    source: Annotated[str, typer.Option(help="auto, real or world.")] = "auto",
    split: Annotated[str | None, typer.Option(help="Default: the evaluation split.")] = None,
    task: Annotated[str | None, typer.Option(help="A task id. Default: drawn with --seed.")] = None,
    seed: Annotated[int, typer.Option(help="Draws the task.")] = 0,
    env_arg: EnvArg = None,
    web: Annotated[bool, typer.Option("--web", help="Serve the shop as a web page on this machine.")] = False,
    port: Annotated[int, typer.Option(min=1, max=65535, help="Of the web page.")] = 8765,
) -> None:
    """Play an environment by hand: one action a line (backslash-n for a newline), an empty line to stop.

    Worlds of commands take them as they are, for example go to desk 1; other environments take an action format.
    """
    kwargs = read_arguments(env_arg or ()) | {"source": source} | ({"split": split} if split else {})
    env = _make_by_hand(env_id, kwargs)
    if web:
        _serve_shop(env, seed=seed, task=task, port=port)
        return
    observation, info = env.reset(seed=seed, options={"task": task} if task else None)
    typer.echo(observation)
    total = 0.0
    while (line := _ask()) != "":
        observation, reward, terminated, truncated, info = env.step(line.replace("\\n", "\n"))
        total += float(reward)
        typer.echo(f"\n{observation}\n\nreward {float(reward):g}, so far {total:g}")
        if terminated or truncated:
            typer.echo(f"the episode {'ended' if terminated else 'hit its step limit'}: success {info['success']}")
            break


def _make_by_hand(env_id: str, kwargs: dict[str, Any]) -> Any:
    """Make an environment for a person, who gives commands as they are where the task ends without an answer."""
    from agentgym_r1.text_env import TextEnv

    env = make_env(env_id, **kwargs)
    if isinstance(env.unwrapped, TextEnv) and not env.unwrapped.answers:
        env.close()
        env = make_env(env_id, **{"action_format": "plain", **kwargs})
    return env


def _serve_shop(env: Any, *, seed: int, task: str | None, port: int) -> None:
    from agentgym_r1.envs.webshop.env import WebShopEnv

    shop = env.unwrapped
    if not isinstance(shop, WebShopEnv):
        raise ConfigError(f"only AgentR1/WebShop-v0 has a web page, got {env.spec.id}: leave out --web")
    for module in ("jinja2", "starlette", "uvicorn"):
        require(module, "viewer")
    import uvicorn

    from agentgym_r1.envs.webshop.web import LOOPBACK, Visit, make_app

    typer.echo(f"the shop is at http://{LOOPBACK[0]}:{port}; Ctrl-C closes it", err=True)
    uvicorn.run(make_app(Visit(shop, seed=seed, task=task)), host=LOOPBACK[0], port=port, log_level="warning")


def _ask() -> str:
    try:
        return input("> ")
    except EOFError:
        return ""


@app.command()
def doctor(
    env_id: Annotated[str, typer.Argument(metavar="ID", help="A Gymnasium id, or module:id of a stranger's.")],
    *,
    resets: Annotated[int, typer.Option(min=1, help="Resets of the leak check.")] = 10_000,
    source: Annotated[str | None, typer.Option(help="auto, real or world, for environments of ours.")] = None,
    env_arg: EnvArg = None,
    as_json: Json = False,
) -> None:
    """Run the conformance kit on any Gymnasium text environment."""
    from agentgym_r1.testing import examine

    kwargs = read_arguments(env_arg or ()) | ({"source": source} if source else {})
    make_env(env_id, **kwargs).close()
    findings = examine(lambda: make_env(env_id, **kwargs), resets=resets)
    if as_json:
        _print_json([{"point": f.point, "status": f.status, "detail": f.detail} for f in findings])
    else:
        table = Table("point", "", "detail", box=None, header_style="bold")
        styles = {"pass": "green", "fail": "bold red", "skip": "yellow"}
        for finding in findings:
            table.add_row(finding.point, Text(finding.status, style=styles[finding.status]), Text(finding.detail))
        _console().print(table)
    if any(finding.status == "fail" for finding in findings):
        raise typer.Exit(1)


@data_app.command("list")
def data_list(*, as_json: Json = False) -> None:
    """List the data sets: licence, size, and which splits are installed."""
    from agentgym_r1.data.get import list_sets

    rows: list[dict[str, Any]] = [
        {
            "name": status.entry.name,
            "licence": status.entry.licence,
            "bytes": status.entry.bytes,
            "installed": dict(status.installed) if status.installed is not None else None,
            "origin": status.origin,
            "loadable": status.loadable,
        }
        for status in list_sets()
    ]
    if as_json:
        _print_json(rows)
        return
    table = Table("data set", "licence", "download", "installed", box=None, header_style="bold")
    for item in rows:
        splits = ", ".join(f"{split} {count:,}" for split, count in (item["installed"] or {}).items())
        state = splits or item["origin"] or ("no" if item["loadable"] else "no (by hand in this version)")
        size = f"{item['bytes'] / 1e6:,.1f} MB" if item["bytes"] else "unknown"
        table.add_row(item["name"], item["licence"], size, state)
    _console().print(table)


@data_app.command("get")
def data_get(
    name: Annotated[str, typer.Argument(help="A data set of `data list`.")],
    *,
    source: Annotated[Path | None, typer.Option("--from", help="A folder with the official files.")] = None,
) -> None:
    """Install a data set from its official location, or from files you have."""
    from agentgym_r1.data.get import get, set_status
    from agentgym_r1.data.progress import bars

    with bars() as progress:
        folder = get(name, source=source, progress=progress)
    splits = ", ".join(f"{split} {count:,}" for split, count in (set_status(name).installed or {}).items())
    typer.echo(f"{name}: {splits} tasks in {folder}")


@data_app.command("verify")
def data_verify(name: Annotated[str, typer.Argument(help="An installed data set.")]) -> None:
    """Check an installed set: its files, its panels, and that train and evaluation splits are disjoint."""
    from agentgym_r1.data.verify import verify

    report = verify(name)
    for line in report.notes:
        typer.echo(f"note: {line}")
    for line in report.problems:
        typer.echo(f"problem: {line}")
    typer.echo(f"{name}: {'sound' if report.ok else 'not fit for use'}")
    if not report.ok:
        raise typer.Exit(1)


@data_app.command("make")
def data_make(
    world: Annotated[str, typer.Argument(help="A generated world, for example arithmetic.")],
    *,
    out: Annotated[Path, typer.Option(help="The folder to write.")],
    split: Annotated[
        str, typer.Option(help="train, dev or test; of the household train, valid_seen or valid_unseen.")
    ] = "dev",
    size: Annotated[
        int | None, typer.Option(min=1, help="Tasks, or a shop's products. Default: the world's own number.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Another seed is another world.")] = 0,
) -> None:
    """Write the tasks, and the corpus where there is one, of a generated world as JSON Lines."""
    from agentgym_r1.data.make import make
    from agentgym_r1.data.progress import bars

    with bars() as progress:
        made = make(world, split=split, size=size, seed=seed, out=out, progress=progress)
    corpus = f" and {made.corpus}" if made.corpus else ""
    typer.echo(f"{world}: {made.count} tasks, panel {made.panel[:12]}, in {made.tasks}{corpus}")


def _print_json(document: Any) -> None:
    typer.echo(json.dumps(document, indent=2, ensure_ascii=False))


def _console() -> Console:
    console = Console()
    return Console(width=max(console.width, 150) if console.is_terminal else 160)


def _progress() -> Progress:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)


if __name__ == "__main__":
    main()
