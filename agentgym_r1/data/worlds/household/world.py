"""The household world: seeded games that stand for ALFWorld, playable by the compiled engine and by TextWorld.

It stands for what an agent does in ALFWorld: find things in closed and open furniture, carry them one at a time, clean,
heat and cool them, turn on a lamp, and put them where they belong, with ALFWorld's six task types, commands and texts.
It cannot stand for ALFRED's rooms: furniture and things were drawn, not designed, and the goals are a few phrases.
A success rate on it compares policies with each other, never with a published ALFWorld result.

Difficulty knobs: the size of the room, which sets the number of receptacles and of things, and both numbers themselves.
"""

import hashlib
import random
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Final, Literal

from agentgym_r1.data.alfworld import SPLITS, TASK_TYPES, check_task_types
from agentgym_r1.data.gold import GameGold
from agentgym_r1.data.tasks import unknown_split
from agentgym_r1.data.worlds.household.errand import ABILITIES, Errand, walkthrough
from agentgym_r1.data.worlds.household.scene import (
    Item,
    Receptacle,
    Scene,
    accepts,
    furnish,
    identifier,
    problem,
)
from agentgym_r1.data.worlds.household.things import LAMP_PLACES, LAMPS, ROOMS, THINGS
from agentgym_r1.data.worlds.seeded import SeededTasks, seeded
from agentgym_r1.errors import ConfigError, unknown_name
from agentgym_r1.types import Task

RoomSize = Literal["small", "medium", "large"]

DEFAULT_SIZES: Final = {"train": 3_600, "valid_seen": 140, "valid_unseen": 134}
ROOM_SIZES: Final[Mapping[str, tuple[int, int]]] = {"small": (10, 8), "medium": (18, 18), "large": (30, 32)}
"""Number of receptacles and of things that do not matter."""
FEWEST_RECEPTACLES, MOST_RECEPTACLES = 8, 60
MOST_DISTRACTORS: Final = 60
SEEN_PLANS, UNSEEN_PLANS = range(30), range(30, 40)
HELD_OUT: Final = 5
"""One errand in so many of a seen floor plan belongs to valid_seen, the others to train."""
NESTED: Final = 0.15
"""Share of the things lying with a bowl, a box or the like that lie in it."""


def tasks(
    split: str = "valid_seen",
    *,
    size: int | None = None,
    seed: int = 0,
    task_types: Collection[str] = TASK_TYPES,
    room_size: RoomSize = "medium",
    receptacles: int | None = None,
    distractors: int | None = None,
) -> SeededTasks:
    """Return games with GameGold, the task types in turn; a task's kind is its type.

    Task i depends on nothing but the arguments other than ``size``. As in ALFWorld, train and valid_seen share floor
    plans, but no errand in one of them; the floor plans of valid_unseen are its own.

    Args:
        split: train, valid_seen or valid_unseen.
        size: number of tasks; default 3,600, 140 and 134.
        seed: another seed gives other floor plans and tasks.
        task_types: the types to make.
        room_size: small, medium or large: 10, 18 or 30 receptacles and 8, 18 or 32 distractors.
        receptacles: number of receptacles, 8 to 60, whatever the room size.
        distractors: number of things that do not matter, 0 to 60, whatever the room size.

    Raises:
        ConfigError: the split or a task type is unknown, or a knob is out of range.
    """
    if split not in SPLITS:
        raise unknown_split(split, name="household", known=SPLITS)
    if room_size not in ROOM_SIZES:
        raise unknown_name("room size", room_size, ROOM_SIZES)
    furniture, others = ROOM_SIZES[room_size]
    furniture = furniture if receptacles is None else receptacles
    others = others if distractors is None else distractors
    if not FEWEST_RECEPTACLES <= furniture <= MOST_RECEPTACLES:
        raise ConfigError(f"receptacles must be from {FEWEST_RECEPTACLES} to {MOST_RECEPTACLES}, got {furniture}")
    if not 0 <= others <= MOST_DISTRACTORS:
        raise ConfigError(f"distractors must be from 0 to {MOST_DISTRACTORS}, got {others}")
    generate = _Generator(split, seed, check_task_types(task_types), furniture, others)
    size = DEFAULT_SIZES[split] if size is None else size
    return SeededTasks(partial(_generated, generate), name="household", split=split, size=size)


@dataclass(frozen=True, slots=True)
class _Generator:
    split: str
    seed: int
    task_types: tuple[str, ...]
    receptacles: int
    distractors: int

    def __call__(self, task_id: str, index: int) -> Task:
        kind = self.task_types[index % len(self.task_types)]
        rng = seeded("household", self.split, self.seed, self.receptacles, self.distractors, kind, index)
        while True:
            room = rng.choice(list(ROOMS))
            plan = rng.choice(UNSEEN_PLANS if self.split == "valid_unseen" else SEEN_PLANS)
            furniture, lamps = self._floor_plan(room, plan)
            errands = [
                errand
                for errand in _errands(kind, room, furniture, lamps)
                if self.split == "valid_unseen" or _held_out(plan, errand) == (self.split == "valid_seen")
            ]
            if errands:
                errand = rng.choice(errands)
                return self._task(task_id, errand, self._fill(rng, room, furniture, lamps, errand), rng)

    def _floor_plan(self, room: str, plan: int) -> tuple[tuple[Receptacle, ...], tuple[Item, ...]]:
        """Return what stays in a room from task to task: its furniture and its lamp."""
        rng = seeded("household", "floor plan", self.seed, self.receptacles, room, plan)
        fixed, repeated = ROOMS[room].fixed, ROOMS[room].repeated
        furniture = furnish(rng, [*fixed, *rng.choices(repeated, k=self.receptacles - len(fixed))])
        if not ROOMS[room].lit:
            return furniture, ()
        kind = rng.choice(LAMPS)
        place = rng.choice([receptacle for receptacle in furniture if receptacle.kind in LAMP_PLACES])
        return furniture, (Item(identifier(rng, kind), kind, place),)

    def _fill(
        self,
        rng: random.Random,
        room: str,
        furniture: tuple[Receptacle, ...],
        lamps: tuple[Item, ...],
        errand: Errand,
    ) -> Scene:
        """Lay out what the errand needs, none of it where it belongs, and things that do not matter."""
        wanted = [errand.thing] * (errand.copies + rng.randrange(2))
        items = [_laid_out(rng, thing, furniture, avoid=errand.target) for thing in wanted]
        fitting = [
            thing
            for thing in ROOMS[room].things
            if thing != errand.thing and any(accepts(receptacle, thing) for receptacle in furniture)
        ]
        items += [_laid_out(rng, thing, furniture) for thing in rng.choices(fitting, k=self.distractors)]
        rng.shuffle(items)
        return Scene(furniture, (*items, *lamps), tuple(_nest(rng, items)))

    def _task(self, task_id: str, errand: Errand, scene: Scene, rng: random.Random) -> Task:
        gold = GameGold(
            problem=problem(scene, name=f"household_{task_id}", goal=errand.goal()),
            walkthrough=walkthrough(scene, errand),
            annotations=(),
        )
        return Task(task_id, rng.choice(errand.words()), gold, errand.kind)


@lru_cache(maxsize=32)
def _generated(generate: _Generator, task_id: str, index: int) -> Task:
    """Return a task, generated once while it is among the last ones used: it takes milliseconds."""
    return generate(task_id, index)


def _errands(kind: str, room: str, furniture: tuple[Receptacle, ...], lamps: tuple[Item, ...]) -> list[Errand]:
    """Return every errand of a task type that can be run in a room."""
    kinds = sorted({receptacle.kind for receptacle in furniture})
    targets = [lamp.kind for lamp in lamps] if kind == "look_at_obj_in_light" else kinds
    errands = (Errand(kind, thing, target) for thing in ROOMS[room].things for target in targets)
    return [errand for errand in errands if _possible(errand, kinds)]


def _possible(errand: Errand, kinds: list[str]) -> bool:
    thing = THINGS[errand.thing]
    able = errand.kind not in ABILITIES or ABILITIES[errand.kind] in thing.abilities
    equipped = errand.appliance is None or (errand.appliance in kinds and errand.appliance != errand.target)
    fits = errand.target in LAMPS or errand.target in thing.places
    return able and equipped and fits and bool(thing.places.intersection(kinds) - {errand.target})


def _held_out(plan: int, errand: Errand) -> bool:
    text = f"{plan}/{errand.kind}/{errand.thing}/{errand.target}"
    return hashlib.sha256(text.encode()).digest()[0] % HELD_OUT == 0


def _laid_out(rng: random.Random, thing: str, furniture: tuple[Receptacle, ...], *, avoid: str = "") -> Item:
    where = [receptacle for receptacle in furniture if accepts(receptacle, thing) and receptacle.kind != avoid]
    return Item(identifier(rng, thing), thing, rng.choice(where))


def _nest(rng: random.Random, items: list[Item]) -> list[tuple[Item, Item]]:
    """Return some pairs of a thing and the bowl, box or the like that it lies in, of those that lie together."""
    holders = {item.where.identifier: item for item in items if "isReceptacleObject" in THINGS[item.kind].abilities}
    return [
        (item, holders[item.where.identifier])
        for item in items
        if "isReceptacleObject" not in THINGS[item.kind].abilities
        and item.where.identifier in holders
        and rng.random() < NESTED
    ]
