"""Live libraries: paper search over scholarly web services, with every answer kept for offline replay."""

from agentgym_r1.retrieval.scholar.http import ScholarClient
from agentgym_r1.retrieval.scholar.openalex import OpenAlex
from agentgym_r1.retrieval.scholar.opening import SERVICES, open_library
from agentgym_r1.retrieval.scholar.semantic_scholar import SemanticScholar

__all__ = ["SERVICES", "OpenAlex", "ScholarClient", "SemanticScholar", "open_library"]
