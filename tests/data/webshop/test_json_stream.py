"""Reading huge JSON arrays object by object."""

import json
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentgym_r1.data.webshop import json_stream
from agentgym_r1.data.webshop.json_stream import objects
from agentgym_r1.errors import DataError

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.lists(st.dictionaries(TEXT, VALUES, max_size=4), max_size=6)


@given(OBJECTS, st.booleans(), st.booleans(), st.sampled_from([None, 2]))
def test_an_array_and_json_lines_give_back_what_was_written(
    tmp_path_factory: pytest.TempPathFactory, values: list[dict], lines: bool, ascii_only: bool, indent: int | None
) -> None:
    path = tmp_path_factory.mktemp("json") / "objects.json"
    if lines:
        text = "".join(json.dumps(value, ensure_ascii=ascii_only) + "\n" for value in values)
    else:
        text = json.dumps(values, ensure_ascii=ascii_only, indent=indent)
    path.write_text(text, encoding="utf-8")
    found = list(objects(path))
    assert [value for value, _ in found] == values
    for place, (_, offset) in enumerate(found, start=1):
        assert [value for value, _ in objects(path, start=offset)] == values[place:]


def test_objects_are_found_across_chunks_of_multi_byte_text(tmp_path: Path) -> None:
    path = tmp_path / "objects.json"
    values = [{"name": "çğ漢" * 40_000, "number": number} for number in range(30)]
    path.write_text(json.dumps(values, ensure_ascii=False), encoding="utf-8")
    assert path.stat().st_size > 2 * json_stream.CHUNK
    found = list(objects(path))
    assert [value for value, _ in found] == values
    assert [value["number"] for value, _ in objects(path, start=found[11][1])] == list(range(12, 30))


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    peaks = []
    for count in (6_000, 18_000):
        path = tmp_path / f"{count}.json"
        path.write_text(json.dumps([{"text": "x" * 2_000, "number": n} for n in range(count)]), encoding="utf-8")
        tracemalloc.start()
        assert sum(1 for _ in objects(path)) == count
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.1 * peaks[0] < 40_000_000


def test_a_file_that_is_cut_off_names_the_byte(tmp_path: Path) -> None:
    path = tmp_path / "cut.json"
    path.write_text('[{"a": 1}, {"a": "unfinis', encoding="utf-8")
    with pytest.raises(DataError, match=r"cut\.json: the object at byte 11 is cut off"):
        list(objects(path))


def test_anything_but_objects_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "numbers.json"
    path.write_text("[{}, 17]", encoding="utf-8")
    with pytest.raises(DataError, match="expected an object at byte 5, got '17]'"):
        list(objects(path))


def test_bytes_that_are_not_utf8_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "latin.json"
    path.write_bytes('[{"name": "é"}]'.encode("latin-1"))
    with pytest.raises(DataError, match="not UTF-8"):
        list(objects(path))


def test_a_missing_file_says_so(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file"):
        list(objects(tmp_path / "none.json"))
