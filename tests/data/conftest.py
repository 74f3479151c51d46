"""A real HTTP server with the faults that servers and networks have, and invented files of the official formats."""

import hashlib
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from agentgym_r1.data.catalogue import RemoteFile


@dataclass
class FileServer:
    """Serves ``files``; every request is noted as (path, Range, If-Range)."""

    url: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    requests: list[tuple[str, str | None, str | None]] = field(default_factory=list)
    failures: list[int] = field(default_factory=list)
    cut_after: list[int | None] = field(default_factory=list)
    always_cut_after: int | None = None
    ranges: bool = True
    etag: str = '"one"'

    def remote(self, name: str, **changes: object) -> RemoteFile:
        """Return the catalogue entry of a file that is served."""
        data = self.files[name]
        values = {"name": name, "url": f"{self.url}/{name}", "bytes": len(data), "sha256": sha256(data)}
        return RemoteFile(**{**values, **changes})

    def next_cut(self) -> int | None:
        return self.cut_after.pop(0) if self.cut_after else self.always_cut_after


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _handler(server: FileServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name = self.path.lstrip("/")
            wanted, condition = self.headers.get("Range"), self.headers.get("If-Range")
            server.requests.append((name, wanted, condition))
            if server.failures:
                return self.send_error(server.failures.pop(0))
            if name not in server.files:
                return self.send_error(404)
            data = server.files[name]
            start = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted and server.ranges else 0
            if condition is not None and condition != server.etag:
                start = 0
            if start >= len(data) > 0:
                return self.send_error(416)
            self.send_response(206 if start else 200)
            if start:
                self.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
            if server.etag:
                self.send_header("ETag", server.etag)
            self.send_header("Content-Length", str(len(data) - start))
            self.end_headers()
            cut = server.next_cut()
            self.wfile.write(data[start:] if cut is None else data[start : start + cut])
            return None

        def log_message(self, *_: object) -> None:
            """Keep the test's output clean."""

    return Handler


@pytest.fixture
def server() -> Iterator[FileServer]:
    files = FileServer()
    http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(files))
    http.handle_error = lambda *_: None  # a client that hangs up early is part of the tests
    files.url = f"http://127.0.0.1:{http.server_address[1]}"
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield files
    http.shutdown()
    thread.join()
    http.server_close()


def problem(number: int) -> dict[str, str]:
    """An invented word problem in GSM8K's format."""
    eggs = number + 2
    return {
        "question": f"Hen number {number} lays {eggs} eggs a day. How many in a week?",
        "answer": f"Seven days times {eggs} is <<{eggs}*7={eggs * 7}>>{eggs * 7} eggs.\n#### {eggs * 7}",
    }


def question(number: int) -> dict[str, Any]:
    """An invented question in HotpotQA's JSON format: two paragraphs of evidence and one that distracts."""
    return {
        "_id": f"q{number}",
        "question": f"In which valley was the clockmaker of tower {number} born?",
        "answer": f"Valley {number}",
        "type": "bridge",
        "level": "easy",
        "supporting_facts": [[f"Tower {number}", 0], [f"Clockmaker {number}", 1]],
        "context": [
            ["Common ground", ["Grass grows.", " Sheep eat it."]],
            [f"Clockmaker {number}", ["A quiet life.", f" Born in Valley {number}."]],
            [f"Tower {number}", [f"Its clock is by Clockmaker {number}."]],
        ],
    }


@pytest.fixture
def gsm8k_folder(tmp_path: Path) -> Path:
    """Invented files by GSM8K's names: 3 problems to train on, 2 to test with."""
    folder = tmp_path / "gsm8k"
    folder.mkdir()
    for name, numbers in (("train.jsonl", range(3)), ("test.jsonl", range(10, 12))):
        lines = "".join(json.dumps(problem(number)) + "\n" for number in numbers)
        (folder / name).write_text(lines, encoding="utf-8")
    return folder


@pytest.fixture
def hotpotqa_folder(tmp_path: Path) -> Path:
    """Invented files by HotpotQA's official names: 3 questions to train on, 2 to develop with."""
    folder = tmp_path / "hotpotqa"
    folder.mkdir()
    for name, numbers in (("hotpot_train_v1.1.json", range(3)), ("hotpot_dev_distractor_v1.json", range(10, 12))):
        records = [question(number) for number in numbers]
        (folder / name).write_text(json.dumps(records), encoding="utf-8")
    return folder
