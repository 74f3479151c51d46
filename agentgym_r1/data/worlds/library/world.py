"""The library world: literature queries over generated papers with a citation graph, for paper search.

It stands for what an agent has to do on PaSa and LitSearch: turn a query with several conditions (topic, method, years)
into searches, meet the same thing in other words, follow citations to papers whose words it did not guess, and stop. It
cannot stand for the variety of scholarly language or for queries that experts wrote; a paper's conditions are told in
its title, abstract and year and nowhere else. Scores compare policies with each other, never with published ones.

Difficulty knobs: ``wordings`` is how many ways there are to say a thing (1 makes every gold paper share the query's
words), ``papers`` the size of the library, ``kinds`` the conditions, ``most`` the largest gold set.
"""

import random
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from agentgym_r1.corpus import Paper
from agentgym_r1.data.gold import PaperGold
from agentgym_r1.data.worlds.library import wording
from agentgym_r1.data.worlds.library.plan import FIRST_YEAR, LAST_YEAR, METHODS_A_TOPIC, Plan, Setting, Topic, plan
from agentgym_r1.data.worlds.library.vocabulary import METHODS, OBJECTS, PROCESSES, Concept
from agentgym_r1.data.worlds.library.wording import Subject
from agentgym_r1.data.worlds.seeded import DEFAULT_SIZES, SeededTasks
from agentgym_r1.errors import ConfigError, unknown_name
from agentgym_r1.types import Task

KINDS = ("method", "years", "method and years")
FEWEST_GOLD = 2
DEFAULT_PAPERS = 4_000


def tasks(
    split: str = "dev",
    *,
    size: int | None = None,
    seed: int = 0,
    papers: int = DEFAULT_PAPERS,
    wordings: int = 3,
    kinds: Collection[str] = KINDS,
    most: int = 10,
) -> SeededTasks:
    """Return queries with PaperGold over the papers of ``corpus`` with the same arguments.

    Task i depends on nothing but the arguments other than ``size``. Splits share no topic and no author.

    Args:
        split: train, dev or test.
        size: number of tasks; default 10,000 (train), 500 (dev), 1,000 (test).
        seed: another seed gives another library of the same split.
        papers: size of the library, at least 200.
        wordings: how many wordings of a concept are in use, from 1 to 3.
        kinds: which conditions a query has besides its topic: ``method``, ``years`` or ``method and years``.
        most: the largest number of papers that satisfy a query; the smallest is 2.

    Raises:
        ConfigError: the split or a kind is unknown, or a knob is out of range.
    """
    unknown = sorted(set(kinds) - set(KINDS))
    if unknown or not kinds:
        raise unknown_name("kind of library queries", unknown[0] if unknown else "", KINDS)
    if most < FEWEST_GOLD:
        raise ConfigError(f"most must be at least {FEWEST_GOLD}, got {most}")
    setting = Setting(split, seed, papers, wordings)
    generate = _Generator(setting, tuple(kind for kind in KINDS if kind in kinds), most)
    return SeededTasks(generate, name="library", split=split, size=DEFAULT_SIZES[split] if size is None else size)


def corpus(split: str = "dev", *, seed: int = 0, papers: int = DEFAULT_PAPERS, wordings: int = 3) -> Iterator[Paper]:
    """Yield the papers of a library in the order of their years; the arguments are those of ``tasks``."""
    of = plan(Setting(split, seed, papers, wordings))
    return (_paper(of, position) for position in range(papers))


def _paper(of: Plan, position: int) -> Paper:
    """Write the paper at a position."""
    entry = of.entries[position]
    topic = of.topics[entry.topic]
    subject, heading, rng = _headed(of, position)
    return Paper(
        id=_paper_id(of, position),
        title=heading,
        abstract=wording.abstract(
            subject,
            other=_another(METHODS, of.method(entry), rng),
            rival=_another(PROCESSES, topic.process, rng),
            elsewhere=_another(OBJECTS, topic.object, rng),
            rng=rng,
        ),
        authors=tuple(dict.fromkeys(rng.choices(topic.people, k=rng.randint(1, 5)))),
        year=entry.year,
        venue=rng.choice(topic.venues),
        references=tuple(_paper_id(of, reference) for reference in entry.references),
    )


def _headed(of: Plan, position: int) -> tuple[Subject, str, random.Random]:
    """Return the wordings and the title of a paper, and the generator that goes on with its text."""
    entry = of.entries[position]
    topic = of.topics[entry.topic]
    rng = of.setting.rng("paper", position)
    subject = Subject.draw(topic.process, topic.object, of.method(entry), wordings=of.setting.wordings, rng=rng)
    return subject, wording.title(subject, rng), rng


def _paper_id(of: Plan, position: int) -> str:
    return f"{of.setting.split}{position:06d}"


def _another(concepts: tuple[Concept, ...], than: Concept, rng: random.Random) -> str:
    """Draw another concept than the one given, in its plain wording."""
    place = rng.randrange(len(concepts) - 1)
    return concepts[place + (place >= concepts.index(than))].name


@dataclass(frozen=True, slots=True)
class _Generator:
    setting: Setting
    kinds: tuple[str, ...]
    most: int

    def __call__(self, task_id: str, index: int) -> Task:
        of = plan(self.setting)
        rng = self.setting.rng("query", self.most, *self.kinds, index)
        while True:
            kind = rng.choice(self.kinds)
            topic = rng.randrange(len(of.topics))
            method = rng.randrange(METHODS_A_TOPIC) if "method" in kind else None
            span = _range(rng) if "years" in kind else (FIRST_YEAR, LAST_YEAR)
            found = of.matching(topic, method=method, first=span[0], last=span[1])
            if FEWEST_GOLD <= len(found) <= self.most:
                break
        prompt = self._prompt(of.topics[topic], method, span, rng)
        gold = PaperGold(
            papers=tuple(_paper_id(of, paper) for paper in found),
            titles=tuple(_headed(of, paper)[1] for paper in found),
        )
        return Task(task_id, prompt, gold, kind)

    def _prompt(self, topic: Topic, method: int | None, span: tuple[int, int], rng: random.Random) -> str:
        when = wording.years(*span, earliest=FIRST_YEAR, latest=LAST_YEAR, rng=rng)
        used = topic.methods[method or 0]
        subject = Subject.draw(topic.process, topic.object, used, wordings=self.setting.wordings, rng=rng)
        return wording.question(subject, with_method=method is not None, when=when, rng=rng)


def _range(rng: random.Random) -> tuple[int, int]:
    """Draw a range of years, a third of them open at one end each."""
    first = rng.randint(FIRST_YEAR + 1, LAST_YEAR - 1)
    shape = rng.randrange(3)
    if shape == 0:
        return FIRST_YEAR, first
    if shape == 1:
        return first, LAST_YEAR
    return first, min(first + rng.randint(0, 9), LAST_YEAR - 1)
