"""What plays a household game: the interface of both engines, and the compiled one."""

import re
from dataclasses import dataclass
from typing import Final, Protocol

from agentgym_r1.envs.alfworld import text
from agentgym_r1.envs.alfworld.model import Game, State
from agentgym_r1.envs.alfworld.state import admissible, load, save, step, won

_PUT: Final = re.compile(r"put (.+) in/on (.+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a command did.

    Attributes:
        text: what the game says.
        reward: 1 while the goal holds, else 0, as TextWorld scores it.
        won: whether the goal holds now; a later command may undo it.
        accepted: whether the command was admissible.
    """

    text: str
    reward: int
    won: bool
    accepted: bool


class Engine(Protocol):
    """A game being played. Every text equals TextWorld 1.7's with ALFWorld 0.4's names."""

    def reset(self) -> str:
        """Start the game over and return its first text, which ends with the task."""
        ...

    def step(self, command: str) -> Outcome:
        """Carry out any text as a command; one that is not admissible changes nothing."""
        ...

    @property
    def admissible(self) -> list[str]:
        """The commands that are carried out now, sorted."""
        ...

    def snapshot(self) -> bytes:
        """Return the state of the game; it may be restored by any engine of the same kind that plays the same game."""
        ...

    def restore(self, data: bytes) -> None:
        """Go back to a snapshot; raise DataError when it is not one of this kind of engine and this game."""
        ...

    def close(self) -> None:
        """Free what the engine holds; any number of times."""
        ...


def canonical(command: str) -> str:
    """Return a command as the games know it: blanks around it dropped, ALFWorld 0.3's ``put X in/on Y`` as ``move``."""
    stripped = command.strip()
    put = _PUT.fullmatch(stripped)
    return f"move {put[1]} to {put[2]}" if put else stripped


class CompiledEngine:
    """Plays a compiled game in this process: microseconds a step, a few kilobytes a game.

    Args:
        game: from ``compile_game``; engines share it.
        goal: the task in words, without the final full stop; it only shows in the first text.
    """

    def __init__(self, game: Game, *, goal: str) -> None:
        self.game = game
        self.goal = goal
        self.state: State = game.start

    def reset(self) -> str:
        """Start the game over and return its first text."""
        self.state = self.game.start
        return text.intro(self.game, self.state, goal=self.goal)

    def step(self, command: str) -> Outcome:
        """Carry out a command."""
        self.state, answer = step(self.game, self.state, canonical(command))
        holds = won(self.game, self.state)
        return Outcome(answer, int(holds), holds, accepted=answer != text.PHRASES["nothing happens"])

    @property
    def admissible(self) -> list[str]:
        """The commands that are carried out now, sorted."""
        return admissible(self.game, self.state)

    def snapshot(self) -> bytes:
        """Return the state; equal states of a game give equal bytes."""
        return save(self.game, self.state)

    def restore(self, data: bytes) -> None:
        """Go back to a snapshot of the same game."""
        self.state = load(self.game, data)

    def close(self) -> None:
        """Do nothing: the engine holds nothing outside itself."""
