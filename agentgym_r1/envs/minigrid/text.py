"""What the agent sees of a level, in words: things with their distances, from the nearest to the farthest."""

from typing import Any

from agentgym_r1.envs.minigrid.level import Level

COMPASS = ("east", "south", "west", "north")
_DOORS = {(True, False): "open", (False, False): "closed", (False, True): "locked"}
_BACKGROUND = ("wall", "floor", "unseen")


def describe(level: Level) -> str:
    """Return the facing, what is carried, and what the view shows.

    The view is the level's own: the cells before the agent, usually 7 by 7, that no wall or closed door hides. Of walls
    only the nearest ahead and at both sides are told.
    """
    world = level.grid_world
    held = name(world.carrying) if world.carrying else "nothing"
    return "\n".join([f"You face {COMPASS[world.agent_dir]} and carry {held}.", "You see:", *_sights(world)])


def name(thing: Any) -> str:
    """Return what a thing is called, with its article."""
    if thing.type == "door":
        words = f"{_DOORS[bool(thing.is_open), bool(thing.is_locked)]} {thing.color} door"
    elif thing.type == "lava":
        return "lava"
    else:
        words = f"{thing.color} {thing.type}"
    return f"{'an' if words[0] in 'aeiou' else 'a'} {words}"


def _sights(world: Any) -> list[str]:
    grid, visible = world.gen_obs_grid()
    size = world.agent_view_size
    middle = size // 2
    things = []
    for column in range(size):
        for row in range(size):
            thing = grid.get(column, row)
            ahead, right = size - 1 - row, column - middle
            if thing is not None and visible[column, row] and (ahead or right) and thing.type not in _BACKGROUND:
                things.append((ahead + abs(right), abs(right), right, ahead, name(thing)))
    lines = [f"- {what} {_where(ahead, right)}" for _, _, right, ahead, what in sorted(things)]
    return lines + _walls(grid, visible, size)


def _walls(grid: Any, visible: Any, size: int) -> list[str]:
    """Return the nearest wall ahead, to the left and to the right, where it is seen."""
    lines = []
    middle = size // 2
    for ahead, right in ((1, 0), (0, -1), (0, 1)):
        for distance in range(1, size):
            column, row = middle + right * distance, size - 1 - ahead * distance
            if not (0 <= column < size and row >= 0 and visible[column, row]):
                break
            thing = grid.get(column, row)
            if thing is not None and thing.type == "wall":
                lines.append(f"- a wall {_where(ahead * distance, right * distance)}")
                break
    return lines


def _where(ahead: int, right: int) -> str:
    side = f"{_steps(abs(right))} to the {'right' if right > 0 else 'left'}" if right else ""
    return " and ".join(filter(None, [f"{_steps(ahead)} ahead" if ahead else "", side]))


def _steps(count: int) -> str:
    return "1 step" if count == 1 else f"{count} steps"
