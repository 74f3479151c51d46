"""The original engine: TextWorld plays the game, in a process of its own that keeps its globals, leaks and crashes."""

import contextlib
import importlib.metadata
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import IO, Any, Final

from agentgym_r1.envs.alfworld import textworld_worker
from agentgym_r1.envs.alfworld.engine import Outcome, canonical
from agentgym_r1.envs.alfworld.text import PHRASES
from agentgym_r1.errors import ConfigError, DataError, EpisodeError, MissingExtra
from agentgym_r1.types import digest

_FIRST_WITHOUT: Final = (3, 13)
_PACKAGES: Final = ("textworld", "alfworld", "fast-downward-textworld")
_GOAL_MARK: Final = "UNKNOWN GOAL"
"""What the grammar of the alfworld package says where a game's task belongs."""
_WITHOUT_EFFECT: Final = ("look", "inventory", "help", "examine")


class TextWorldEngine:
    """Plays a game with TextWorld 1.7 and ALFWorld 0.4, about 10 steps a second.

    Args:
        problem: the PDDL problem of the game.
        goal: the task in words, without the final full stop; it only shows in the first text.
        name: the file or task, for errors.

    Raises:
        ConfigError: Python is 3.13 or later.
        MissingExtra: TextWorld or ALFWorld is not installed.
    """

    def __init__(self, problem: str, *, goal: str, name: str) -> None:
        check_python(sys.version_info[:2])
        check_installed()
        self.name = name
        self.goal = goal
        self._problem = problem
        self._key = digest(problem)[:16]
        self._log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the process that writes it
        self._process = subprocess.Popen(  # noqa: S603 - our own file under this interpreter
            [sys.executable, "-P", str(Path(textworld_worker.__file__))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            encoding="utf-8",
        )
        self._admissible: list[str] = []
        self._history: list[str] = []
        self._send({**official_logic(), "pddl_problem": problem})

    @property
    def process_id(self) -> int:
        """The process that plays."""
        return self._process.pid

    def reset(self) -> str:
        """Start the game over and return its first text."""
        self._history = []
        text: str = self._ask(None)["text"]
        return text.replace(_GOAL_MARK, self.goal)

    def step(self, command: str) -> Outcome:
        """Carry out a command."""
        said = canonical(command)
        answer = self._ask(said)
        accepted = answer["text"] != PHRASES["nothing happens"]
        if accepted and not said.startswith(_WITHOUT_EFFECT):
            self._history.append(said)
        return Outcome(answer["text"], int(answer["won"]), answer["won"], accepted=accepted)

    @property
    def admissible(self) -> list[str]:
        """The commands that are carried out now, sorted."""
        return list(self._admissible)

    def snapshot(self) -> bytes:
        """Return the commands that led here; TextWorld's state itself cannot leave its process."""
        return json.dumps([self._key, *self._history], ensure_ascii=False).encode()

    def restore(self, data: bytes) -> None:
        """Start over and carry out the commands of a snapshot again."""
        try:
            key, *commands = json.loads(data)
        except (ValueError, TypeError) as err:
            raise DataError(f"expected a snapshot of the textworld engine, got {data[:40]!r}") from err
        if key != self._key:
            raise DataError(f"the snapshot belongs to game {key!r}, not to {self._key!r} ({self.name})")
        self.reset()
        for command in commands:
            self.step(command)

    def close(self) -> None:
        """End the process; it has nothing to save."""
        self._process.kill()
        self._process.wait()
        with contextlib.suppress(OSError):  # it may have died with input unread
            _pipe(self._process.stdin).close()
        _pipe(self._process.stdout).close()
        self._log.close()

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self._problem, self.goal, self.name, self.snapshot())

    def _send(self, message: Any) -> None:
        try:
            print(json.dumps(message), file=_pipe(self._process.stdin), flush=True)
        except (OSError, ValueError) as err:
            raise self._dead() from err

    def _ask(self, command: str | None) -> dict[str, Any]:
        self._send(command)
        line = _pipe(self._process.stdout).readline()
        if not line:
            raise self._dead()
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise EpisodeError(f"{self.name}: TextWorld cannot play this game: {answer['error']}")
        self._admissible = answer["admissible"]
        return answer

    def _dead(self) -> EpisodeError:
        if self._log.closed:
            return EpisodeError(f"{self.name}: the textworld engine was closed; make a new one")
        code = self._process.wait()
        self._log.seek(0)
        said = self._log.read().decode(errors="replace").strip().splitlines()
        last = said[-1] if said else "it said nothing"
        return EpisodeError(f"{self.name}: the TextWorld process ended with code {code} ({last}); make a new engine")


def check_python(version: tuple[int, int]) -> None:
    """Raise ConfigError on a Python that TextWorld 1.7 does not run on: from 3.13 its reset raises NameError."""
    if version >= _FIRST_WITHOUT:
        raise ConfigError(
            f"TextWorld 1.7 does not run on Python {version[0]}.{version[1]}, it needs 3.11 or 3.12: "
            "use engine='compiled', which says the same to the letter"
        )


def check_installed() -> None:
    """Raise MissingExtra unless TextWorld, its planner and ALFWorld are installed; nothing is imported."""
    missing = [package for package in _PACKAGES if not _is_installed(package)]
    if missing:
        raise MissingExtra(f"{', '.join(missing)} not installed: pip install 'agentgym-r1[textworld]'")


def _is_installed(package: str) -> bool:
    try:
        importlib.metadata.distribution(package)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def official_logic() -> dict[str, str]:
    """Return ``pddl_domain`` and ``grammar`` of every game, from the files that the alfworld package brings.

    The grammar has ``UNKNOWN GOAL`` for the task in words.
    """
    check_installed()
    locate = importlib.metadata.distribution("alfworld").locate_file
    files = {"pddl_domain": "alfworld/data/alfred.pddl", "grammar": "alfworld/data/alfred.twl2"}
    return {key: Path(str(locate(name))).read_text(encoding="utf-8") for key, name in files.items()}


def _again(problem: str, goal: str, name: str, snapshot: bytes) -> TextWorldEngine:
    engine = TextWorldEngine(problem, goal=goal, name=name)
    engine.restore(snapshot)
    return engine


def _pipe(stream: IO[str] | None) -> IO[str]:
    assert stream is not None
    return stream
