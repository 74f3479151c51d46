"""Official files of invented products, and their catalogue."""

import json
from pathlib import Path

import pytest

from agentgym_r1.data.webshop import Catalogue, build_catalogue, find_official
from agentgym_r1.data.webshop.nouns import WordNouns
from tests.data.webshop.invented import HUMAN, LISTED, RECORDS


@pytest.fixture
def official(tmp_path: Path) -> Path:
    """A folder with the three official files of the small set."""
    folder = tmp_path / "official"
    folder.mkdir()
    for name, value in (
        ("items_shuffle_1000.json", RECORDS),
        ("items_ins_v2_1000.json", LISTED),
        ("items_human_ins.json", HUMAN),
    ):
        (folder / name).write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
    return folder


@pytest.fixture
def small(official: Path, tmp_path: Path) -> Catalogue:
    """The catalogue of those files: A1 to A4."""
    return build_catalogue(find_official(official), tmp_path / "small", nouns=WordNouns())


@pytest.fixture(scope="session")
def real(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Catalogue:
    """The catalogue of the real 1,000 products."""
    folder = tmp_path_factory.mktemp("webshop") / "real"
    return build_catalogue(find_official(samples / "data" / "webshop"), folder, nouns=WordNouns())
