"""Catalogues of this machine."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agentgym_r1.data.catalogue import CATALOGUE
from agentgym_r1.data.get import get, set_status
from agentgym_r1.data.verify import verify
from agentgym_r1.data.webshop import Catalogue, Goals
from agentgym_r1.data.webshop.installed import (
    catalogue_problems,
    get_catalogue,
    install_catalogue,
    installed_folder,
    installed_state,
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


def test_a_build_that_fails_leaves_what_was_there(official: Path, tmp_path: Path) -> None:
    first = install_catalogue("webshop", official, nouns=WordNouns(), home=tmp_path).manifest
    (official / "items_shuffle_1000.json").write_text("[{", encoding="utf-8")
    with pytest.raises(DataError, match="cut off or malformed"):
        install_catalogue("webshop", official, nouns=WordNouns(), home=tmp_path)
    assert open_installed(home=tmp_path).manifest == first


def test_the_commands_get_list_and_verify_it(official: Path, tmp_path: Path) -> None:
    assert get("webshop", source=official, home=tmp_path) == tmp_path / "data" / "webshop"
    status = set_status("webshop", home=tmp_path)
    assert (status.loadable, status.origin) == (True, "folder")
    assert status.installed is not None
    assert sum(status.installed.values()) == 6
    report = verify("webshop", home=tmp_path)
    assert (report.ok, dict(report.tasks)) == (True, dict(status.installed))
    assert set_status("webshop-full", home=tmp_path).installed is None


def test_a_damaged_catalogue_is_listed_as_damaged(official: Path, tmp_path: Path) -> None:
    folder = get("webshop", source=official, home=tmp_path)
    (folder / "products-00000.arrow").unlink()
    assert set_status("webshop", home=tmp_path).origin == "damaged"


def test_official_files_are_downloaded_and_built_once(official: Path, tmp_path: Path, server: Any) -> None:
    server.files = {path.name: path.read_bytes() for path in official.iterdir()}
    entry = replace(CATALOGUE["webshop"], files=tuple(server.remote(name) for name in server.files))
    folder = get_catalogue(entry, home=tmp_path)
    assert installed_state(entry, home=tmp_path)[1] == "download"
    assert not (tmp_path / "downloads" / "webshop").exists()
    asked = len(server.requests)
    assert get_catalogue(entry, home=tmp_path) == folder
    assert len(server.requests) == asked


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
