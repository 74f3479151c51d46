"""Build a world: the land, its people, what they made, and the passages about all of it."""

import functools
from dataclasses import dataclass

from agentgym_r1.data.worlds.encyclopedia.culture import Culture
from agentgym_r1.data.worlds.encyclopedia.geography import Land
from agentgym_r1.data.worlds.encyclopedia.graph import Graph
from agentgym_r1.data.worlds.encyclopedia.names import Namer
from agentgym_r1.data.worlds.encyclopedia.passages import passage
from agentgym_r1.data.worlds.encyclopedia.people import Society, careers
from agentgym_r1.data.worlds.seeded import check_split, seeded
from agentgym_r1.errors import ConfigError
from agentgym_r1.types import Document

TOWNS, PEOPLE = 660, 1500
ORGANISATIONS = ((Culture.university, 60), (Culture.company, 260), (Culture.award, 40))
WORKS = (
    (Culture.novel, 330),
    (Culture.film, 300),
    (Culture.opera, 160),
    (Culture.building, 240),
    (Culture.painting, 160),
    (Culture.battle, 70),
    (Culture.congress, 70),
    (Culture.species, 150),
)


@dataclass(frozen=True, slots=True)
class Setting:
    """What defines a world.

    Attributes:
        split: train, dev or test; worlds of different splits share no names.
        seed: another seed gives another world of the same split.
        lookalikes: how often a name shares a word with an earlier one, from 0 to 0.9.
        scale: the size of the corpus; 1 is about 4,400 passages.

    Raises:
        ConfigError: the split is unknown or a knob is out of range.
    """

    split: str
    seed: int = 0
    lookalikes: float = 0.5
    scale: float = 1.0

    def __post_init__(self) -> None:
        check_split(self.split, name="encyclopedia")
        if not 0 <= self.lookalikes <= 0.9:
            raise ConfigError(f"lookalikes must be from 0 to 0.9, got {self.lookalikes}")
        if not 0.2 <= self.scale <= 20:
            raise ConfigError(f"scale must be from 0.2 to 20, got {self.scale}")


@functools.lru_cache(maxsize=4)
def graph(setting: Setting) -> Graph:
    """Return the facts of a world; the last few worlds are remembered."""
    rng = seeded("encyclopedia", setting.split, setting.seed, setting.lookalikes, setting.scale)
    facts, namer, lookalikes = Graph(), Namer(rng, setting.split), setting.lookalikes
    land = Land(facts, namer, rng, towns=round(TOWNS * setting.scale), lookalikes=lookalikes)
    people = round(PEOPLE * setting.scale)
    society = Society(facts, namer, rng, land=land, people=people, lookalikes=lookalikes)
    culture = Culture(facts, namer, rng, land=land, society=society, lookalikes=lookalikes)
    for make, count in ORGANISATIONS:
        for _ in range(round(count * setting.scale)):
            make(culture)
    careers(facts, rng, society)
    for make, count in WORKS:
        for _ in range(round(count * setting.scale)):
            make(culture)
    culture.ascents()
    return facts


@functools.lru_cache(maxsize=4)
def documents(setting: Setting) -> tuple[Document, ...]:
    """Return the passages of a world, one for every entity; the last few corpora are remembered."""
    facts = graph(setting)
    rng = seeded("encyclopedia passages", setting.split, setting.seed, setting.lookalikes, setting.scale)
    return tuple(
        Document(document_id(setting, number), entity.title, passage(facts, entity, rng))
        for number, entity in enumerate(facts.entities.values())
    )


def document_id(setting: Setting, number: int) -> str:
    """Return the id of the passage about the entity at this position."""
    return f"{setting.split}-passage-{number:05d}"
