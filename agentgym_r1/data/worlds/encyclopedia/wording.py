"""Logical forms in words."""

import random

from agentgym_r1.data.worlds.encyclopedia.forms import Chain, Choice, Crossing, Form, Hop, Path, Sameness
from agentgym_r1.data.worlds.encyclopedia.graph import Graph
from agentgym_r1.data.worlds.encyclopedia.pools import KINSHIP
from agentgym_r1.data.worlds.encyclopedia.relations import BACKWARD, FORWARD

CLAUSES = 0.35

CROSSED = {
    ("author", "set_in"): ("Which novel by {0} is set in {1}?", "Which novel set in {1} was written by {0}?"),
    ("author", "publisher"): ("Which novel by {0} was published by {1}?", "Which novel did {1} publish for {0}?"),
    ("director", "star"): ("Which film directed by {0} stars {1}?", "In which film did {0} direct {1}?"),
    ("director", "studio"): ("Which film did {0} direct for {1}?", "Which film by {0} was produced by {1}?"),
    ("composer", "premiered_in"): (
        "Which opera by {0} was first performed in {1}?",
        "Which opera that had its premiere in {1} was composed by {0}?",
    ),
    ("composer", "dedicatee"): ("Which opera did {0} dedicate to {1}?", "Which opera by {0} is dedicated to {1}?"),
    ("painter", "shown_in"): ("Which painting by {0} hangs in {1}?", "Which painting that hangs in {1} is by {0}?"),
    ("painter", "depicts"): ("Which painting of {1} was made by {0}?", "In which painting did {0} depict {1}?"),
    ("architect", "stands_in"): ("Which building in {1} was designed by {0}?", "Which building did {0} design in {1}?"),
    ("architect", "named_after"): (
        "Which building by {0} is named after {1}?",
        "Which building that is named after {1} was designed by {0}?",
    ),
    ("victor", "held_in"): ("Which battle did {0} win at {1}?", "Which battle at {1} was won by {0}?"),
    ("chair", "held_in"): ("Which congress in {1} was chaired by {0}?", "Which congress did {0} chair in {1}?"),
    ("described_by", "native_to"): (
        "Which species native to {1} was first described by {0}?",
        "Which species from {1} did {0} describe?",
    ),
}

LARGER, SMALLER = 0, 1
CHOSEN = {
    "birth_date": (("Who was born later", "Who is younger"), ("Who was born first", "Who is older")),
    "death_date": (("Who died later", "Whose death came later"), ("Who died first", "Who died earlier")),
    "height": (("Which mountain is higher",), ("Which mountain is lower",)),
    "climbed": (("Which mountain was first climbed later",), ("Which mountain was climbed first",)),
    "length": (("Which river is longer",), ("Which river is shorter",)),
    "depth": (("Which lake is deeper",), ("Which lake is shallower", "Which lake is less deep")),
    "population": (("Which town has more inhabitants", "Which town is larger by population"),
                   ("Which town has fewer inhabitants", "Which town has the smaller population")),
    "founded": (("Which {0} was founded later", "Which {0} is younger"),
                ("Which {0} was founded first", "Which {0} is older")),
    "published": (("Which novel was published later",),
                  ("Which novel was published first", "Which novel came out earlier")),
    "released": (("Which film was released later", "Which film is more recent"), ("Which film was released first",)),
    "premiered": (("Which opera was first performed later",), ("Which opera had the earlier premiere",)),
    "painted": (("Which painting was made later",), ("Which painting was made first", "Which painting is older")),
    "opened": (("Which building was opened later",), ("Which building was opened first",)),
    "first_awarded": (("Which award was introduced later",), ("Which award was introduced first",)),
    "held": (("Which {0} took place later",), ("Which {0} took place first",)),
    "described": (("Which species was described later",), ("Which species was described first",)),
}  # fmt: skip
MAKER_CHOSEN = {
    "birth_date": (("was born later", "is younger"), ("was born first", "is older")),
    "death_date": (("died later",), ("died first", "died earlier")),
}
SAME = {
    "occupation": ("Did {0} and {1} have the same occupation?", "Did {0} and {1} work in the same profession?"),
    "alma_mater": ("Did {0} and {1} study at the same university?", "Did {0} attend the same university as {1}?"),
    "born_in": ("Were {0} and {1} born in the same town?", "Was {0} born in the same town as {1}?"),
    "died_in": ("Did {0} and {1} die in the same town?", "Did {0} die in the same town as {1}?"),
    "region": ("Are {0} and {1} in the same region?", "Do {0} and {1} lie in the same region?"),
    "river": ("Do {0} and {1} lie on the same river?", "Does the same river flow through {0} and {1}?"),
    "native_to": ("Are {0} and {1} native to the same region?",),
    "author": ("Were {0} and {1} written by the same person?", "Do {0} and {1} have the same author?"),
    "publisher": ("Were {0} and {1} published by the same company?", "Do {0} and {1} have the same publisher?"),
    "director": ("Were {0} and {1} directed by the same person?", "Do {0} and {1} have the same director?"),
    "studio": ("Were {0} and {1} produced by the same studio?", "Did the same studio make {0} and {1}?"),
    "composer": ("Were {0} and {1} composed by the same person?", "Do {0} and {1} have the same composer?"),
    "painter": ("Were {0} and {1} painted by the same person?", "Are {0} and {1} by the same painter?"),
    "shown_in": ("Do {0} and {1} hang in the same museum?", "Are {0} and {1} shown in the same museum?"),
    "architect": ("Were {0} and {1} designed by the same architect?", "Do {0} and {1} have the same architect?"),
    "founder": ("Were {0} and {1} founded by the same person?", "Do {0} and {1} have the same founder?"),
}


def question(graph: Graph, form: Form, rng: random.Random) -> str:
    """Return a question that asks for the form; ``rng`` chooses among wordings that mean the same."""
    match form:
        case Chain(path):
            text = _chain(graph, path, rng)
        case Crossing(_, relations, (first, second)):
            text = rng.choice(CROSSED[relations]).format(_noun(graph, first, rng), _noun(graph, second, rng))
        case Choice():
            text = _choice(graph, form, rng)
        case Sameness((first, second)):
            left, right = (_noun(graph, Path(path.start, path.hops[:-1]), rng) for path in (first, second))
            text = rng.choice(SAME[first.hops[-1].relation]).format(left, right)
    return text[0].upper() + text[1:]


def _chain(graph: Graph, path: Path, rng: random.Random) -> str:
    *inner, last = path.hops
    relations = tuple(hop.relation for hop in path.hops)
    if relations in KINSHIP:
        start = graph.phrase(path.start)
        return rng.choice(("Who is the {1} of {0}?", "Who is {0}'s {1}?")).format(start, KINSHIP[relations])
    words = BACKWARD[last.relation] if last.backward else FORWARD[last.relation]
    if rng.random() < CLAUSES:
        subject = _noun(graph, Path(path.start, tuple(inner[:-1])), rng)
        return f"{FORWARD[inner[-1].relation].lead.format(subject)} {words.which}"
    return rng.choice(words.ask).format(_noun(graph, Path(path.start, tuple(inner)), rng))


def _noun(graph: Graph, path: Path, rng: random.Random) -> str:
    """Return a noun phrase for the end of the path."""
    noun = graph.phrase(path.start)
    for hop in path.hops:
        noun = _of(hop, rng).format(noun)
    return noun


def _of(hop: Hop, rng: random.Random) -> str:
    return BACKWARD[hop.relation].of if hop.backward else rng.choice(FORWARD[hop.relation].of)


def _choice(graph: Graph, form: Choice, rng: random.Random) -> str:
    first, _ = form.paths
    side = LARGER if form.larger else SMALLER
    kind = graph.entities[first.start].kind
    one, other = (graph.phrase(path.start).removeprefix(f"the {kind} ") for path in form.paths)
    names = f"{one} or {other}?"
    if not first.hops:
        return f"{rng.choice(CHOSEN[form.relation][side]).format(kind)}, {names}"
    maker = first.hops[0].relation
    return f"Which {kind} has the {maker} who {rng.choice(MAKER_CHOSEN[form.relation][side])}, {names}"
