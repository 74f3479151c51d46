import json

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from agentgym_r1.data.reading import json_rows, jsonl_rows, nested, parquet_rows
from agentgym_r1.errors import DataError


class Row(msgspec.Struct):
    name: str
    size: int


GOOD = [{"name": f"näme {number}", "size": number, "more": None} for number in range(700)]


def parquet(path, rows):
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


def read(path):
    if path.suffix == ".parquet":
        return list(parquet_rows(path, Row, reshape=lambda values: values))
    return list((json_rows if path.suffix == ".json" else jsonl_rows)(path, Row))


def write(path, rows):
    if path.suffix == ".parquet":
        return parquet(path, rows)
    lines = [json.dumps(row) for row in rows]
    path.write_text("[" + ",\n".join(lines) + "]" if path.suffix == ".json" else "\n\n".join(lines), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.parquet"])
def test_every_format_gives_the_same_rows_in_order(tmp_path, name):
    assert read(write(tmp_path / name, GOOD)) == [Row(row["name"], row["size"]) for row in GOOD]


@pytest.mark.parametrize(
    ("name", "place"), [("a.json", "record 302"), ("a.jsonl", "line 603"), ("a.parquet", "record 302")]
)
def test_a_wrong_field_is_named_with_file_place_expected_and_actual_type(tmp_path, name, place):
    rows = [*GOOD[:301], {"name": None, "size": 1}]
    with pytest.raises(DataError, match=rf"{name}, {place}: .*Expected `str`, got `null` - at `\$\.name`"):
        read(write(tmp_path / name, rows))


@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.parquet"])
def test_a_missing_field_is_named(tmp_path, name):
    with pytest.raises(DataError, match=rf"{name}, \w+ 1: .*missing required field `size`"):
        read(write(tmp_path / name, [{"name": "x"}]))


@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.parquet"])
def test_a_truncated_file_is_one_line_that_asks_whether_it_is_complete(tmp_path, name):
    path = write(tmp_path / name, GOOD)
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(DataError, match=rf"{name}.*is the file complete\?") as caught:
        read(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.parquet"])
def test_a_file_that_cannot_be_read_is_a_data_error(tmp_path, name):
    (tmp_path / name).mkdir()
    with pytest.raises(DataError, match=name):
        read(tmp_path / name)


def test_an_empty_json_file_is_said_to_be_empty(tmp_path):
    path = tmp_path / "a.json"
    path.touch()
    with pytest.raises(DataError, match="empty"):
        read(path)


def test_a_json_object_is_not_an_array(tmp_path):
    path = tmp_path / "a.json"
    path.write_text('{"name": "x", "size": 1}', encoding="utf-8")
    with pytest.raises(DataError, match="Expected `array`, got `object`"):
        read(path)


def test_bytes_that_are_not_utf8_are_a_data_error(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"name": "\xff\xfe", "size": 1}\n')
    with pytest.raises(DataError, match="line 1"):
        read(path)


def test_nested_columns_are_values_or_their_json():
    assert nested('[["a", 1]]') == nested([["a", 1]]) == [["a", 1]]
