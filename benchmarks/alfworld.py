"""The compiled engine against TextWorld: the same games and the same commands in both, in one run on one core.

Every text, reward and list of admissible commands is compared while it is measured. The ratios are what counts; the
figures depend on the machine. Memory is what one more environment costs: of the compiled engine the traced allocations
of a game with its engine, of TextWorld the resident memory of its process.
"""

import argparse
import gc
import json
import random
import time
import tracemalloc
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from agentgym_r1.data.alfworld import TASK_TYPES, read_tasks
from agentgym_r1.data.worlds import household
from agentgym_r1.envs.alfworld.engine import CompiledEngine, Engine
from agentgym_r1.envs.alfworld.games import compile_task
from agentgym_r1.envs.alfworld.textworld_engine import TextWorldEngine
from agentgym_r1.types import Task

SECONDS = 2.0
RESETS = 10_000
ENVS = 256


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=Path, help="an archive or folder of ALFWorld's games; default: generated games")
    parser.add_argument("--steps", type=int, default=40, help="commands a game")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    arguments = parser.parse_args()
    document = measure(chosen(arguments.games), arguments.steps)
    print(json.dumps(document, indent=2)) if arguments.json else show(document)


def chosen(games: Path | None) -> list[Task]:
    """Return one game of each task type."""
    if games is None:
        made = household.tasks("valid_seen", size=len(TASK_TYPES), room_size="large")
        return [made[index] for index in range(len(made))]
    by_kind: dict[str, Task] = {}
    for task in read_tasks([games], "valid_seen"):
        by_kind.setdefault(task.kind, task)
    return list(by_kind.values())


def measure(tasks: Sequence[Task], steps: int) -> dict[str, Any]:
    """Return the figures of both engines and their ratios."""
    scripts = [script(task, steps, seed=number) for number, task in enumerate(tasks)]
    compiled, original = of_compiled(tasks, scripts), of_textworld(tasks, scripts)
    ratios = {
        f"{key}, compiled / textworld": compiled[key] / original[key]
        for key in ("steps_per_second", "steps_with_admissible_per_second", "resets_per_second", "opens_per_second")
    }
    ratios["memory of an environment, textworld / compiled"] = (
        original["kilobytes_per_env"] / compiled["kilobytes_per_env"]
    )
    return {"name": "alfworld", "ratios": ratios, "figures": {"compiled": compiled, "textworld": original}}


def script(task: Task, steps: int, *, seed: int) -> list[tuple[str, tuple[Any, ...]]]:
    """Return random commands, some inadmissible, with what the compiled engine answers to each."""
    rng = random.Random(seed)
    engine = CompiledEngine(compile_task(task), goal=task.prompt)
    engine.reset()
    commands = []
    for _ in range(steps):
        command = rng.choice([*engine.admissible, "dance"])
        commands.append((command, answer(engine, command)))
    return commands


def answer(engine: Engine, command: str) -> tuple[Any, ...]:
    """Return everything that a step shows."""
    return engine.step(command), tuple(engine.admissible)


def of_compiled(tasks: Sequence[Task], scripts: Sequence[list[tuple[str, tuple[Any, ...]]]]) -> dict[str, float]:
    """Return the figures of the compiled engine."""
    engines = [CompiledEngine(compile_task(task), goal=task.prompt) for task in tasks]

    def play(*, admissible: bool) -> int:
        for engine, commands in zip(engines, scripts):
            engine.reset()
            for command, _ in commands:
                engine.step(command)
                _ = engine.admissible if admissible else None
        return sum(map(len, scripts))

    return {
        "steps_per_second": rate(lambda: play(admissible=False)),
        "steps_with_admissible_per_second": rate(lambda: play(admissible=True)),
        "resets_per_second": rate(lambda: len([engine.reset() for engine in engines])),
        "opens_per_second": rate(lambda: len([compile_task(task) for task in tasks])),
        "kilobytes_per_env": memory_of_compiled(),
        "kilobytes_grown_a_reset": growth_of_compiled(engines[0]) / RESETS,
    }


def rate(work: Callable[[], int]) -> float:
    """Return how many units a second ``work`` does; it returns the units of one call."""
    work()
    done, start = 0, time.perf_counter()
    while time.perf_counter() - start < SECONDS:
        done += work()
    return done / (time.perf_counter() - start)


def memory_of_compiled() -> float:
    """Return the kilobytes of an engine with a game of its own, of many in the middle of an episode."""
    made = household.tasks("train", size=ENVS, room_size="large")
    gc.collect()
    tracemalloc.start()
    engines = []
    for index in range(ENVS):
        engine = CompiledEngine(compile_task(made[index]), goal="")
        for command in made[index].gold.walkthrough[:-1]:
            engine.step(command)
        engines.append(engine)
    gc.collect()
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return held / len(engines) / 1000


def growth_of_compiled(engine: CompiledEngine) -> float:
    """Return the kilobytes that this process grows by in 10,000 resets with steps."""

    def resets(count: int) -> None:
        for _ in range(count):
            engine.reset()
            for command in engine.game.walkthrough:
                engine.step(command)

    resets(RESETS // 10)
    gc.collect()
    before = resident("self")
    resets(RESETS)
    gc.collect()
    return resident("self") - before


def resident(process: int | str) -> float:
    """Return the kilobytes of memory that a process occupies."""
    status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    return float(status.partition("VmRSS:")[2].split()[0])


def of_textworld(tasks: Sequence[Task], scripts: Sequence[list[tuple[str, tuple[Any, ...]]]]) -> dict[str, float]:
    """Return the figures of TextWorld, whose steps always list the admissible commands."""
    steps = resets = 0
    stepping = resetting = opening = kilobytes = growth = 0.0
    for task, commands in zip(tasks, scripts):
        start = time.perf_counter()
        engine = TextWorldEngine(task.gold.problem, goal=task.prompt, name=task.id)
        engine.reset()
        opening += time.perf_counter() - start
        before, start = resident(engine.process_id), time.perf_counter()
        for _ in range(3):
            engine.reset()
            resets += 1
        resetting += time.perf_counter() - start
        growth += resident(engine.process_id) - before
        for command, expected in commands:
            start = time.perf_counter()
            got = answer(engine, command)
            stepping += time.perf_counter() - start
            steps += 1
            if got != expected:
                raise SystemExit(f"{task.id}: the engines differ after {command!r}: {got} instead of {expected}")
        kilobytes += resident(engine.process_id)
        engine.close()
    return {
        "steps_per_second": steps / stepping,
        "steps_with_admissible_per_second": steps / stepping,
        "resets_per_second": resets / resetting,
        "opens_per_second": len(tasks) / opening,
        "kilobytes_per_env": kilobytes / len(tasks),
        "kilobytes_grown_a_reset": growth / resets,
    }


def show(document: dict[str, Any]) -> None:
    """Print the figures side by side, and their ratios."""
    figures = document["figures"]
    table = Table("", "compiled", "textworld", title="ALFWorld: the same games and commands in both engines")
    for key in figures["compiled"]:
        table.add_row(key.replace("_", " "), *(f"{figures[engine][key]:,.2f}" for engine in ("compiled", "textworld")))
    ratios = Table("ratio", "", title="Ratios")
    for key, value in document["ratios"].items():
        ratios.add_row(key.replace("_", " "), f"{value:,.0f}")
    Console().print(table, ratios)


if __name__ == "__main__":
    main()
