import json
from pathlib import Path

import pytest

from agentgym_r1.data.get import get
from agentgym_r1.data.installed import folder_of, is_installed, open_corpus_of, open_tasks
from agentgym_r1.errors import ConfigError, DataError
from agentgym_r1.home import home


@pytest.fixture
def place(tmp_path, hotpotqa_folder, gsm8k_folder) -> Path:
    get("hotpotqa", source=hotpotqa_folder, home=tmp_path)
    get("gsm8k", source=gsm8k_folder, home=tmp_path)
    return tmp_path


def edit_manifest(place, **changes):
    path = place / "data" / "hotpotqa" / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), **changes}), encoding="utf-8")


def test_the_default_place_is_the_librarys_home():
    assert folder_of("gsm8k") == home() / "data" / "gsm8k"


def test_a_set_that_is_not_installed_is_told_how_to_get(tmp_path):
    assert not is_installed("musique", home=tmp_path)
    for call in (lambda: open_tasks("musique", "dev", home=tmp_path), lambda: open_corpus_of("musique", home=tmp_path)):
        with pytest.raises(DataError, match="musique is not installed in .*: agentgym-r1 data get musique"):
            call()


def test_unknown_sets_and_splits_are_config_errors(place):
    with pytest.raises(ConfigError, match="did you mean 'hotpotqa'"):
        is_installed("hotpot_qa", home=place)
    with pytest.raises(ConfigError, match="unknown split of hotpotqa 'test'. Known: dev, train"):
        open_tasks("hotpotqa", "test", home=place)


def test_a_set_without_a_corpus_says_so(place):
    with pytest.raises(ConfigError, match="gsm8k has no corpus"):
        open_corpus_of("gsm8k", home=place)


def test_a_manifest_of_a_later_version_asks_for_an_upgrade(place):
    edit_manifest(place, format=2, splits="in another form")
    with pytest.raises(DataError, match=r"format 2, this version reads up to 1: upgrade agentgym-r1"):
        open_tasks("hotpotqa", "dev", home=place)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": 1}', '{"format": "1"}'])
def test_a_damaged_manifest_is_told(place, text):
    (place / "data" / "hotpotqa" / "manifest.json").write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=r"manifest\.json is damaged .*agentgym-r1 data get hotpotqa"):
        open_tasks("hotpotqa", "dev", home=place)


def test_a_file_of_other_length_than_the_manifest_says_is_told(place):
    folder = place / "data" / "hotpotqa"
    (folder / "tasks-dev.arrow").write_bytes((folder / "tasks-train.arrow").read_bytes())
    with pytest.raises(DataError, match="holds 3 tasks, its manifest says 2: agentgym-r1 data get hotpotqa"):
        open_tasks("hotpotqa", "dev", home=place)


def test_a_missing_or_truncated_corpus_is_told(place):
    corpus = place / "data" / "hotpotqa" / "corpus.arrow"
    corpus.write_bytes(corpus.read_bytes()[:-100])
    with pytest.raises(DataError, match=r"corpus\.arrow"):
        open_corpus_of("hotpotqa", home=place)
    corpus.unlink()
    with pytest.raises(DataError, match=r"corpus\.arrow"):
        open_corpus_of("hotpotqa", home=place)
