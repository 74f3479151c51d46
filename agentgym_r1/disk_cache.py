"""A cache on disk that threads and processes share: text keys to bytes, in one SQLite file."""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from agentgym_r1.errors import DataError

_WAIT_SECONDS = 60.0
_KEYS_A_QUERY = 500


@dataclass(frozen=True, slots=True)
class DiskCache:
    """A file of remembered values; it is made when something is put in, and every call opens it anew.

    Attributes:
        path: the file.
    """

    path: Path

    def get(self, keys: Iterable[str]) -> dict[str, bytes]:
        """Return what is known of the keys; raise DataError when the file cannot be read."""
        wanted = list(dict.fromkeys(keys))
        if not wanted or not self.path.is_file():
            return {}
        found: dict[str, bytes] = {}
        with self._open() as connection:
            for start in range(0, len(wanted), _KEYS_A_QUERY):
                some = wanted[start : start + _KEYS_A_QUERY]
                marks = ",".join("?" * len(some))
                query = f"SELECT key, value FROM entries WHERE key IN ({marks})"  # noqa: S608 - only question marks
                found.update(connection.execute(query, some))
        return found

    def put(self, values: Mapping[str, bytes]) -> None:
        """Remember values; raise DataError when the file cannot be written."""
        if not values:
            return
        with self._open() as connection, connection:
            connection.executemany("INSERT OR REPLACE INTO entries VALUES (?, ?)", values.items())

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self.path, timeout=_WAIT_SECONDS)) as connection:
                connection.execute("PRAGMA journal_mode=WAL")
                connection.execute("CREATE TABLE IF NOT EXISTS entries (key TEXT PRIMARY KEY, value BLOB NOT NULL)")
                yield connection
        except (sqlite3.Error, OSError) as err:
            raise DataError(f"{self.path}: not a usable cache ({err}); choose another file or delete it") from err
