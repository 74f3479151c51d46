"""What people of a world made: organisations, works, buildings, events, discoveries."""

import random

from agentgym_r1.data.worlds.encyclopedia.geography import Country, Land
from agentgym_r1.data.worlds.encyclopedia.graph import Entity, Graph
from agentgym_r1.data.worlds.encyclopedia.names import BEASTS, Namer
from agentgym_r1.data.worlds.encyclopedia.people import FIRST_FILM, PRESENT, Person, Society

COMPANIES = {
    "publishing house": ("Press", "Books", "Editions"),
    "film studio": ("Pictures", "Film", "Studios"),
    "shipyard": ("Shipyards", "Marine"),
    "brewery": ("Brewery", "Breweries"),
    "glassworks": ("Glass", "Glassworks"),
    "railway company": ("Railway", "Lines"),
    "football club": ("Rovers", "Athletic", "Wanderers"),
    "instrument maker": ("Pianos", "Organs"),
}
BUILDINGS = ("Bridge", "Lighthouse", "Museum", "Theatre", "Tower", "Library")


class Culture:
    """Builds everything that people founded, made, led or found.

    Args:
        graph: where entities and facts go.
        namer: where names come from.
        rng: the source of randomness.
        land: the places.
        society: the people.
        lookalikes: how often titles of works share words.
    """

    def __init__(
        self, graph: Graph, namer: Namer, rng: random.Random, *, land: Land, society: Society, lookalikes: float
    ) -> None:
        self._graph, self._namer, self._rng, self._lookalikes = graph, namer, rng, lookalikes
        self._land, self._society = land, society
        self._titles: list[str] = []
        self._companies: dict[str, list[str]] = {sort: [] for sort in COMPANIES}

    def university(self) -> None:
        """Add a university."""
        founder, year = self._maker(("merchant", "physician", "historian", "chemist"), ages=(30, 60))
        place = self._namer.place(founder.country.tongue)
        if self._rng.random() < 0.5:
            entity = Entity(f"{place} College", "university", f"{place} College", f"{place} College")
        else:
            name = f"University of {place}"
            entity = Entity(name, "university", name, f"the {name}", (f"{place} University",))
        self._found(entity, founder, year)

    def company(self) -> None:
        """Add a company or a football club, sometimes owned by an older one."""
        graph, rng = self._graph, self._rng
        sort = rng.choice(tuple(COMPANIES))
        start = FIRST_FILM if sort == "film studio" else 1820
        founder, year = self._maker(("merchant", "engineer", "actor", "chemist"), ages=(25, 60), earliest=start)
        owners = (other for kind, titles in self._companies.items() if kind != "football club" for other in titles)
        older = [other for other in owners if graph.numbers[other, "founded"] < year]
        name = f"{self._namer.surname(founder.country.tongue)} {rng.choice(COMPANIES[sort])}"
        title = self._found(Entity(name, "company", name, name), founder, year)
        self._companies[sort].append(title)
        graph.state(title, "sort", sort)
        if older and rng.random() < 0.35:
            graph.state(title, "parent", rng.choice(older))

    def award(self) -> None:
        """Add an award that a company pays for."""
        graph, rng = self._graph, self._rng
        company, hero = rng.choice(graph.of_kind("company")), rng.choice(self._society.people)
        name = f"{self._namer.place(hero.country.tongue)} {rng.choice(('Medal', 'Prize'))}"
        title = graph.add(Entity(name, "award", name, f"the {name}"))
        graph.state(title, "endowed_by", company)
        graph.state(title, "named_after", hero.title)
        graph.year(title, "first_awarded", rng.randint(graph.numbers[company, "founded"], PRESENT - 5))

    def novel(self) -> None:
        """Add a novel."""
        graph, rng = self._graph, self._rng
        author, year = self._maker(("novelist",), ages=(23, 70))
        title = self._work("novel", self._title())
        graph.state(title, "author", author.title)
        graph.year(title, "published", year)
        graph.state(title, "set_in", rng.choice(self._land.towns()))
        self._house(title, "publisher", "publishing house", year)

    def film(self) -> None:
        """Add a film; some are based on a novel and share its name."""
        graph, rng = self._graph, self._rng
        director, year = self._maker(("film director",), ages=(24, 70), earliest=FIRST_FILM)
        novel = rng.choice(graph.of_kind("novel"))
        adapts = graph.numbers[novel, "published"] < year and f"{novel} (film)" not in graph.entities
        adapts = adapts and rng.random() < 0.5
        title = self._work("film", f"{novel} (film)" if adapts else self._title())
        graph.state(title, "director", director.title)
        graph.year(title, "released", year)
        if adapts:
            graph.state(title, "based_on", novel)
        star = rng.choice(self._society.doing("actor"))
        if star.alive(year) and star.born + 16 < year:
            graph.state(title, "star", star.title)
        self._house(title, "studio", "film studio", year)

    def opera(self) -> None:
        """Add an opera."""
        graph, rng = self._graph, self._rng
        composer, year = self._maker(("composer",), ages=(22, 70))
        title = self._work("opera", self._title())
        graph.state(title, "composer", composer.title)
        graph.year(title, "premiered", year)
        graph.state(title, "premiered_in", rng.choice(composer.country.towns))
        friend = rng.choice(self._society.people)
        if friend.alive(year) and friend is not composer:
            graph.state(title, "dedicatee", friend.title)

    def building(self) -> None:
        """Add a building, named after a person or after its town."""
        graph, rng = self._graph, self._rng
        architect, year = self._maker(("architect", "engineer"), ages=(27, 68))
        town, sort = rng.choice(architect.country.towns), rng.choice(BUILDINGS)
        hero = rng.choice(self._society.people)
        honours = hero.born + 30 < year and hero is not architect and rng.random() < 0.5
        name = self._namer.place(architect.country.tongue) if not honours else hero.surname
        if f"{name} {sort}" in graph.entities:
            return
        title = graph.add(Entity(f"{name} {sort}", "building", f"{name} {sort}", f"the {name} {sort}"))
        graph.state(title, "sort", sort.lower())
        graph.state(title, "architect", architect.title)
        graph.state(title, "stands_in", town)
        graph.year(title, "opened", year)
        if honours:
            graph.state(title, "named_after", hero.title)

    def painting(self) -> None:
        """Add a painting that hangs in a museum."""
        graph, rng = self._graph, self._rng
        painter, year = self._maker(("painter",), ages=(20, 72))
        museums = graph.subjects("sort", "museum")
        title = self._work("painting", self._title())
        graph.state(title, "painter", painter.title)
        graph.year(title, "painted", year)
        if museums:
            graph.state(title, "shown_in", rng.choice(museums))
        graph.state(title, "depicts", rng.choice(graph.of_kind("lake") + graph.of_kind("mountain")))

    def battle(self) -> None:
        """Add a battle."""
        graph = self._graph
        general, year = self._maker(("general",), ages=(26, 62))
        name = f"Battle of {self._namer.place(general.country.tongue)}"
        title = graph.add(Entity(name, "battle", name, f"the {name}"))
        graph.state(title, "victor", general.title)
        self._event(title, general.country, year)

    def congress(self) -> None:
        """Add a congress of scholars."""
        graph = self._graph
        chair, year = self._maker(("historian", "physician", "chemist", "botanist"), ages=(32, 70))
        name = f"{self._namer.place(chair.country.tongue)} Congress"
        title = graph.add(Entity(name, "congress", name, f"the {name}"))
        graph.state(title, "chair", chair.title)
        self._event(title, chair.country, year)

    def species(self) -> None:
        """Add a species of animal."""
        graph, rng = self._graph, self._rng
        scholar, year = self._maker(("zoologist", "physician"), ages=(24, 66))
        name = f"{self._namer.place(scholar.country.tongue)} {rng.choice(BEASTS)}"
        title = graph.add(Entity(name, "species", name, f"the {name}"))
        graph.state(title, "described_by", scholar.title)
        graph.year(title, "described", year)
        graph.state(title, "native_to", rng.choice(self._land.regions()))

    def ascents(self) -> None:
        """Say of most mountains who climbed them first."""
        for mountain in self._graph.of_kind("mountain"):
            if self._rng.random() < 0.8:
                climber, year = self._maker(("explorer", "botanist", "engineer"), ages=(20, 55))
                self._graph.state(mountain, "first_climber", climber.title)
                self._graph.year(mountain, "climbed", year)

    def _maker(self, occupations: tuple[str, ...], *, ages: tuple[int, int], earliest: int = 0) -> tuple[Person, int]:
        """Draw a person of an occupation and a year when they were alive and of an age."""
        able = self._society.doing(*occupations)
        while True:
            person = self._rng.choice(able)
            year = person.born + self._rng.randint(*ages)
            if year >= earliest and person.alive(year) and year <= PRESENT - 10:
                return person, year

    def _found(self, entity: Entity, founder: Person, year: int) -> str:
        title = self._graph.add(entity)
        self._graph.state(title, "founder", founder.title)
        self._graph.year(title, "founded", year)
        self._graph.state(title, "based_in", self._rng.choice(founder.country.towns))
        return title

    def _event(self, title: str, country: Country, year: int) -> None:
        self._graph.year(title, "held", year)
        self._graph.state(title, "held_in", self._rng.choice(country.towns))

    def _house(self, title: str, relation: str, sort: str, year: int) -> None:
        """State which company of the sort brought a work out, unless none was old enough."""
        able = [company for company in self._companies[sort] if self._graph.numbers[company, "founded"] <= year]
        if able:
            self._graph.state(title, relation, self._rng.choice(able))

    def _work(self, kind: str, title: str) -> str:
        name = title.removesuffix(" (film)")
        return self._graph.add(Entity(title, kind, name, f"the {kind} {name}"))

    def _title(self) -> str:
        self._titles.append(self._namer.title(self._titles, lookalikes=self._lookalikes))
        return self._titles[-1]
