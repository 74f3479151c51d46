"""Language models behind one protocol: an HTTP endpoint or a model in this process."""

from agentgym_r1.policies.engines.base import Engine, Sampling
from agentgym_r1.policies.engines.spec import engine_from_spec

__all__ = ["Engine", "Sampling", "engine_from_spec"]
