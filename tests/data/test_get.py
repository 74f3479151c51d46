import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from agentgym_r1.data.catalogue import RemoteFile, data_set
from agentgym_r1.data.get import LOADERS, get, install, list_sets
from agentgym_r1.data.installed import is_installed, open_corpus_of, open_tasks
from agentgym_r1.data.manifest import read_manifest
from agentgym_r1.errors import ConfigError, DataError
from agentgym_r1.types import panel_hash


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def served_gsm8k(server, gsm8k_folder):
    """GSM8K's entry with the invented files on the test's server."""
    for name in ("train.jsonl", "test.jsonl"):
        server.files[name] = (gsm8k_folder / name).read_bytes()
    files = tuple(server.remote(f"{split}.jsonl", split=split) for split in ("train", "test"))
    return replace(data_set("gsm8k"), files=files)


def test_a_folder_with_official_files_is_installed(home, hotpotqa_folder):
    folder = get("hotpotqa", source=hotpotqa_folder, home=home)
    assert folder == home / "data" / "hotpotqa"
    assert names(folder) == ["corpus.arrow", "manifest.json", "tasks-dev.arrow", "tasks-train.arrow"]
    assert names(home / "data") == ["hotpotqa"]
    assert [task.id for task in open_tasks("hotpotqa", "dev", home=home)] == ["q10", "q11"]
    assert len(open_corpus_of("hotpotqa", home=home)) == 1 + 2 * 5


def test_the_manifest_says_what_was_installed_from_what(home, hotpotqa_folder):
    manifest = read_manifest(get("hotpotqa", source=hotpotqa_folder, home=home))
    assert (manifest.name, manifest.licence, manifest.origin) == ("hotpotqa", "CC BY-SA 4.0", "folder")
    assert manifest.written_by.startswith("agentgym-r1 ")
    (source,) = manifest.sources["dev"]
    assert source.name == "hotpot_dev_distractor_v1.json"
    assert source.bytes == (hotpotqa_folder / source.name).stat().st_size
    assert {split: record.tasks for split, record in manifest.splits.items()} == {"dev": 2, "train": 3}
    assert manifest.splits["dev"].panel == panel_hash(open_tasks("hotpotqa", "dev", home=home))
    assert manifest.corpus.documents == 11
    assert manifest.corpus.corpus_sha256 == open_corpus_of("hotpotqa", home=home).sha256


def test_every_supporting_id_is_in_the_corpus(home, hotpotqa_folder):
    get("hotpotqa", source=hotpotqa_folder, home=home)
    corpus = open_corpus_of("hotpotqa", home=home)
    for split in ("dev", "train"):
        for task in open_tasks("hotpotqa", split, home=home):
            titles = tuple(corpus[corpus.index_of(passage)].title for passage in task.gold.supporting)
            assert titles == task.gold.supporting_titles


def test_the_panel_of_an_evaluation_split_does_not_depend_on_train(home, hotpotqa_folder, tmp_path):
    train = hotpotqa_folder / "hotpot_train_v1.1.json"
    records = json.loads(train.read_text(encoding="utf-8"))
    records[0]["context"].append(["Tower 10", ["Another tower of that name."]])
    train.write_text(json.dumps(records), encoding="utf-8")
    both = read_manifest(get("hotpotqa", source=hotpotqa_folder, home=home))
    train.unlink()
    alone = read_manifest(get("hotpotqa", source=hotpotqa_folder, home=tmp_path / "other"))
    assert set(alone.splits) == {"dev"}
    assert alone.splits["dev"] == both.splits["dev"]


def test_a_set_without_paragraphs_has_no_corpus(home, gsm8k_folder):
    folder = get("gsm8k", source=gsm8k_folder, home=home)
    assert not (folder / "corpus.arrow").exists()
    assert read_manifest(folder).corpus is None


def test_installing_twice_gives_the_same_bytes(home, hotpotqa_folder):
    folder = get("hotpotqa", source=hotpotqa_folder, home=home)
    first = {path.name: path.read_bytes() for path in folder.iterdir()}
    get("hotpotqa", source=hotpotqa_folder, home=home)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == first
    assert names(home / "data") == ["hotpotqa"]


def test_a_failed_install_leaves_what_was_there(home, hotpotqa_folder):
    get("hotpotqa", source=hotpotqa_folder, home=home)
    train = hotpotqa_folder / "hotpot_train_v1.1.json"
    train.write_bytes(train.read_bytes()[:-200])
    with pytest.raises(DataError, match=r"hotpot_train_v1\.1\.json"):
        get("hotpotqa", source=hotpotqa_folder, home=home)
    assert names(home / "data") == ["hotpotqa"]
    assert len(open_tasks("hotpotqa", "train", home=home)) == 3


def test_a_failed_first_install_leaves_nothing(home, gsm8k_folder):
    (gsm8k_folder / "train.jsonl").write_text('{"question": "?", "answer": "none"}\n', encoding="utf-8")
    with pytest.raises(DataError, match="line 1"):
        get("gsm8k", source=gsm8k_folder, home=home)
    assert names(home / "data") == []
    assert not is_installed("gsm8k", home=home)


def test_a_file_without_records_is_refused(home, gsm8k_folder):
    (gsm8k_folder / "train.jsonl").write_text("", encoding="utf-8")
    with pytest.raises(DataError, match="gsm8k/train: the source holds no tasks"):
        get("gsm8k", source=gsm8k_folder, home=home)


def test_a_repeated_id_is_refused(home, hotpotqa_folder):
    dev = hotpotqa_folder / "hotpot_dev_distractor_v1.json"
    dev.write_text(json.dumps(json.loads(dev.read_text(encoding="utf-8")) * 2), encoding="utf-8")
    with pytest.raises(DataError, match="hotpotqa/dev holds the task id 'q10' twice"):
        get("hotpotqa", source=hotpotqa_folder, home=home)


def test_a_home_that_cannot_be_written_is_told(tmp_path, gsm8k_folder):
    blocked = tmp_path / "file"
    blocked.touch()
    with pytest.raises(DataError, match="cannot write to .*AGENTGYM_R1_HOME"):
        get("gsm8k", source=gsm8k_folder, home=blocked)


def test_readers_keep_their_tasks_while_the_set_is_replaced(home, gsm8k_folder):
    get("gsm8k", source=gsm8k_folder, home=home)
    tasks = open_tasks("gsm8k", "train", home=home)
    before = list(tasks)
    (gsm8k_folder / "train.jsonl").write_text('{"question": "?", "answer": "#### 1"}\n', encoding="utf-8")
    get("gsm8k", source=gsm8k_folder, home=home)
    assert list(tasks) == before
    assert len(open_tasks("gsm8k", "train", home=home)) == 1


def test_an_unknown_set_and_one_without_loader_are_config_errors(home):
    with pytest.raises(ConfigError, match="did you mean 'gsm8k'"):
        get("gsm8", home=home)
    with pytest.raises(ConfigError, match="get wiki-18 by hand from https://"):
        get("wiki-18", home=home)


def test_a_set_is_downloaded_installed_and_its_downloads_removed(home, served_gsm8k):
    seen = []
    folder = install(served_gsm8k, LOADERS["gsm8k"], home=home, progress=lambda *report: seen.append(report))
    manifest = read_manifest(folder)
    assert manifest.origin == "download"
    assert [source.sha256 for source in manifest.sources["test"]] == [served_gsm8k.files[1].sha256]
    assert len(open_tasks("gsm8k", "test", home=home)) == 2
    assert names(home / "downloads") == []
    assert {label for label, _, _ in seen} == {"train.jsonl", "test.jsonl"}


def test_a_whole_download_is_not_fetched_again_but_a_damaged_one_is(home, server, served_gsm8k):
    folder = install(served_gsm8k, LOADERS["gsm8k"], home=home)
    install(served_gsm8k, LOADERS["gsm8k"], home=home)
    assert len(server.requests) == 2
    (folder / "tasks-test.arrow").write_bytes(b"spoilt")
    install(served_gsm8k, LOADERS["gsm8k"], home=home)
    assert len(server.requests) == 4
    assert len(open_tasks("gsm8k", "test", home=home)) == 2


def test_a_download_of_other_files_than_the_pinned_ones_is_replaced(home, server, served_gsm8k):
    install(served_gsm8k, LOADERS["gsm8k"], home=home)
    server.files["test.jsonl"] = server.files["train.jsonl"]
    moved = replace(served_gsm8k, files=(served_gsm8k.files[0], server.remote("test.jsonl", split="test")))
    install(moved, LOADERS["gsm8k"], home=home)
    assert len(open_tasks("gsm8k", "test", home=home)) == 3


def test_a_download_replaces_a_sample_from_a_folder(home, gsm8k_folder, server, served_gsm8k):
    (gsm8k_folder / "test.jsonl").unlink()
    get("gsm8k", source=gsm8k_folder, home=home)
    assert set(read_manifest(install(served_gsm8k, LOADERS["gsm8k"], home=home)).splits) == {"test", "train"}


def test_a_failed_download_installs_nothing_and_the_next_call_goes_on(home, server, served_gsm8k):
    entry = replace(served_gsm8k, files=(*served_gsm8k.files, RemoteFile("gone", f"{server.url}/gone", "test")))
    with pytest.raises(DataError, match="HTTP 404"):
        install(entry, LOADERS["gsm8k"], home=home)
    assert not is_installed("gsm8k", home=home)
    install(served_gsm8k, LOADERS["gsm8k"], home=home)
    assert [name for name, _, _ in server.requests] == ["train.jsonl", "test.jsonl", "gone"]


def test_many_installs_at_once_leave_one_whole_set(home, hotpotqa_folder):
    with ThreadPoolExecutor(4) as pool:
        calls = [pool.submit(get, "hotpotqa", source=hotpotqa_folder, home=home) for _ in range(12)]
    assert {call.result() for call in calls} == {home / "data" / "hotpotqa"}
    assert names(home / "data") == ["hotpotqa"]
    assert len(open_tasks("hotpotqa", "dev", home=home)) == 2


def test_the_list_tells_what_is_installed_damaged_or_only_known(home, gsm8k_folder, hotpotqa_folder):
    get("gsm8k", source=gsm8k_folder, home=home)
    (get("hotpotqa", source=hotpotqa_folder, home=home) / "manifest.json").write_text("{", encoding="utf-8")
    rows = {row.entry.name: row for row in list_sets(home=home)}
    assert (rows["gsm8k"].installed, rows["gsm8k"].origin) == ({"test": 2, "train": 3}, "folder")
    assert (rows["hotpotqa"].installed, rows["hotpotqa"].origin) == (None, "damaged")
    assert (rows["musique"].installed, rows["musique"].origin, rows["musique"].loadable) == (None, "", True)
    assert not rows["wiki-18"].loadable
