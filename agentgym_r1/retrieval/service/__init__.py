"""One retrieval service for all rollout workers, over the protocol that the field's trainers speak."""

from agentgym_r1.retrieval.service.app import RetrievalApp
from agentgym_r1.retrieval.service.dispatcher import Dispatcher, Limits
from agentgym_r1.retrieval.service.server import RunningService, serve

__all__ = ["Dispatcher", "Limits", "RetrievalApp", "RunningService", "serve"]
