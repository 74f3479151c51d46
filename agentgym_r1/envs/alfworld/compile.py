"""Compile the facts of a game into the numbers that the state machine runs on."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from agentgym_r1.data.alfworld import entity_names
from agentgym_r1.envs.alfworld.model import Appliance, Game, State, Target, Treatment
from agentgym_r1.envs.alfworld.pddl import Fact, Goal, Problem, parse_problem
from agentgym_r1.errors import DataError
from agentgym_r1.types import digest

_TREATMENTS: Final[tuple[tuple[Treatment, str, str], ...]] = (
    ("clean", "cleanable", "sinkbasintype"),
    ("heat", "heatable", "microwavetype"),
    ("cool", "coolable", "fridgetype"),
)
_KNIVES: Final = ("knifetype", "butterknifetype")
_PROPERTIES: Final = frozenset(
    {
        *("openable", "opened", "isreceptacleobject", "pickupable", "toggleable", "istoggled", "sliceable", "issliced"),
        *("cleanable", "isclean", "heatable", "ishot", "coolable", "iscool"),
    }
)
_RELATIONS: Final = frozenset(
    {
        *("atlocation", "receptacleatlocation", "objectatlocation", "receptacletype", "objecttype", "cancontain"),
        *("inreceptacle", "inreceptacleobject"),
    }
)
_WITHOUT_EFFECT: Final = frozenset(
    {
        *("isreceptacleobjectfull", "wasinreceptacle", "checked", "examined", "holdsanyreceptacleobject", "full"),
        *("moveable", "ison"),
    }
)


def compile_game(problem: str, *, name: str, walkthrough: Iterable[str] = ()) -> Game:
    """Compile a PDDL problem.

    Args:
        problem: the ``pddl_problem`` of a game file.
        name: the file or task, for errors.
        walkthrough: recorded commands that win from the start.

    Raises:
        DataError: the text is no PDDL problem of ALFWorld's; the message names the file and the reason.
    """
    facts = _Facts(parse_problem(problem, name=name), name=name)
    receptacles, objects = facts.receptacles, facts.objects
    start = _start(facts)
    return Game(
        key=digest(problem)[:16],
        receptacles=receptacles.names,
        objects=objects.names,
        receptacle_numbers={text: number for number, text in enumerate(receptacles.names)},
        object_numbers={text: number for number, text in enumerate(objects.names)},
        place_of=facts.place_of,
        receptacles_at=tuple(
            tuple(number for number, its in enumerate(facts.place_of) if its == place)
            for place in range(len(facts.places))
        ),
        openable=receptacles.among(facts["openable"]),
        accepts=_accepts(facts),
        pickupable=objects.among(facts["pickupable"]),
        toggleable=objects.among(facts["toggleable"]),
        sliceable=objects.among(facts["sliceable"]),
        containers=objects.among(facts["isreceptacleobject"]),
        knives=objects.of_type(*_KNIVES),
        contents=_contents(facts),
        appliances={
            verb: Appliance(objects.among(facts[ability]), receptacles.of_type(kind))
            for verb, ability, kind in _TREATMENTS
        },
        target=_target(facts),
        start=start,
        walkthrough=tuple(walkthrough),
    )


class _Entities:
    """The receptacles or the objects of a problem, numbered in the order of their identifiers."""

    def __init__(self, typed: Sequence[Fact], names: Mapping[str, str], *, game: str) -> None:
        self._types = dict(sorted((entity, kind) for entity, kind in typed))
        self._numbers = {entity: number for number, entity in enumerate(self._types)}
        self._game = game
        nameless = self._types.keys() - names.keys()
        if nameless:
            raise DataError(f"{game} has an entity without coordinates in its identifier: {min(nameless)}")
        self.names = tuple(sys.intern(names[entity]) for entity in self._types)
        self.types = tuple(self._types.values())

    def __len__(self) -> int:
        return len(self.names)

    def number(self, entity: str) -> int:
        """Return an entity's number; raise DataError for one without a type."""
        if entity not in self._numbers:
            raise DataError(f"{self._game} uses an entity that has no type: {entity}")
        return self._numbers[entity]

    def among(self, facts: Sequence[Fact]) -> int:
        """Return the entities that facts name first; those without a type appear in no text and are left out."""
        return mask_of(self._numbers[fact[0]] for fact in facts if fact[0] in self._numbers)

    def of_type(self, *kinds: str) -> int:
        """Return the entities of some types."""
        return mask_of(number for number, kind in enumerate(self.types) if kind in kinds)


class _Facts:
    """The facts of a problem, checked, with its receptacles, objects and places numbered."""

    def __init__(self, problem: Problem, *, name: str) -> None:
        self.name = name
        self.goal: Goal = problem.goal
        self._facts = problem.facts
        self._check()
        names = entity_names(word for facts in problem.facts.values() for fact in facts for word in fact)
        self.receptacles = _Entities(self["receptacletype"], names, game=name)
        self.objects = _Entities(self["objecttype"], names, game=name)
        located = ("atlocation", "receptacleatlocation", "objectatlocation")
        places = sorted({place for predicate in located for _, place in self[predicate]})
        self.places = {place: number for number, place in enumerate(places)}
        self.place_of = self._place_of()

    def __getitem__(self, predicate: str) -> Sequence[Fact]:
        return self._facts.get(predicate, ())

    def _check(self) -> None:
        for predicate, facts in self._facts.items():
            if predicate in _WITHOUT_EFFECT:
                continue
            if predicate not in _PROPERTIES | _RELATIONS:
                raise DataError(f"{self.name} has an initial fact that ALFWorld's games do not start with: {predicate}")
            names = 1 if predicate in _PROPERTIES else 2
            for fact in facts:
                if len(fact) != names:
                    raise DataError(f"{self.name}: {predicate} takes {names} names, got {len(fact)}: {' '.join(fact)}")
        if len(self["atlocation"]) != 1:
            raise DataError(f"{self.name} must start the agent at one location, got {len(self['atlocation'])}")

    def _place_of(self) -> tuple[int, ...]:
        where = {self.receptacles.number(entity): self.places[place] for entity, place in self["receptacleatlocation"]}
        if len(where) != len(self.receptacles):
            raise DataError(f"{self.name} has {len(self.receptacles)} receptacles but locations for {len(where)}")
        return tuple(where[number] for number in range(len(self.receptacles)))


def _start(facts: _Facts) -> State:
    objects = facts.objects
    inside = [0] * len(facts.receptacles)
    for entity, receptacle in facts["inreceptacle"]:
        inside[facts.receptacles.number(receptacle)] |= 1 << objects.number(entity)
    present = [0] * len(facts.places)
    for entity, place in facts["objectatlocation"]:
        present[facts.places[place]] |= objects.among([(entity,)])
    ((_, place),) = facts["atlocation"]
    return State(
        place=facts.places[place],
        held=0,
        opened=facts.receptacles.among(facts["opened"]),
        inside=tuple(inside),
        present=tuple(present),
        removed=(0,) * len(inside),
        clean=objects.among(facts["isclean"]),
        hot=objects.among(facts["ishot"]),
        cool=objects.among(facts["iscool"]),
        sliced=objects.among(facts["issliced"]),
        lit=objects.among(facts["istoggled"]),
    )


def _accepts(facts: _Facts) -> tuple[int, ...]:
    fitting: dict[str, list[str]] = {}
    for receptacle_type, object_type in facts["cancontain"]:
        fitting.setdefault(receptacle_type, []).append(object_type)
    by_type = {kind: facts.objects.of_type(*fitting.get(kind, ())) for kind in set(facts.receptacles.types)}
    return tuple(by_type[kind] for kind in facts.receptacles.types)


def _contents(facts: _Facts) -> dict[int, int]:
    contents: dict[int, int] = {}
    for inner, outer in facts["inreceptacleobject"]:
        holder = facts.objects.number(outer)
        contents[holder] = contents.get(holder, 0) | 1 << facts.objects.number(inner)
    return contents


def _target(facts: _Facts) -> Target:
    goal = facts.goal
    objects = facts.objects.of_type(goal.object_type)
    if goal.kind == "look":
        lamps = facts.objects.of_type(goal.target_type) & facts.objects.among(facts["toggleable"])
        return Target(goal.kind, objects, receptacles=0, lamps=lamps)
    for verb, ability, _ in _TREATMENTS:
        if verb == goal.kind:
            objects &= facts.objects.among(facts[ability])
    return Target(goal.kind, objects, receptacles=facts.receptacles.of_type(goal.target_type), lamps=0)


def mask_of(numbers: Iterable[int]) -> int:
    """Return the set of some numbers."""
    mask = 0
    for number in numbers:
        mask |= 1 << number
    return mask
