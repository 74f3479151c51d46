"""Write a generated world to disk: its tasks, and its corpus where it has one, as JSON Lines."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol, get_args

import msgspec

from agentgym_r1.corpus import Paper
from agentgym_r1.data.download import Progress, disk_errors, no_progress
from agentgym_r1.data.webshop import Catalogue, Goals, ProductCorpus, ShopTasks
from agentgym_r1.data.webshop.installed import open_world
from agentgym_r1.data.webshop.store import Kind
from agentgym_r1.data.worlds import arithmetic, encyclopedia, household, library
from agentgym_r1.errors import unknown_name
from agentgym_r1.types import Document, Task, TaskSet, panel_hash

REPORT_EVERY = 500
DEFAULT_PRODUCTS = 1_000


class Generate(Protocol):
    """Makes the tasks of a split."""

    def __call__(self, split: str, *, size: int | None, seed: int) -> TaskSet:
        """Return ``size`` tasks, or the world's default number when it is None."""
        ...


class Search(Protocol):
    """Makes the documents that the tasks of a split search."""

    def __call__(self, split: str, *, size: int | None, seed: int) -> Iterable[Document | Paper]:
        """Return the documents for the same arguments as the tasks'."""
        ...


@dataclass(frozen=True, slots=True)
class World:
    """A world that can be written.

    Attributes:
        tasks: its generator of tasks.
        corpus: its generator of documents, where there is something to search.
        prepare: makes first what takes long, given ``size``, ``seed`` and ``progress``.
    """

    tasks: Generate
    corpus: Search | None = None
    prepare: Callable[..., object] | None = None


@dataclass(frozen=True, slots=True)
class Made:
    """What was written.

    Attributes:
        tasks: the file with one task a line: id, prompt, gold, kind.
        corpus: the file with one document a line (id, title, text) or one paper with all its fields; None when the
            world has nothing to search.
        count: the number of tasks.
        panel: the hash of the panel the tasks make.
    """

    tasks: Path
    corpus: Path | None
    count: int
    panel: str


def _encyclopedia(split: str, *, size: int | None, seed: int) -> Iterable[Document]:
    return encyclopedia.corpus(split, seed=seed)


def _papers(split: str, *, size: int | None, seed: int) -> Iterable[Paper]:
    return library.corpus(split, seed=seed)


def _catalogue(*, size: int | None, seed: int, progress: Progress = no_progress) -> Catalogue:
    """Make the generated shop's catalogue, or open it; its size is the number of products."""
    return open_world(products=DEFAULT_PRODUCTS if size is None else size, seed=seed, progress=progress)


def _goals(kind: Kind, split: str, *, size: int | None, seed: int) -> TaskSet:
    return ShopTasks(Goals(_catalogue(size=size, seed=seed), kind=kind), split=split)


def _products(split: str, *, size: int | None, seed: int) -> Iterable[Document]:
    return ProductCorpus(_catalogue(size=size, seed=seed))


WORLDS: Mapping[str, World] = {
    "arithmetic": World(arithmetic.tasks),
    "household": World(household.tasks),
    "library": World(library.tasks, _papers),
    **{
        f"encyclopedia-{flavour}": World(partial(encyclopedia.tasks, flavour), _encyclopedia)
        for flavour in get_args(encyclopedia.Flavour)
    },
    "shop": World(partial(_goals, "synthetic"), _products, _catalogue),
    "shop-human": World(partial(_goals, "human"), _products, _catalogue),
}


def make(
    world: str,
    *,
    split: str,
    size: int | None = None,
    seed: int = 0,
    out: Path,
    progress: Progress = no_progress,
) -> Made:
    """Write a split of a world into ``out/tasks-SPLIT.jsonl`` and ``out/corpus-SPLIT.jsonl``.

    The same arguments give the same bytes on every machine.

    Args:
        world: one of ``WORLDS``.
        split: train, dev or test; of the household train, valid_seen or valid_unseen.
        size: number of tasks, or of products in a shop; None takes the world's default for the split.
        seed: another seed gives other tasks.
        out: the folder to write to; made when missing, files of the same name are replaced.
        progress: called with a label, the rows done, and their total where it is known.

    Raises:
        ConfigError: there is no such world or split, or the size is less than 1.
        DataError: the folder cannot be written.
    """
    if world not in WORLDS:
        raise unknown_name("world", world, WORLDS)
    generator = WORLDS[world]
    if generator.prepare is not None:
        generator.prepare(size=size, seed=seed, progress=progress)
    tasks = generator.tasks(split, size=size, seed=seed)
    with disk_errors(out, remedy="choose another folder"):
        out.mkdir(parents=True, exist_ok=True)
        path, corpus = out / f"tasks-{split}.jsonl", None
        label = f"{world} {split}, tasks"
        _write(path, (tasks[index] for index in range(len(tasks))), lambda done: progress(label, done, len(tasks)))
        if generator.corpus is not None:
            corpus = out / f"corpus-{split}.jsonl"
            documents = generator.corpus(split, size=size, seed=seed)
            _write(corpus, documents, lambda done: progress(f"{world} {split}, documents", done, None))
    return Made(path, corpus, len(tasks), panel_hash(tasks[index] for index in range(len(tasks))))


def _write(path: Path, rows: Iterable[Task | Document | Paper], progress: Callable[[int], None]) -> None:
    """Write one JSON object a line; the file appears whole or not at all."""
    part = path.with_name(f"{path.name}.part")
    try:
        with part.open("wb") as handle:
            for number, row in enumerate(rows, start=1):
                handle.write(msgspec.json.encode(row) + b"\n")
                if number % REPORT_EVERY == 0:
                    progress(number)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
