"""Plan from any state of a game to its goal.

In these games every receptacle can be reached and opened at any time, so that a plan is a few errands: free the hand,
fetch an object, treat it, place it. The planner tries every choice of object and receptacle on the state machine and
keeps the shortest; it finds a plan whenever there is one.
"""

from collections.abc import Callable, Iterator
from functools import partial, reduce
from operator import or_
from typing import TypeAlias, cast

from agentgym_r1.envs.alfworld.model import Game, State, Treatment, members
from agentgym_r1.envs.alfworld.state import reachable, step, treated, won


def plan(game: Game, state: State) -> tuple[str, ...] | None:
    """Return admissible commands that lead from a state to the goal, which first holds after the last of them.

    From the start of a recorded game it is the recorded walkthrough. It is empty where the goal holds already, and None
    where the goal cannot be reached any more: something is in the hand that fits nowhere.
    """
    if won(game, state):
        return ()
    if state == game.start and game.walkthrough:
        return game.walkthrough
    plans = [commands for errand in _errands(game) if (commands := _run(errand, game, state)) is not None]
    return min(plans, key=lambda commands: (len(commands), commands), default=None)


class _DeadEnd(Exception):
    """What an errand needs is not to be had."""


class _Agent:
    """Runs commands on the state machine and keeps them, up to the first that wins."""

    def __init__(self, game: Game, state: State) -> None:
        self.game = game
        self.state = state
        self.commands: list[str] = []

    def do(self, command: str) -> None:
        """Carry out a command unless the game is won."""
        if not won(self.game, self.state):
            self.state, _ = step(self.game, self.state, command)
            self.commands.append(command)

    def stand_at(self, receptacle: int) -> None:
        """Go to a receptacle."""
        if self.game.place_of[receptacle] != self.state.place:
            self.do(f"go to {self.game.receptacles[receptacle]}")

    def reach_into(self, receptacle: int) -> None:
        """Go to a receptacle and open its door."""
        self.stand_at(receptacle)
        if not reachable(self.game, self.state, receptacle):
            self.do(f"open {self.game.receptacles[receptacle]}")

    def easiest(self, receptacles: Iterator[int]) -> int:
        """Return the receptacle that takes the fewest commands to reach into."""
        ranked = [
            (self.game.place_of[number] != self.state.place, not reachable(self.game, self.state, number), number)
            for number in receptacles
        ]
        if not ranked:
            raise _DeadEnd
        return min(ranked, key=lambda entry: (entry[0] + entry[1], entry[2]))[2]

    def free_hand(self) -> None:
        """Put down what is held."""
        for number in members(self.state.held):
            self.put(number, self.easiest(_accepting(self.game, number)))

    def fetch(self, number: int) -> None:
        """Have an object in hand."""
        if self.state.held >> number & 1:
            return
        self.free_hand()
        if not self.game.pickupable >> number & 1:
            raise _DeadEnd
        receptacle = self.easiest(_holding(self.state, number))
        self.reach_into(receptacle)
        self.do(f"take {self.game.objects[number]} from {self.game.receptacles[receptacle]}")

    def treat(self, number: int, treatment: Treatment) -> None:
        """Clean, heat or cool the object in hand, unless it is so already."""
        if treated(self.state, treatment) >> number & 1:
            return
        appliance = self.game.appliances[treatment]
        if not appliance.receptacles:
            raise _DeadEnd
        at = self.game.place_of
        nearest = min(members(appliance.receptacles), key=lambda receptacle: at[receptacle] != self.state.place)
        self.stand_at(nearest)
        self.do(f"{treatment} {self.game.objects[number]} with {self.game.receptacles[nearest]}")

    def put(self, number: int, receptacle: int) -> None:
        """Put the object in hand into a receptacle."""
        if not self.game.accepts[receptacle] >> number & 1:
            raise _DeadEnd
        self.reach_into(receptacle)
        self.do(f"move {self.game.objects[number]} to {self.game.receptacles[receptacle]}")


_Errand: TypeAlias = Callable[[_Agent], None]


def _accepting(game: Game, number: int) -> Iterator[int]:
    return (receptacle for receptacle, accepted in enumerate(game.accepts) if accepted >> number & 1)


def _holding(state: State, number: int) -> Iterator[int]:
    return (receptacle for receptacle, inside in enumerate(state.inside) if inside >> number & 1)


def _run(errand: _Errand, game: Game, state: State) -> tuple[str, ...] | None:
    agent = _Agent(game, state)
    try:
        errand(agent)
    except _DeadEnd:
        return None
    return tuple(agent.commands) if won(game, agent.state) else None


def _errands(game: Game) -> Iterator[_Errand]:
    """Yield every way to fulfil the goal."""
    target = game.target
    if target.kind == "two":
        for receptacle in members(target.receptacles):
            yield partial(_bring_two, receptacle=receptacle)
        return
    for number in members(target.objects):
        for lamp in members(target.lamps):
            yield partial(_look_at, number=number, lamp=lamp)
        for receptacle in members(target.receptacles):
            yield partial(_bring, number=number, receptacle=receptacle)


def _look_at(agent: _Agent, *, number: int, lamp: int) -> None:
    agent.fetch(number)
    agent.stand_at(agent.easiest(_holding(agent.state, lamp)))
    agent.do(f"use {agent.game.objects[lamp]}")


def _bring(agent: _Agent, *, number: int, receptacle: int) -> None:
    agent.fetch(number)
    if agent.game.target.kind in agent.game.appliances:
        agent.treat(number, cast("Treatment", agent.game.target.kind))
    agent.put(number, receptacle)


def _bring_two(agent: _Agent, *, receptacle: int) -> None:
    """Bring objects until two are there, the one in hand first."""
    game, state = agent.game, agent.state
    missing = game.target.objects & game.accepts[receptacle] & ~state.inside[receptacle]
    to_take = missing & ~state.held & game.pickupable & reduce(or_, state.inside)
    for number in (*members(missing & state.held), *members(to_take)):
        if not won(game, agent.state):
            agent.fetch(number)
            agent.put(number, receptacle)
