"""The errand of a task: its goal in PDDL and in words, and the commands that do it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from agentgym_r1.data.alfworld import entity_names
from agentgym_r1.data.worlds.household.scene import START, Item, Receptacle, Scene
from agentgym_r1.data.worlds.household.things import WITH_DOOR

_PLACED: Final = (
    "(and (exists (?r - receptacle) (exists (?o - object) (and {ability}(objectType ?o {thing}Type) "
    "(receptacleType ?r {target}Type) {state}(inReceptacle ?o ?r)))))"
)
_GOALS: Final[Mapping[str, str]] = {
    "pick_and_place_simple": _PLACED.replace("{ability}", "").replace("{state}", ""),
    "look_at_obj_in_light": (
        "(and (exists (?ot - object ?r - receptacle ?a - agent ?l - location) (and (objectType ?ot {target}Type) "
        "(toggleable ?ot) (isToggled ?ot) (receptacleAtLocation ?r ?l) (atLocation ?a ?l) (inReceptacle ?ot ?r))) "
        "(exists (?o - object ?a - agent) (and (objectType ?o {thing}Type) (holds ?a ?o))))"
    ),
    "pick_clean_then_place_in_recep": _PLACED.replace("{ability}", "(cleanable ?o) ").replace(
        "{state}", "(isClean ?o) "
    ),
    "pick_heat_then_place_in_recep": _PLACED.replace("{ability}", "(heatable ?o) ").replace("{state}", "(isHot ?o) "),
    "pick_cool_then_place_in_recep": _PLACED.replace("{ability}", "(coolable ?o) ").replace("{state}", "(isCool ?o) "),
    "pick_two_obj_and_place": (
        "(and (exists (?r - receptacle) (exists (?o1 - object) (and (objectType ?o1 {thing}Type) "
        "(receptacleType ?r {target}Type) (inReceptacle ?o1 ?r) (exists (?o2 - object) (and (not (= ?o1 ?o2)) "
        "(objectType ?o2 {thing}Type) (receptacleType ?r {target}Type) (inReceptacle ?o2 ?r)))))))"
    ),
}
_WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    "pick_and_place_simple": ("bring a {thing} to the {target}", "one {thing} belongs at the {target}"),
    "look_at_obj_in_light": ("inspect a {thing} by the light of the {target}", "hold a {thing} up to a lit {target}"),
    "pick_clean_then_place_in_recep": ("wash a {thing}, then leave it at the {target}", "a washed {thing} to {target}"),
    "pick_heat_then_place_in_recep": ("warm a {thing} up, then leave it at the {target}", "a warm {thing} to {target}"),
    "pick_cool_then_place_in_recep": (
        "chill a {thing}, then leave it at the {target}",
        "a chilled {thing} to {target}",
    ),
    "pick_two_obj_and_place": ("gather two {thing} at one {target}", "a pair of {thing} belongs at the {target}"),
}
_TREATMENTS: Final[Mapping[str, tuple[str, str]]] = {
    "pick_clean_then_place_in_recep": ("clean", "SinkBasin"),
    "pick_heat_then_place_in_recep": ("heat", "Microwave"),
    "pick_cool_then_place_in_recep": ("cool", "Fridge"),
}
ABILITIES: Final[Mapping[str, str]] = {
    "pick_clean_then_place_in_recep": "cleanable",
    "pick_heat_then_place_in_recep": "heatable",
    "pick_cool_then_place_in_recep": "coolable",
}


@dataclass(frozen=True, slots=True)
class Errand:
    """What a task asks.

    Attributes:
        kind: one of ALFWorld's six task types.
        thing: the type of the object.
        target: the type of the receptacle, or of the lamp to look by.
    """

    kind: str
    thing: str
    target: str

    @property
    def copies(self) -> int:
        """How many objects of the type are needed."""
        return 2 if self.kind == "pick_two_obj_and_place" else 1

    @property
    def appliance(self) -> str | None:
        """The type of the receptacle that treats the object, if one has to."""
        return _TREATMENTS[self.kind][1] if self.kind in _TREATMENTS else None

    def goal(self) -> str:
        """Return the goal in PDDL."""
        return _GOALS[self.kind].format(thing=self.thing, target=self.target)

    def words(self) -> tuple[str, ...]:
        """Return the goal in words, in several ways; names are as the game shows them."""
        names = {"thing": self.thing.lower(), "target": self.target.lower()}
        return tuple(wording.format(**names) for wording in _WORDS[self.kind])


def walkthrough(scene: Scene, errand: Errand) -> tuple[str, ...]:
    """Return commands that do the errand from the start: the first fitting objects, the first fitting receptacle."""
    walk = _Walk(scene)
    wanted = [item for item in scene.items if item.kind == errand.thing][: errand.copies]
    lamps = [item for item in scene.items if item.kind == errand.target]
    targets = [receptacle for receptacle in scene.furniture if receptacle.kind == errand.target]
    for item in wanted:
        walk.take(item)
        if errand.appliance is not None:
            verb = _TREATMENTS[errand.kind][0]
            walk.treat(item, verb, next(place for place in scene.furniture if place.kind == errand.appliance))
        if lamps:
            walk.light(lamps[0])
        else:
            walk.move(item, targets[0])
    return tuple(walk.commands)


class _Walk:
    """Writes commands and remembers where they lead and which doors they opened."""

    def __init__(self, scene: Scene) -> None:
        entities: list[Receptacle | Item] = [*scene.furniture, *scene.items]
        self._names = entity_names(entity.identifier.lower() for entity in entities)
        self._place = START
        self._opened: set[str] = set()
        self.commands: list[str] = []

    def take(self, item: Item) -> None:
        self._reach_into(item.where)
        self.commands.append(f"take {self._name(item)} from {self._name(item.where)}")

    def treat(self, item: Item, verb: str, appliance: Receptacle) -> None:
        self._stand_at(appliance)
        self.commands.append(f"{verb} {self._name(item)} with {self._name(appliance)}")

    def light(self, lamp: Item) -> None:
        self._stand_at(lamp.where)
        self.commands.append(f"use {self._name(lamp)}")

    def move(self, item: Item, target: Receptacle) -> None:
        self._reach_into(target)
        self.commands.append(f"move {self._name(item)} to {self._name(target)}")

    def _name(self, entity: Item | Receptacle) -> str:
        return self._names[entity.identifier.lower()]

    def _stand_at(self, receptacle: Receptacle) -> None:
        if receptacle.place != self._place:
            self._place = receptacle.place
            self.commands.append(f"go to {self._name(receptacle)}")

    def _reach_into(self, receptacle: Receptacle) -> None:
        self._stand_at(receptacle)
        if receptacle.kind in WITH_DOOR and receptacle.identifier not in self._opened:
            self._opened.add(receptacle.identifier)
            self.commands.append(f"open {self._name(receptacle)}")
