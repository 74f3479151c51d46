"""A compiled household game and a state of it: data only, made of numbers and bit masks.

Receptacles, objects and places are numbered in the order of their identifiers, in which TextWorld lists them. A set of
objects or of receptacles is an integer with bit ``n`` set for member ``n``.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from agentgym_r1.envs.alfworld.pddl import GoalKind

Treatment: TypeAlias = Literal["clean", "heat", "cool"]


@dataclass(frozen=True, slots=True)
class State:
    """Everything that changes in a game.

    Attributes:
        place: where the agent is.
        held: the objects in the agent's hand, at most one.
        opened: the receptacles that are open.
        inside: a receptacle's objects, by receptacle; an object may be in two (sink and sink basin).
        present: the objects at a place, by place.
        removed: the objects taken out of a receptacle and not put back into it, by receptacle.
        clean, hot, cool, sliced, lit: the objects that are so.
    """

    place: int
    held: int
    opened: int
    inside: tuple[int, ...]
    present: tuple[int, ...]
    removed: tuple[int, ...]
    clean: int
    hot: int
    cool: int
    sliced: int
    lit: int


@dataclass(frozen=True, slots=True)
class Target:
    """The goal in numbers.

    Attributes:
        kind: the form of the goal.
        objects: the objects that count.
        receptacles: where to place them; none for ``look``.
        lamps: what to look at them with; none but for ``look``.
    """

    kind: GoalKind
    objects: int
    receptacles: int
    lamps: int


@dataclass(frozen=True, slots=True)
class Appliance:
    """What a treatment needs: ``objects`` that can be treated so and ``receptacles`` that do it."""

    objects: int
    receptacles: int


@dataclass(frozen=True, slots=True)
class Game:
    """What never changes in a game; shared by every environment that plays it.

    Attributes:
        key: hash of the problem; states belong to it.
        receptacles, objects: names as the texts show them, by number.
        receptacle_numbers, object_numbers: the way back.
        place_of: a receptacle's place.
        receptacles_at: a place's receptacles, in order.
        openable: the receptacles with a door.
        accepts: the objects a receptacle can hold, by receptacle.
        pickupable, toggleable, sliceable, containers, knives: the objects that are so.
        contents: what lies in an object that holds objects, by object; those without are left out.
        appliances: what each treatment needs.
        target: the goal.
        start: the first state.
        walkthrough: recorded commands that win from the start; empty when none are known.
    """

    key: str
    receptacles: tuple[str, ...]
    objects: tuple[str, ...]
    receptacle_numbers: Mapping[str, int]
    object_numbers: Mapping[str, int]
    place_of: tuple[int, ...]
    receptacles_at: tuple[tuple[int, ...], ...]
    openable: int
    accepts: tuple[int, ...]
    pickupable: int
    toggleable: int
    sliceable: int
    containers: int
    knives: int
    contents: Mapping[int, int]
    appliances: Mapping[Treatment, Appliance]
    target: Target
    start: State
    walkthrough: tuple[str, ...]


def members(mask: int) -> Iterator[int]:
    """Yield the members of a set in ascending order."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest
