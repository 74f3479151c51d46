"""Building catalogues: whole, resumed, shared."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from agentgym_r1.data.webshop import Catalogue, build_catalogue, find_official
from agentgym_r1.data.webshop.nouns import WordNouns
from agentgym_r1.data.webshop.products import Listing
from agentgym_r1.data.worlds.shop import WorldShop
from agentgym_r1.errors import DataError
from tests.data.webshop.invented import record

PROGRAM = """
import pathlib, sys
from agentgym_r1.data.webshop import build_catalogue
from agentgym_r1.data.webshop.nouns import WordNouns
from agentgym_r1.data.worlds.shop import WorldShop
shop = build_catalogue(WorldShop(int(sys.argv[2])), pathlib.Path(sys.argv[1]), nouns=WordNouns(), part_rows=200)
print(len(shop))
"""


class Killed(BaseException):
    """Stands for the end of the process."""


@dataclass(frozen=True)
class Mortal(WorldShop):
    """A shop whose records stop coming."""

    dies_at: int = 10**9

    def records(self, start: int) -> Iterator[tuple[dict[str, Any], Listing, int]]:
        for entry in WorldShop.records(self, start):
            if entry[2] > self.dies_at:
                raise Killed
            yield entry


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def start_build(folder: Path, products: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", PROGRAM, str(folder), str(products)]
    environment = {**os.environ, "PYTHONPATH": str(Path.cwd())}
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE)


def test_the_catalogue_holds_each_sold_product_once_in_file_order(small: Catalogue) -> None:
    assert [small.product(row).asin for row in range(len(small))] == ["A1", "A2", "A3", "A4"]
    assert small.product(0).title == "Tin Whistle A1"
    assert small.product(0).nouns == ("tin", "whistle", "a1")


def test_the_manifest_says_what_it_is_made_of(small: Catalogue) -> None:
    manifest = small.manifest
    assert (manifest.name, manifest.source, manifest.products) == ("items_shuffle_1000", "real", 4)
    assert manifest.goals == {"synthetic": 4 + 2 + 1, "human": 2}
    assert (manifest.splits, manifest.nouns) == ("hash", "words")
    assert manifest.files[0].name == "items_shuffle_1000.json"


def test_a_build_killed_between_files_goes_on_and_gives_the_same_bytes(tmp_path: Path) -> None:
    whole = build_catalogue(WorldShop(100), tmp_path / "whole", nouns=WordNouns(), part_rows=16)
    for death in (20, 50, 90):
        with pytest.raises(Killed):
            build_catalogue(Mortal(100, dies_at=death), tmp_path / "again", nouns=WordNouns(), part_rows=16)
        assert not (tmp_path / "again").exists()
        assert len(list((tmp_path / "again.partial").glob("products-*.arrow"))) == death // 16
    seen: list[tuple[str, int, int | None]] = []
    resumed = build_catalogue(
        Mortal(100), tmp_path / "again", nouns=WordNouns(), part_rows=16, progress=lambda *report: seen.append(report)
    )
    assert contents(resumed.folder) == contents(whole.folder)
    assert [report for report in seen if report[0] == "products"] == [("products", 96, 100), ("products", 100, 100)]
    assert not (tmp_path / "again.partial").exists()


@pytest.mark.slow
def test_a_build_whose_process_is_killed_goes_on(tmp_path: Path) -> None:
    partial = tmp_path / "killed.partial"
    process = start_build(tmp_path / "killed", 6000)
    while len(list(partial.glob("products-*.arrow"))) < 5 and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert partial.is_dir()
    resumed = build_catalogue(WorldShop(6000), tmp_path / "killed", nouns=WordNouns(), part_rows=200)
    whole = build_catalogue(WorldShop(6000), tmp_path / "whole", nouns=WordNouns(), part_rows=200)
    assert contents(resumed.folder) == contents(whole.folder)


def test_two_processes_build_one_catalogue(tmp_path: Path) -> None:
    both = [start_build(tmp_path / "shared", 500) for _ in range(2)]
    assert [process.communicate()[0].strip() for process in both] == [b"500", b"500"]


def test_a_build_with_another_plan_starts_afresh(tmp_path: Path) -> None:
    with pytest.raises(Killed):
        build_catalogue(Mortal(60, dies_at=40), tmp_path / "shop", nouns=WordNouns(), part_rows=16)
    other = build_catalogue(WorldShop(60, seed=1), tmp_path / "shop", nouns=WordNouns(), part_rows=16)
    assert other.product(0) == build_catalogue(WorldShop(60, seed=1), tmp_path / "x", nouns=WordNouns()).product(0)


def test_files_of_any_size_hold_the_same_products(tmp_path: Path) -> None:
    one = build_catalogue(WorldShop(50), tmp_path / "one", nouns=WordNouns())
    many = build_catalogue(WorldShop(50), tmp_path / "many", nouns=WordNouns(), part_rows=7)
    assert len(list(many.folder.glob("products-*.arrow"))) == 8
    assert [one.product(row) for row in range(50)] == [many.product(row) for row in range(50)]
    assert one.manifest.documents_sha256 == many.manifest.documents_sha256


def test_building_again_opens_what_is_there(official: Path, small: Catalogue) -> None:
    before = contents(small.folder)
    assert build_catalogue(find_official(official), small.folder).manifest == small.manifest
    assert contents(small.folder) == before


def test_another_source_in_the_same_folder_is_refused(official: Path, small: Catalogue) -> None:
    (official / "items_human_ins.json").write_text("{}", encoding="utf-8")
    with pytest.raises(DataError, match="is the catalogue of .*, not of .*; choose another folder or delete it"):
        build_catalogue(find_official(official), small.folder)


def test_a_source_without_products_is_refused(official: Path, tmp_path: Path) -> None:
    (official / "items_shuffle_1000.json").write_text(json.dumps([record("nan")]), encoding="utf-8")
    with pytest.raises(DataError, match="items_shuffle_1000 holds no products"):
        build_catalogue(find_official(official), tmp_path / "empty", nouns=WordNouns())


def test_a_place_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(DataError, match="cannot write to"):
        build_catalogue(WorldShop(1), tmp_path / "file" / "shop", nouns=WordNouns())
