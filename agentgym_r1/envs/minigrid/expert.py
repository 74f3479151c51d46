"""Who knows the way: BabyAI's own bot for BabyAI levels, a search over the level's states for the others.

What the bot cannot solve is not solved here either: the PutNext levels that begin with something in hand, KeyInBox, and
the Debug levels that end at the first wrong door.
"""

from collections import deque
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from agentgym_r1.envs.minigrid.level import Level
from agentgym_r1.errors import require

MOST_STATES = 50_000
_FALLBACK = "turn left"


class Expert:
    """Names the next move of a solution from wherever an episode stands.

    Args:
        level: laid out as the episode began; the expert keeps it.
    """

    def __init__(self, level: Level) -> None:
        self._level = level
        self._bot: Any = _bot(level) if hasattr(level.grid_world, "instrs") else None
        self._suggested: int | None = None
        self._done: list[str] = []
        self._plan: list[str] = []
        self._lost = False

    def next(self, moves: Sequence[str]) -> str:
        """Return the move to make after ``moves``, all that were made since the episode began."""
        if self._bot is not None:
            return self._ask(moves)
        made = list(moves[len(self._done) :])
        planned, self._plan = self._plan[: len(made)], self._plan[len(made) :]
        self._follow(made)
        if (planned != made or not self._plan) and not self._lost:
            self._plan = search(self._level)
            self._lost = not self._plan
        return self._plan[0] if self._plan else _FALLBACK

    def _follow(self, made: Sequence[str]) -> None:
        for move in made:
            self._level.move(move)
        self._done += made

    def _ask(self, moves: Sequence[str]) -> str:
        """Let the bot watch what was made, and return what it suggests.

        It stumbles over moves it did not expect (a box that was opened, say); a new one then starts from here.
        """
        world = self._level.grid_world
        try:
            if self._suggested is None:
                self._suggested = int(self._bot.replan(None))
            for move in moves[len(self._done) :]:
                self._follow([move])
                self._suggested = int(self._bot.replan(world.actions(self._level.moves.index(move))))
        except Exception:  # the bot's assertions and look-ups fail in many ways, none of which is the policy's fault
            self._follow(moves[len(self._done) :])
            self._bot, self._suggested = _bot(self._level), None
            return self._first_suggestion()
        return self._name(self._suggested)

    def _first_suggestion(self) -> str:
        try:
            self._suggested = int(self._bot.replan(None))
        except Exception:  # as above; nothing is known to help any more
            self._bot, self._suggested = _bot(self._level), None
            return _FALLBACK
        return self._name(self._suggested)

    def _name(self, action: int) -> str:
        moves = self._level.moves
        return moves[action] if action < len(moves) else _FALLBACK


def _bot(level: Level) -> Any:
    return require("minigrid.utils.baby_ai_bot", "minigrid").BabyAIBot(level.grid_world)


def search(level: Level, *, most: int = MOST_STATES) -> list[str]:
    """Return the moves of a shortest solution, empty when none is found among the first ``most`` states.

    A breadth-first search over what moves change. Two states that differ only in where things were put down count as
    one, unless the level itself decides the task by it; this keeps the search small, and gives up solutions that need a
    thing in an odd place.
    """
    copy = level.copy()
    states = _States(copy.grid_world)
    first = states.key()
    came_from: dict[Hashable, tuple[Hashable, str]] = {}
    known = {first}
    waiting = deque([(states.freeze(), first)])
    while waiting and len(known) < most:
        state, key = waiting.popleft()
        states.thaw(state)
        for move in [move for move in copy.moves if states.is_useful(move)]:
            states.thaw(state)
            step = copy.move(move)
            if step.over and step.reward > 0:
                return [*_path(came_from, key), move]
            reached = states.key()
            if not step.over and reached not in known:
                known.add(reached)
                came_from[reached] = (key, move)
                waiting.append((states.freeze(), reached))
    return []


def _path(came_from: Mapping[Hashable, tuple[Hashable, str]], key: Hashable) -> list[str]:
    moves = []
    while key in came_from:
        key, move = came_from[key]
        moves.append(move)
    return moves[::-1]


class _States:
    """The states of a level, saved and put back without copying the level.

    Args:
        world: of the minigrid package; it is changed, and shows nothing any more.
    """

    def __init__(self, world: Any) -> None:
        self._world = world
        self._homes = {id(thing): cell for cell, thing in enumerate(world.grid.grid) if thing}
        self._is_random = hasattr(world, "obstacles")
        world.gen_obs = dict

    def key(self) -> Hashable:
        """Return what tells states apart: the agent, what it carries, the doors, and which things left their place.

        Where things move by themselves, it is where they are.
        """
        world = self._world
        doors, moved = [], []
        for cell, thing in enumerate(world.grid.grid):
            if thing is None or thing.type == "wall":
                continue
            if thing.type == "door":
                doors.append((thing.is_open, thing.is_locked))
            elif thing.can_pickup():
                moved.append((id(thing), cell if self._is_random else self._homes.get(id(thing)) != cell))
        return (*map(int, world.agent_pos), int(world.agent_dir), id(world.carrying), tuple(doors), frozenset(moved))

    def freeze(self) -> tuple[Any, ...]:
        """Return everything that a move may change."""
        world = self._world
        cells = tuple(world.grid.grid)
        doors = [(thing, thing.is_open, thing.is_locked) for thing in cells if thing and thing.type == "door"]
        places = [(thing, thing.cur_pos) for thing in cells if thing and thing.can_pickup()]
        rng = world.np_random.bit_generator.state if self._is_random else None
        return tuple(world.agent_pos), world.agent_dir, world.carrying, cells, doors, places, world.step_count, rng

    def thaw(self, state: tuple[Any, ...]) -> None:
        """Put back what ``freeze`` returned."""
        world = self._world
        world.agent_pos, world.agent_dir, world.carrying, cells, doors, places, world.step_count, rng = state
        world.grid.grid = list(cells)
        for door, is_open, is_locked in doors:
            door.is_open, door.is_locked = is_open, is_locked
        for thing, place in places:
            thing.cur_pos = place
        if rng is not None:
            world.np_random.bit_generator.state = rng

    def is_useful(self, move: str) -> bool:
        """Return whether a move can lead anywhere: nothing is done to what is not there, and no door closed again."""
        ahead = self._world.grid.get(*self._world.front_pos)
        if move == "pick up":
            return ahead is not None and ahead.can_pickup() and self._world.carrying is None
        if move == "drop":
            return ahead is None and self._world.carrying is not None
        if move == "toggle":
            return ahead is not None and (ahead.type == "box" or (ahead.type == "door" and not ahead.is_open))
        return move != "go forward" or ahead is None or ahead.can_overlap()
