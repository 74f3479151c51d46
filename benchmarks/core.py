"""What the environments themselves cost: steps a second, memory, and overhead over the plain retrieval.

Each environment is played by its expert on its world, without a model, on one core. The ratios of one run are what
counts; the figures depend on the machine.
"""

import argparse
import gc
import json
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import gymnasium as gym
from rich.console import Console
from rich.table import Table

from agentgym_r1.registration import ENTRIES, Entry

SECONDS = 3.0
VECTOR = 64


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="how long each measurement runs")
    arguments = parser.parse_args()
    document: dict[str, Any] = {"name": "core", "ratios": {}, "figures": {}}
    for entry in filter(Entry.is_playable, ENTRIES):
        figures = measure(entry.id, arguments.seconds)
        name = entry.id.removeprefix("AgentR1/").removesuffix("-v0")
        document["figures"][name] = figures
        document["ratios"][f"{name}: vector of {VECTOR} / single, steps a second"] = (
            figures["vector_steps_per_second"] / figures["steps_per_second"]
        )
        if figures["retrieval_ms"] > 0:
            document["ratios"][f"{name}: environment overhead / step"] = figures["overhead_ms"] / figures["step_ms"]
    print(json.dumps(document, indent=2)) if arguments.json else show(document)


def measure(env_id: str, seconds: float) -> dict[str, float]:
    """Return the figures of one environment."""
    steps, spent, retrieval = single(env_id, seconds)
    step_ms, retrieval_ms = spent / steps * 1000, retrieval / steps * 1000
    return {
        "steps_per_second": steps / spent,
        "step_ms": step_ms,
        "retrieval_ms": retrieval_ms,
        "overhead_ms": step_ms - retrieval_ms,
        "vector_steps_per_second": vector(env_id, seconds),
        "kilobytes_per_env": memory(env_id) / 1000,
    }


def single(env_id: str, seconds: float) -> tuple[int, float, float]:
    """Play the expert; return steps, the time in reset and step, and the part of it inside the retriever."""
    env = gym.make(env_id, source="world")
    clock = Clock()
    retriever = getattr(env.unwrapped, "retriever", None)
    if retriever is not None:
        env = gym.make(env_id, source="world", retriever=clock.watch(retriever))
    inner: Any = env.unwrapped
    env.reset(seed=0)
    clock.spent = 0.0
    steps, spent, over, index = 0, 0.0, True, 0
    while spent < seconds:
        if over:
            spent += timed(lambda i=index: env.reset(options={"index": i % len(inner.tasks)}))[0]
            index += 1
        action = inner.expert()
        elapsed, (_, _, terminated, truncated, _) = timed(lambda a=action: env.step(a))
        spent += elapsed
        steps += 1
        over = terminated or truncated
    return steps, spent, clock.spent


def vector(env_id: str, seconds: float) -> float:
    """Return the steps a second of the batched environment, resets by the vector environment included."""
    envs: Any = gym.make_vec(env_id, num_envs=VECTOR, vectorization_mode="vector_entry_point", source="world")
    envs.reset(seed=0)
    steps, spent = 0, 0.0
    while spent < seconds:
        actions = tuple("" if env.over else env.expert() for env in envs.envs)
        elapsed, _ = timed(lambda a=actions: envs.step(a))
        spent += elapsed
        steps += VECTOR
    envs.close()
    return steps / spent


def memory(env_id: str) -> float:
    """Return the bytes that one more environment takes in a process that already has one."""
    first = gym.make(env_id, source="world")
    first.reset(seed=0)
    gc.collect()
    tracemalloc.start()
    kept = [gym.make(env_id, source="world") for _ in range(20)]
    for env in kept:
        env.reset(seed=0)
    gc.collect()
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return size / len(kept)


class Clock:
    """Adds up the time spent in a retriever."""

    def __init__(self) -> None:
        self.spent = 0.0

    def watch(self, retriever: Any) -> Any:
        """Return the retriever with its search timed."""
        clock = self

        class Watched:
            name = retriever.name

            def search(self, queries: Any, *, k: int) -> Any:
                elapsed, found = timed(lambda: retriever.search(queries, k=k))
                clock.spent += elapsed
                return found

        return Watched()


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    """Return the seconds a call took, and its result."""
    started = time.perf_counter()
    result = call()
    return time.perf_counter() - started, result


def show(document: dict[str, Any]) -> None:
    """Print the figures and the ratios."""
    console = Console(width=140)
    columns = list(next(iter(document["figures"].values())))
    table = Table("environment", *columns, title="figures (this machine)", box=None, header_style="bold")
    for name, figures in document["figures"].items():
        table.add_row(name, *(f"{figures[column]:,.3f}" for column in columns))
    console.print(table)
    ratios = Table("ratio", "value", title="ratios (one run)", box=None, header_style="bold")
    for name, value in document["ratios"].items():
        ratios.add_row(name, f"{value:.3f}")
    console.print(ratios)


if __name__ == "__main__":
    main()
