"""Install a published data set: from its official URLs, or from a folder that holds its files."""

import errno
import importlib.metadata
import shutil
import uuid
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from agentgym_r1.corpus import ArrowPapers, Paper, open_corpus, write_corpus, write_papers
from agentgym_r1.corpus.arrow_papers import CORPUS, DETAILS
from agentgym_r1.data import alfworld, gsm8k, hotpotqa, musique, twowiki
from agentgym_r1.data.arrow_tasks import ArrowTasks, TaskWriter
from agentgym_r1.data.catalogue import CATALOGUE, DataSet, data_set
from agentgym_r1.data.download import Progress, disk_errors, download, no_progress, sha256_file
from agentgym_r1.data.installed import folder_of, installed_manifest, is_installed
from agentgym_r1.data.loader import Loader
from agentgym_r1.data.manifest import FORMAT_VERSION, CorpusRecord, FileRecord, Manifest, SplitRecord, write_manifest
from agentgym_r1.data.papers import litsearch, own, pasa, scifact
from agentgym_r1.data.papers.loader import PaperLoader, Shelf
from agentgym_r1.data.passages import Passages
from agentgym_r1.data.webshop import installed as shops
from agentgym_r1.errors import ConfigError, DataError
from agentgym_r1.home import home as default_home
from agentgym_r1.types import Document, panel_hash

AnyLoader = Loader | PaperLoader
LOADERS: Mapping[str, AnyLoader] = {
    "gsm8k": gsm8k.LOADER,
    "hotpotqa": hotpotqa.LOADER,
    "2wiki": twowiki.LOADER,
    "musique": musique.LOADER,
    "alfworld": alfworld.LOADER,
    "pasa": pasa.LOADER,
    "litsearch": litsearch.LOADER,
    "scifact": scifact.LOADER,
    "acl": own.LOADER,
}
REPORT_EVERY = 500


@dataclass(frozen=True, slots=True)
class SetStatus:
    """A row of ``data list``.

    Attributes:
        entry: the catalogue's entry.
        loadable: whether this version can install it.
        installed: the number of tasks of each installed split; None when the set is not installed or is damaged.
        origin: "download" or "folder" when it is installed, "damaged" when what is there cannot be read, else empty.
    """

    entry: DataSet
    loadable: bool
    installed: Mapping[str, int] | None
    origin: str


def list_sets(*, home: Path | None = None) -> list[SetStatus]:
    """Return every data set of the catalogue with its state on this machine."""
    return [set_status(name, home=home) for name in CATALOGUE]


def set_status(name: str, *, home: Path | None = None) -> SetStatus:
    """Return a data set of the catalogue with its state on this machine; raise ConfigError when there is none."""
    entry = data_set(name)
    loadable = name in LOADERS or name in shops.SETS
    if not is_installed(name, home=home):
        return SetStatus(entry, loadable, None, "")
    try:
        if name in shops.SETS:
            return SetStatus(entry, loadable, *shops.installed_state(entry, home=home))
        manifest = installed_manifest(name, home=home)
    except DataError:
        return SetStatus(entry, loadable, None, "damaged")
    return SetStatus(entry, loadable, {name: split.tasks for name, split in manifest.splits.items()}, manifest.origin)


def get(name: str, *, source: Path | None = None, home: Path | None = None, progress: Progress = no_progress) -> Path:
    """Install a data set and return its folder.

    A set that was downloaded before and is whole is left as it is; anything else that is there is replaced, at the end
    and at once, so that a failure leaves what was there.

    Args:
        name: a data set of the catalogue.
        source: a folder with files of the official format and name (a sample of them will do); None downloads them.
        home: the library's folder; by default ``agentgym_r1.home.home()``.
        progress: called with a label, the bytes or records done, and their total where it is known.

    Raises:
        ConfigError: there is no such data set, or this version cannot install it.
        DataError: a file is missing, not of the official format or not the published one, cannot be fetched, or the
            disk is full or read-only.
    """
    entry = data_set(name)
    if name in shops.SETS:
        return shops.get_catalogue(entry, source=source, home=home, progress=progress)
    if name not in LOADERS:
        known = ", ".join([*LOADERS, *shops.SETS])
        raise ConfigError(f"this version installs {known}; get {name} by hand from {entry.homepage}")
    return install(entry, LOADERS[name], source=source, home=home, progress=progress)


def install(
    entry: DataSet,
    loader: AnyLoader,
    *,
    source: Path | None = None,
    home: Path | None = None,
    progress: Progress = no_progress,
) -> Path:
    """Do what ``get`` says, for any entry and loader."""
    folder = folder_of(entry.name, home=home)
    if source is not None:
        _replace(folder, _job(entry, loader, source, "folder", progress))
    elif not entry.files:
        raise ConfigError(f"{entry.name} has no download: agentgym-r1 data get {entry.name} --from DIR; {entry.note}")
    elif not _is_whole_download(entry, home):
        downloads = (home or default_home()) / "downloads" / entry.name
        for file in entry.files:
            download(file, downloads, progress=progress)
        _replace(folder, _job(entry, loader, downloads, "download", progress))
        shutil.rmtree(downloads)
    return folder


def _is_whole_download(entry: DataSet, home: Path | None) -> bool:
    """Return whether the set was installed from these very URLs and every installed file is as it was written."""
    try:
        manifest = installed_manifest(entry.name, home=home)
    except DataError:
        return False
    read = {(source.name, source.sha256) for sources in manifest.sources.values() for source in sources}
    pinned = {(file.name, file.sha256) for file in entry.files if file.sha256 is not None}
    whole = not changed_files(folder_of(entry.name, home=home), manifest)
    return manifest.origin == "download" and pinned <= read and whole


def changed_files(folder: Path, manifest: Manifest) -> list[str]:
    """Return the names of the installed files that are missing or no longer what the manifest says."""
    records = [split.file for split in manifest.splits.values()]
    records += [manifest.corpus.file] if manifest.corpus is not None else []
    records += [manifest.papers] if manifest.papers is not None else []
    return [
        record.name
        for record in records
        if not (folder / record.name).is_file() or _record(folder / record.name) != record
    ]


@dataclass(frozen=True, slots=True)
class _Job:
    """What is to be installed: the entry, the loader, and the files of each split and of the library."""

    entry: DataSet
    loader: AnyLoader
    files: Mapping[str, list[Path]]
    library: list[Path]
    origin: Literal["download", "folder"]
    progress: Progress


def _job(
    entry: DataSet, loader: AnyLoader, source: Path, origin: Literal["download", "folder"], progress: Progress
) -> _Job:
    files = loader.find(source)
    library = loader.find_library(source) if isinstance(loader, PaperLoader) else []
    return _Job(entry, loader, files, library, origin, progress)


def _replace(folder: Path, job: _Job) -> None:
    """Build the installed form beside ``folder``, then put it in its place."""
    building = folder.with_name(f".{folder.name}-{uuid.uuid4().hex}")
    with disk_errors(folder.parent):
        try:
            building.mkdir(parents=True)
            write_manifest(building, _build(building, job))
            _swap(building, folder)
        finally:
            shutil.rmtree(building, ignore_errors=True)


def _swap(building: Path, folder: Path) -> None:
    """Rename ``building`` to ``folder``, however many do so at once; what was there is moved aside, then deleted."""
    aside = building.with_name(f"{building.name}-old")
    while True:
        try:
            building.rename(folder)
            break
        except OSError as err:
            if err.errno not in {errno.ENOTEMPTY, errno.EEXIST}:
                raise
        shutil.rmtree(aside, ignore_errors=True)
        with suppress(FileNotFoundError):
            folder.rename(aside)
    shutil.rmtree(aside, ignore_errors=True)


def _build(folder: Path, job: _Job) -> Manifest:
    """Write the tasks and the corpus, and return the manifest that describes them."""
    _write(folder, job)
    sources = {**job.files, **({"library": job.library} if job.library else {})}
    return Manifest(
        format=FORMAT_VERSION,
        name=job.entry.name,
        title=job.entry.title,
        licence=job.entry.licence,
        homepage=job.entry.homepage,
        origin=job.origin,
        sources={part: [_record(path) for path in paths] for part, paths in sources.items()},
        splits={split: _split_record(folder / _tasks_file(split)) for split in job.files},
        corpus=_corpus_record(folder / CORPUS),
        written_by=f"agentgym-r1 {_version()}",
        papers=_record(folder / DETAILS) if (folder / DETAILS).is_file() else None,
    )


def _write(folder: Path, job: _Job) -> None:
    if isinstance(job.loader, PaperLoader):
        _write_library(folder, job.loader, job)
        return
    documents = _documents(folder, job.loader, job)
    if job.loader.has_corpus:
        write_corpus(folder / CORPUS, documents)
    else:
        deque(documents, maxlen=0)


def _write_library(folder: Path, loader: PaperLoader, job: _Job) -> None:
    """Write the library, then the tasks, whose gold is looked up in it."""
    papers = None
    if job.library:
        write_papers(folder, _reported(loader.papers(job.library), job))
        papers = ArrowPapers(folder)
    shelf = Shelf(papers)
    for split, paths in job.files.items():
        with TaskWriter(folder / _tasks_file(split), name=job.entry.name, split=split, gold=loader.gold) as writer:
            for task in filter(None, map(shelf.task, loader.queries(split, paths))):
                writer.add(task)


def _reported(papers: Iterator[Paper], job: _Job) -> Iterator[Paper]:
    for number, paper in enumerate(papers, start=1):
        yield paper
        if number % REPORT_EVERY == 0:
            job.progress(f"{job.entry.name}, papers", number, None)


def _documents(folder: Path, loader: Loader, job: _Job) -> Iterator[Document]:
    """Read every split once: write its tasks to disk, and yield the paragraphs as they first appear."""
    passages, name = Passages(), job.entry.name
    for split, paths in job.files.items():
        total = job.entry.tasks[split] if job.origin == "download" else None
        tasks = loader.tasks(split, paths, passages)
        with TaskWriter(folder / _tasks_file(split), name=name, split=split, gold=loader.gold) as writer:
            for number, task in enumerate(tasks, start=1):
                writer.add(task)
                yield from passages.drain()
                if number % REPORT_EVERY == 0:
                    job.progress(f"{name} {split}, tasks", number, total)


def _tasks_file(split: str) -> str:
    return f"tasks-{split}.arrow"


def _corpus_record(path: Path) -> CorpusRecord | None:
    if not path.is_file():
        return None
    corpus = open_corpus(path)
    return CorpusRecord(_record(path), len(corpus), corpus.sha256)


def _split_record(path: Path) -> SplitRecord:
    tasks = ArrowTasks(path)
    if len(tasks) == 0:
        raise DataError(f"{tasks.name}/{tasks.split}: the source holds no tasks; expected at least one")
    return SplitRecord(_record(path), len(tasks), panel_hash(tasks))


def _record(path: Path) -> FileRecord:
    return FileRecord(path.name, path.stat().st_size, sha256_file(path))


def _version() -> str:
    try:
        return importlib.metadata.version("agentgym-r1")
    except importlib.metadata.PackageNotFoundError:
        return "checkout"
