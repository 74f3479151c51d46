"""Environments over HTTP: a server of sessions, and the environment that plays one of them from elsewhere."""

from agentgym_r1.envs.remote.client import RemoteEnv
from agentgym_r1.envs.remote.sessions import SessionLimits, Sessions

__all__ = ["RemoteEnv", "SessionLimits", "Sessions"]
