"""Passages: the facts of an entity in prose, with colour and with mentions of others mixed in."""

import random
import string
from collections.abc import Mapping

from agentgym_r1.data.worlds.encyclopedia.graph import Entity, Graph
from agentgym_r1.data.worlds.encyclopedia.people import year_of
from agentgym_r1.data.worlds.encyclopedia.templates import COLOUR, FACTS, WORDS, Line

SHORTEST = 45
PRONOUNS = {"she": ("she", "her", "her"), "he": ("he", "him", "his"), "it": ("it", "it", "its")}
DATED = (
    "published", "released", "premiered", "painted", "opened", "held", "described", "climbed", "first_awarded",
    "founded",
)  # fmt: skip
_FIELDS = {
    template: tuple(field for _, field, _, _ in string.Formatter().parse(template) if field)
    for template in (
        *(template for lines in FACTS.values() for line in lines for template in line.variants),
        *(template for lines in COLOUR.values() for template in lines),
    )
}


def passage(graph: Graph, entity: Entity, rng: random.Random) -> str:
    """Return the passage of an entity: all of its facts, and at least two sentences of colour among them."""
    known = _known(graph, entity)
    sentences = [_fill(rng.choice(line.variants), known) for line in FACTS[entity.kind] if _fits(line, known)]
    length = sum(map(_words, sentences))
    for count, template in enumerate(rng.sample(COLOUR[entity.kind], len(COLOUR[entity.kind]))):
        if count >= 2 and length >= SHORTEST:
            break
        sentence = _fill(template, known | _drawn(graph, entity, template, rng))
        sentences.insert(rng.randint(1, len(sentences)), sentence)
        length += _words(sentence)
    return " ".join(sentences)


def _words(sentence: str) -> int:
    return sentence.count(" ") + 1


def _fits(line: Line, known: Mapping[str, str]) -> bool:
    return line.unless not in known and all(field in known for field in _FIELDS[line.variants[0]])


def _known(graph: Graph, entity: Entity) -> dict[str, str]:
    they, them, their = PRONOUNS[entity.pronoun]
    known = {relation: graph.phrase(graph.facts[entity.title, relation]) for relation in graph.relations(entity.title)}
    known |= {f"a_{key}": with_article(known[key]) for key in ("occupation", "sort") if key in known}
    known |= {"self": entity.phrase, "name": entity.name, "they": they, "them": them, "their": their}
    return known | ({"alias": entity.aliases[0]} if entity.aliases else {})


def _drawn(graph: Graph, entity: Entity, template: str, rng: random.Random) -> dict[str, str]:
    """Draw the words and the other entities that a sentence mentions."""
    drawn = {}
    for field in _FIELDS[template]:
        if field in WORDS:
            drawn[field] = rng.choice(WORDS[field])
        elif field.startswith("some_"):
            drawn[field] = graph.phrase(_other(graph, entity.title, field.removeprefix("some_"), rng))
    return drawn


def _other(graph: Graph, title: str, kind: str, rng: random.Random) -> str:
    """Draw another entity of the kind, one that was there at the time if a few draws find one."""
    year = _era(graph, title)
    drawn = [rng.choice(graph.of_kind(kind)) for _ in range(6)]
    others = [other for other in drawn if other != title] or [other for other in graph.of_kind(kind) if other != title]
    fitting = [other for other in others if year is None or _existed(graph, other, year)]
    return (fitting or others)[0]


def _era(graph: Graph, title: str) -> int | None:
    """Return a year that the passage is about: when a thing was made, or the middle of a life."""
    if (title, "birth_date") in graph.numbers:
        return year_of(graph.numbers[title, "birth_date"]) + 40
    return next((graph.numbers[title, relation] for relation in DATED if (title, relation) in graph.numbers), None)


def _existed(graph: Graph, title: str, year: int) -> bool:
    era = _era(graph, title)
    person = graph.entities[title].kind == "person"
    return era is None or (abs(era - year) <= 25 if person else era <= year + 10)


def _fill(template: str, values: Mapping[str, str]) -> str:
    text = template.format_map(values)
    return text[0].upper() + text[1:]


def with_article(noun: str) -> str:
    """Return a noun with a or an."""
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"
