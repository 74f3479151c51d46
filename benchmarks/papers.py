"""Paper search: a library of 100,000 generated papers on disk, its search beside bm25s, and the environment's own cost.

The library is written, opened and searched as an installed set is. What opening costs is compared with reading the
same papers from JSON Lines into a dictionary. MiniGrid, where it is installed, is measured beside its bare package.
All of it is one run on one core; the ratios are what counts, the figures depend on the machine.
"""

import argparse
import gc
import json
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import bm25s
import gymnasium as gym
from rich.console import Console
from rich.table import Table

import agentgym_r1  # noqa: F401 - registers the environments
from agentgym_r1.corpus import ArrowPapers, contents, write_papers
from agentgym_r1.data.worlds import library
from agentgym_r1.registration import ENTRIES
from agentgym_r1.retrieval import BM25Retriever, write_bm25
from agentgym_r1.retrieval.library import LocalLibrary

PAPERS = 100_000
QUERIES = 512
BATCH = 64
SECONDS = 3.0
ENVS = 64


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--papers", type=int, default=PAPERS, help="size of the library")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    arguments = parser.parse_args()
    document: dict[str, Any] = {"name": "papers", "ratios": {}, "figures": {}}
    with tempfile.TemporaryDirectory() as folder:
        measure_library(document, Path(folder), arguments.papers)
    measure_environment(document)
    if any(entry.id == "AgentR1/MiniGrid-v0" and entry.is_playable() for entry in ENTRIES):
        measure_minigrid(document)
    print(json.dumps(document, indent=2)) if arguments.json else show(document)


def measure_library(document: dict[str, Any], folder: Path, count: int) -> None:
    """Write, open, index, search and expand a library."""
    figures, ratios = document["figures"], document["ratios"]
    figures["library: papers"] = count
    made, papers = timed(lambda: list(library.corpus("test", papers=count)))
    figures["library: generate, papers a second"] = count / made
    figures["library: write, papers a second"] = count / timed(lambda p=papers: write_papers(folder / "papers", p))[0]
    lines = folder / "papers.jsonl"
    lines.write_text("".join(json.dumps(asdict(paper)) + "\n" for paper in papers), encoding="utf-8")
    ids = [paper.id for paper in papers[:: max(count // 2000, 1)]]
    texts = [contents(paper.document()) for paper in papers]
    del papers
    mapped, mapped_bytes = costed(lambda: ArrowPapers(folder / "papers"))
    _, loaded_bytes = costed(lambda: load(lines))
    opening = min(timed(lambda: ArrowPapers(folder / "papers"))[0] for _ in range(5))
    loading = min(timed(lambda: load(lines))[0] for _ in range(2))
    figures["library: open, ms"], figures["library: load JSON Lines, ms"] = opening * 1000, loading * 1000
    ratios["open: JSON Lines into a dictionary / memory-mapped, seconds"] = loading / opening
    ratios["open: JSON Lines into a dictionary / memory-mapped, bytes of the process"] = loaded_bytes / mapped_bytes
    seconds, _ = timed(lambda: write_bm25(folder / "index", mapped.documents))
    figures["search: index, papers a second"] = count / seconds
    measure_search(document, LocalLibrary(mapped, BM25Retriever.open(folder / "index", corpus=mapped.documents)), texts)
    opened = LocalLibrary(mapped, BM25Retriever.open(folder / "index", corpus=mapped.documents))
    opened.expand(ids[:1])
    figures["expand: papers a second"] = len(ids) / timed(lambda: opened.expand(ids))[0]


def measure_search(document: dict[str, Any], opened: LocalLibrary, texts: list[str]) -> None:
    """Search one by one and in batches, here and with bm25s."""
    tasks = library.tasks("test", papers=len(texts), size=QUERIES)
    queries = [tasks[index].prompt for index in range(QUERIES)]
    batches = [queries[start : start + BATCH] for start in range(0, QUERIES, BATCH)]
    opened.retriever.warm_up()
    opened.search(queries[:BATCH], k=10)
    single, _ = timed(lambda: [opened.search([query], k=10) for query in queries])
    ours, _ = timed(lambda: [opened.search(batch, k=10) for batch in batches])
    ranked, _ = timed(lambda: [opened.retriever.rank(batch, k=10) for batch in batches])
    peer = bm25s.BM25(method="lucene", k1=0.9, b=0.4)
    tokens = bm25s.tokenize(texts, stopwords="en", show_progress=False)
    peer.index(tokens, show_progress=False)

    def ask(batch: list[str]) -> Any:
        tokenized = bm25s.tokenize(batch, stopwords="en", show_progress=False)
        return peer.retrieve(tokenized, k=10, n_threads=1, show_progress=False)

    ask(batches[0])
    theirs, _ = timed(lambda: [ask(batch) for batch in batches])
    figures = document["figures"]
    figures["search: one query a call, queries a second"] = QUERIES / single
    figures[f"search: {BATCH} queries a call, queries a second"] = QUERIES / ours
    figures["search: bm25s, queries a second"] = QUERIES / theirs
    document["ratios"][f"search: {BATCH} queries a call / one a call, queries a second"] = single / ours
    document["ratios"]["search: ranking / bm25s, queries a second"] = theirs / ranked
    document["ratios"]["search: ranking and papers / bm25s, queries a second"] = theirs / ours


def measure_environment(document: dict[str, Any]) -> None:
    """Play the expert in one environment and in many."""
    figures = document["figures"]
    single = steps_a_second(gym.make("AgentR1/PaperSearch-v0", source="world"))
    many = vector_steps_a_second("AgentR1/PaperSearch-v0")
    figures["PaperSearch: steps a second"], figures[f"PaperSearch: {ENVS} environments, steps a second"] = single, many
    document["ratios"][f"PaperSearch: {ENVS} environments / one, steps a second"] = many / single


def measure_minigrid(document: dict[str, Any]) -> None:
    """Turn in circles in the bare level and in the text environment over it."""
    from agentgym_r1.envs.minigrid.level import Level

    level = Level("BabyAI-GoToLocal-v0")
    level.reset(0)
    bare = repeated(lambda: level.move("turn left"))
    env = gym.make("AgentR1/MiniGrid-v0", level=level.id, protocol="glam", max_steps=64)
    inner: Any = env.unwrapped

    def turn() -> None:
        if inner.over:
            env.reset(options={"index": 0})
        env.step("turn left")

    text = repeated(turn)
    document["figures"]["MiniGrid: steps a second"] = text
    document["figures"]["MiniGrid: bare package, steps a second"] = bare
    document["ratios"]["MiniGrid: bare package / text environment, steps a second"] = bare / text


def steps_a_second(env: gym.Env[str, str]) -> float:
    """Return how many steps of the expert an environment takes a second; the expert's own time does not count."""
    inner: Any = env.unwrapped
    steps, spent, index = 0, 0.0, 0
    while spent < SECONDS:
        if inner.over:
            spent += timed(lambda i=index: env.reset(options={"index": i % len(inner.tasks)}))[0]
            index += 1
        action = inner.expert()
        spent += timed(lambda a=action: env.step(a))[0]
        steps += 1
    return steps / spent


def vector_steps_a_second(env_id: str) -> float:
    """Return the same of many environments whose calls go in one batch."""
    envs: Any = gym.make_vec(env_id, num_envs=ENVS, vectorization_mode="vector_entry_point", source="world")
    envs.reset(seed=0)
    steps, spent = 0, 0.0
    while spent < SECONDS:
        actions = tuple("" if env.over else env.expert() for env in envs.envs)
        spent += timed(lambda a=actions: envs.step(a))[0]
        steps += ENVS
    envs.close()
    return steps / spent


def load(path: Path) -> dict[str, Any]:
    """Read papers as a script would."""
    with path.open(encoding="utf-8") as lines:
        return {record["id"]: record for record in map(json.loads, lines)}


def costed(call: Callable[[], Any]) -> tuple[Any, int]:
    """Return a call's result and the bytes that stay allocated while it lives."""
    gc.collect()
    tracemalloc.start()
    result = call()
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return result, size


def repeated(call: Callable[[], Any]) -> float:
    """Return how often a second something can be done."""
    done, started = 0, time.perf_counter()
    while time.perf_counter() - started < SECONDS:
        call()
        done += 1
    return done / (time.perf_counter() - started)


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    """Return the seconds a call took, and its result."""
    started = time.perf_counter()
    result = call()
    return time.perf_counter() - started, result


def show(document: dict[str, Any]) -> None:
    """Print the figures and the ratios."""
    console = Console(width=140)
    for title, rows in (("figures (this machine)", document["figures"]), ("ratios (one run)", document["ratios"])):
        table = Table(title.split()[0][:-1], "value", title=title, box=None, header_style="bold")
        for name, value in rows.items():
            table.add_row(name, f"{value:,.2f}")
        console.print(table)


if __name__ == "__main__":
    main()
