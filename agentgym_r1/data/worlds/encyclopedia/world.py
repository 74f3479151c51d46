"""The encyclopedia world: multi-hop questions over a fictional encyclopedia, for HotpotQA, 2WikiMultiHopQA and MuSiQue.

It stands for what a search agent has to do on those sets: find the passages of several hops among thousands with
similar names, tell them from passages that only mention the bridge, and answer in a few words. It cannot stand for the
language of Wikipedia, for what a model already knows of the real world, or for questions that people wrote; MuSiQue's
shape 4hop2 and its unanswerable half are left out. Scores compare policies with each other, never with published ones.

Difficulty knobs: ``kinds`` selects question kinds (of MuSiQue: the number of hops), ``lookalikes`` is how often names
share a word, ``scale`` is the size of the corpus that has to be searched.
"""

import functools
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Literal

from agentgym_r1.data.gold import QAGold
from agentgym_r1.data.worlds.encyclopedia import pools
from agentgym_r1.data.worlds.encyclopedia.build import Setting, document_id, documents, graph
from agentgym_r1.data.worlds.encyclopedia.forms import Form, answer, passages
from agentgym_r1.data.worlds.encyclopedia.graph import Graph
from agentgym_r1.data.worlds.encyclopedia.people import MONTHS
from agentgym_r1.data.worlds.encyclopedia.wording import question
from agentgym_r1.data.worlds.seeded import DEFAULT_SIZES, SeededTasks, seeded
from agentgym_r1.errors import ConfigError, unknown_name
from agentgym_r1.types import Document, Task

Flavour = Literal["hotpotqa", "2wiki", "musique"]

POOLS: dict[str, Callable[..., list[Form]]] = {
    "2 hops": functools.partial(pools.chains, hops=2, tries=2),
    "2 hops back": functools.partial(pools.backward_chains, hops=2),
    "3 hops": functools.partial(pools.chains, hops=3, tries=2),
    "3 hops back": functools.partial(pools.backward_chains, hops=3),
    "4 hops": functools.partial(pools.chains, hops=4, tries=1),
    "kinship": pools.kinship,
    "crossing": functools.partial(pools.crossings, long=False),
    "long crossing": functools.partial(pools.crossings, long=True),
    "choice": functools.partial(pools.choices, bridge=False),
    "maker choice": functools.partial(pools.choices, bridge=True),
    "yes": functools.partial(pools.sameness, bridge=False, same=True),
    "no": functools.partial(pools.sameness, bridge=False, same=False),
    "maker yes": functools.partial(pools.sameness, bridge=True, same=True),
    "maker no": functools.partial(pools.sameness, bridge=True, same=False),
}
# How many of so many tasks are of a kind and come from a pool; the shares of the kinds follow the published dev sets.
MIXES: dict[str, tuple[tuple[str, str, int], ...]] = {
    "hotpotqa": (
        ("bridge", "2 hops", 18),
        ("bridge", "2 hops back", 4),
        ("bridge", "crossing", 2),
        ("comparison", "choice", 4),
        ("comparison", "yes", 1),
        ("comparison", "no", 1),
    ),
    "2wiki": (
        ("compositional", "2 hops", 21),
        ("comparison", "choice", 10),
        ("comparison", "yes", 1),
        ("comparison", "no", 1),
        ("bridge_comparison", "maker choice", 8),
        ("bridge_comparison", "maker yes", 1),
        ("bridge_comparison", "maker no", 1),
        ("inference", "kinship", 5),
    ),
    "musique": (
        ("2hop", "2 hops", 9),
        ("2hop", "2 hops back", 2),
        ("3hop1", "3 hops", 4),
        ("3hop1", "3 hops back", 1),
        ("3hop2", "crossing", 2),
        ("4hop1", "4 hops", 2),
        ("4hop3", "long crossing", 1),
    ),
}
# Every world of scale 1 holds this many tasks of each flavour, so that they need not be counted.
PLENTY = 10_000
ALIASES = frozenset({"2wiki", "musique"})


def tasks(
    flavour: Flavour,
    split: str = "dev",
    *,
    size: int | None = None,
    seed: int = 0,
    kinds: Collection[str] = (),
    lookalikes: float = 0.5,
    scale: float = 1.0,
) -> SeededTasks:
    """Return questions with QAGold in the manner of a published set; the passages are those of ``corpus``.

    Task i depends on nothing but the arguments other than ``size``. Yes and no are equally frequent answers.

    Args:
        flavour: hotpotqa (kinds bridge, comparison), 2wiki (compositional, comparison, bridge_comparison, inference)
            or musique (2hop, 3hop1, 3hop2, 4hop1, 4hop3). The last two give aliases of the answer, too.
        split: train, dev or test; splits share no names.
        size: number of tasks; default 10,000 (train), 500 (dev), 1,000 (test).
        seed: another seed gives another world of the same split.
        kinds: only questions of these kinds; default all, in the shares of the published set.
        lookalikes: how often a name shares a word with an earlier one, from 0 to 0.9.
        scale: the size of the world; 1 is about 4,400 passages.

    Raises:
        ConfigError: a name is unknown, a knob out of range, or the world holds fewer tasks than ``size``.
    """
    if flavour not in MIXES:
        raise unknown_name("flavour", flavour, MIXES)
    setting = Setting(split, seed, lookalikes, scale)
    generate = Generator(flavour, setting, _mix(flavour, kinds))
    count = DEFAULT_SIZES[split] if size is None else size
    if (kinds or scale < 1 or count > PLENTY) and count > (most := generate.capacity()):
        raise ConfigError(f"this world of {flavour}/{split} holds {most} such tasks, got size={count}; raise scale")
    return SeededTasks(generate, name=f"encyclopedia-{flavour}", split=split, size=count)


def corpus(split: str = "dev", *, seed: int = 0, lookalikes: float = 0.5, scale: float = 1.0) -> tuple[Document, ...]:
    """Return the passages that the questions of all flavours are about, one for every entity of the world.

    Args:
        split: train, dev or test.
        seed: as given to ``tasks``.
        lookalikes: as given to ``tasks``.
        scale: as given to ``tasks``.

    Raises:
        ConfigError: the split is unknown or a knob is out of range.
    """
    return documents(Setting(split, seed, lookalikes, scale))


@dataclass(frozen=True, slots=True)
class Slot:
    """Where tasks at one position of the mix come from: the ``first`` of a pool, then every ``every``-th."""

    kind: str
    pool: str
    first: int
    every: int


def _mix(flavour: str, kinds: Collection[str]) -> tuple[Slot, ...]:
    known = {kind for kind, _, _ in MIXES[flavour]}
    for kind in kinds:
        if kind not in known:
            raise unknown_name(f"kind of {flavour}", kind, known)
    slots = [
        Slot(kind, pool, first, count)
        for kind, pool, count in MIXES[flavour]
        for first in range(count)
        if not kinds or kind in kinds
    ]
    seeded("encyclopedia mix", flavour).shuffle(slots)
    return tuple(slots)


@functools.lru_cache(maxsize=32)
def _pool(setting: Setting, name: str) -> list[Form]:
    return POOLS[name](graph(setting), seeded("encyclopedia pool", name, setting.split, setting.seed))


@functools.lru_cache(maxsize=4)
def _ids(setting: Setting) -> dict[str, str]:
    return {title: document_id(setting, number) for number, title in enumerate(graph(setting).entities)}


@dataclass(frozen=True, slots=True)
class Generator:
    """Makes the tasks of one flavour and world: a small picklable key; graphs and pools are remembered beside it."""

    flavour: str
    setting: Setting
    mix: tuple[Slot, ...] = field(repr=False)

    def __call__(self, task_id: str, index: int) -> Task:
        """Return the task at an index."""
        kind, form = self.form(index)
        facts, ids = graph(self.setting), _ids(self.setting)
        rng = seeded("encyclopedia question", self.flavour, self.setting.split, self.setting.seed, index)
        titles = passages(facts, form)
        gold = QAGold(self._answers(facts, answer(facts, form)), tuple(ids[title] for title in titles), tuple(titles))
        return Task(task_id, question(facts, form, rng), gold, kind)

    def form(self, index: int) -> tuple[str, Form]:
        """Return the kind and the logical form of a task."""
        round_, place = divmod(index, len(self.mix))
        slot = self.mix[place]
        return slot.kind, _pool(self.setting, slot.pool)[round_ * slot.every + slot.first]

    def capacity(self) -> int:
        """Return how many tasks there are before a pool is used up."""
        return min(len(_pool(self.setting, slot.pool)) // slot.every for slot in self.mix) * len(self.mix)

    def _answers(self, facts: Graph, given: str) -> tuple[str, ...]:
        if self.flavour not in ALIASES:
            return (facts.name(given),)
        if given in facts.entities:
            return (facts.name(given), *facts.entities[given].aliases)
        day, _, rest = given.partition(" ")
        month, _, year = rest.partition(" ")
        return (given, f"{month} {day}, {year}") if month in MONTHS else (given,)
