"""Open the data sets that ``agentgym-r1 data get`` installed under ``home()/data``."""

from pathlib import Path

from agentgym_r1.corpus import ArrowPapers, Corpus, open_corpus
from agentgym_r1.data.arrow_tasks import ArrowTasks
from agentgym_r1.data.catalogue import data_set
from agentgym_r1.data.manifest import NAME as MANIFEST
from agentgym_r1.data.manifest import Manifest, read_manifest
from agentgym_r1.data.tasks import unknown_split
from agentgym_r1.errors import ConfigError, DataError
from agentgym_r1.home import home as default_home


def folder_of(name: str, *, home: Path | None = None) -> Path:
    """Return the folder a data set is installed in, whether it is there or not.

    Args:
        name: a data set of the catalogue; ConfigError when it is not.
        home: the library's folder; by default ``agentgym_r1.home.home()``.
    """
    return (home or default_home()) / "data" / data_set(name).name


def is_installed(name: str, *, home: Path | None = None) -> bool:
    """Return whether a data set is installed."""
    return (folder_of(name, home=home) / MANIFEST).is_file()


def installed_manifest(name: str, *, home: Path | None = None) -> Manifest:
    """Return the manifest of a data set; raise DataError when it is not installed or its manifest is damaged."""
    folder = folder_of(name, home=home)
    if not is_installed(name, home=home):
        raise DataError(f"{name} is not installed in {folder}: agentgym-r1 data get {name}")
    return read_manifest(folder)


def open_tasks(name: str, split: str, *, home: Path | None = None) -> ArrowTasks:
    """Open the tasks of an installed split.

    Raises:
        ConfigError: there is no such data set, or it has no such split.
        DataError: it is not installed, or what is there is damaged or of a later version.
    """
    splits = installed_manifest(name, home=home).splits
    if split not in splits:
        raise unknown_split(split, name=name, known=splits)
    tasks = ArrowTasks(folder_of(name, home=home) / splits[split].file.name)
    if len(tasks) != splits[split].tasks:
        raise DataError(
            f"{tasks.path} holds {len(tasks)} tasks, its manifest says {splits[split].tasks}: "
            f"agentgym-r1 data get {name}"
        )
    return tasks


def open_corpus_of(name: str, *, home: Path | None = None) -> Corpus:
    """Open the corpus of an installed data set.

    Raises:
        ConfigError: there is no such data set, or it has no corpus.
        DataError: it is not installed, or its corpus is damaged or of a later version.
    """
    corpus = installed_manifest(name, home=home).corpus
    if corpus is None:
        raise ConfigError(f"{name} has no corpus: there is nothing to search in it")
    return open_corpus(folder_of(name, home=home) / corpus.file.name)


def open_papers_of(name: str, *, home: Path | None = None) -> ArrowPapers:
    """Open the library of an installed set of papers.

    Raises:
        ConfigError: there is no such data set, or it has no library.
        DataError: it is not installed, or its library is damaged or of a later version.
    """
    if installed_manifest(name, home=home).papers is None:
        raise ConfigError(f"{name} has no library of papers: there is nothing to search in it")
    return ArrowPapers(folder_of(name, home=home))
