"""The compiled engine against TextWorld: the same games and the same commands in both, in one run on one core.

Every text, reward and list of admissible commands is compared while it is measured. The ratios are what counts; the
figures depend on the machine. Memory is what one more environment costs: of the compiled engine the traced allocations
of a game with its engine, of TextWorld the resident memory of its process.

What the Gymnasium layer adds (parsing, prompt, info, Gymnasium's own wrappers) is measured on generated games, with one
environment and with 256 in a vector environment; a step there includes its share of the resets.
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

import gymnasium as gym
from rich.console import Console
from rich.table import Table

import agentgym_r1  # noqa: F401 - registers the environments
from agentgym_r1.data.alfworld import TASK_TYPES, read_tasks
from agentgym_r1.data.worlds import household
from agentgym_r1.envs.alfworld.engine import CompiledEngine, Engine
from agentgym_r1.envs.alfworld.games import compile_task
from agentgym_r1.envs.alfworld.textworld_engine import TextWorldEngine
from agentgym_r1.types import Task, ToolCall

SECONDS = 2.0
RESETS = 10_000
ENVS = 256
ID = "AgentR1/ALFWorld-v0"


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
    environment = of_environment(steps)
    ratios["steps_per_second, engine / environment"] = (
        environment["engine_steps_per_second"] / environment["steps_per_second"]
    )
    figures = {"compiled": compiled, "textworld": original, "environment": environment}
    return {"name": "alfworld", "ratios": ratios, "figures": figures}


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


def of_environment(steps: int) -> dict[str, float]:
    """Return the figures of the Gymnasium layer over the compiled engine."""
    env = gym.make(ID, source="world", room_size="large")
    tasks = [env.unwrapped.tasks[index] for index in range(len(TASK_TYPES))]
    scripts = [[command for command, _ in script(task, steps, seed=n)] for n, task in enumerate(tasks)]
    actions = [[said(env, command) for command in commands] for commands in scripts]
    engines = [CompiledEngine(compile_task(task), goal=task.prompt) for task in tasks]
    return {
        "engine_steps_per_second": rate(lambda: sum(map(engine_play, engines, scripts))),
        "steps_per_second": rate(lambda: sum(env_play(env.unwrapped, n, each) for n, each in enumerate(actions))),
        "steps_through_gym_make_per_second": rate(
            lambda: sum(env_play(env, n, each) for n, each in enumerate(actions))
        ),
        "vector_steps_per_second": vector_rate(said(env, "look")),
        "kilobytes_per_env": memory_of_environments(said(env, "look")),
        "megabytes_grown_in_10000_resets": growth_of_environment(env),
    }


def said(env: gym.Env[str, str], command: str) -> str:
    """Return a command in the environment's action format."""
    return env.unwrapped.format.call(ToolCall("env_step", {"command": command}))


def engine_play(engine: CompiledEngine, commands: Sequence[str]) -> int:
    """Play to the end or the first win as an environment does; return the number of steps."""
    engine.reset()
    for done, command in enumerate(commands, 1):
        outcome = engine.step(command)
        _ = engine.admissible
        if outcome.won:
            return done
    return len(commands)


def env_play(env: gym.Env[str, str], index: int, actions: Sequence[str]) -> int:
    """Play a task until it is over; return the number of steps."""
    env.reset(options={"index": index})
    for done, action in enumerate(actions, 1):
        _, _, terminated, truncated, _ = env.step(action)
        if terminated or truncated:
            return done
    return len(actions)


def many(split: str) -> gym.vector.VectorEnv:
    """Return a vector environment at the start of its episodes."""
    envs = gym.make_vec(
        ID, num_envs=ENVS, vectorization_mode="vector_entry_point", source="world", room_size="large", split=split
    )
    envs.reset(seed=0)
    return envs


def vector_rate(action: str) -> float:
    """Return the steps a second of all environments together."""
    envs = many("valid_seen")

    def step() -> int:
        envs.step((action,) * ENVS)
        return ENVS

    return rate(step)


def memory_of_environments(action: str) -> float:
    """Return the kilobytes of an environment of many in the middle of an episode, with a game and task of its own."""
    many("valid_unseen").close()  # what is made once
    gc.collect()
    tracemalloc.start()
    envs = many("train")
    for _ in range(10):
        envs.step((action,) * ENVS)
    gc.collect()
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return held / ENVS / 1000


def growth_of_environment(env: gym.Env[str, str]) -> float:
    """Return the megabytes that this process grows by in 10,000 resets."""
    for number in range(RESETS // 10):
        env.reset(seed=number)
    gc.collect()
    before = resident("self")
    for number in range(RESETS):
        env.reset(seed=number)
    gc.collect()
    return (resident("self") - before) / 1000


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
    tasks = [made[index] for index in range(ENVS)]
    gc.collect()
    tracemalloc.start()
    engines = []
    for task in tasks:
        engine = CompiledEngine(compile_task(task), goal="")
        for command in task.gold.walkthrough[:-1]:
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
        ratios.add_row(key.replace("_", " "), f"{value:,.1f}")
    layer = Table("environment", "", title="The Gymnasium layer over the compiled engine")
    for key, value in figures["environment"].items():
        layer.add_row(key.replace("_", " "), f"{value:,.2f}")
    Console().print(table, layer, ratios)


if __name__ == "__main__":
    main()
