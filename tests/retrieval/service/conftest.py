"""A running service of two indexes."""

from collections.abc import Iterator

import httpx
import pytest
from echo import EchoRetriever

from agentgym_r1.retrieval import MemoryRetriever
from agentgym_r1.retrieval.service import RunningService

TEXTS = [(f"Mill {n}", f"It has {n} wheels by the river, and number {n * 7} is its neighbour.") for n in range(40)]


@pytest.fixture
def echoing() -> EchoRetriever:
    return EchoRetriever()


@pytest.fixture
def mills() -> MemoryRetriever:
    return MemoryRetriever.from_texts(TEXTS)


@pytest.fixture
def service(mills: MemoryRetriever, echoing: EchoRetriever) -> Iterator[RunningService]:
    """Two indexes: ``mills`` (the default) and ``echo``."""
    with RunningService({"mills": mills, "echo": echoing}) as running:
        yield running


@pytest.fixture
def http(service: RunningService) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=service.address(), timeout=30, trust_env=False) as client:
        yield client
