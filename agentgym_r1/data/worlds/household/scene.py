"""A furnished room with things in it, and the PDDL that says so."""

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from agentgym_r1.data.worlds.household.things import LAMPS, THINGS, WITH_DOOR

SHARED_PLACE: Final = 0.08
"""Share of the furniture that stands within reach of another piece, so that one place has two receptacles."""
START: Final = "loc_bar_0_bar_0_bar_0_bar_0"
_DOMAIN_TYPES: Final = ("SinkType", "SinkBasinType", "MicrowaveType", "FridgeType")
"""Receptacle types that the domain names, so that every problem has to declare them."""
_DOMAIN_KNIVES: Final = ("KnifeType", "ButterKnifeType")


@dataclass(frozen=True, slots=True)
class Receptacle:
    """A piece of furniture: its identifier, its type, and the location it is reached from."""

    identifier: str
    kind: str
    place: str


@dataclass(frozen=True, slots=True)
class Item:
    """A thing or a lamp, and the receptacle it lies on or in."""

    identifier: str
    kind: str
    where: Receptacle


@dataclass(frozen=True, slots=True)
class Scene:
    """A room: its furniture, what lies in it, and which item lies in which other item."""

    furniture: tuple[Receptacle, ...]
    items: tuple[Item, ...]
    nested: tuple[tuple[Item, Item], ...] = ()


def furnish(rng: random.Random, kinds: Iterable[str]) -> tuple[Receptacle, ...]:
    """Return furniture of some kinds, each with coordinates and a place to reach it from."""
    furniture: list[Receptacle] = []
    for number, kind in enumerate(kinds, start=1):
        place = f"loc_bar_{rng.randint(-9, 9)}_bar_{rng.randint(-9, 9)}_bar_{rng.randint(0, 3)}_bar_{number}"
        if furniture and rng.random() < SHARED_PLACE:
            place = rng.choice(furniture).place
        furniture.append(Receptacle(_furniture_identifier(rng, kind), kind, place.replace("-", "_minus_")))
    return tuple(furniture)


def identifier(rng: random.Random, kind: str) -> str:
    """Return an identifier with drawn coordinates, as ALFWorld's are."""
    return "_bar_".join([kind, *(_coordinate(rng.randint(-599, 599)) for _ in range(3))])


def _furniture_identifier(rng: random.Random, kind: str) -> str:
    if kind.endswith("Basin"):  # ALFWorld knows a basin as a part of its sink or tub
        return f"{identifier(rng, kind.removesuffix('Basin'))}_bar_{kind}"
    return identifier(rng, kind)


def _coordinate(hundredths: int) -> str:
    whole, rest = divmod(abs(hundredths), 100)
    return f"{'_minus' if hundredths < 0 else '_plus'}_{whole:02d}_dot_{rest:02d}"


def accepts(receptacle: Receptacle, kind: str) -> bool:
    """Return whether a receptacle can hold a thing."""
    return kind in THINGS and receptacle.kind in THINGS[kind].places


def problem(scene: Scene, *, name: str, goal: str) -> str:
    """Return the PDDL problem of a scene; ``goal`` is the expression below ``:goal``."""
    sections = [
        f"(define (problem {name})",
        "(:domain alfred)",
        *("(:objects", *_objects(scene), ")"),
        *("(:init", *_facts(scene), ")"),
        f"(:goal {goal})",
        ")",
    ]
    return "\n".join(sections) + "\n"


def _objects(scene: Scene) -> Iterator[str]:
    yield "agent1 - agent"
    yield from (f"{item.identifier} - object" for item in scene.items)
    yield from (f"{receptacle.identifier} - receptacle" for receptacle in scene.furniture)
    yield from (f"{place} - location" for place in _sorted(START, *(piece.place for piece in scene.furniture)))
    yield from (f"{kind} - rtype" for kind in _sorted(*_DOMAIN_TYPES, *(f"{it.kind}Type" for it in scene.furniture)))
    yield from (f"{kind} - otype" for kind in _sorted(*_DOMAIN_KNIVES, *(f"{it.kind}Type" for it in scene.items)))


def _sorted(*words: str) -> Sequence[str]:
    return sorted(set(words))


def _facts(scene: Scene) -> Iterator[str]:
    for receptacle in scene.furniture:
        yield f"(receptacleType {receptacle.identifier} {receptacle.kind}Type)"
        yield f"(receptacleAtLocation {receptacle.identifier} {receptacle.place})"
        if receptacle.kind in WITH_DOOR:
            yield f"(openable {receptacle.identifier})"
    for kind in _sorted(*(receptacle.kind for receptacle in scene.furniture)):
        for thing in _sorted(*(item.kind for item in scene.items)):
            if thing in THINGS and kind in THINGS[thing].places:
                yield f"(canContain {kind}Type {thing}Type)"
    for item in scene.items:
        yield from _item_facts(item)
    for inner, outer in scene.nested:
        yield f"(inReceptacleObject {inner.identifier} {outer.identifier})"
    yield f"(atLocation agent1 {START})"


def _item_facts(item: Item) -> Iterator[str]:
    yield f"(objectType {item.identifier} {item.kind}Type)"
    yield f"(inReceptacle {item.identifier} {item.where.identifier})"
    yield f"(objectAtLocation {item.identifier} {item.where.place})"
    if item.kind in LAMPS:
        yield f"(toggleable {item.identifier})"
        return
    yield f"(pickupable {item.identifier})"
    yield from (f"({ability} {item.identifier})" for ability in THINGS[item.kind].abilities)
    if item.where.kind == "Fridge" and "coolable" in THINGS[item.kind].abilities:
        yield f"(isCool {item.identifier})"
