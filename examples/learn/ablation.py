"""The three phases and what each adds, in miniature: one pipeline of branches (ablation.yaml), once a seed.

Supervised fine-tuning on careless demonstrations, advantage-weighted regression on episodes that the result played,
then PPO; and PPO again without its KL penalty, and without GAE. Every policy is played greedily on the same held-out
layouts. What is finished in the run folder is kept. `make ablation` runs it; the report goes to docs/results/ablation.
"""

import argparse
import json
import os
import statistics
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
from report import machine
from small_grid import demonstrate, make_model

from agentgym_r1.adapters.openrlhf.pipeline import Run
from agentgym_r1.adapters.openrlhf.pipeline_plan import read_pipeline

HERE: Final = Path(__file__).resolve().parent
ROOT: Final = HERE.parents[1]
FILE: Final = HERE / "ablation.yaml"
T_975: Final = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776}
"""Student's t for a 95 % interval of a mean, by the number of seeds."""
VARIANTS: Final = {
    "sft": "pre-training only (imitation)",
    "offline": "+ offline (advantage-weighted regression)",
    "online": "+ online (step-level PPO)",
    "without-kl": "online without KL",
    "without-gae": "online without GAE (Monte-Carlo returns)",
    "without-reference": "online without the reference policy",
}
SAME: Final = {"without-reference": "without-kl"}
"""OpenRLHF loads a reference policy for the KL penalty alone: without the one there is no other."""
PUBLISHED: Final = {"sft": "52.1", "offline": "61.3", "online": "68.9"}

PAGE: Final = """\
# What each phase adds, in miniature

`make ablation` made this page: `examples/learn/ablation.yaml`, once for each of {count} seeds; its phases took
{minutes:.0f} minutes in all. A Llama of {parameters:,} parameters plays {env}
({levels}); success is the share of {tasks} held-out layouts whose goal
it reaches within {limit} moves, played greedily. Means over seeds, with Student's 95 % interval.

{table}

{verdicts}

![success of each policy](ablation.png)

The last column is what the training recipe that this follows reports for HotpotQA with a large model, for its three
phases; for its ablations it reports drops of 12.4, 8.7, 15.2 and 9.2 %. Only the question is the same: whether a phase
adds, and whether leaving a part out costs. World, model, data and budget are not, so no number here can be compared
with one there, and with {count} seeds a difference inside the intervals says nothing.

Without a KL penalty OpenRLHF loads no reference policy, so "without KL" and "without the reference policy" are one and
the same training here, run once.

Machine: {machine}; load average at the end {load}.
"""


def main() -> None:
    """Run all seeds and write the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--runs", type=Path, default=Path("runs/ablation"), help="where everything is kept")
    parser.add_argument(
        "--out", type=Path, default=ROOT / "docs" / "results" / "ablation", help="where the report goes"
    )
    arguments = parser.parse_args()
    # phases run in processes of their own, and find the demonstrator and the package there
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), str(HERE), os.environ.get("PYTHONPATH")]))
    seeds = [run_seed(seed, arguments.runs / f"seed-{seed}") for seed in arguments.seeds]
    write_report(arguments.out, seeds)
    print(f"the report is in {arguments.out}")


def run_seed(seed: int, folder: Path) -> dict[str, Any]:
    """Run what a seed still lacks and return its figures."""
    blank = folder / "blank"
    if not (folder / "parameters.json").exists():
        levels = read_pipeline(FILE).env_args["level"]
        played = demonstrate(folder / "words.jsonl", episodes=200, seed=seed, levels=levels)
        _write(folder / "parameters.json", make_model(blank, played, seed=seed))
    pipeline = msgspec.structs.replace(read_pipeline(FILE, seed=seed), model=str(blank.absolute()))
    out = folder / "pipeline"
    rows = Run(pipeline, out, say=lambda line: say(f"seed {seed}: {line}")).run()
    phases = {phase.name: json.loads((out / phase.name / "done.json").read_text("utf-8")) for phase in pipeline.phases}
    return {
        "seed": seed,
        "parameters": json.loads((folder / "parameters.json").read_text(encoding="utf-8")),
        "seconds": {name: round(done["seconds"], 1) for name, done in phases.items()},
        "rows": {row["phase"]: row for row in rows},
    }


def say(line: str) -> None:
    """Print a line with the time."""
    print(f"{time.strftime('%H:%M:%S')} {line}", flush=True)


def write_report(folder: Path, seeds: Sequence[Mapping[str, Any]]) -> None:
    """Write results.json, ablation.png and README.md."""
    folder.mkdir(parents=True, exist_ok=True)
    found = {name: [seed["rows"][SAME.get(name, name)]["success"] for seed in seeds] for name in VARIANTS}
    document = {"seeds": seeds, "machine": machine(), "success": found}
    _write(folder / "results.json", document)
    draw(folder / "ablation.png", found)
    (folder / "README.md").write_text(page(document), encoding="utf-8")


def page(document: Mapping[str, Any]) -> str:
    """Return the README of a results.json."""
    seeds, found, pipeline = document["seeds"], document["success"], read_pipeline(FILE)
    return PAGE.format(
        count=len(seeds),
        minutes=sum(sum(seed["seconds"].values()) for seed in seeds) / 60,
        parameters=seeds[0]["parameters"],
        env=pipeline.env,
        levels=", ".join(pipeline.env_args["level"]),
        tasks=pipeline.eval_tasks,
        limit=pipeline.env_args["max_steps"],
        table="\n".join(table(found)),
        verdicts="\n".join(verdicts(found)),
        load=document["machine"]["load_average"][-1],
        machine=", ".join(f"{name} {value}" for name, value in document["machine"].items() if name != "load_average"),
    )


def mean_of(values: Sequence[float]) -> tuple[float, float]:
    """Return the mean over seeds and half of its 95 % interval; a single seed has none (nan)."""
    if len(values) < 2:
        return values[0], float("nan")
    return statistics.mean(values), T_975[len(values)] * statistics.stdev(values) / len(values) ** 0.5


def table(found: Mapping[str, Sequence[float]]) -> list[str]:
    """Return the table of means, intervals, seeds, and what was published."""
    lines = ["| policy | success, % | 95 % | each seed | published, HotpotQA |", "|---|---|---|---|---|"]
    for name, label in VARIANTS.items():
        mean, half = mean_of(found[name])
        seeds = ", ".join(f"{100 * value:.1f}" for value in found[name])
        bounds = f"[{100 * max(mean - half, 0):.1f}, {100 * min(mean + half, 1):.1f}]"
        lines.append(f"| {label} | {100 * mean:.1f} | {bounds} | {seeds} | {PUBLISHED.get(name, '')} |")
    return lines


def verdicts(found: Mapping[str, Sequence[float]]) -> list[str]:
    """Say of each step whether the seeds, paired, show a difference."""
    pairs = [("offline", "sft"), ("online", "offline"), *((name, "online") for name in list(VARIANTS)[3:])]
    return [f"- {VARIANTS[name]} against {VARIANTS[other]}: {difference(found, name, other)}" for name, other in pairs]


def difference(found: Mapping[str, Sequence[float]], name: str, other: str) -> str:
    """Return the mean difference over seeds with its interval, and what it says."""
    mean, half = mean_of([a - b for a, b in zip(found[name], found[other])])
    shown = "higher" if mean > half else "lower" if mean < -half else "no difference shown"
    return f"{100 * mean:+.1f} points [{100 * (mean - half):+.1f}, {100 * (mean + half):+.1f}], {shown}"


def draw(path: Path, found: Mapping[str, Sequence[float]]) -> None:
    """Draw the mean of each policy with its interval, and each seed as a point."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axis = plt.subplots(figsize=(8, 3.6))
    names = list(reversed(VARIANTS))
    for place, name in enumerate(names):
        mean, half = mean_of(found[name])
        axis.barh(place, mean, color="tab:blue" if name in PUBLISHED else "tab:gray", alpha=0.5)
        axis.errorbar(mean, place, xerr=half, color="black", capsize=3)
        axis.plot(found[name], [place] * len(found[name]), "o", color="black", markersize=3)
    axis.set(yticks=range(len(names)), yticklabels=[VARIANTS[name] for name in names], xlim=(0, 1))
    axis.set_xlabel("success on held-out layouts (bars: means over seeds; points: seeds)")
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def _write(path: Path, document: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
