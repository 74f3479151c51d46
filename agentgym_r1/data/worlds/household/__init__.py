"""The household world: rooms and errands in the format of ALFWorld's games."""

from agentgym_r1.data.worlds.household.world import tasks

__all__ = ["tasks"]
