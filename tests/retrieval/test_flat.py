"""Flat vector files: written in pieces, mapped, and refused when they are anything else."""

import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentgym_r1.errors import RetrievalError
from agentgym_r1.retrieval.flat import HEADER, append_rows, chunks, map_flat

ROWS = np.random.default_rng(0).standard_normal((10, 6)).astype(np.float32)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    append_rows(tmp_path / "v.faiss", ROWS, done=0, count=10)
    return tmp_path / "v.faiss"


def test_rows_written_in_pieces_are_the_same_file(path: Path, tmp_path: Path) -> None:
    other = tmp_path / "pieces.faiss"
    for start in range(0, 10, 4):
        append_rows(other, ROWS[start : start + 4], done=start, count=10)
    assert other.read_bytes() == path.read_bytes()
    assert np.array_equal(map_flat(other), ROWS)


def test_what_a_killed_write_left_is_overwritten(path: Path, tmp_path: Path) -> None:
    other = tmp_path / "killed.faiss"
    append_rows(other, ROWS[:4], done=0, count=10)
    with other.open("ab") as handle:
        handle.write(b"half a row")
    append_rows(other, ROWS[4:], done=4, count=10)
    assert other.read_bytes() == path.read_bytes()


def test_an_empty_file_of_vectors_maps(tmp_path: Path) -> None:
    append_rows(tmp_path / "v", np.empty((0, 6), np.float32), done=0, count=0)
    assert map_flat(tmp_path / "v").shape == (0, 6)


@given(rows=st.integers(1, 12))
def test_chunks_are_aligned_and_complete(rows: int) -> None:
    pieces = list(chunks(ROWS, rows=rows))
    assert np.array_equal(np.concatenate(pieces), ROWS)
    assert all(piece.flags.aligned and piece.flags.c_contiguous and len(piece) <= rows for piece in pieces)


def test_a_truncated_file_is_refused(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(RetrievalError, match="285 bytes expected, 284 found"):
        map_flat(path)


@pytest.mark.parametrize("data", [b"", b"IxFI", b"IHNf" + bytes(60)])
def test_another_kind_of_file_is_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "v").write_bytes(data)
    with pytest.raises(RetrievalError, match="begins with"):
        map_flat(tmp_path / "v")


def test_another_metric_is_refused(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[HEADER.size - 12 : HEADER.size - 8] = struct.pack("<i", 1)
    path.write_bytes(data)
    with pytest.raises(RetrievalError, match="metric 1"):
        map_flat(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(RetrievalError, match="no flat index there"):
        map_flat(tmp_path / "nothing")


@pytest.mark.dense
def test_the_file_is_faisss_own(path: Path, tmp_path: Path) -> None:
    faiss = pytest.importorskip("faiss", reason="needs the dense extra: pip install 'agentgym-r1[dense]'")
    index = faiss.IndexFlatIP(6)
    index.add(ROWS)
    faiss.write_index(index, str(tmp_path / "theirs"))
    assert (tmp_path / "theirs").read_bytes() == path.read_bytes()
