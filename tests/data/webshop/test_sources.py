"""The official files."""

import json
from pathlib import Path

import pytest

from agentgym_r1.data.webshop import OfficialFiles, find_official
from agentgym_r1.data.webshop.products import Instruction, Listing
from agentgym_r1.errors import DataError
from tests.data.webshop.invented import RECORDS, record


def test_the_three_files_of_a_folder_are_found(official: Path) -> None:
    source = find_official(official)
    names = ["items_shuffle_1000.json", "items_ins_v2_1000.json", "items_human_ins.json"]
    assert [file.name for file in source.files()] == names
    assert (source.name, source.kind, source.is_full) == ("items_shuffle_1000", "real", False)


def test_records_come_with_what_the_other_files_say(official: Path) -> None:
    found = list(find_official(official).records(0))
    assert [entry["asin"] for entry, _, _ in found] == [entry["asin"] for entry in RECORDS]
    listing = found[0][1]
    assert listing.attributes == ("brass made", "easy play")
    assert listing.synthetic == Instruction("Get a whistle", ("easy play",))
    assert listing.human[0] == Instruction("a red one please.", ("brass made",), ("red | gold",))
    assert found[2][1] == Listing()


def test_reading_goes_on_behind_an_offset(official: Path) -> None:
    source = find_official(official)
    everything = list(source.records(0))
    assert list(source.records(everything[3][2])) == everything[4:]


def test_json_lines_with_products_inside_are_read_too_with_their_own_instructions(tmp_path: Path) -> None:
    written = {"instruction": "one", "instruction_attributes": ["x"], "instruction_options": ["y"], "worker_id": "W"}
    line = {"id": "A1", "contents": "...", "product": record("A1", instructions=[written])}
    (tmp_path / "resources_1k_documents.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
    (tmp_path / "items_ins_v2_1000.json").write_text("{}", encoding="utf-8")
    ((entry, listing, _),) = find_official(tmp_path).records(0)
    assert entry["asin"] == "A1"
    assert listing.human == (Instruction("one", ("x",), ("y",)),)


def test_a_folder_without_the_files_says_which_and_how_to_get_them(tmp_path: Path) -> None:
    message = r"items_shuffle\.json, and items_ins_v2\.json; get them with: agentgym-r1 data"
    with pytest.raises(DataError, match=message):
        find_official(tmp_path, full=True)


def test_a_malformed_side_file_is_named(official: Path) -> None:
    (official / "items_ins_v2_1000.json").write_text('{"A1": {"attributes": 7}}', encoding="utf-8")
    with pytest.raises(DataError, match=r"items_ins_v2_1000\.json cannot be read \(Expected `array`"):
        list(find_official(official).records(0))


def test_a_missing_side_file_is_named(official: Path) -> None:
    source = OfficialFiles(official / "items_shuffle_1000.json", official / "none.json")
    with pytest.raises(DataError, match=r"none\.json cannot be read"):
        source.files()
