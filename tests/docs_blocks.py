"""The code blocks of a Markdown page, as the tests run them."""

import contextlib
import doctest
import io
import itertools
import os
import re
import shlex
import socket
import subprocess
import sys
import time
import types
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_FENCE = re.compile(r"^( *)```([^\n`]*)\n(.*?)^\1```[ ]*$", re.MULTILINE | re.DOTALL)
_INCLUDE = re.compile(r"^# include: (\S+)$", re.MULTILINE)
_COMMENT = re.compile(r"(^|\s+)#\s.*$", re.MULTILINE)
_NEEDS, _SERVER = "needs-", "server"
_PROGRAMS = {
    "agentgym-r1": f'exec "{sys.executable}" -m agentgym_r1.cli "$@"',
    "python": f'exec "{sys.executable}" "$@"',
    **{
        name: f"echo '{name} runs in no test: mark the block, for example {{.sh .needs-network}}' >&2; exit 1"
        for name in ("pip", "make", "ray", "apt-get", "sudo")
    },
}
_CHECKER = doctest.OutputChecker()
_FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, the classes and the title of its info string, and the code."""

    language: str
    classes: tuple[str, ...]
    title: str
    code: str

    @property
    def first_line(self) -> str:
        """The first line, without a comment behind it."""
        return _COMMENT.sub("", self.code.strip().split("\n")[0])

    @property
    def needs(self) -> str:
        """What it cannot run without, or nothing."""
        return next((name.removeprefix(_NEEDS) for name in self.classes if name.startswith(_NEEDS)), "")

    @property
    def is_output(self) -> bool:
        return self.language == "text" and self.title == "output"


def blocks_of(page: Path) -> list[Block]:
    """The blocks of a page in order, with what they include from the repository."""
    return [_block(match) for match in _FENCE.finditer(page.read_text(encoding="utf-8"))]


def _block(match: re.Match[str]) -> Block:
    indent, info, code = match.groups()
    code = "".join(line.removeprefix(indent) for line in code.splitlines(keepends=True))
    code = _INCLUDE.sub(lambda found: (ROOT / found.group(1)).read_text(encoding="utf-8"), code)
    title = re.search(r'title="([^"]*)"', info)
    words = re.sub(r'\w+="[^"]*"', "", info).strip(" {}").split()
    language, *classes = [word.removeprefix(".") for word in words] or ["text"]
    return Block(language, tuple(classes), title.group(1) if title else "", code)


@dataclass
class Session:
    """A reader who does what a page says, from top to bottom, in a folder of their own.

    ``examples`` lies in the folder, ``agentgym-r1`` and ``python`` are on the path.
    """

    folder: Path
    page: types.ModuleType = field(default_factory=lambda: types.ModuleType("page"))
    said: str = ""
    servers: list[subprocess.Popen[str]] = field(default_factory=list)
    ports: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        sys.modules["page"] = self.page  # what it defines can be pickled
        (self.folder / "examples").symlink_to(ROOT / "examples")
        tools = self.folder / ".bin"
        tools.mkdir()
        for name, script in _PROGRAMS.items():
            (tools / name).write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
            (tools / name).chmod(0o755)
        path = os.pathsep.join([str(tools), os.environ["PATH"]])
        python_path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
        self.env = {**os.environ, "PATH": path, "PYTHONPATH": python_path, "COLUMNS": "160"}

    def run(self, block: Block) -> None:
        """Run a block, or compare an output with what the block before it said."""
        code = re.sub(r"\b8[67]\d\d\b", lambda found: self._port(found.group()), block.code)
        if block.is_output:
            assert _CHECKER.check_output(block.code, self.said, _FLAGS), (
                f"the page says\n{block.code}\nit was\n{self.said}"
            )
        elif _SERVER in block.classes:
            self._start(code)
        elif block.language == "python":
            said = io.StringIO()
            with contextlib.redirect_stdout(said):
                exec(compile(code, block.first_line, "exec"), self.page.__dict__)
            self.said = said.getvalue()
        else:
            self.said = self.shell(code)

    def shell(self, code: str) -> str:
        """Run a shell script in the folder and return what it printed."""
        command = ["bash", "-euo", "pipefail", "-c", code]
        done = subprocess.run(command, cwd=self.folder, env=self.env, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, f"{code}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
        return done.stdout

    def _start(self, code: str) -> None:
        process = subprocess.Popen(
            ["bash", "-euc", f"exec {code.strip()}"],
            cwd=self.folder,
            env=self.env,
            text=True,
            stderr=subprocess.DEVNULL,
        )
        self.servers.append(process)
        port = int(self.ports[next(port for port in self.ports if self.ports[port] in code)])
        until = time.monotonic() + 60
        while time.monotonic() < until and process.poll() is None:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                return
            time.sleep(0.1)
        raise AssertionError(f"{code} did not listen at {port}")

    def _port(self, written: str) -> str:
        """A free port in place of the one that a page names."""
        if written not in self.ports:
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                self.ports[written] = str(free.getsockname()[1])
        return self.ports[written]

    def close(self) -> None:
        sys.modules.pop("page", None)
        for server in self.servers:
            server.terminate()
            server.wait(30)


def commands_of(block: Block) -> Iterator[list[str]]:
    """The words of each command of a shell block, without variables set before it and without redirections."""
    code = _COMMENT.sub("", block.code).replace("\\\n", " ")
    for line in code.splitlines():
        words = [word for word in shlex.split(line) if not re.fullmatch(r"\d?>.*|/dev/null", word)]
        for operator, command in itertools.groupby(words, key=lambda word: word in {"&&", "||", "|", "&", ";"}):
            found = list(itertools.dropwhile(re.compile(r"\w+=").match, command))
            if found and not operator:
                yield found
