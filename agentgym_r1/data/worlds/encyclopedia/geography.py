"""The land of a world: countries, regions, towns, mountains, lakes and rivers."""

import random
from dataclasses import dataclass

from agentgym_r1.data.worlds.encyclopedia.graph import Entity, Graph
from agentgym_r1.data.worlds.encyclopedia.names import TONGUES, Namer, Tongue

REGIONS_OF_A_COUNTRY = 5
MOUNTAINS_OF_A_REGION = 2
RIVERS_OF_A_COUNTRY = 10


@dataclass(frozen=True, slots=True)
class Country:
    """A country while the world is built: its tongue and what lies in it, by title."""

    title: str
    tongue: Tongue
    regions: list[str]
    towns: list[str]
    rivers: list[str]


class Land:
    """Builds the land; afterwards ``countries`` holds what the other builders need.

    Args:
        graph: where entities and facts go.
        namer: where names come from.
        rng: the source of randomness.
        towns: the number of towns, divided among the regions.
        lookalikes: how often a town's name is made from another town's.
    """

    def __init__(self, graph: Graph, namer: Namer, rng: random.Random, *, towns: int, lookalikes: float) -> None:
        self._graph, self._namer, self._rng, self._lookalikes = graph, namer, rng, lookalikes
        number = max(2, round(towns / 55))
        each = max(2, round(towns / number / REGIONS_OF_A_COUNTRY))
        self.countries = [self._country(TONGUES[index % len(TONGUES)], each) for index in range(number)]

    def towns(self) -> list[str]:
        """Return all towns."""
        return [town for country in self.countries for town in country.towns]

    def regions(self) -> list[str]:
        """Return all regions."""
        return [region for country in self.countries for region in country.regions]

    def _country(self, tongue: Tongue, towns: int) -> Country:
        graph, namer, rng = self._graph, self._namer, self._rng
        name = namer.place(tongue)
        formal = f"{rng.choice(('Republic', 'Kingdom', 'Commonwealth', 'Federation'))} of {name}"
        title = graph.add(Entity(name, "country", name, name, (formal,)))
        graph.state(title, "language", namer.stem(tongue, ("ish", "ese", "ian")))
        graph.state(title, "currency", namer.stem(tongue, ("ar", "in", "el")).lower())
        graph.year(title, "constitution", rng.randint(1790, 1960))
        country = Country(title, tongue, [], [], [])
        for _ in range(REGIONS_OF_A_COUNTRY):
            self._region(country, towns)
        graph.state(title, "capital", rng.choice(country.towns))
        self._rivers(country)
        return country

    def _region(self, country: Country, towns: int) -> None:
        graph, namer, rng = self._graph, self._namer, self._rng
        name = namer.place(country.tongue)
        region = graph.add(Entity(name, "region", name, name))
        country.regions.append(region)
        graph.state(region, "country", country.title)
        mine: list[str] = []
        for _ in range(towns):
            mine.append(self._town(country, region, mine))
        graph.state(region, "seat", rng.choice(mine))
        country.towns.extend(mine)
        for _ in range(MOUNTAINS_OF_A_REGION):
            peak = f"Mount {namer.place(country.tongue)}"
            graph.state(graph.add(Entity(peak, "mountain", peak, peak)), "region", region)
            graph.count(peak, "height", rng.randint(640, 4890))
        lake = f"Lake {namer.place(country.tongue)}"
        graph.state(graph.add(Entity(lake, "lake", lake, lake)), "region", region)
        graph.count(lake, "depth", rng.randint(18, 390))

    def _town(self, country: Country, region: str, neighbours: list[str]) -> str:
        graph, rng = self._graph, self._rng
        if neighbours and rng.random() < self._lookalikes / 3:
            name = self._namer.combine(lambda: _like(rng, neighbours))
        else:
            name = self._namer.place(country.tongue)
        former = (self._namer.place(country.tongue),) if rng.random() < 0.25 else ()
        town = graph.add(Entity(name, "town", name, name, former))
        graph.state(town, "region", region)
        graph.count(town, "population", rng.randint(900, 180_000))
        graph.year(town, "founded", rng.randint(980, 1850))
        return town

    def _rivers(self, country: Country) -> None:
        graph, rng = self._graph, self._rng
        inside = set(country.regions)
        peaks = [peak for peak in graph.of_kind("mountain") if graph.get(peak, "region") in inside]
        lakes = [lake for lake in graph.of_kind("lake") if graph.get(lake, "region") in inside]
        for _ in range(RIVERS_OF_A_COUNTRY):
            name = f"{self._namer.place(country.tongue)} River"
            river = graph.add(Entity(name, "river", name, f"the {name}"))
            graph.state(river, "source", rng.choice(peaks))
            graph.state(river, "mouth", rng.choice(lakes))
            graph.count(river, "length", rng.randint(22, 840))
            country.rivers.append(river)
        for town in country.towns:
            if rng.random() < 0.8:
                graph.state(town, "river", rng.choice(country.rivers))


def _like(rng: random.Random, neighbours: list[str]) -> str:
    other = rng.choice([name for name in neighbours if " " not in name])
    return rng.choice((f"New {other}", f"Upper {other}", f"{other} Bay", f"Port {other}", f"{other} Heath"))
