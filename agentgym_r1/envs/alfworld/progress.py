"""How far a state is towards its goal: the share of sub-goals that hold, a potential for reward shaping."""

from agentgym_r1.envs.alfworld.model import Game, State, members
from agentgym_r1.envs.alfworld.state import treated, won


def progress(game: Game, state: State) -> float:
    """Return the share of sub-goals that hold, from 0 to 1; 1 exactly when the goal holds.

    The sub-goals, counted for the object that is furthest along:
        place: have it in hand; have it placed.
        clean, heat, cool: have it in hand; have it treated; have it placed after that.
        two: the first two for the best pair of objects in one receptacle.
        look: have it in hand; have the lamp on; stand at a lamp that is on.

    It depends on the state alone, so that shaping with ``gamma * progress(s') - progress(s)`` leaves the best policy as
    it is (Ng, Harada and Russell, 1999).
    """
    if won(game, state):
        return 1.0
    if game.target.kind == "look":
        return _looking(game, state) / 3
    if game.target.kind == "two":
        return max((_pair(game, state, receptacle) for receptacle in members(game.target.receptacles)), default=0) / 4
    return _single(game, state)


def _looking(game: Game, state: State) -> int:
    lit = game.target.lamps & state.lit
    facing = any(state.inside[receptacle] & lit for receptacle in game.receptacles_at[state.place])
    return bool(state.held & game.target.objects) + bool(lit) + facing


def _pair(game: Game, state: State, receptacle: int) -> int:
    placed = (state.inside[receptacle] & game.target.objects).bit_count()
    return 2 * placed + bool(state.held & game.target.objects & ~state.inside[receptacle])


def _single(game: Game, state: State) -> float:
    """Return the progress with the object furthest along, none of which is placed as it should be."""
    held = state.held & game.target.objects
    if game.target.kind == "place":
        return bool(held) / 2
    done = treated(state, game.target.kind)
    return max(bool(held) + bool(held & done), bool(game.target.objects & done)) / 3
