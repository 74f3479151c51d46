"""Catalogues of this machine."""

from pathlib import Path

import pytest

from agentgym_r1.data.webshop import Catalogue, Goals
from agentgym_r1.data.webshop.installed import (
    catalogue_problems,
    install_catalogue,
    installed_folder,
    open_installed,
    open_world,
)
from agentgym_r1.data.webshop.nouns import WordNouns
from agentgym_r1.errors import ConfigError, DataError


def test_an_installed_catalogue_is_opened_by_name(official: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="webshop is not installed in .*: agentgym-r1 data get webshop"):
        open_installed(home=tmp_path)
    made = install_catalogue("webshop", official, nouns=WordNouns(), home=tmp_path)
    assert made.folder == installed_folder(home=tmp_path) == tmp_path / "data" / "webshop"
    assert open_installed(home=tmp_path).manifest == made.manifest


def test_installing_other_files_replaces_the_catalogue(official: Path, tmp_path: Path) -> None:
    first = install_catalogue("webshop", official, nouns=WordNouns(), home=tmp_path).manifest
    assert install_catalogue("webshop", official, nouns=WordNouns(), home=tmp_path).manifest == first
    (official / "items_human_ins.json").write_text("{}", encoding="utf-8")
    second = install_catalogue("webshop", official, nouns=WordNouns(), home=tmp_path).manifest
    assert second.files != first.files
    assert second.goals["human"] == 0
    assert [path.name for path in (tmp_path / "data").iterdir() if path.is_dir()] == ["webshop"]


def test_an_unknown_catalogue_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="did you mean 'webshop-full'"):
        installed_folder("webshop-ful")


def test_a_world_is_made_once(tmp_path: Path) -> None:
    reports: list[str] = []
    first = open_world(products=40, seed=2, home=tmp_path, progress=lambda label, *_: reports.append(label))
    assert reports
    reports.clear()
    second = open_world(products=40, seed=2, home=tmp_path, progress=lambda label, *_: reports.append(label))
    assert not reports
    assert first.folder == second.folder != open_world(products=41, seed=2, home=tmp_path).folder
    assert (len(first), first.manifest.source) == (40, "world")


def test_a_whole_catalogue_has_no_problems(tmp_path: Path) -> None:
    assert catalogue_problems(open_world(products=300, home=tmp_path)) == ([], [])


def test_a_catalogue_of_other_products_is_found_out(tmp_path: Path) -> None:
    one, other = (open_world(products=40, seed=seed, home=tmp_path) for seed in (1, 2))
    name = "products-00000.arrow"
    (one.folder / name).write_bytes((other.folder / name).read_bytes())
    problems, _ = catalogue_problems(Catalogue(one.folder))
    assert problems == ["the products are not those of the manifest; build the catalogue again"]


def test_overlaps_of_the_original_ranges_are_told(tmp_path: Path) -> None:
    made = open_world(products=1_700, seed=1, home=tmp_path)
    path = made.folder / "manifest.json"
    path.write_text(path.read_text(encoding="utf-8").replace('"hash"', '"ranges"'), encoding="utf-8")
    problems, notes = catalogue_problems(Catalogue(made.folder))
    assert not problems
    assert any(note.startswith("synthetic test: ") and "ask for what a train instruction" in note for note in notes)


@pytest.mark.real
def test_the_real_catalogue_has_no_problems(real: Catalogue) -> None:
    assert catalogue_problems(real) == ([], [])
    requests = {split: len(Goals(real).requests(split)) for split in ("train", "dev", "test")}
    assert requests == {"train": 288, "dev": 35, "test": 81}
