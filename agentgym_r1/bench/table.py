"""The benchmark's table for a terminal."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from agentgym_r1.bench.summary import ranking

_INTERVAL_DIGITS = 3
_KINDS_SHOWN = 10
_ONE_LINE = ("random", "exploit-")
"""Policies that have their row and nothing more."""


def table(results: Mapping[str, Any]) -> Group:
    """Return the results as a table per run: one row a policy and environment, then what the paired tests separate."""
    grid = Table(header_style="bold", pad_edge=False, box=None, padding=(0, 1))
    for name, justify in _COLUMNS:
        grid.add_column(name, justify=justify, no_wrap=True)
    last = None
    for row in results["rows"]:
        if last not in {None, row["env"]}:
            grid.add_row()
        grid.add_row(*_cells(row, first=row["env"] != last))
        last = row["env"]
    return Group(grid, Text(), *_notes(results))


def show(results: Mapping[str, Any], console: Console) -> None:
    """Print the table."""
    console.print(table(results))


_COLUMNS: Sequence[tuple[str, Any]] = (
    ("environment", "left"),
    ("policy", "left"),
    ("episodes", "right"),
    ("success [95 %]", "right"),
    ("score [95 %]", "right"),
    ("return", "right"),
    ("steps", "right"),
    ("invalid", "right"),
    ("tokens", "right"),
    ("seconds", "right"),
)


def _cells(row: Mapping[str, Any], *, first: bool) -> list[str | Text]:
    errors = Text(f" +{row['errors']} broken", style="red") if row["errors"] else Text("")
    tokens = row["completion_tokens"]
    return [
        row["env"].removeprefix("AgentR1/") if first else "",
        row["policy"],
        Text(str(row["episodes"])) + errors,
        _interval(row["success"], row["success_ci"]),
        _interval(row["score"], row["score_ci"]),
        f"{row['return']:.2f}",
        f"{row['steps']:.1f}",
        f"{row['invalid_rate']:.0%}",
        f"{tokens:,}" if tokens else "-",
        f"{row['seconds']:.1f}",
    ]


def _interval(value: float, bounds: Sequence[float]) -> str:
    low, high = (f"{bound:.{_INTERVAL_DIGITS}f}" for bound in bounds)
    return f"{value:.{_INTERVAL_DIGITS}f} [{low}, {high}]"


def _notes(results: Mapping[str, Any]) -> list[Text]:
    notes = []
    for env, panel in results["panel"].items():
        rows = [row for row in results["rows"] if row["env"] == env]
        names = [row["policy"] for row in rows]
        better: dict[str, list[str]] = {}
        for winner, loser in ranking(names, [c for c in results["comparisons"] if c["env"] == env]):
            better.setdefault(winner, []).append(loser)
        played = filter(None, (rows[0]["split"], rows[0]["source"], rows[0]["protocol"]))
        label = f"{env.removeprefix('AgentR1/')} ({', '.join(played)})"
        notes.append(Text(f"{label}: panel {panel[:12]}", style="bold"))
        for winner, losers in better.items():
            notes.append(Text(f"  {winner} > {', '.join(losers)} (paired test, p < 0.05)"))
        for row in rows:
            if row["first_error"]:
                notes.append(Text(f"  {row['policy']}: {row['first_error']}", style="red"))
            if not row["policy"].startswith(_ONE_LINE):
                notes += [Text(f"  {row['policy']} {what}") for what in _details(row)]
    return notes


def _details(row: Mapping[str, Any]) -> list[str]:
    """Return the means of the environment's own metrics, and the success by kind where there are a few kinds."""
    details = []
    if row["metrics"]:
        details.append(f"means: {', '.join(f'{name} {_short(value)}' for name, value in row['metrics'].items())}")
    if 1 < len(row["kinds"]) <= _KINDS_SHOWN:
        details.append(f"by kind: {_kinds(row)}")
    return details


def _short(value: float) -> str:
    return f"{value:.3f}" if abs(value) < 10 else f"{value:.1f}"


def _kinds(row: Mapping[str, Any]) -> str:
    whole = {"success": row["success"], "episodes": row["episodes"] - row["errors"]}
    kinds = {**row["kinds"], "All": whole}
    return ", ".join(f"{kind} {found['success']:.3f} ({found['episodes']})" for kind, found in kinds.items())
