"""AgentGym-R1: Gymnasium text environments for reinforcement learning of LLM agents.

Importing the package registers the environments with Gymnasium; nothing heavy is loaded until one is made.
"""

from importlib.metadata import PackageNotFoundError, version

from agentgym_r1.errors import (
    AgentGymError,
    ConfigError,
    DataError,
    EngineError,
    EpisodeError,
    MissingExtra,
    ReplayError,
    RetrievalError,
)
from agentgym_r1.registration import register_all
from agentgym_r1.rollout import rollout, rollout_async, rollout_many
from agentgym_r1.types import (
    Agent,
    AgentFlow,
    Message,
    Policy,
    Response,
    Task,
    TaskSet,
    ToolCall,
    ToolResult,
    Trajectory,
    Transition,
)

try:
    __version__ = version("agentgym-r1")
except PackageNotFoundError:
    __version__ = "0+checkout"

register_all()

__all__ = [
    "Agent",
    "AgentFlow",
    "AgentGymError",
    "ConfigError",
    "DataError",
    "EngineError",
    "EpisodeError",
    "Message",
    "MissingExtra",
    "Policy",
    "ReplayError",
    "Response",
    "RetrievalError",
    "Task",
    "TaskSet",
    "ToolCall",
    "ToolResult",
    "Trajectory",
    "Transition",
    "__version__",
    "rollout",
    "rollout_async",
    "rollout_many",
]
