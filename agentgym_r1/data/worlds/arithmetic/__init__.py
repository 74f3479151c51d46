"""The arithmetic world: word problems in the format of GSM8K."""

from agentgym_r1.data.worlds.arithmetic.world import tasks

__all__ = ["tasks"]
