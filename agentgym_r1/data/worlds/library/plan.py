"""The plan of a library: what each paper is about, when it appeared and whom it cites, before a word is written.

Papers stand in the order of their years, so references point backwards. A paper mostly cites its own topic, and there
whoever is cited already (preferential attachment, Barabasi and Albert 1999): the in-degrees have a long tail.
"""

import functools
import math
import random
from bisect import bisect_left, bisect_right
from dataclasses import dataclass

from agentgym_r1.data.worlds.library.vocabulary import (
    FIELDS,
    FIRST_NAMES,
    LAST_NAMES,
    METHODS,
    OBJECTS,
    PROCESSES,
    VENUES,
    Concept,
)
from agentgym_r1.data.worlds.seeded import check_split, owner, seeded
from agentgym_r1.errors import ConfigError

FIRST_YEAR, LAST_YEAR = 1985, 2024
PAPERS_A_TOPIC = 40
METHODS_A_TOPIC = 6
LONG_LISTS = 0.15
OWN_TOPIC, KINDRED = 0.75, 0.15
SMALLEST = 200


@dataclass(frozen=True, slots=True)
class Setting:
    """Everything a library depends on.

    Raises:
        ConfigError: the split is unknown or a knob is out of range.
    """

    split: str
    seed: int = 0
    papers: int = 4_000
    wordings: int = 3

    def __post_init__(self) -> None:
        check_split(self.split, name="library")
        if self.papers < SMALLEST:
            raise ConfigError(f"papers must be at least {SMALLEST}, got {self.papers}")
        if not 1 <= self.wordings <= 3:
            raise ConfigError(f"wordings must be from 1 to 3, got {self.wordings}")

    def rng(self, *parts: object) -> random.Random:
        """Return the generator of one part of the library."""
        return seeded("library", self.split, self.seed, self.papers, self.wordings, *parts)


@dataclass(frozen=True, slots=True)
class Topic:
    """A process in an object, with the methods its papers use and the people who write them."""

    process: Concept
    object: Concept
    methods: tuple[Concept, ...]
    people: tuple[str, ...]
    venues: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """A paper before it is written: positions of its topic and method, its year, positions of its references."""

    topic: int
    method: int
    year: int
    references: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """A library before it is written; ``by_topic`` lists the papers of each topic in order."""

    setting: Setting
    topics: tuple[Topic, ...]
    entries: tuple[Entry, ...]
    by_topic: tuple[tuple[int, ...], ...]

    def method(self, entry: Entry) -> Concept:
        """Return the method a paper uses."""
        return self.topics[entry.topic].methods[entry.method]

    def matching(self, topic: int, *, method: int | None, first: int, last: int) -> list[int]:
        """Return the papers of a topic from ``first`` to ``last`` (years), of one method or of any."""
        members = self.by_topic[topic]
        low = bisect_left(members, first, key=lambda paper: self.entries[paper].year)
        high = bisect_right(members, last, key=lambda paper: self.entries[paper].year)
        return [paper for paper in members[low:high] if method in {None, self.entries[paper].method}]


@functools.lru_cache(maxsize=4)
def plan(setting: Setting) -> Plan:
    """Return the plan of a library; the last few are kept."""
    topics = _topics(setting)
    rng = setting.rng("entries")
    weights = [1.0 / math.sqrt(1 + rank) for rank in range(len(topics))]
    drawn = rng.choices(range(len(topics)), weights, k=setting.papers)
    years = sorted(_year(rng) for _ in range(setting.papers))
    graph = _Graph(topics, rng)
    entries = tuple(graph.add(topic, year) for topic, year in zip(drawn, years))
    return Plan(setting, topics, entries, tuple(map(tuple, graph.members)))


def _topics(setting: Setting) -> tuple[Topic, ...]:
    """Return the topics of a library; a topic belongs to one split, whatever the seed."""
    rng = setting.rng("topics")
    owned = [
        (process, thing)
        for process in PROCESSES
        for thing in OBJECTS
        if owner(f"{process.name} of {thing.name}") == setting.split
    ]
    surnames = [name for name in LAST_NAMES if owner(name) == setting.split]
    rng.shuffle(owned)
    count = min(setting.papers // PAPERS_A_TOPIC, len(owned))
    return tuple(_topic(process, thing, surnames, rng) for process, thing in owned[:count])


def _topic(process: Concept, thing: Concept, surnames: list[str], rng: random.Random) -> Topic:
    field = rng.choice(FIELDS)
    return Topic(
        process,
        thing,
        tuple(rng.sample(METHODS, METHODS_A_TOPIC)),
        tuple(f"{rng.choice(FIRST_NAMES)} {rng.choice(surnames)}" for _ in range(15)),
        tuple(f"{venue} of {field} Studies" for venue in rng.sample(VENUES, 3)),
    )


def _year(rng: random.Random) -> int:
    """Draw a year; later ones are likelier, as literatures grow."""
    return FIRST_YEAR + int((LAST_YEAR - FIRST_YEAR + 1) * math.sqrt(rng.random()))


class _Graph:
    """The citation graph while it grows, paper by paper.

    The urn of a topic, process or method holds each of its papers once, and once more for every citation: a uniform
    draw from it is preferential attachment.
    """

    def __init__(self, topics: tuple[Topic, ...], rng: random.Random) -> None:
        self.members: list[list[int]] = [[] for _ in topics]
        self._topics = topics
        self._rng = rng
        self._own: list[list[int]] = [[] for _ in topics]
        self._kin: dict[str, list[int]] = {}
        self._entries: list[Entry] = []

    def add(self, topic: int, year: int) -> Entry:
        """Add the next paper and return its entry."""
        weights = [1.0 / (1 + rank) for rank in range(METHODS_A_TOPIC)]
        (method,) = self._rng.choices(range(METHODS_A_TOPIC), weights)
        wanted = self._rng.randint(3, 14) + (self._rng.randint(0, 16) if self._rng.random() < LONG_LISTS else 0)
        cited = dict.fromkeys(self._draw(topic, method) for _ in range(wanted))
        cited.pop(-1, None)
        entry = Entry(topic, method, year, tuple(cited))
        self._file(len(self._entries), entry)
        for reference in cited:
            self._credit(reference)
        return entry

    def _draw(self, topic: int, method: int) -> int:
        """Draw a reference, -1 when there is none to draw."""
        where = self._rng.random()
        urn = self._own[topic] if where < OWN_TOPIC else []
        if not urn and where < OWN_TOPIC + KINDRED:
            urn = self._kin.get(self._rng.choice(self._kinship(topic, method)), [])
        if not urn and self._entries:
            return self._rng.randrange(len(self._entries))
        return self._rng.choice(urn) if urn else -1

    def _kinship(self, topic: int, method: int) -> tuple[str, str, str]:
        of = self._topics[topic]
        return of.process.name, of.object.name, of.methods[method].name

    def _file(self, paper: int, entry: Entry) -> None:
        self._entries.append(entry)
        self.members[entry.topic].append(paper)
        self._credit(paper)

    def _credit(self, paper: int) -> None:
        entry = self._entries[paper]
        self._own[entry.topic].append(paper)
        for name in self._kinship(entry.topic, entry.method):
            self._kin.setdefault(name, []).append(paper)
