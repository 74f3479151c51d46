"""The learning proof: a clone of flawed demonstrations, then OpenRLHF's PPO, on held-out tasks of a small world.

For each seed: demonstrations, a random model, supervised fine-tuning (``train sft``), then ``train ppo`` with
step-level GAE and again, from the same warm start, with token-level GAE. Before and after, every held-out task is
played once. Everything runs on the CPU, a part after the other; what is finished in the run folder is kept, so that an
interrupted run goes on. `make learn` runs it; the report goes to docs/results/learn-arithmetic or learn-grid.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from report import write_report
from small_arithmetic import WORLD as ARITHMETIC
from small_grid import WORLD as GRID
from tiny import HELD_OUT, World, evaluate

from agentgym_r1.types import Trajectory

WORLDS: Final = {"arithmetic": ARITHMETIC, "grid": GRID}
ALGORITHMS: Final = ("gae", "token_gae")
DISCOUNT: Final = 0.95
"""Gamma and lambda of a step."""
UPDATES: Final = 30
EPISODES: Final = 128
"""Episodes of an update."""
EVALUATE_EVERY: Final = 10
TEMPERATURES: Final = {"sampled": 1.0, "greedy": 0.0}
ROOT: Final = Path(__file__).resolve().parents[2]


def main() -> None:
    """Run all seeds and write the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--world", choices=WORLDS, default="arithmetic")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--runs", type=Path, help="where everything is kept; default runs/learn-WORLD")
    parser.add_argument("--out", type=Path, help="where the report goes; default docs/results/learn-WORLD")
    given = parser.parse_args()
    world, name = WORLDS[given.world], f"learn-{given.world}"
    runs, out = given.runs or Path("runs") / name, given.out or ROOT / "docs" / "results" / name
    results = [run_seed(world, seed, runs / f"seed-{seed}") for seed in given.seeds]
    write_report(out, results, settings(given.world))
    print(f"the report is in {out}")


def settings(name: str) -> dict[str, Any]:
    """Return what was run, for the report."""
    world = WORLDS[name]
    return {
        "world": name,
        "env": world.env,
        "arguments": dict(world.arguments),
        "demonstrations": world.demonstrations,
        "updates": UPDATES,
        "tokens": world.tokens,
        "episodes_per_update": EPISODES,
        "sft_flags": sft_flags(world),
        "ppo_flags": ppo_flags(world),
        "discounts": discounts(world),
        "texts": {key: getattr(world, key) for key in ("demonstrator", "success", "learned", "chosen")},
    }


def sft_flags(world: World) -> str:
    """Return the warm-up's flags of OpenRLHF."""
    return (
        f"--train.batch_size 64 --train.micro_batch_size 32 --train.max_epochs {world.epochs} --adam.lr 4e-3 "
        f"--data.max_len {world.longest}"
    )


def ppo_flags(world: World) -> str:
    """Return the training's flags of OpenRLHF, but for the discounts."""
    return (
        f"--data.max_len {world.longest} --rollout.max_new_tokens {world.longest_action} "
        f"--rollout.batch_size {EPISODES} --rollout.n_samples_per_prompt 1 --rollout.micro_batch_size 32 "
        f"--train.batch_size 32 --train.micro_batch_size 32 --train.num_episodes {world.rounds} "
        f"--actor.adam.lr {world.learning_rate} --critic.adam.lr 2e-3 --critic.lr_scheduler constant "
        "--algo.kl.init_coef 0 --eval.temperature 1.0"
    )


def discounts(world: World) -> dict[str, float]:
    """Return gamma and lambda by algorithm, so that a usual step is discounted alike under both."""
    return {"gae": DISCOUNT, "token_gae": round(DISCOUNT ** (1 / world.tokens), 4)}


def run_seed(world: World, seed: int, folder: Path) -> dict[str, Any]:
    """Run what a seed still lacks and return its figures."""
    warm = part(folder / "warm", lambda out: warm_up(world, out, seed))
    runs = {
        name: part(folder / name, lambda out, name=name: train(world, out, folder / "warm", name, seed))
        for name in ALGORITHMS
    }
    return {"seed": seed, "warm": warm, "runs": runs}


def part(folder: Path, work: Callable[[Path], dict[str, Any]]) -> dict[str, Any]:
    """Return the figures of a part of the run: those in its folder, or those of doing it now."""
    done = folder / "figures.json"
    if not done.exists():
        print(f"{time.strftime('%H:%M:%S')} {folder} ...", flush=True)
        started = time.monotonic()
        folder.mkdir(parents=True, exist_ok=True)
        figures = {**work(folder), "seconds": round(time.monotonic() - started, 1)}
        done.write_text(json.dumps(figures, indent=2), encoding="utf-8")
    figures = json.loads(done.read_text(encoding="utf-8"))
    rates = ", ".join(f"{name} {sum(found)}/{len(found)}" for name, found in figures["held_out"].items())
    print(f"{time.strftime('%H:%M:%S')} {folder}: {figures['seconds']:.0f} s; held-out {rates}", flush=True)
    return dict(figures)


def warm_up(world: World, folder: Path, seed: int) -> dict[str, Any]:
    """Record demonstrations, make a model and fine-tune it on them."""
    played = world.demonstrate(folder / "demonstrations.jsonl", episodes=world.demonstrations, seed=seed)
    blank, rows = folder / "blank", folder / "sft.jsonl"
    parameters = world.make_model(blank, played, seed=seed)
    cli(
        "export", "sft", folder / "demonstrations.jsonl", "--out", rows, "--tokenizer", blank, log=folder / "export.log"
    )
    command = ("train", "sft", "--model", blank, "--data", rows, "--device", "cpu", "--seed", seed)
    cli(*command, "--out", folder / "sft", "--", *sft_flags(world).split(), log=folder / "sft.log")
    return {
        "parameters": parameters,
        "demonstrations": len(played),
        "demonstration_steps": sum(len(t.transitions) for t in played),
        "held_out": held_out(world, folder / "sft" / "model"),
    }


def train(world: World, folder: Path, warm: Path, algorithm: str, seed: int) -> dict[str, Any]:
    """Train from a warm start with an algorithm."""
    discount = discounts(world)[algorithm]
    options = [
        f"{key}={value if isinstance(value, str) else json.dumps(value)}" for key, value in world.arguments.items()
    ]
    cli(
        *(
            "train",
            "ppo",
            "--env",
            world.env,
            "--model",
            warm / "sft" / "model",
            "--algorithm",
            algorithm,
            "--device",
            "cpu",
        ),
        *("--seed", seed, "--out", folder / "ppo", "--record-every", 0, "--tasks", UPDATES * EPISODES // world.rounds),
        *("--split", "train", "--eval-split", "test", "--eval-tasks", HELD_OUT, "--eval-every", EVALUATE_EVERY),
        *(item for option in options for item in ("--env-arg", option)),
        *("--", *ppo_flags(world).split(), "--algo.advantage.gamma", discount, "--algo.advantage.lambd", discount),
        log=folder / "ppo.log",
    )
    curves = read_curves(folder / "ppo" / "tensorboard")
    return {"curves": curves, "held_out": held_out(world, folder / "ppo" / "model")}


def cli(*arguments: object, log: Path) -> None:
    """Run a command of agentgym-r1 with its output in a file."""
    command = [sys.executable, "-m", "agentgym_r1.cli", *map(str, arguments)]
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    environment = {
        **os.environ,
        "PYTHONPATH": path,
        "HF_HUB_OFFLINE": "1",
        "OMP_NUM_THREADS": "1",
    }  # two trainers, two cores
    with log.open("w", encoding="utf-8") as output:
        code = subprocess.run(command, stdout=output, stderr=output, env=environment, check=False).returncode  # noqa: S603
    if code:
        raise SystemExit(f"{' '.join(command[:5])} failed with exit code {code}: see {log}")


def held_out(world: World, model: Path) -> dict[str, list[int]]:
    """Return which held-out tasks a model solves, sampled as in training and greedily, in the order of their ids."""
    return {name: _solved(evaluate(world, model, temperature=degree)) for name, degree in TEMPERATURES.items()}


def _solved(played: Sequence[Trajectory]) -> list[int]:
    broken = [t.error for t in played if t.error]
    if broken or len(played) != HELD_OUT:
        raise SystemExit(
            f"expected {HELD_OUT} finished episodes, got {len(played)}, {len(broken)} broken: {broken[:1]}"
        )
    return [int(t.success) for t in played]


def read_curves(folder: Path) -> dict[str, list[tuple[int, float]]]:
    """Return success by update, of the training episodes and of the evaluations, from OpenRLHF's TensorBoard log."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    (run,) = folder.iterdir()
    events = EventAccumulator(str(run)).Reload()
    names = {"training": "episode/success", "held_out": "eval_success", "steps": "episode/steps"}
    curves = {}
    for key, ending in names.items():
        (tag,) = (tag for tag in events.Tags()["scalars"] if tag.endswith(ending))
        curves[key] = [(event.step, round(event.value, 4)) for event in events.Scalars(tag)]
    return curves


if __name__ == "__main__":
    main()
