"""Read the objects of a huge JSON array or of JSON lines one by one, in bounded memory, and go on where one stopped."""

import codecs
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from agentgym_r1.errors import DataError

CHUNK = 4 << 20
LARGEST_OBJECT = 64 << 20
_BETWEEN = re.compile(r"[ \t\r\n,\[]*")
_DECODER = json.JSONDecoder()


def objects(path: Path, *, start: int = 0) -> Iterator[tuple[dict[str, Any], int]]:
    """Yield each object with the byte offset behind it, from which a later call goes on.

    Args:
        path: a UTF-8 file that holds ``[{...}, ...]`` or one object a line.
        start: 0 or an offset that was yielded before.

    Raises:
        DataError: the file is missing, holds anything but objects, is cut off, or one object is larger than 64 MiB.
    """
    if not path.is_file():
        raise DataError(f"{path}: no such file")
    with path.open("rb") as handle:
        handle.seek(start)
        yield from _Reader(path, handle, start)


class _Reader:
    """Decodes from a text buffer that is refilled when no whole object is left in it."""

    def __init__(self, path: Path, handle: BinaryIO, offset: int) -> None:
        self._path, self._handle, self._offset = path, handle, offset
        self._decode = codecs.getincrementaldecoder("utf-8")().decode
        self._text, self._at, self._more = "", 0, True

    def __iter__(self) -> Iterator[tuple[dict[str, Any], int]]:
        while self._find_object():
            value, end = self._object()
            self._move_to(end)
            yield value, self._offset

    def _find_object(self) -> bool:
        """Move to the next "{" and return True, or return False at the end of the array or file."""
        while True:
            between = _BETWEEN.match(self._text, self._at)
            self._move_to(between.end() if between else self._at)
            if self._at < len(self._text):
                break
            if not self._refill():
                return False
        if self._text[self._at] == "{":
            return True
        if self._text[self._at] == "]":
            return False
        raise DataError(f"{self._path}: expected an object at byte {self._offset}, got {self._text[self._at :][:20]!r}")

    def _object(self) -> tuple[dict[str, Any], int]:
        """Return the object at the cursor and the position behind it in the buffer."""
        while True:
            try:
                return _DECODER.raw_decode(self._text, self._at)
            except json.JSONDecodeError as err:
                if len(self._text) - self._at > LARGEST_OBJECT or not self._refill():
                    raise DataError(
                        f"{self._path}: the object at byte {self._offset} is cut off or malformed ({err.msg}); "
                        "download the file again"
                    ) from err

    def _move_to(self, position: int) -> None:
        self._offset += len(self._text[self._at : position].encode())
        self._at = position

    def _refill(self) -> bool:
        """Append a chunk to what is not decoded yet; return False at the end of the file."""
        if not self._more:
            return False
        chunk = self._handle.read(CHUNK)
        self._more = bool(chunk)
        try:
            self._text = self._text[self._at :] + self._decode(chunk, final=not chunk)
        except UnicodeDecodeError as err:
            raise DataError(f"{self._path}: not UTF-8 text ({err.reason}); download the file again") from err
        self._at = 0
        return self._more
