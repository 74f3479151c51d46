"""The published libraries of papers, installed from invented files of their formats and from the real samples."""

import tarfile
from pathlib import Path

import pytest

from agentgym_r1.corpus import Paper
from agentgym_r1.data.get import LOADERS, get
from agentgym_r1.data.gold import PaperGold
from agentgym_r1.data.installed import installed_manifest, open_papers_of, open_tasks
from agentgym_r1.data.papers.pasa import year_of
from agentgym_r1.data.verify import content_of, verify
from agentgym_r1.errors import ConfigError, DataError


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def test_a_library_of_your_own_is_installed(home: Path, own_folder: Path) -> None:
    get("acl", source=own_folder, home=home)
    papers = open_papers_of("acl", home=home)
    assert papers[0] == Paper("k1", "Kites", "On kites.", ("Ann Oak",), 2001)
    assert papers[1].references == ("k1",)
    assert papers.citations(0) == [1]
    tasks = open_tasks("acl", "test", home=home)
    assert list(tasks.ids()) == ["q1", "q2"]
    assert tasks[0].gold == PaperGold(("k1", "k2"), ("Kites", "Larger kites"))
    assert tasks[0].kind == "flying"
    assert tasks[1].gold == PaperGold(("s1",), ("Sails",), ("Masts",))
    assert verify("acl", home=home).ok


def test_queries_without_a_paper_in_the_library_are_left_out(home: Path, own_folder: Path) -> None:
    (own_folder / "papers.jsonl").write_text('{"id": "o1", "title": "Oars", "abstract": ""}\n', encoding="utf-8")
    get("acl", source=own_folder, home=home)
    assert list(open_tasks("acl", "test", home=home).ids()) == ["2"]


def test_a_changed_library_is_noticed(home: Path, own_folder: Path) -> None:
    folder = get("acl", source=own_folder, home=home)
    path = folder / "papers.arrow"
    path.write_bytes(path.read_bytes()[:-1])
    assert verify("acl", home=home).problems == ("papers.arrow is missing or was changed: agentgym-r1 data get acl",)


def test_scifact_is_read_from_files_and_from_its_archive(
    home: Path, tmp_path: Path, scifact_folder: Path, scifact_archive: Path
) -> None:
    get("scifact", source=scifact_folder, home=home)
    get("scifact", source=scifact_archive, home=tmp_path / "other")
    papers = open_papers_of("scifact", home=home)
    assert papers[0] == Paper("7", "Salt", "It is white. It tastes.")
    for split in ("dev", "train"):
        one, other = (installed_manifest("scifact", home=place).splits[split] for place in (home, tmp_path / "other"))
        assert one.panel == other.panel
    (task,) = open_tasks("scifact", "dev", home=home)
    assert (task.id, task.prompt, task.gold) == ("2", "Salt tastes.", PaperGold(("7",), ("Salt",)))


def test_an_archive_that_is_not_scifacts_is_an_error(home: Path, tmp_path: Path) -> None:
    (tmp_path / "data.tar.gz").write_bytes(b"nothing")
    with pytest.raises(DataError, match="not SciFact's archive"):
        get("scifact", source=tmp_path, home=home)


@pytest.mark.parametrize("folder", ["elsewhere", "data/corpus.jsonl"])
def test_an_archive_without_scifacts_papers_is_an_error(folder: str, home: Path, tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "data.tar.gz", "w:gz") as archive:
        entry = tarfile.TarInfo(folder)
        entry.type = tarfile.DIRTYPE
        archive.addfile(entry)
    with pytest.raises(DataError, match="not SciFact's archive"):
        get("scifact", source=tmp_path, home=home)


def test_pasa_finds_gold_by_arxiv_id_and_by_title(home: Path, pasa_folder: Path) -> None:
    get("pasa", source=pasa_folder, home=home)
    papers = open_papers_of("pasa", home=home)
    assert papers[0] == Paper("1901.00001", "On Rope", "Rope.", year=2019, references=("cs/9912001",))
    assert papers[2].id == "bows"
    assert papers.references(2) == [0, 1]
    tasks = open_tasks("pasa", "dev", home=home)
    assert list(tasks.ids()) == ["d0", "d2"]
    assert tasks[0].gold == PaperGold(("1901.00001",), ("On Rope",), ("Lost",))
    assert verify("pasa", home=home).ok


def test_pasas_queries_are_installed_without_its_database(home: Path, pasa_folder: Path) -> None:
    for name in ("id2paper.json", "cs_paper_2nd.zip"):
        (pasa_folder / "paper_database" / name).unlink()
    get("pasa", source=pasa_folder, home=home)
    assert len(open_tasks("pasa", "dev", home=home)) == 3
    assert open_tasks("pasa", "dev", home=home)[1].gold == PaperGold((), (), ("Lost",))
    with pytest.raises(ConfigError, match="pasa has no library of papers"):
        open_papers_of("pasa", home=home)


def test_half_a_database_is_an_error(home: Path, pasa_folder: Path) -> None:
    (pasa_folder / "paper_database" / "id2paper.json").unlink()
    with pytest.raises(DataError, match=r"not the library's paper_database/id2paper\.json"):
        get("pasa", source=pasa_folder, home=home)


@pytest.mark.parametrize(
    ("arxiv_id", "year"), [("2101.00190", 2021), ("cs/9912001", 1999), ("0704.0001", 2007), ("bows", None)]
)
def test_an_arxiv_id_tells_the_year(arxiv_id: str, year: int | None) -> None:
    assert year_of(arxiv_id) == year


def test_litsearch_is_read_from_its_shards(home: Path, litsearch_folder: Path) -> None:
    get("litsearch", source=litsearch_folder, home=home)
    papers = open_papers_of("litsearch", home=home)
    assert [papers[0], papers[1]] == [
        Paper("11", "Bells", "", references=("12",)),
        Paper("12", "Gongs", "Gongs."),
    ]
    (task,) = open_tasks("litsearch", "test", home=home)
    assert (task.id, task.kind, task.gold.papers) == ("0", "inline", ("11", "12"))


def test_queries_without_their_library_are_an_error(home: Path, litsearch_folder: Path) -> None:
    for path in (litsearch_folder / "corpus_clean").iterdir():
        path.unlink()
    with pytest.raises(DataError, match="holds queries but not the library's"):
        get("litsearch", source=litsearch_folder, home=home)


def test_a_set_without_a_download_says_how_to_install_it(home: Path) -> None:
    with pytest.raises(ConfigError, match="acl has no download: agentgym-r1 data get acl --from DIR"):
        get("acl", home=home)


def test_a_query_with_the_papers_of_another_is_the_same_content(home: Path, own_folder: Path) -> None:
    get("acl", source=own_folder, home=home)
    first, second = open_tasks("acl", "test", home=home)
    assert content_of(first) != content_of(second)
    assert content_of(first).startswith("who writes about kites")


def test_every_library_prefers_evaluation_splits_to_train() -> None:
    for name in ("pasa", "litsearch", "scifact", "acl"):
        assert list(LOADERS[name].splits)[-1] == "train" or "train" not in LOADERS[name].splits


@pytest.mark.real
def test_the_acl_sample_is_installed_whole(samples: Path, home: Path) -> None:
    get("acl", source=samples / "data" / "paper_search" / "acl", home=home)
    tasks = open_tasks("acl", "test", home=home)
    assert len(tasks) == 131
    assert len(open_papers_of("acl", home=home)) == 5120
    assert sum(len(task.gold.papers) for task in tasks) == 160
    report = verify("acl", home=home)
    assert report.ok
    assert report.notes == ()


@pytest.mark.real
def test_the_scifact_sample_is_the_published_set(samples: Path, home: Path) -> None:
    get("scifact", source=samples / "data" / "paper_search" / "scifact", home=home)
    report = verify("scifact", home=home)
    assert report.tasks == {"dev": 300, "train": 809}
    assert report.problems == ("dev: 2 tasks have the question and answer of a train task: 870, 1292",)


@pytest.mark.real
def test_the_pasa_sample_has_the_published_queries(samples: Path, home: Path) -> None:
    get("pasa", source=samples / "data" / "paper_search" / "pasa", home=home)
    report = verify("pasa", home=home)
    assert report.ok
    assert report.tasks == {"test": 1000, "real": 50}
