"""The state machine: what a command does to a state of a compiled game, and which commands do something."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import astuple, replace
from typing import Any, Final, TypeAlias

from agentgym_r1.envs.alfworld import text
from agentgym_r1.envs.alfworld.model import Game, State, Treatment, members
from agentgym_r1.envs.alfworld.text import PHRASES
from agentgym_r1.errors import DataError
from agentgym_r1.types import digest

Result: TypeAlias = tuple[State, str]
_Rule: TypeAlias = Callable[[Game, State, str], Result | None]


def step(game: Game, state: State, command: str) -> Result:
    """Carry out a command.

    Args:
        game: the game.
        state: a state of it; it is not changed.
        command: matched to the letter; see ``engine.canonical`` for what is forgiven before.

    Returns:
        The next state and what the game says. A command that is not admissible gives the same state object back with
        the game's answer that nothing happens.
    """
    verb, _, rest = command.partition(" ")
    rule = _RULES.get(verb)
    result = rule(game, state, rest) if rule else None
    return result or (state, PHRASES["nothing happens"])


def won(game: Game, state: State) -> bool:
    """Return whether the goal holds; a later command may undo it."""
    target = game.target
    if target.kind == "look":
        lit = target.lamps & state.lit
        return bool(state.held & target.objects) and any(
            state.inside[receptacle] & lit for receptacle in game.receptacles_at[state.place]
        )
    needed = 2 if target.kind == "two" else 1
    counting = target.objects & treated(state, target.kind)
    return any(
        (state.inside[receptacle] & counting).bit_count() >= needed for receptacle in members(target.receptacles)
    )


def treated(state: State, kind: str) -> int:
    """Return the objects that have had the treatment a goal asks for; all of them (-1) when it asks for none."""
    return {"clean": state.clean, "heat": state.hot, "cool": state.cool}.get(kind, -1)


def admissible(game: Game, state: State) -> list[str]:
    """Return the commands that are carried out in a state, sorted, without repeats."""
    return sorted({"look", "inventory", "help", *_journeys(game, state), *_local(game, state), *_in_hand(game, state)})


def reachable(game: Game, state: State, receptacle: int) -> bool:
    """Return whether things can be taken from and put into a receptacle: it has no door or the door is open."""
    return not (game.openable & ~state.opened) >> receptacle & 1


def save(game: Game, state: State) -> bytes:
    """Return a state as bytes: equal states of a game give equal bytes."""
    return json.dumps([game.key, *astuple(state)], separators=(",", ":")).encode()


def load(game: Game, data: bytes) -> State:
    """Return the state that ``save`` wrote.

    Raises:
        DataError: the bytes are no saved state, or are another game's.
    """
    try:
        key, *values = json.loads(data)
    except (ValueError, TypeError) as err:
        raise DataError(f"expected a saved state of a household game, got {data[:40]!r}") from err
    if key != game.key:
        raise DataError(f"the saved state belongs to game {key!r}, not to {game.key!r}")
    state: list[Any] = [tuple(value) if isinstance(value, list) else value for value in values]
    if list(map(_shape, state)) != list(map(_shape, astuple(game.start))):
        raise DataError(f"the saved state of game {key!r} is damaged; expected {len(game.start.inside)} receptacles")
    return State(*state)


def _shape(value: object) -> object:
    return tuple(map(type, value)) if isinstance(value, tuple) else type(value)


def anchor(game: Game, state: State) -> str:
    """Return a short name of a state: equal exactly for equal states of the same problem, in every process."""
    return digest(save(game, state).decode())[:16]


def _journeys(game: Game, state: State) -> Iterator[str]:
    for name, place in zip(game.receptacles, game.place_of, strict=True):
        if place != state.place:
            yield f"go to {name}"


def _local(game: Game, state: State) -> Iterator[str]:
    """Yield what can be done at this place with the receptacles and what is in them."""
    for receptacle in game.receptacles_at[state.place]:
        name = game.receptacles[receptacle]
        yield f"examine {name}"
        if game.openable >> receptacle & 1:
            yield f"{'close' if state.opened >> receptacle & 1 else 'open'} {name}"
        inside = state.inside[receptacle]
        for number in members(inside & game.toggleable):
            yield f"use {game.objects[number]}"
        if not state.held and reachable(game, state, receptacle):
            for number in members(inside & game.pickupable):
                yield f"take {game.objects[number]} from {name}"


def _in_hand(game: Game, state: State) -> Iterator[str]:
    """Yield what can be done at this place with what the agent holds."""
    for number in members(state.held):
        name = game.objects[number]
        yield f"examine {name}"
        for receptacle in game.receptacles_at[state.place]:
            if game.accepts[receptacle] >> number & 1 and reachable(game, state, receptacle):
                yield f"move {name} to {game.receptacles[receptacle]}"
            for verb, appliance in game.appliances.items():
                if appliance.objects >> number & 1 and appliance.receptacles >> receptacle & 1:
                    yield f"{verb} {name} with {game.receptacles[receptacle]}"
        if game.knives >> number & 1:
            for other in members(game.sliceable & state.present[state.place]):
                yield f"slice {game.objects[other]} with {name}"


def _look(game: Game, state: State, rest: str) -> Result | None:
    return None if rest else (state, text.look(game, state))


def _inventory(game: Game, state: State, rest: str) -> Result | None:
    return None if rest else (state, text.inventory(game, state))


def _help(game: Game, state: State, rest: str) -> Result | None:
    return None if rest else (state, PHRASES["help"])


def _go(game: Game, state: State, rest: str) -> Result | None:
    preposition, _, name = rest.partition(" ")
    receptacle = game.receptacle_numbers.get(name)
    if preposition != "to" or receptacle is None or game.place_of[receptacle] == state.place:
        return None
    arrived = replace(state, place=game.place_of[receptacle])
    return arrived, PHRASES["go"].format(receptacle=name, contents=text.receptacle(game, arrived, receptacle))


def _here(game: Game, state: State, name: str) -> int | None:
    """Return the receptacle of that name at the agent's place."""
    receptacle = game.receptacle_numbers.get(name)
    return receptacle if receptacle is not None and game.place_of[receptacle] == state.place else None


def _open(game: Game, state: State, rest: str) -> Result | None:
    receptacle = _here(game, state, rest)
    if receptacle is None or not (game.openable & ~state.opened) >> receptacle & 1:
        return None
    opened = replace(state, opened=state.opened | 1 << receptacle)
    return opened, PHRASES["open"].format(receptacle=rest, contents=text.receptacle(game, opened, receptacle))


def _close(game: Game, state: State, rest: str) -> Result | None:
    receptacle = _here(game, state, rest)
    if receptacle is None or not (game.openable & state.opened) >> receptacle & 1:
        return None
    return replace(state, opened=state.opened & ~(1 << receptacle)), PHRASES["close"].format(receptacle=rest)


def _examine(game: Game, state: State, rest: str) -> Result | None:
    receptacle = _here(game, state, rest)
    if receptacle is not None:
        return state, text.receptacle(game, state, receptacle)
    number = game.object_numbers.get(rest)
    if number is None or not state.held >> number & 1:  # the original lets only held objects be examined
        return None
    return state, text.examined(game, state, number)


def _use(game: Game, state: State, rest: str) -> Result | None:
    number = game.object_numbers.get(rest)
    if number is None or not game.toggleable >> number & 1:
        return None
    if not any(state.inside[receptacle] >> number & 1 for receptacle in game.receptacles_at[state.place]):
        return None
    return replace(state, lit=state.lit | 1 << number), PHRASES["use"].format(object=rest)


def _object_here(game: Game, state: State, rest: str, preposition: str) -> tuple[int, int] | None:
    """Return the object and the receptacle of this place that ``OBJECT preposition RECEPTACLE`` names."""
    name, _, place = rest.partition(f" {preposition} ")
    number, receptacle = game.object_numbers.get(name), _here(game, state, place)
    return None if number is None or receptacle is None else (number, receptacle)


def _take(game: Game, state: State, rest: str) -> Result | None:
    named = _object_here(game, state, rest, "from")
    if named is None or state.held:
        return None
    number, receptacle = named
    one = 1 << number
    if not one & game.pickupable & state.inside[receptacle] or not reachable(game, state, receptacle):
        return None
    taken = replace(
        state,
        held=one,
        inside=_with(state.inside, receptacle, state.inside[receptacle] & ~one),
        removed=_with(state.removed, receptacle, state.removed[receptacle] | one),
        present=_with(state.present, state.place, state.present[state.place] & ~one),
    )
    return taken, PHRASES["take"].format(object=game.objects[number], receptacle=game.receptacles[receptacle])


def _move(game: Game, state: State, rest: str) -> Result | None:
    named = _object_here(game, state, rest, "to")
    if named is None:
        return None
    number, receptacle = named
    one = 1 << number
    if not one & state.held & game.accepts[receptacle] or not reachable(game, state, receptacle):
        return None
    moved = replace(
        state,
        held=0,
        inside=_with(state.inside, receptacle, state.inside[receptacle] | one),
        removed=_with(state.removed, receptacle, state.removed[receptacle] & ~one),
        present=_with(state.present, state.place, state.present[state.place] | one),
    )
    return moved, PHRASES["move"].format(object=game.objects[number], receptacle=game.receptacles[receptacle])


def _with(masks: tuple[int, ...], position: int, mask: int) -> tuple[int, ...]:
    return (*masks[:position], mask, *masks[position + 1 :])


def _treat(verb: Treatment) -> _Rule:
    def rule(game: Game, state: State, rest: str) -> Result | None:
        named = _object_here(game, state, rest, "with")
        if named is None:
            return None
        number, receptacle = named
        appliance = game.appliances[verb]
        one = 1 << number
        if not one & state.held & appliance.objects or not appliance.receptacles >> receptacle & 1:
            return None
        phrase = PHRASES[verb].format(object=game.objects[number], receptacle=game.receptacles[receptacle])
        return _after(state, verb, one), phrase

    return rule


def _after(state: State, verb: Treatment, one: int) -> State:
    if verb == "clean":
        return replace(state, clean=state.clean | one)
    if verb == "heat":
        return replace(state, hot=state.hot | one, cool=state.cool & ~one)
    return replace(state, cool=state.cool | one, hot=state.hot & ~one)


def _slice(game: Game, state: State, rest: str) -> Result | None:
    name, _, tool = rest.partition(" with ")
    number, knife = game.object_numbers.get(name), game.object_numbers.get(tool)
    if number is None or knife is None or not (state.held & game.knives) >> knife & 1:
        return None
    if not (game.sliceable & state.present[state.place]) >> number & 1:
        return None
    return replace(state, sliced=state.sliced | 1 << number), PHRASES["slice"].format(object=name, knife=tool)


_RULES: Final[Mapping[str, _Rule]] = {
    "look": _look,
    "inventory": _inventory,
    "help": _help,
    "go": _go,
    "open": _open,
    "close": _close,
    "examine": _examine,
    "use": _use,
    "take": _take,
    "move": _move,
    "clean": _treat("clean"),
    "heat": _treat("heat"),
    "cool": _treat("cool"),
    "slice": _slice,
}
