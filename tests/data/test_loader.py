import pytest

from agentgym_r1.data.get import LOADERS
from agentgym_r1.errors import DataError


def found(name, folder, *files):
    for file in files:
        (folder / file).parent.mkdir(exist_ok=True)
        (folder / file).touch()
    return {
        split: [str(path.relative_to(folder)) for path in paths] for split, paths in LOADERS[name].find(folder).items()
    }


@pytest.mark.parametrize(
    ("name", "files", "expected"),
    [
        ("gsm8k", ["train.jsonl", "test.jsonl", "test_socratic.jsonl", "LICENSE"], ["test.jsonl", "train.jsonl"]),
        (
            "hotpotqa",
            [
                "hotpot_train_v1.1.json",
                "hotpot_dev_distractor_v1.json",
                "hotpot_dev_fullwiki_v1.json",
                "hotpot_dev_v1_simplified.json",
                "hotpot_sample_corpus.json",
            ],
            ["hotpot_dev_distractor_v1.json", "hotpot_train_v1.1.json"],
        ),
        (
            "hotpotqa",
            ["distractor/validation-00000-of-00001.parquet", "fullwiki/validation-00000-of-00001.parquet"],
            ["distractor/validation-00000-of-00001.parquet"],
        ),
        ("2wiki", ["train.json", "dev.json", "test.json", "id_aliases.json"], ["dev.json", "train.json"]),
        ("2wiki", ["train.parquet", "dev.parquet", "test.parquet"], ["dev.parquet", "train.parquet"]),
        (
            "musique",
            ["musique_ans_v1.0_train.jsonl", "musique_ans_v1.0_dev.jsonl", "musique_full_v1.0_dev.jsonl"],
            ["musique_ans_v1.0_dev.jsonl", "musique_ans_v1.0_train.jsonl"],
        ),
    ],
)
def test_official_names_are_found_and_others_left(tmp_path, name, files, expected):
    assert [path for paths in found(name, tmp_path, *files).values() for path in paths] == expected


def test_shards_of_a_split_are_taken_in_order(tmp_path):
    shards = ["train-00001-of-00002.parquet", "train-00000-of-00002.parquet"]
    assert found("hotpotqa", tmp_path, *shards) == {"train": sorted(shards)}


def test_json_is_preferred_to_parquet(tmp_path):
    files = ["train-00000-of-00001.parquet", "hotpot_train_v1.1.json"]
    assert found("hotpotqa", tmp_path, *files) == {"train": ["hotpot_train_v1.1.json"]}


def test_two_files_for_one_split_are_not_guessed_between(tmp_path):
    with pytest.raises(DataError, match=r"2 files for one split .hotpot_train_a\.json, hotpot_train_b\.json"):
        found("hotpotqa", tmp_path, "hotpot_train_a.json", "hotpot_train_b.json")


def test_a_folder_without_the_files_is_told_which_ones_are_wanted(tmp_path):
    with pytest.raises(DataError, match=r"holds none of the files test\.jsonl, train\.jsonl"):
        found("gsm8k", tmp_path, "other.jsonl")


def test_a_path_that_is_not_a_folder_is_told(tmp_path):
    with pytest.raises(DataError, match="nothing is not a folder"):
        LOADERS["gsm8k"].find(tmp_path / "nothing")
