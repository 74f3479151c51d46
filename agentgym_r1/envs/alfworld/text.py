"""What the games say: the phrases of ALFWorld 0.4's grammar, and how a state fills them."""

from collections.abc import Iterable
from typing import Final

from agentgym_r1.envs.alfworld.model import Game, State, members

PHRASES: Final = {
    "intro": "-= Welcome to TextWorld, ALFRED! =-\n\n{look}\n\nYour task is to: {goal}.",
    "nothing happens": "Nothing happens.",
    "room": "You are in the middle of a room. Looking quickly around you, you see {things}.",
    "facing": "You are facing the {receptacles}. Next to it, you see {things}.",
    "go": "You arrive at {receptacle}. {contents}",
    "open": "You open the {receptacle}. {contents}",
    "close": "You close the {receptacle}.",
    "take": "You pick up the {object} from the {receptacle}.",
    "move": "You move the {object} to the {receptacle}.",
    "clean": "You clean the {object} using the {receptacle}.",
    "heat": "You heat the {object} using the {receptacle}.",
    "cool": "You cool the {object} using the {receptacle}.",
    "slice": "You sliced the {object} with the {knife}.",
    "use": "You turn on the {object}.",
    "carrying": "You are carrying: {things}.",
    "empty-handed": "You are not carrying anything.",
    "closed": "The {receptacle} is closed.",
    "opened": "The {receptacle} is open. In it, you see {things}.",
    "surface": "On the {receptacle}, you see {things}.",
    "container": "This is a normal {object}. In it, you see {things}.",
    "quality": "This is a {quality} {object}.",
    "lit": "This {object} is on.",
    "ordinary": "There's nothing special about {object}.",
    "help": """Available commands:
  look:                             look around your current location
  inventory:                        check your current inventory
  go to (receptacle):               move to a receptacle
  open (receptacle):                open a receptacle
  close (receptacle):               close a receptacle
  take (object) from (receptacle):  take an object from a receptacle
  move (object) to (receptacle):  place an object in or on a receptacle
  examine (something):              examine a receptacle or an object
  use (object):                     use an object
  heat (object) with (receptacle):  heat an object using a receptacle
  clean (object) with (receptacle): clean an object using a receptacle
  cool (object) with (receptacle):  cool an object using a receptacle
  slice (object) with (object):     slice an object using a sharp object
""",
}
"""The grammar, one phrase a key; they are protocol and must equal the original's to the letter."""

_QUALITIES: Final = (
    (("clean", "hot", "sliced"), "hot and clean sliced"),
    (("clean", "cool", "sliced"), "cool and clean sliced"),
    (("clean", "sliced"), "clean sliced"),
    (("hot", "sliced"), "hot sliced"),
    (("cool", "sliced"), "cool sliced"),
    (("clean", "hot"), "hot and clean"),
    (("clean", "cool"), "cool and clean"),
    (("hot",), "hot"),
    (("clean",), "clean"),
    (("cool",), "cold"),
)
"""What an examined object is called, the first match counts."""


def enumeration(names: Iterable[str]) -> str:
    """Return names as the grammar lists them: ``a, b, and c``, or ``nothing``."""
    listed = list(names)
    if len(listed) < 2:
        return listed[0] if listed else "nothing"
    return f"{', '.join(listed[:-1])}, and {listed[-1]}"


def _things(names: Iterable[str]) -> str:
    return enumeration(f"a {name}" for name in names)


def _objects(game: Game, mask: int) -> str:
    return _things(game.objects[number] for number in members(mask))


def intro(game: Game, state: State, *, goal: str) -> str:
    """Return the first observation; ``goal`` is the task in words, without the final full stop."""
    return PHRASES["intro"].format(look=look(game, state, first=True), goal=goal)


def look(game: Game, state: State, *, first: bool = False) -> str:
    """Return what is around: the whole room from its middle (only at the start), else what is faced.

    For the grammar, what lies next to it are the objects taken from one receptacle of this place and put into another.
    """
    here = game.receptacles_at[state.place]
    if not here:
        return PHRASES["room"].format(things=_things(game.receptacles) if first else "nothing")
    beside = sorted(
        number for receptacle in here for number in members(state.removed[receptacle] & state.present[state.place])
    )
    return PHRASES["facing"].format(
        receptacles=enumeration(game.receptacles[receptacle] for receptacle in here),
        things=_things(game.objects[number] for number in beside),
    )


def receptacle(game: Game, state: State, number: int) -> str:
    """Return what an examined receptacle shows."""
    name = game.receptacles[number]
    things = _objects(game, state.inside[number])
    if not game.openable >> number & 1:
        return PHRASES["surface"].format(receptacle=name, things=things)
    if not state.opened >> number & 1:
        return PHRASES["closed"].format(receptacle=name)
    return PHRASES["opened"].format(receptacle=name, things=things)


def inventory(game: Game, state: State) -> str:
    """Return what the agent carries."""
    if not state.held:
        return PHRASES["empty-handed"]
    return PHRASES["carrying"].format(things=_objects(game, state.held))


def examined(game: Game, state: State, number: int) -> str:
    """Return what an examined object is like."""
    name = game.objects[number]
    if game.containers >> number & 1:
        return PHRASES["container"].format(object=name, things=_objects(game, game.contents.get(number, 0)))
    for needed, quality in _QUALITIES:
        if all(getattr(state, attribute) >> number & 1 for attribute in needed):
            return PHRASES["quality"].format(quality=quality, object=name)
    if (game.toggleable & state.lit) >> number & 1:
        return PHRASES["lit"].format(object=name)
    if (game.sliceable & state.sliced) >> number & 1:
        return PHRASES["quality"].format(quality="sliced", object=name)
    return PHRASES["ordinary"].format(object=name)
