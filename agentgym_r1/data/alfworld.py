"""ALFWorld's games as its releases publish them: game.tw-pddl and traj_data.json files in folders, zips or tarballs.

The releases keep the two kinds of files in two zips; a game without traj_data.json has no goal in people's words.
"""

import lzma
import re
import tarfile
import tempfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, TypeAlias, TypeVar

import msgspec

from agentgym_r1.data.gold import GameGold
from agentgym_r1.data.passages import Passages
from agentgym_r1.errors import ConfigError, DataError, unknown_name
from agentgym_r1.types import Task

SPLITS: Final = ("train", "valid_seen", "valid_unseen")
TASK_TYPES: Final = (
    "pick_and_place_simple",
    "look_at_obj_in_light",
    "pick_clean_then_place_in_recep",
    "pick_heat_then_place_in_recep",
    "pick_cool_then_place_in_recep",
    "pick_two_obj_and_place",
)
"""The six task types, in the order of the papers' tables."""
PAPER_NAMES: Final[Mapping[str, str]] = dict(
    zip(TASK_TYPES, ("Pick", "Look", "Clean", "Heat", "Cool", "Pick2"), strict=True)
)
"""What the papers' tables call the task types, in their order."""

_GAME: Final = "game.tw-pddl"
_TRAJECTORY: Final = "traj_data.json"
_MEMBER: Final = re.compile(rf"(?:^|/)({'|'.join(SPLITS)})/([^/]+/[^/]+)/({re.escape(_GAME)}|{_TRAJECTORY})$")
_TASK: Final = re.compile(r'"Your task is to: (.*?)\.?\s*"')
_TARBALLS: Final = (".tar.xz", ".tar.gz", ".tar.bz2", ".tar")
_ARCHIVES: Final = (*_TARBALLS, ".zip")
_UNREADABLE: Final = (OSError, EOFError, tarfile.TarError, lzma.LZMAError, zlib.error, zipfile.BadZipFile)

_Key: TypeAlias = tuple[str, str, str]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Member:
    """A file of a game: where it is, for errors, and how to read it."""

    name: str
    content: Callable[[], bytes]

    def read(self, kind: type[T]) -> T:
        try:
            return _decode(self.content(), kind, name=self.name)
        except _UNREADABLE as err:
            raise DataError(f"{self.name} cannot be read: {err}") from err


class GameFile(msgspec.Struct, frozen=True):
    """What is read of a game.tw-pddl file."""

    pddl_problem: str
    grammar: str
    solvable: bool | None = None
    walkthrough: list[str] | None = None

    @property
    def goal(self) -> str | None:
        """The task in words, without the final full stop; None when the grammar has none."""
        found = _TASK.search(self.grammar)
        return found[1] if found else None


class _Annotation(msgspec.Struct, frozen=True):
    task_desc: str


class _Annotations(msgspec.Struct, frozen=True):
    anns: list[_Annotation]


class _Trajectory(msgspec.Struct, frozen=True):
    turk_annotations: _Annotations


def check_task_types(task_types: Collection[str]) -> tuple[str, ...]:
    """Return task types in the papers' order; raise ConfigError when one is unknown or there is none."""
    for kind in task_types:
        if kind not in TASK_TYPES:
            raise unknown_name("task type", kind, TASK_TYPES)
    if not task_types:
        raise ConfigError(f"task_types must name at least one of {', '.join(TASK_TYPES)}")
    return tuple(kind for kind in TASK_TYPES if kind in task_types)


def read_game(data: bytes, *, name: str) -> GameFile:
    """Decode a game.tw-pddl file; raise DataError naming ``name`` when it is not one or is truncated."""
    return _decode(data, GameFile, name=name)


def read_tasks(paths: Sequence[Path], split: str) -> Iterator[Task]:
    """Yield the solvable games of a split, of the six task types, sorted by id.

    Args:
        paths: folders, archives and files; what counts is ``SPLIT/TASK/TRIAL/game.tw-pddl`` and ``traj_data.json`` at
            any depth. The two may be in different archives.
        split: train, valid_seen or valid_unseen.

    Raises:
        DataError: an archive or a file cannot be read; the message names it.
    """
    with _opened(paths) as files:
        for game_id in sorted(key[1] for key in files if key[0] == split and key[2] == _GAME):
            if (
                kind_of(game_id) in TASK_TYPES and "Sliced" not in game_id
            ):  # as ALFWorld itself leaves out the sliced ones
                game = files[split, game_id, _GAME].read(GameFile)
                if game.solvable:
                    yield _task(game, game_id, files[split, game_id, _GAME], files.get((split, game_id, _TRAJECTORY)))


def _task(game: GameFile, game_id: str, source: _Member, trajectory: _Member | None) -> Task:
    if game.goal is None:
        raise DataError(f"{source.name}: the grammar does not say the task ('Your task is to: ...')")
    told = trajectory.read(_Trajectory).turk_annotations.anns if trajectory else []
    gold = GameGold(
        problem=game.pddl_problem,
        walkthrough=tuple(game.walkthrough or ()),
        annotations=tuple(annotation.task_desc.strip() for annotation in told),
    )
    return Task(game_id, game.goal, gold, kind_of(game_id))


def _decode(data: bytes, kind: type[T], *, name: str) -> T:
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError) as err:
        raise DataError(f"{name} is not a whole file of ALFWorld's: {err}") from err


@contextmanager
def _opened(paths: Sequence[Path]) -> Iterator[Mapping[_Key, _Member]]:
    """Open folders, archives and files; of a game's file that is in several, the first counts."""
    files: dict[_Key, _Member] = {}
    with ExitStack() as stack:
        for path in paths:
            for name, content in _members(path, stack):
                found = _MEMBER.search(name)
                if found:
                    files.setdefault((found[1], found[2], found[3]), _Member(f"{path}: {name}", content))
        yield files


def _members(path: Path, stack: ExitStack) -> Iterator[tuple[str, Callable[[], bytes]]]:
    try:
        if path.is_dir():
            for file in sorted(path.rglob("*.*")):
                yield file.as_posix(), file.read_bytes
        elif path.name.endswith(_TARBALLS):
            yield from _unpacked(path, Path(stack.enter_context(tempfile.TemporaryDirectory())))
        elif path.suffix == ".zip":
            archive = stack.enter_context(zipfile.ZipFile(path))
            yield from ((name, partial(archive.read, name)) for name in archive.namelist())
        else:
            yield path.as_posix(), path.read_bytes
    except _UNREADABLE as err:
        raise DataError(f"{path} cannot be read as a folder, zip or tarball of games: {err}") from err


def _unpacked(path: Path, folder: Path) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """Unpack a tarball, which can only be read in its own order."""
    with tarfile.open(path) as archive:
        for number, member in enumerate(archive):
            content = archive.extractfile(member) if _MEMBER.search(member.name) else None
            if content is not None:
                file = folder / str(number)
                file.write_bytes(content.read())
                yield member.name, file.read_bytes


def write_game(task: Task, folder: Path, *, logic: Mapping[str, str]) -> Path:
    """Write a game as ALFWorld keeps its own, so that ALFWorld itself can play it.

    Args:
        task: a task with GameGold.
        folder: the split's folder; game.tw-pddl and traj_data.json go to ``TASK/TRIAL`` below it.
        logic: ``pddl_domain`` and ``grammar`` for TextWorld, the latter with ``UNKNOWN GOAL`` where the task belongs.

    Returns:
        The folder of the game.
    """
    game = {
        "pddl_domain": logic["pddl_domain"],
        "grammar": logic["grammar"].replace("UNKNOWN GOAL", task.prompt),
        "pddl_problem": task.gold.problem,
        "walkthrough": list(task.gold.walkthrough),
        "solvable": True,
    }
    annotations = [{"task_desc": text} for text in task.gold.annotations]
    trajectory = {"task_id": task.id, "task_type": task.kind, "turk_annotations": {"anns": annotations}}
    trial = folder / (task.id if "/" in task.id else f"{task.kind}/{task.id}")
    trial.mkdir(parents=True, exist_ok=True)
    (trial / _GAME).write_bytes(msgspec.json.encode(game))
    (trial / _TRAJECTORY).write_bytes(msgspec.json.encode(trajectory))
    return trial


def kind_of(game_id: str) -> str:
    """Return the task type that a game's id, its folder path, begins with."""
    return game_id.partition("/")[0].partition("-")[0]


class GameLoader:
    """Reads ALFWorld's releases: archives that hold all splits, or the folder they were unpacked to."""

    splits = ("valid_seen", "valid_unseen", "train")
    gold = GameGold
    has_corpus = False
    ids_are_rows = False

    def find(self, folder: Path) -> dict[str, list[Path]]:
        """Return the archives in a folder, for each split they hold, or else the game files below it."""
        paths = sorted(path for path in folder.glob("*") if path.name.endswith(_ARCHIVES))
        if not paths:
            paths = sorted(path for name in (_GAME, _TRAJECTORY) for path in folder.rglob(name))
        with _opened(paths) as files:
            held = {key[0] for key in files if key[2] == _GAME}
        if not held:
            raise DataError(f"{folder} holds no games: expected ALFWorld's zips, or SPLIT/TASK/TRIAL/{_GAME} below it")
        return {split: [path for path in paths if _may_hold(path, split)] for split in self.splits if split in held}

    def tasks(self, split: str, paths: Sequence[Path], passages: Passages) -> Iterator[Task]:
        """Yield the games of a split; they have no paragraphs."""
        return read_tasks(paths, split)


def _may_hold(path: Path, split: str) -> bool:
    found = _MEMBER.search(path.as_posix())
    return found is None or found[1] == split


LOADER = GameLoader()


def entity_names(words: Iterable[str]) -> dict[str, str]:
    """Return the names that ALFWorld's texts give to entities, for example ``cabinet 3`` or ``sinkbasin 1``.

    Entities of a name are numbered downwards in the order of their identifiers, from their count to 1.

    Args:
        words: identifiers in lower case, repeats allowed; those without coordinates (``..._bar_...``) have no name.

    Returns:
        The name of each identifier that has one, in the order of the identifiers.
    """
    bases = {word: _base(word) for word in sorted(set(words)) if "_bar_" in word}
    left = Counter(bases.values())
    names = {}
    for word, base in bases.items():
        names[word] = f"{base} {left[base]}"
        left[base] -= 1
    return names


def _base(identifier: str) -> str:
    name = identifier.partition("_bar_")[0]
    return f"{name}basin" if "basin" in identifier else name
