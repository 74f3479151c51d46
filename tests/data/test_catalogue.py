from urllib.parse import urlsplit

import pytest

from agentgym_r1.data.catalogue import CATALOGUE, data_set
from agentgym_r1.data.get import LOADERS
from agentgym_r1.errors import ConfigError

ENTRIES = list(CATALOGUE.values())


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_every_entry_can_be_downloaded_and_checked(entry):
    assert entry.licence
    assert urlsplit(entry.homepage).scheme == "https"
    assert len({file.name for file in entry.files}) == len(entry.files)
    assert entry.files or entry.note, "a set without files says where they come from"
    for file in entry.files:
        assert urlsplit(file.url).scheme == "https"
        assert "/" not in file.name
        assert file.bytes is None or file.bytes > 0
        assert file.sha256 is None or len(bytes.fromhex(file.sha256)) == 32
        assert not file.split or file.split in entry.tasks
        assert "/main/" not in file.url, "a branch moves; pin a revision"


def test_every_loader_has_an_entry_with_the_same_splits():
    libraries = {"pasa", "litsearch", "scifact", "acl"}
    assert {"gsm8k", "hotpotqa", "2wiki", "musique", "alfworld"} | libraries == set(LOADERS)
    for name in set(LOADERS) - {"acl"}:
        splits = set(LOADERS[name].splits)
        assert splits == set(data_set(name).tasks)
        assert {file.split for file in data_set(name).files} - {""} in (set(), splits)


def test_the_size_of_a_set_is_known_only_when_every_file_is():
    assert data_set("gsm8k").bytes == 4_166_206 + 749_738
    assert data_set("2wiki").bytes is None


def test_an_unknown_set_is_answered_with_the_closest_name():
    with pytest.raises(ConfigError, match="did you mean 'hotpotqa'"):
        data_set("hotpot-qa")
