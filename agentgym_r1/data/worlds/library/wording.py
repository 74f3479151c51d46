"""How papers and queries are written: templates of this library, filled with the wordings of concepts."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from agentgym_r1.data.worlds.library.vocabulary import Concept

_TITLES = (
    "{process} of {thing}: a study with {method}",
    "What {method} reveal about {process} in {thing}",
    "{thing} under {process}: evidence from {method}",
    "Measuring {process} in {thing} using {method}",
    "Towards less {process} of {thing}: results of {method}",
    "{method} for {process} of {thing}",
    "On the causes of {process} in {thing}, seen through {method}",
    "{process} and {thing}: {count} cases examined with {method}",
)
_OPENINGS = (
    "{process} of {thing} has been discussed for a long time, yet its course is poorly understood.",
    "Those who look after {thing} often report {process}, but seldom with figures.",
    "We ask how far {process} can be foreseen in {thing}.",
    "The economic loss from {process} in {thing} grows every year.",
)
_WHAT_WE_DID = (
    "We used {method} at {count} sites over {span} months.",
    "Our work rests on {method}, applied to {count} cases in {span} months.",
    "By means of {method} we followed {count} units for {span} months.",
    "{method} were carried out {count} times within {span} months.",
)
_CONTRASTS = (
    "Earlier work relied on {other}, which we did not use.",
    "Unlike studies with {other}, ours needs no calibration.",
    "The picture differs from what {other} had suggested elsewhere.",
)
_FINDINGS = (
    "The effect was {size} percent stronger in spring than in autumn.",
    "In {size} percent of the cases the trend reversed after the first year.",
    "Two thirds of the variation is explained by age and exposure; {size} percent remains open.",
    "A simple rule lowers the damage by {size} percent.",
)
_CLOSINGS = (
    "The findings do not carry over to {elsewhere}, where {rival} matters more.",
    "Whether the same holds for {elsewhere} is left to future work.",
    "We compare briefly with {rival} in {elsewhere}.",
    "Data and protocols are available on request.",
)
_QUESTIONS = {
    "": (
        "Which papers study {process} of {thing}{when}?",
        "I am looking for work on {process} in {thing}{when}.",
        "Find the publications{when} about {process} of {thing}.",
    ),
    "method": (
        "Which papers study {process} of {thing} with {method}{when}?",
        "I am looking for work{when} that examines {process} in {thing} by means of {method}.",
        "Find publications{when} in which {method} are used on {process} of {thing}.",
    ),
}


@dataclass(frozen=True, slots=True)
class Subject:
    """What a text is about: the words chosen for process, object and method."""

    process: str
    thing: str
    method: str

    @classmethod
    def draw(cls, process: Concept, thing: Concept, method: Concept, *, wordings: int, rng: random.Random) -> "Subject":
        """Choose one of the first ``wordings`` wordings of each concept."""
        return cls(*(rng.choice(concept.forms[:wordings]) for concept in (process, thing, method)))


def title(subject: Subject, rng: random.Random) -> str:
    """Write the title of a paper."""
    return _write(rng.choice(_TITLES), subject, count=rng.randint(12, 480))


def abstract(subject: Subject, *, other: str, rival: str, elsewhere: str, rng: random.Random) -> str:
    """Write an abstract; it names another method and another topic, which the paper is not about.

    Args:
        subject: what the paper is about.
        other: a method it did not use.
        rival: a process it is not about.
        elsewhere: an object it is not about.
        rng: draws the sentences.
    """
    numbers = {"count": rng.randint(12, 480), "span": rng.randint(3, 60), "size": rng.randint(4, 62)}
    parts: Sequence[Sequence[str]] = (_OPENINGS, _WHAT_WE_DID, _CONTRASTS, _FINDINGS, _CLOSINGS)
    names = {"other": other, "rival": rival, "elsewhere": elsewhere}
    return " ".join(_write(rng.choice(sentences), subject, **numbers, **names) for sentences in parts)


def question(subject: Subject, *, with_method: bool, when: str, rng: random.Random) -> str:
    """Write a query; ``when`` is empty or a clause about years that follows a noun."""
    template = rng.choice(_QUESTIONS["method" if with_method else ""])
    return _write(template, subject, when=when)


def years(first: int, last: int, *, earliest: int, latest: int, rng: random.Random) -> str:
    """Write the clause for papers from ``first`` to ``last``; the library covers ``earliest`` to ``latest``."""
    if (first, last) == (earliest, latest):
        return ""
    if first == last:
        return f" published in {first}"
    if first == earliest:
        return rng.choice((f" published up to {last}", f" published before {last + 1}"))
    if last == latest:
        return rng.choice((f" published since {first}", f" published after {first - 1}"))
    return rng.choice((f" published between {first} and {last}", f" published from {first} to {last}"))


def _write(template: str, subject: Subject, **values: object) -> str:
    text = template.format(process=subject.process, thing=subject.thing, method=subject.method, **values)
    return text[:1].upper() + text[1:]
