"""Shops to walk through: a generated one, and the real 1,000 products."""

from pathlib import Path

import pytest

from agentgym_r1.data.webshop import Catalogue, build_catalogue, find_official
from agentgym_r1.data.webshop.nouns import WordNouns
from agentgym_r1.data.worlds.shop import WorldShop
from agentgym_r1.envs.webshop.engine import Shop
from agentgym_r1.envs.webshop.search import BM25Search


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Catalogue:
    folder = tmp_path_factory.mktemp("webshop") / "world"
    return build_catalogue(WorldShop(600), folder, nouns=WordNouns())


@pytest.fixture(scope="session")
def shop(world: Catalogue) -> Shop:
    return Shop(world, BM25Search.build(world))


@pytest.fixture(scope="session")
def real(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Catalogue:
    folder = tmp_path_factory.mktemp("webshop") / "real"
    return build_catalogue(find_official(samples / "data" / "webshop"), folder, nouns=WordNouns())


@pytest.fixture(scope="session")
def real_shop(real: Catalogue) -> Shop:
    return Shop(real, BM25Search.build(real))
