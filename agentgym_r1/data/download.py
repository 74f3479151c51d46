"""Fetch one file over HTTP: resumed where it stopped, checked by size and sha256, whole or not there at all."""

import errno
import hashlib
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from agentgym_r1.data.catalogue import RemoteFile
from agentgym_r1.errors import DataError

ATTEMPTS = 5
TIMEOUT = httpx.Timeout(30.0)

Progress = Callable[[str, int, int | None], None]
"""Called with a label, the bytes or records done, and their total where it is known."""


def free_bytes(folder: Path) -> int:
    """Return the free disk space of a folder."""
    return shutil.disk_usage(folder).free


def sha256_file(path: Path) -> str:
    """Return the sha256 (hex) of a file."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def no_progress(label: str, done: int, total: int | None) -> None:
    """Report nothing."""


def download(
    file: RemoteFile,
    folder: Path,
    *,
    progress: Progress = no_progress,
    free_space: Callable[[Path], int] = free_bytes,
    pause: Callable[[float], None] = time.sleep,
) -> Path:
    """Download a file into a folder and return its path.

    What came stays in ``NAME.part`` until it is complete, so that a later call goes on where this one stopped; the
    name itself only ever holds a whole, checked file. A file that is already there and right is not fetched again.

    Args:
        file: what to download; a size or hash of None is not checked.
        folder: made when missing.
        progress: called as bytes arrive.
        free_space: tells the free bytes of a folder.
        pause: waits between attempts, given seconds: 1, 2, 4, 8 after attempts in a row that brought nothing new.

    Raises:
        DataError: the file is not there, the server or network keeps failing, size or hash is wrong, or the disk is
            full or read-only.
    """
    target = folder / file.name
    if target.exists() and not _difference(file, target):
        return target
    with disk_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with httpx.Client(follow_redirects=True, timeout=TIMEOUT) as client:
            _fetch(_Fetch(file, folder, client, progress, free_space), pause)
    return target


class _Retry(Exception):
    """An attempt failed in a way that the next one may not."""


class _Fetch:
    """One file on its way: the part that is there, and the next request for the rest."""

    def __init__(
        self,
        file: RemoteFile,
        folder: Path,
        client: httpx.Client,
        progress: Progress,
        free_space: Callable[[Path], int],
    ) -> None:
        self.file = file
        self.part = folder / f"{file.name}.part"
        self._validator = folder / f"{file.name}.part.etag"
        self._client = client
        self._progress = progress
        self._free_space = free_space

    @property
    def have(self) -> int:
        """The bytes that have come so far."""
        return self.part.stat().st_size if self.part.exists() else 0

    def restart(self) -> None:
        """Forget what came so far."""
        self.part.unlink(missing_ok=True)
        self._validator.unlink(missing_ok=True)

    def attempt(self) -> None:
        """Ask for what is missing and append it; raise _Retry when the connection fails."""
        if not self._can_resume():
            self.restart()
        have = self.have
        if self.file.bytes is not None and have == self.file.bytes:
            return
        try:
            with self._client.stream("GET", self.file.url, headers=self._headers(have)) as response:
                self._check_status(response)
                total = self._total(response)
                self._check_space(total)
                self._validator.write_text(_validator_of(response), encoding="utf-8")
                self._receive(response, total)
        except httpx.TransportError as err:
            raise _Retry(f"{type(err).__name__}: {err}") from err
        except (httpx.HTTPError, httpx.InvalidURL) as err:
            raise DataError(f"cannot download {self.file.url}: {err}") from err

    def finish(self) -> None:
        """Check size and hash, and give the file its name."""
        difference = _difference(self.file, self.part)
        if difference:
            self.restart()
            raise DataError(
                f"{self.file.url} is not the published file: {difference}; "
                "it was deleted: try again, or get the file elsewhere and pass its folder with --from"
            )
        self.part.replace(self.part.with_name(self.file.name))
        self._validator.unlink(missing_ok=True)

    def _can_resume(self) -> bool:
        """Return whether the part is worth keeping: only when something can tell that the rest belongs to it."""
        known = self.file.sha256 is not None or (self._validator.exists() and self._validator.stat().st_size > 0)
        return known and (self.file.bytes is None or self.have <= self.file.bytes)

    def _headers(self, have: int) -> dict[str, str]:
        headers = {"Accept-Encoding": "identity"}
        if have:
            headers["Range"] = f"bytes={have}-"
            validator = self._validator.read_text(encoding="utf-8") if self._validator.exists() else ""
            if validator:
                headers["If-Range"] = validator
        return headers

    def _check_status(self, response: httpx.Response) -> None:
        status = response.status_code
        if status == httpx.codes.OK:
            self.part.unlink(missing_ok=True)
        elif status == httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE:
            self.restart()
            raise _Retry("the server has no such range")
        elif status == httpx.codes.TOO_MANY_REQUESTS or status >= httpx.codes.INTERNAL_SERVER_ERROR:
            raise _Retry(f"HTTP {status}")
        elif status != httpx.codes.PARTIAL_CONTENT:
            raise DataError(
                f"cannot download {self.file.url}: HTTP {status} {response.reason_phrase}; "
                "get the file from the data set's homepage and pass its folder with --from"
            )

    def _total(self, response: httpx.Response) -> int | None:
        """Return the size of the whole file as the server tells it, or as it is published."""
        length = response.headers.get("Content-Length", "")
        if response.status_code == httpx.codes.PARTIAL_CONTENT:
            start, _, total = response.headers.get("Content-Range", "").removeprefix("bytes ").partition("/")
            if not start.startswith(f"{self.have}-"):
                self.restart()
                raise _Retry(f"the server sent the range {start!r}")
            length = total
        return int(length) if length.isdecimal() else self.file.bytes

    def _check_space(self, total: int | None) -> None:
        if total is None:
            return
        missing, free = total - self.have, self._free_space(self.part.parent)
        if missing > free:
            raise DataError(
                f"{self.file.name} needs {_megabytes(missing)} in {self.part.parent}, {_megabytes(free)} are free: "
                "free some, or set AGENTGYM_R1_HOME to a larger disk"
            )

    def _receive(self, response: httpx.Response, total: int | None) -> None:
        with self.part.open("ab") as handle:
            for chunk in response.iter_raw():
                handle.write(chunk)
                self._progress(self.file.name, handle.tell(), total)
        if total is not None and self.have < total:
            raise _Retry(f"the connection ended after {self.have} of {total} bytes")


def _fetch(fetch: _Fetch, pause: Callable[[float], None]) -> None:
    """Try until the file is complete or ``ATTEMPTS`` in a row brought nothing new."""
    furthest, failures = fetch.have, 0
    while True:
        try:
            fetch.attempt()
        except _Retry as err:
            failures = 1 if fetch.have > furthest else failures + 1
            furthest = max(furthest, fetch.have)
            if failures == ATTEMPTS:
                raise DataError(
                    f"cannot download {fetch.file.url}: {err} ({ATTEMPTS} attempts); run the command again to go on, "
                    "or get the file elsewhere and pass its folder with --from"
                ) from err
            pause(2.0 ** (failures - 1))
        else:
            fetch.finish()
            return


def _difference(file: RemoteFile, path: Path) -> str:
    """Return how a file on disk differs from the published one, or nothing."""
    size = path.stat().st_size
    if file.bytes is not None and size != file.bytes:
        return f"expected {file.bytes} bytes, got {size}"
    if file.sha256 is not None and (actual := sha256_file(path)) != file.sha256:
        return f"expected sha256 {file.sha256}, got {actual}"
    return ""


@contextmanager
def disk_errors(folder: Path, *, remedy: str = "set AGENTGYM_R1_HOME") -> Iterator[None]:
    """Turn the operating system's refusals into one line that says what to do."""
    try:
        yield
    except OSError as err:
        todo = "free some space" if err.errno == errno.ENOSPC else "make it writable"
        raise DataError(f"cannot write to {folder}: {err.strerror}; {todo}, or {remedy}") from err


def _validator_of(response: httpx.Response) -> str:
    """Return what If-Range may send (RFC 9110, 13.1.5): a strong ETag, else the date of the last change, else ""."""
    etag: str = response.headers.get("ETag", "")
    changed: str = response.headers.get("Last-Modified", "")
    return etag if etag and not etag.startswith("W/") else changed


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"
