"""Tasks on disk: one Arrow IPC file a split, memory-mapped, each row decoded when it is asked for."""

import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, Self

import msgspec

from agentgym_r1.data.gold import GameGold, NumberGold, PaperGold, QAGold
from agentgym_r1.data.tasks import unknown_task
from agentgym_r1.errors import DataError
from agentgym_r1.types import Task

FORMAT = b"agentgym-r1 tasks"
FORMAT_VERSION = 1
BATCH_ROWS = 4096
ZIPPED = (GameGold,)
"""Types of gold so long (60 kB of PDDL) that each is compressed by itself."""
COLUMNS = ("id", "prompt", "gold", "kind")
GOLD_TYPES: dict[str, type] = {kind.__name__: kind for kind in (QAGold, NumberGold, GameGold, PaperGold)}


class ArrowTasks:
    """The TaskSet of a file that ``TaskWriter`` made; pickled by its path, so that workers share the mapped pages.

    Raises:
        DataError: the file is missing, damaged, of another kind or of a later format version.
    """

    source: Literal["real", "world"] = "real"

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        table = _open(self.path)
        metadata = table.schema.metadata
        self.name: str = metadata[b"name"].decode()
        self.split: str = metadata[b"split"].decode()
        self._gold = GOLD_TYPES[metadata[b"gold"].decode()]
        self._ids, self._prompts, self._golds, self._kinds = table.columns

    def __reduce__(self) -> tuple[type["ArrowTasks"], tuple[Path]]:
        return type(self), (self.path,)

    def __len__(self) -> int:
        return len(self._ids)

    def __getitem__(self, index: int) -> Task:
        if not 0 <= index < len(self):
            raise IndexError(f"{self.name}/{self.split} has tasks 0 to {len(self) - 1}, got {index}")
        try:
            gold = _decode(self._golds[index].as_py(), self._gold)
        except (msgspec.DecodeError, zlib.error) as err:
            raise _damaged(self.path, f"task {index}: {err}") from err
        return Task(self._ids[index].as_py(), self._prompts[index].as_py(), gold, self._kinds[index].as_py())

    def __iter__(self) -> Iterator[Task]:
        return (self[index] for index in range(len(self)))

    def ids(self) -> list[str]:
        """Return all task ids in order, without decoding the tasks."""
        ids: list[str] = self._ids.to_pylist()
        return ids

    def index_of(self, task_id: str) -> int:
        """Return the position of ``task_id``; scans the mapped column and keeps nothing."""
        import pyarrow.compute as pc

        position: int = pc.index(self._ids, task_id).as_py()
        if position < 0:
            raise unknown_task(task_id, name=self.name, split=self.split, count=len(self))
        return position


class TaskWriter:
    """Writes the tasks of a split into a file, a batch at a time; use it as a context manager.

    Args:
        path: the file to write; its folder exists.
        name: the data set's name.
        split: the split's name.
        gold: the type of every task's gold, one of ``GOLD_TYPES``.
    """

    def __init__(self, path: Path, *, name: str, split: str, gold: type) -> None:
        import pyarrow as pa

        metadata = {FORMAT: str(FORMAT_VERSION), "name": name, "split": split, "gold": gold.__name__}
        columns = [(column, pa.binary() if column == "gold" else pa.string()) for column in COLUMNS]
        self._where = f"{name}/{split}"
        self._schema = pa.schema(columns, metadata=metadata)
        self._writer = pa.ipc.new_file(str(path), self._schema)
        self._rows: list[tuple[str, str, bytes, str]] = []
        self._seen: set[str] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._flush()
        self._writer.close()

    def add(self, task: Task) -> None:
        """Append a task; raise DataError when the split already has its id."""
        if task.id in self._seen:
            raise DataError(f"{self._where} holds the task id {task.id!r} twice; ids must be unique in a split")
        self._seen.add(task.id)
        self._rows.append((task.id, task.prompt, _encode(task.gold), task.kind))
        if len(self._rows) == BATCH_ROWS:
            self._flush()

    def _flush(self) -> None:
        import pyarrow as pa

        if self._rows:
            columns = [pa.array(column, field.type) for column, field in zip(zip(*self._rows), self._schema)]
            self._writer.write_batch(pa.record_batch(columns, schema=self._schema))
            self._rows = []


def _encode(gold: Any) -> bytes:
    data = msgspec.json.encode(gold)
    return zlib.compress(data) if isinstance(gold, ZIPPED) else data


def _decode(data: bytes, kind: type) -> Any:
    return msgspec.json.decode(zlib.decompress(data) if kind in ZIPPED else data, type=kind)


def _open(path: Path) -> Any:
    """Return the mapped table of a file whose every offset and text was checked."""
    import pyarrow as pa

    if not path.is_file():
        raise DataError(f"{path}: no such file of tasks; install the data set again")
    try:
        reader = pa.ipc.open_file(pa.memory_map(str(path)))
        _check_kind(path, reader.schema)
        table = reader.read_all()
        table.validate(full=True)
    except (pa.ArrowException, OSError, ValueError) as err:
        raise _damaged(path, str(err)) from err
    return table


def _check_kind(path: Path, schema: Any) -> None:
    metadata = schema.metadata or {}
    version, gold = int(metadata.get(FORMAT, 0)), metadata.get(b"gold", b"").decode()
    if version > FORMAT_VERSION:
        raise DataError(f"{path}: tasks of format {version}, this version reads {FORMAT_VERSION}: upgrade agentgym-r1")
    if version == 0 or gold not in GOLD_TYPES or tuple(schema.names) != COLUMNS:
        raise DataError(f"{path}: not a file of tasks that this version knows; install the data set again")


def _damaged(path: Path, reason: str) -> DataError:
    return DataError(f"{path} is damaged ({' '.join(reason.split())}); install the data set again")
