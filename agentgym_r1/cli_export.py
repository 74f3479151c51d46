"""The command ``agentgym-r1 export``: recorded trajectories as data sets for other trainers."""

import itertools
import json
from pathlib import Path
from typing import Annotated

import typer

from agentgym_r1.errors import unknown_name
from agentgym_r1.exports import FORMATS, Filters
from agentgym_r1.exports import export as write_export

ALL_SPLITS = "all"


def export(
    kind: Annotated[str, typer.Argument(metavar="{sft,dpo,kto,parquet}", help="The format.")],
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Folders of bench or train, or JSONL files.")],
    *,
    out: Annotated[Path, typer.Option(help="The file to write; its card goes beside it.")],
    tokenizer: Annotated[str, typer.Option(help="Write the token ids of this model. Default: the recorded ones.")] = "",
    split: Annotated[str | None, typer.Option(help="A split, or all. Default: train; parquet takes all.")] = None,
    held_out: Annotated[bool, typer.Option("--held-out", help="Train on a held-out split all the same.")] = False,
    success: Annotated[bool | None, typer.Option("--success/--failure", help="Only such episodes.")] = None,
    min_score: Annotated[float | None, typer.Option(help="The lowest score.")] = None,
    max_score: Annotated[float | None, typer.Option(help="The highest score.")] = None,
    max_steps: Annotated[int | None, typer.Option(help="The longest episode.")] = None,
    task: Annotated[list[str] | None, typer.Option(help="A task id; repeat for several.")] = None,
    env: Annotated[list[str] | None, typer.Option(help="An environment; repeat for several.")] = None,
    policy: Annotated[list[str] | None, typer.Option(help="A policy; repeat for several.")] = None,
    pairs: Annotated[str | None, typer.Option(help="dpo: episode, step or both. Default: episode.")] = None,
    threshold: Annotated[float | None, typer.Option(help="kto: a good episode's score. Default: success.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the data card.")] = False,
) -> None:
    """Write recorded episodes as training data, one row a step, with a data card beside the file."""
    from agentgym_r1.data.progress import bars

    if kind not in FORMATS:
        raise unknown_name("export format", kind, FORMATS)
    split = split or ("train" if FORMATS[kind].trains else ALL_SPLITS)
    filters = Filters(
        split=None if split == ALL_SPLITS else split,
        success=success,
        min_score=min_score,
        max_score=max_score,
        max_steps=max_steps,
        tasks=tuple(task or ()),
        envs=tuple(env or ()),
        policies=tuple(policy or ()),
    )
    with bars() as report:
        done = itertools.count(1)
        card = write_export(
            kind,
            runs,
            out,
            filters=filters,
            tokenizer=tokenizer,
            held_out=held_out,
            options={name: value for name, value in (("pairs", pairs), ("threshold", threshold)) if value is not None},
            on_episode=lambda trajectory: report("episodes", next(done), None),
        )
    left_out = sum(card["left_out"].values())
    summary = f"{out}: {card['rows']} rows of {card['episodes']} episodes, {left_out} episodes left out"
    typer.echo(json.dumps(card, indent=2, ensure_ascii=False) if as_json else summary)
