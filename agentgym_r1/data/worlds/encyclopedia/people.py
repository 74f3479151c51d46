"""The people of a world: families over three generations, with schools, teachers and work."""

import random
from dataclasses import dataclass

from agentgym_r1.data.worlds.encyclopedia.geography import Country, Land
from agentgym_r1.data.worlds.encyclopedia.graph import Entity, Graph
from agentgym_r1.data.worlds.encyclopedia.names import Namer

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
OCCUPATIONS = {
    "novelist": 14, "film director": 12, "composer": 10, "painter": 9, "architect": 8, "actor": 9, "botanist": 6,
    "zoologist": 6, "merchant": 8, "engineer": 7, "explorer": 5, "general": 5, "historian": 6, "physician": 6,
    "chemist": 5,
}  # fmt: skip
FIRST_FILM, PRESENT = 1908, 2020


@dataclass(frozen=True, slots=True)
class Person:
    """A person while the world is built."""

    title: str
    surname: str
    born: int
    died: int | None
    occupation: str
    country: Country

    def alive(self, year: int) -> bool:
        """Tell whether the person lived in that year."""
        return self.born <= year <= (self.died or PRESENT)


class Society:
    """Builds the people; afterwards ``people`` holds them in the order they were made.

    Args:
        graph: where entities and facts go.
        namer: where names come from.
        rng: the source of randomness.
        land: where people are born and die.
        people: the number of people.
        lookalikes: how often unrelated families share a surname.
    """

    def __init__(
        self, graph: Graph, namer: Namer, rng: random.Random, *, land: Land, people: int, lookalikes: float
    ) -> None:
        self._graph, self._namer, self._rng, self._lookalikes = graph, namer, rng, lookalikes
        self._surnames: dict[str, list[str]] = {}
        self._given: dict[tuple[str, str], list[str]] = {}
        self.people: list[Person] = []
        self._doing: dict[str, list[Person]] = {}
        while len(self.people) < people:
            self._family(rng.choice(land.countries))

    def doing(self, *occupations: str) -> list[Person]:
        """Return the people of these occupations."""
        return [person for occupation in occupations for person in self._doing.get(occupation, ())]

    def _family(self, country: Country) -> None:
        rng = self._rng
        year = rng.randint(1770, 1905)
        father = self._person(country, "he", self._surname(country), year)
        mother = self._person(country, "she", self._surname(country), year + rng.randint(-3, 8))
        self._marry(father, mother)
        for _ in range(rng.randint(1, 3)):
            child = self._child(father, mother)
            if rng.random() < 0.7:
                self._next_generation(child)

    def _next_generation(self, child: Person) -> None:
        rng = self._rng
        pronoun = "he" if self._graph.entities[child.title].pronoun == "she" else "she"
        partner = self._person(child.country, pronoun, self._surname(child.country), child.born + rng.randint(-6, 6))
        self._marry(child, partner)
        father, mother = (child, partner) if pronoun == "she" else (partner, child)
        for _ in range(rng.randint(1, 2)):
            self._child(father, mother)

    def _child(self, father: Person, mother: Person) -> Person:
        year = max(father.born, mother.born) + self._rng.randint(20, 34)
        child = self._person(father.country, self._rng.choice(("she", "he")), father.surname, year)
        self._graph.state(child.title, "father", father.title)
        self._graph.state(child.title, "mother", mother.title)
        return child

    def _marry(self, one: Person, other: Person) -> None:
        self._graph.state(one.title, "spouse", other.title)
        self._graph.state(other.title, "spouse", one.title)

    def _person(self, country: Country, pronoun: str, surname: str, born: int) -> Person:
        graph, rng = self._graph, self._rng
        given = self._namer.combine(lambda: f"{self._given_name(country, pronoun)} {surname}")
        middle = self._given_name(country, pronoun)
        full = given.replace(" ", f" {middle} ", 1)
        title = graph.add(Entity(given, "person", given, given, (full,), pronoun))
        died = born + rng.randint(48, 92)
        occupation = self._occupation(born)
        person = Person(title, surname, born, died if died <= PRESENT else None, occupation, country)
        graph.state(title, "occupation", occupation)
        self._dates(person)
        self.people.append(person)
        self._doing.setdefault(occupation, []).append(person)
        return person

    def _occupation(self, born: int) -> str:
        while True:
            (occupation,) = self._rng.choices(tuple(OCCUPATIONS), tuple(OCCUPATIONS.values()))
            if occupation != "film director" or born >= FIRST_FILM - 35:
                return occupation

    def _dates(self, person: Person) -> None:
        graph, towns = self._graph, person.country.towns
        self._date(person.title, "birth_date", person.born)
        graph.state(person.title, "born_in", self._rng.choice(towns))
        if person.died:
            self._date(person.title, "death_date", person.died)
            graph.state(person.title, "died_in", self._rng.choice(towns))

    def _date(self, title: str, relation: str, year: int) -> None:
        month, day = self._rng.randrange(12), self._rng.randint(1, 28)
        self._graph.state(title, relation, f"{day} {MONTHS[month]} {year}", number=(year * 12 + month) * 31 + day)

    def _surname(self, country: Country) -> str:
        known = self._surnames.setdefault(country.title, [])
        if known and self._rng.random() < self._lookalikes:
            return self._rng.choice(known)
        known.append(self._namer.surname(country.tongue))
        return known[-1]

    def _given_name(self, country: Country, pronoun: str) -> str:
        known = self._given.setdefault((country.title, pronoun), [])
        if len(known) < 40 or self._rng.random() < 0.05:
            endings = country.tongue.women if pronoun == "she" else country.tongue.men
            known.append(self._namer.stem(country.tongue, endings))
            return known[-1]
        return self._rng.choice(known)


def year_of(date: int) -> int:
    """Return the year of a date as the graph stores it for comparison."""
    return date // (12 * 31)


def careers(graph: Graph, rng: random.Random, society: Society) -> None:
    """Give people a teacher, a university, an employer and an award, where the dates allow it."""
    universities, awards = graph.of_kind("university"), graph.of_kind("award")
    employers = universities + graph.of_kind("company")
    founded = {title: graph.numbers[title, "founded"] for title in employers}
    prizes = {title: graph.numbers[title, "first_awarded"] for title in awards}
    for person in society.people:
        school = _before(rng, universities, founded, person.born + 18)
        if school and rng.random() < 0.6:
            graph.state(person.title, "alma_mater", school)
        teacher = rng.choice(society.doing(person.occupation))
        if person.born - 50 < teacher.born < person.born - 12 and teacher.alive(person.born + 20):
            graph.state(person.title, "teacher", teacher.title)
        employer = _before(rng, employers, founded, person.born + 40)
        if employer and rng.random() < 0.4:
            graph.state(person.title, "employer", employer)
        prize = _before(rng, awards, prizes, (person.died or PRESENT) - 5)
        if prize and graph.get(prize, "named_after") != person.title and rng.random() < 0.25:
            graph.state(person.title, "award", prize)


def _before(rng: random.Random, titles: list[str], years: dict[str, int], limit: int) -> str | None:
    """Draw a title and return it when its year is early enough."""
    title = rng.choice(titles)
    return title if years[title] <= limit else None
