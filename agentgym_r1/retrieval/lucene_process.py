"""The parent's end of the process in which Java lives."""

import contextlib
import logging
import os
import subprocess
import sys
import tempfile
import threading
import weakref
from pathlib import Path
from typing import IO, Any

import msgspec

from agentgym_r1.errors import RetrievalError
from agentgym_r1.retrieval import lucene_worker
from agentgym_r1.retrieval.lucene_java import find_jar, find_java

logger = logging.getLogger(__name__)


class JavaDied(RetrievalError):
    """The process ended before it answered."""


class JavaProcess:
    """A process with Java and Anserini, asked over a pipe, by one thread at a time.

    A forked child must make its own: see ``owner``. The process ends with its parent.

    Raises:
        MissingExtra: no Java, pyserini or pyjnius.
        RetrievalError: Java does not start.
    """

    def __init__(self) -> None:
        java, jar = find_java(), find_jar()
        self.owner = os.getpid()
        self._lock = threading.Lock()
        self._log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the process that writes it
        self._process = subprocess.Popen(  # noqa: S603 - our own file under this interpreter
            [sys.executable, "-P", str(Path(lucene_worker.__file__))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env={**os.environ, "JAVA_HOME": str(java.home)},
            process_group=0,
        )
        self._end = weakref.finalize(self, _end, self._process, self._log, self.owner)
        try:
            version = self.ask("start", jar=str(jar), options=java.options)["java"]
        except RetrievalError as err:
            self.close()
            raise RetrievalError(f"Java {java.version} at {java.home} does not start: {err}") from err
        logger.info("Java %s of %s runs as process %d", version, java.home, self.process_id)

    @property
    def process_id(self) -> int:
        """The process with Java in it."""
        return self._process.pid

    def ask(self, do: str, **arguments: Any) -> dict[str, Any]:
        """Return the answer to one request; see ``lucene_worker.Worker``.

        Raises:
            JavaDied: the process ended before it answered.
            RetrievalError: Java raised an exception, which the message repeats.
        """
        data = msgspec.json.encode({"do": do, **arguments}) + b"\n"
        with self._lock:
            line = self._exchange(data)
        reply: dict[str, Any] = msgspec.json.decode(line)
        if "error" in reply:
            raise RetrievalError(reply["error"])
        return reply

    def close(self) -> None:
        """End the process; a second call does nothing."""
        self._end()

    def _exchange(self, data: bytes) -> bytes:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        try:
            stdin.write(data)
            stdin.flush()
            line = stdout.readline()
        except (OSError, ValueError):
            line = b""
        if not line.endswith(b"\n"):
            raise JavaDied(self._last_words())
        return line

    def _last_words(self) -> str:
        if self._log.closed:
            return "the Java process was closed"
        code = self._process.wait()
        self._log.seek(0)
        said = self._log.read().decode(errors="replace").strip().splitlines()
        return f"the Java process ended with code {code} ({said[-1] if said else 'it said nothing'})"


def _end(process: subprocess.Popen[bytes], log: IO[bytes], owner: int) -> None:
    """End the process, which has nothing to save; a forked child leaves that to the owner."""
    if os.getpid() != owner:
        return
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout, log):
        if stream is not None:
            with contextlib.suppress(OSError):  # it may have died with input unread
                stream.close()
