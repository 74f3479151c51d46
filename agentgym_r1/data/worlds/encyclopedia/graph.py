"""The facts of the encyclopedia: entities, and relations that have one object for every subject."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Entity:
    """Something that has a passage.

    Attributes:
        title: unique in the world; the title of the passage.
        kind: person, town, novel, and so on.
        name: how texts and answers call it; differs from the title when that needs "(film)" to be unique.
        phrase: the name as it stands in a sentence, with an article where it needs one.
        aliases: other names that its passage gives.
        pronoun: she, he or it.
    """

    title: str
    kind: str
    name: str
    phrase: str
    aliases: tuple[str, ...] = ()
    pronoun: str = "it"


class Graph:
    """Entities by title, and facts (subject, relation) -> object, where objects are titles or plain text."""

    def __init__(self) -> None:
        self.entities: dict[str, Entity] = {}
        self.facts: dict[tuple[str, str], str] = {}
        self.numbers: dict[tuple[str, str], int] = {}
        self._relations: dict[str, list[str]] = {}
        self._subjects: dict[tuple[str, str], list[str]] = {}
        self._incoming: dict[str, list[tuple[str, str]]] = {}
        self._kinds: dict[str, list[str]] = {}

    def add(self, entity: Entity) -> str:
        """Add an entity and return its title."""
        self.entities[entity.title] = entity
        self._kinds.setdefault(entity.kind, []).append(entity.title)
        return entity.title

    def state(self, subject: str, relation: str, thing: str, *, number: int | None = None) -> None:
        """State a fact, once for every subject and relation; with a number it can be compared."""
        self.facts[subject, relation] = thing
        if number is not None:
            self.numbers[subject, relation] = number
        self._relations.setdefault(subject, []).append(relation)
        self._subjects.setdefault((relation, thing), []).append(subject)
        if thing in self.entities:
            self._incoming.setdefault(thing, []).append((subject, relation))

    def count(self, subject: str, relation: str, number: int) -> None:
        """State a number, written with thousands separators."""
        self.state(subject, relation, f"{number:,}", number=number)

    def year(self, subject: str, relation: str, year: int) -> None:
        """State a year."""
        self.state(subject, relation, str(year), number=year)

    def of_kind(self, kind: str) -> list[str]:
        """Return the titles of the entities of a kind, in the order they were added."""
        return self._kinds.get(kind, [])

    def relations(self, subject: str) -> list[str]:
        """Return the relations stated of a subject, in order."""
        return self._relations.get(subject, [])

    def get(self, subject: str, relation: str) -> str | None:
        """Return the object of a fact, or None."""
        return self.facts.get((subject, relation))

    def subjects(self, relation: str, thing: str) -> list[str]:
        """Return the subjects whose relation has this object."""
        return self._subjects.get((relation, thing), [])

    def reverse(self) -> Iterable[tuple[tuple[str, str], list[str]]]:
        """Return all (relation, object) pairs with their subjects, in the order they were stated."""
        return self._subjects.items()

    def incoming(self, thing: str) -> list[tuple[str, str]]:
        """Return the facts about other entities that have this entity as object, as (subject, relation)."""
        return self._incoming.get(thing, [])

    def name(self, thing: str) -> str:
        """Return how an object is called: the name of an entity, or the text itself."""
        return self.entities[thing].name if thing in self.entities else thing

    def phrase(self, thing: str) -> str:
        """Return an object as it stands in a sentence."""
        return self.entities[thing].phrase if thing in self.entities else thing
