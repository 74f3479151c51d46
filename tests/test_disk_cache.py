"""The cache on disk."""

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from agentgym_r1.disk_cache import DiskCache
from agentgym_r1.errors import DataError


def test_what_was_put_is_found_by_another_object(tmp_path: Path) -> None:
    DiskCache(tmp_path / "deep" / "cache.db").put({"a": b"1", "ü": b"\x00\xff"})
    DiskCache(tmp_path / "deep" / "cache.db").put({"a": b"2"})
    assert DiskCache(tmp_path / "deep" / "cache.db").get(["ü", "a", "b", "a"]) == {"a": b"2", "ü": b"\x00\xff"}


def test_nothing_is_written_before_something_is_put(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path / "cache.db")
    assert cache.get(["a"]) == {}
    cache.put({})
    assert list(tmp_path.iterdir()) == []


def test_thousands_of_keys_are_looked_up(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path / "cache.db")
    values = {str(number): bytes([number % 256]) for number in range(3000)}
    cache.put(values)
    assert cache.get([*values, "no"]) == values


def put_many(path: Path, start: int) -> None:
    for number in range(start, start + 20):
        DiskCache(path).put({str(number): b"x"})


def test_threads_and_processes_share_it(tmp_path: Path) -> None:
    path = tmp_path / "cache.db"
    code = (
        "import sys; from pathlib import Path; from agentgym_r1.disk_cache import DiskCache\n"
        "for number in range(40, 60): DiskCache(Path(sys.argv[1])).put({str(number): b'x'})"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(path)])
    threads = [threading.Thread(target=put_many, args=(path, start)) for start in (0, 20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert process.wait() == 0
    assert len(DiskCache(path).get(map(str, range(60)))) == 60


def test_a_foreign_file_is_an_error_that_names_it(tmp_path: Path) -> None:
    path = tmp_path / "cache.db"
    path.write_text("not a database at all, only some text\n" * 40, encoding="utf-8")
    with pytest.raises(DataError, match=r"cache\.db: not a usable cache"):
        DiskCache(path).get(["a"])
