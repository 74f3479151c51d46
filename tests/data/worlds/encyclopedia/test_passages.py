"""The passages of the encyclopedia: they state every fact, read as English, and are hard to tell apart."""

import collections
import re

import pytest

from agentgym_r1.data.worlds.encyclopedia import corpus
from agentgym_r1.data.worlds.encyclopedia.build import Setting, graph
from agentgym_r1.data.worlds.encyclopedia.relations import BACKWARD, FORWARD
from agentgym_r1.data.worlds.encyclopedia.templates import COLOUR, FACTS
from agentgym_r1.types import Document, digest

NOT_ASKED = {"sort", "occupation"}


@pytest.fixture(scope="module")
def passages() -> tuple[Document, ...]:
    return corpus("dev")


def test_the_corpus_has_a_few_thousand_passages_with_unique_ids_and_titles(passages: tuple[Document, ...]):
    assert 3000 <= len(passages) <= 6000
    assert len({passage.id for passage in passages}) == len(passages)
    assert len({passage.title for passage in passages}) == len(passages)


def test_a_passage_states_every_fact_of_its_subject(passages: tuple[Document, ...]):
    facts = graph(Setting("dev"))
    texts = {passage.title: passage.text for passage in passages}
    for (subject, relation), thing in facts.facts.items():
        assert facts.name(thing) in texts[subject], (subject, relation, thing)
    for entity in facts.entities.values():
        assert all(name in texts[entity.title] for name in (entity.name, *entity.aliases)), entity


def test_passages_have_40_to_110_words(passages: tuple[Document, ...]):
    assert all(40 <= len(passage.text.split()) <= 110 for passage in passages)
    assert all(passage.text.count(". ") >= 3 for passage in passages)


def test_passages_are_clean_english(passages: tuple[Document, ...]):
    for passage in passages:
        assert re.fullmatch(r"[A-Z][^{}]*\.", passage.text), passage.text
        unclean = r"\b[Aa] [AEIOaeio]|\b[Aa]n [^AEIOaeio]|  |\bthe the\b|\bthe The\b|\. [a-z]|\.\."
        assert not re.search(unclean, passage.text), passage.text


def test_most_passages_mention_others_that_no_fact_ties_to_them(passages: tuple[Document, ...]):
    facts = graph(Setting("dev"))
    people = [facts.entities[title].name for title in facts.of_kind("person")]
    towns = [passage for passage in passages if facts.entities[passage.title].kind == "novel"]
    mentioning = sum(
        any(name in passage.text for name in people if name != facts.facts[passage.title, "author"])
        for passage in towns
    )
    assert mentioning > 0.2 * len(towns)


def test_many_people_share_a_surname_and_lookalikes_make_it_more():
    def families(lookalikes: float) -> float:
        people = graph(Setting("dev", lookalikes=lookalikes)).of_kind("person")
        return len(people) / len({person.split()[-1] for person in people})

    assert 2 < families(0.0) < families(0.5) < families(0.9)


def test_scale_changes_the_size_of_the_corpus():
    assert len(corpus("dev", scale=0.5)) < 0.6 * len(corpus("dev"))


def test_lives_and_works_are_in_a_possible_order():
    facts = graph(Setting("dev"))
    born = {person: facts.numbers[person, "birth_date"] // (12 * 31) for person in facts.of_kind("person")}
    for person in born:
        if father := facts.get(person, "father"):
            assert 15 < born[person] - born[father] < 75
        if (person, "death_date") in facts.numbers:
            assert born[person] + 40 < facts.numbers[person, "death_date"] // (12 * 31) <= 2020
    for work, relation, year in (("novel", "author", "published"), ("film", "director", "released")):
        assert all(
            18 < facts.numbers[title, year] - born[facts.facts[title, relation]] < 80 for title in facts.of_kind(work)
        )


def test_facts_have_one_object_and_marriages_two_sides():
    facts = graph(Setting("dev"))
    stated = collections.Counter(
        (subject, relation) for subject in facts.entities for relation in facts.relations(subject)
    )
    assert set(stated.values()) == {1}
    for person in facts.of_kind("person"):
        if spouse := facts.get(person, "spouse"):
            assert facts.get(spouse, "spouse") == person


def test_every_relation_has_words_and_every_kind_has_sentences():
    facts = graph(Setting("dev"))
    relations = {relation for _, relation in facts.facts}
    assert relations - NOT_ASKED == set(FORWARD)
    assert set(BACKWARD) <= relations
    assert {entity.kind for entity in facts.entities.values()} == set(FACTS) == set(COLOUR)


def test_the_corpus_is_the_same_on_every_platform(passages: tuple[Document, ...]):
    assert (
        digest([[passage.id, passage.title, passage.text] for passage in passages])
        == "20dd7ec6457cb6049e7289a35beaca53eb812bca54a6d2b9bf51eedf59690cc6"
    )
