"""Language models behind one protocol: an HTTP endpoint or a model in this process."""

from agentgym_r1.policies.engines.base import Engine, Sampling

__all__ = ["Engine", "Sampling"]
