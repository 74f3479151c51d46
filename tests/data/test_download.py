import errno
import os
from pathlib import Path

import pytest

from agentgym_r1.data.catalogue import RemoteFile
from agentgym_r1.data.download import ATTEMPTS, download
from agentgym_r1.errors import DataError

CONTENT = bytes(range(256)) * 4000


class Waits(list[float]):
    """Stands in for the clock: remembers the pauses and takes none."""

    def __call__(self, seconds: float) -> None:
        self.append(seconds)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def file(server) -> RemoteFile:
    server.files["set.bin"] = CONTENT
    return server.remote("set.bin")


def test_a_good_file_arrives_whole_and_alone(file, tmp_path):
    seen = []
    path = download(file, tmp_path / "new", progress=lambda *report: seen.append(report))
    assert path.read_bytes() == CONTENT
    assert names(path.parent) == ["set.bin"]
    assert seen[-1] == ("set.bin", len(CONTENT), len(CONTENT))


def test_a_file_that_is_there_is_not_fetched_again(server, file, tmp_path):
    download(file, tmp_path)
    download(file, tmp_path)
    assert len(server.requests) == 1


def test_a_file_that_is_there_but_not_the_pinned_one_is_replaced(file, tmp_path):
    (tmp_path / "set.bin").write_bytes(CONTENT[::-1])
    assert download(file, tmp_path).read_bytes() == CONTENT


def test_a_cut_connection_is_resumed_where_it_stopped(server, file, tmp_path):
    server.cut_after = [100_000, 200_000]
    waits = Waits()
    assert download(file, tmp_path, pause=waits).read_bytes() == CONTENT
    assert [(wanted, condition) for _, wanted, condition in server.requests] == [
        (None, None),
        ("bytes=100000-", '"one"'),
        ("bytes=300000-", '"one"'),
    ]
    assert waits == [1.0, 1.0], "an attempt that brought something new starts the count again"


def test_a_later_call_goes_on_where_an_earlier_one_stopped(server, file, tmp_path):
    server.cut_after = [400_000]
    server.always_cut_after = 0
    with pytest.raises(DataError, match="run the command again to go on"):
        download(file, tmp_path, pause=Waits())
    server.requests.clear()
    server.always_cut_after = None
    assert download(file, tmp_path).read_bytes() == CONTENT
    assert [wanted for _, wanted, _ in server.requests] == ["bytes=400000-"]


def test_a_file_that_changed_on_the_server_is_not_glued_to_the_old_part(server, file, tmp_path):
    server.cut_after = [400_000]
    server.always_cut_after = 0
    with pytest.raises(DataError):
        download(file, tmp_path, pause=Waits())
    server.always_cut_after = None
    server.etag = '"two"'
    server.files["set.bin"] = CONTENT[::-1]
    path = download(server.remote("set.bin"), tmp_path)
    assert path.read_bytes() == CONTENT[::-1]


def test_a_server_that_ignores_ranges_sends_all_again(server, file, tmp_path):
    server.ranges = False
    server.cut_after = [300_000]
    assert download(file, tmp_path, pause=Waits()).read_bytes() == CONTENT


def test_a_part_that_nothing_can_vouch_for_is_not_resumed(server, file, tmp_path):
    (tmp_path / "set.bin.part").write_bytes(b"something else")
    path = download(server.remote("set.bin", sha256=None, bytes=None), tmp_path)
    assert path.read_bytes() == CONTENT
    assert server.requests == [("set.bin", None, None)]


def test_a_cut_file_that_nothing_can_vouch_for_starts_again(server, file, tmp_path):
    server.etag = ""
    server.cut_after = [100_000]
    path = download(server.remote("set.bin", sha256=None), tmp_path, pause=Waits())
    assert path.read_bytes() == CONTENT
    assert [wanted for _, wanted, _ in server.requests] == [None, None]


def test_a_part_longer_than_the_file_is_thrown_away(server, file, tmp_path):
    (tmp_path / "set.bin.part").write_bytes(CONTENT + b"more")
    assert download(file, tmp_path).read_bytes() == CONTENT


def test_a_complete_part_is_only_checked(server, file, tmp_path):
    (tmp_path / "set.bin.part").write_bytes(CONTENT)
    assert download(file, tmp_path).read_bytes() == CONTENT
    assert server.requests == []


def test_a_complete_part_of_unknown_size_is_fetched_again(server, file, tmp_path):
    (tmp_path / "set.bin.part").write_bytes(CONTENT)
    assert download(server.remote("set.bin", bytes=None), tmp_path, pause=Waits()).read_bytes() == CONTENT
    assert [wanted for _, wanted, _ in server.requests] == [f"bytes={len(CONTENT)}-", None]


@pytest.mark.parametrize(("change", "what"), [({"sha256": "0" * 64}, "sha256"), ({"bytes": 7}, "7 bytes, got 1024000")])
def test_a_wrong_file_is_refused_and_leaves_nothing(server, file, tmp_path, change, what):
    with pytest.raises(DataError, match=f"not the published file: expected {what}.*try again") as caught:
        download(server.remote("set.bin", **change), tmp_path, pause=Waits())
    assert "\n" not in str(caught.value)
    assert names(tmp_path) == []


def test_a_connection_that_never_completes_ends_with_what_to_do(server, file, tmp_path):
    server.always_cut_after = 50_000
    server.ranges = False
    waits = Waits()
    with pytest.raises(DataError, match=r"cannot download .*run the command again.*--from"):
        download(file, tmp_path, pause=waits)
    assert waits == [1.0, 2.0, 4.0, 8.0]
    assert len(server.requests) == ATTEMPTS
    assert not (tmp_path / "set.bin").exists()


def test_a_missing_file_is_not_tried_twice(server, tmp_path):
    gone = RemoteFile("gone.bin", f"{server.url}/gone.bin")
    with pytest.raises(DataError, match=r"gone\.bin: HTTP 404.*homepage.*--from"):
        download(gone, tmp_path)
    assert len(server.requests) == 1
    assert names(tmp_path) == []


def test_a_busy_server_is_asked_again(server, file, tmp_path):
    server.failures = [503, 429, 500]
    waits = Waits()
    assert download(file, tmp_path, pause=waits).read_bytes() == CONTENT
    assert waits == [1.0, 2.0, 4.0]


def test_a_server_that_stays_broken_is_named(server, file, tmp_path):
    server.failures = [502] * ATTEMPTS
    with pytest.raises(DataError, match=f"HTTP 502 .{ATTEMPTS} attempts"):
        download(file, tmp_path, pause=Waits())


def test_nobody_listening_is_a_data_error(tmp_path):
    with pytest.raises(DataError, match="ConnectError"):
        download(RemoteFile("a", "http://127.0.0.1:9/a"), tmp_path, pause=Waits())


@pytest.mark.parametrize("known", [True, False])
def test_a_full_disk_is_told_before_anything_is_written(server, file, tmp_path, known):
    wanted = file if known else server.remote("set.bin", bytes=None, sha256=None)
    with pytest.raises(DataError, match=r"set\.bin needs 1\.0 MB .*0\.0 MB are free: .*AGENTGYM_R1_HOME"):
        download(wanted, tmp_path, free_space=lambda folder: 1000)
    assert names(tmp_path) == []


def test_a_disk_that_fills_up_on_the_way_is_told(file, tmp_path):
    def fill(label: str, done: int, total: int | None) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(DataError, match="No space left on device; free some space"):
        download(file, tmp_path, progress=fill)
    assert not (tmp_path / "set.bin").exists()


def test_a_folder_that_cannot_be_made_is_told(file, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("in the way", encoding="utf-8")
    with pytest.raises(DataError, match="cannot write to .*AGENTGYM_R1_HOME"):
        download(file, Path(blocked) / "below")
