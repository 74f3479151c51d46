"""A level of the minigrid package: made, reset, moved in by words, copied."""

import functools
import hashlib
import logging
import os
import pickle
from dataclasses import dataclass
from typing import Any

import gymnasium as gym

from agentgym_r1.errors import ConfigError, require, unknown_name

logger = logging.getLogger(__name__)

MOVES = ("turn left", "turn right", "go forward", "pick up", "drop", "toggle")
DONE = "done"
PREFIXES = ("MiniGrid-", "BabyAI-")
_ENDED_BY_DONE = ("MiniGrid-GoToDoor-", "MiniGrid-GoToObject-")


@dataclass(frozen=True, slots=True)
class Step:
    """What a move did: the level's reward, whether the level ended the task, and whether anything changed."""

    reward: float
    over: bool
    changed: bool


class Level:
    """One level, of which any layout can be laid out.

    Args:
        level_id: its Gymnasium id.

    Raises:
        MissingExtra: the minigrid package is not installed.
        ConfigError: there is no such level, or it needs further packages.
    """

    def __init__(self, level_id: str) -> None:
        _load()
        known = [name for name in gym.registry if name.startswith(PREFIXES)]
        if level_id not in known:
            raise unknown_name("MiniGrid level", level_id, known)
        self.id = level_id
        try:
            self.grid_world: Any = gym.make(level_id, disable_env_checker=True).unwrapped
        except (ImportError, gym.error.Error) as err:
            raise ConfigError(f"level {level_id} cannot be made: {err}") from err

    @property
    def moves(self) -> tuple[str, ...]:
        """What can be done in it; ``done`` only where it means something."""
        possible = MOVES[: int(self.grid_world.action_space.n)]
        return (*possible, DONE) if self.id.startswith(_ENDED_BY_DONE) else possible

    @property
    def mission(self) -> str:
        """What is to be done, in the level's words."""
        return str(self.grid_world.mission)

    @property
    def limit(self) -> int:
        """After how many moves the level ends."""
        return int(self.grid_world.max_steps)

    def reset(self, seed: int) -> None:
        """Lay the layout of a seed out."""
        self.grid_world.reset(seed=seed)

    def move(self, move: str) -> Step:
        """Make one of the ``moves``."""
        world, number = self.grid_world, MOVES.index(move) if move != DONE else len(MOVES)
        ahead = tuple(world.front_pos)
        before = self._moment(ahead)
        _, reward, over, _, _ = world.step(number)
        return Step(float(reward), bool(over), changed=bool(over) or self._moment(ahead) != before)

    def _moment(self, place: tuple[int, int]) -> tuple[Any, ...]:
        """Return what a move can change: the agent, what it carries, and the thing at a place."""
        world = self.grid_world
        thing = world.grid.get(*place)
        state = thing and (id(thing), thing.encode())
        return tuple(map(int, world.agent_pos)), int(world.agent_dir), id(world.carrying), state

    def layout(self) -> str:
        """Return a hash of everything that can be seen of the level: grid, agent, mission."""
        world = self.grid_world
        held = world.carrying.encode() if world.carrying else None
        place = (*map(int, world.agent_pos), int(world.agent_dir), held, self.mission)
        return hashlib.sha256(world.grid.encode().tobytes() + repr(place).encode()).hexdigest()

    def copy(self) -> "Level":
        """Return an independent copy of the level in its present state."""
        twin = object.__new__(Level)
        twin.id = self.id
        twin.grid_world = pickle.loads(pickle.dumps(self.grid_world))  # noqa: S301 - our own bytes
        return twin


@functools.cache
def _load() -> None:
    """Import minigrid, which registers its levels; neither it nor pygame may write to standard output."""
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    require("minigrid", "minigrid")
    generator = require("minigrid.envs.babyai.core.roomgrid_level", "minigrid")
    vars(generator)["print"] = lambda *words: logger.debug("%s", " ".join(map(str, words)))
