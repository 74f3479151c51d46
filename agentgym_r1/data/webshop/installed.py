"""The catalogues of this machine: the real ones that were installed, and the generated ones, made when first opened."""

import shutil
from pathlib import Path

from filelock import FileLock

from agentgym_r1.corpus import corpus_sha256
from agentgym_r1.data.catalogue import DataSet
from agentgym_r1.data.download import Progress, disk_errors, download, no_progress
from agentgym_r1.data.webshop.build import build_catalogue
from agentgym_r1.data.webshop.corpus import ProductCorpus
from agentgym_r1.data.webshop.goals import Goals
from agentgym_r1.data.webshop.nouns import NounTagger, WordNouns
from agentgym_r1.data.webshop.sources import OfficialFiles, find_official
from agentgym_r1.data.webshop.splits import SPLITS
from agentgym_r1.data.webshop.store import KINDS, Catalogue
from agentgym_r1.data.worlds.shop import WorldShop
from agentgym_r1.errors import DataError, unknown_name
from agentgym_r1.home import home as default_home

SETS = {"webshop": False, "webshop-full": True}
"""Names of the real catalogues, and whether each holds all products."""


def installed_folder(name: str = "webshop", *, home: Path | None = None) -> Path:
    """Return the place of a real catalogue, whether it is there or not; raise ConfigError for another name."""
    if name not in SETS:
        raise unknown_name("catalogue", name, SETS)
    return (home or default_home()) / "data" / name


def install_catalogue(
    name: str,
    source: Path,
    *,
    nouns: NounTagger | None = None,
    home: Path | None = None,
    progress: Progress = no_progress,
) -> Catalogue:
    """Build a real catalogue from a folder with its official files; it then replaces one of other files.

    Args:
        name: "webshop" (1,000 products) or "webshop-full" (all).
        source: the folder.
        nouns: see ``build_catalogue``.
        home: the library's folder.
        progress: see ``build_catalogue``.

    Raises:
        ConfigError: another name.
        DataError: see ``find_official`` and ``build_catalogue``.
    """
    folder, files = installed_folder(name, home=home), find_official(source, full=SETS[name])
    building = folder.with_name(f"{name}.new")
    with disk_errors(folder.parent):
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(folder.with_name(f".{name}.install.lock")):
            if not _is_made_of(folder, files):
                if not _is_made_of(building, files):
                    shutil.rmtree(building, ignore_errors=True)
                build_catalogue(files, building, nouns=nouns, progress=progress)
                shutil.rmtree(folder, ignore_errors=True)
                building.rename(folder)
    return Catalogue(folder)


def get_catalogue(
    entry: DataSet, *, source: Path | None = None, home: Path | None = None, progress: Progress = no_progress
) -> Path:
    """Install a real catalogue from a folder, or from its official URLs, and return its folder.

    Raises:
        DataError: see ``install_catalogue``; or a file cannot be fetched or is not the published one.
    """
    if source is not None:
        return install_catalogue(entry.name, source, home=home, progress=progress).folder
    folder = installed_folder(entry.name, home=home)
    if not _is_published(folder, entry):
        downloads = (home or default_home()) / "downloads" / entry.name
        for file in entry.files:
            download(file, downloads, progress=progress)
        install_catalogue(entry.name, downloads, home=home, progress=progress)
        shutil.rmtree(downloads)
    return folder


def open_installed(name: str = "webshop", *, home: Path | None = None) -> Catalogue:
    """Open a real catalogue; raise DataError when it is not installed."""
    folder = installed_folder(name, home=home)
    if not folder.exists():
        raise DataError(f"{name} is not installed in {folder}: agentgym-r1 data get {name}")
    return Catalogue(folder)


def installed_state(entry: DataSet, *, home: Path | None = None) -> tuple[dict[str, int], str]:
    """Return the goals of each split, of the kind that published results use, and "download" or "folder".

    Raises:
        DataError: the catalogue is not installed or damaged.
    """
    catalogue = open_installed(entry.name, home=home)
    goals = Goals(catalogue, kind=catalogue.manifest.default_kind)
    counts = {split: len(goals.positions(split)) for split in SPLITS}
    return counts, "download" if _is_published(catalogue.folder, entry) else "folder"


def open_world(
    *, products: int = 1_000, seed: int = 0, home: Path | None = None, progress: Progress = no_progress
) -> Catalogue:
    """Open a generated catalogue, which is made the first time: 100,000 products take half a minute.

    Raises:
        ConfigError: fewer than one product.
        DataError: it cannot be written.
    """
    world = WorldShop(products, seed)
    folder = (home or default_home()) / "worlds" / f"{world.name}-{world.files()[0].sha256[:12]}"
    return build_catalogue(world, folder, nouns=WordNouns(), progress=progress)


def catalogue_problems(catalogue: Catalogue) -> tuple[list[str], list[str]]:
    """Check a catalogue and return what is wrong, and what is worth knowing, one line each.

    Wrong: search texts that are not those of the manifest, and an instruction that asks for the same in train and in a
    split for evaluation. Where the splits are the original's ranges, such overlaps are the original's, and only told.
    """
    problems: list[str] = []
    notes: list[str] = []
    if corpus_sha256(ProductCorpus(catalogue)) != catalogue.manifest.documents_sha256:
        problems.append("the products are not those of the manifest; build the catalogue again")
    for kind in KINDS:
        goals = Goals(catalogue, kind=kind)
        trained = goals.requests("train")
        for split in SPLITS:
            shared = trained & goals.requests(split) if split != "train" else set()
            if shared:
                found = problems if catalogue.manifest.splits == "hash" else notes
                found.append(f"{kind} {split}: {len(shared)} instructions ask for what a train instruction asks for")
    return problems, notes


def _is_made_of(folder: Path, source: OfficialFiles) -> bool:
    try:
        return Catalogue(folder).manifest.files == source.files()
    except DataError:
        return False


def _is_published(folder: Path, entry: DataSet) -> bool:
    """Return whether a folder is a catalogue of exactly the files that the entry pins."""
    try:
        built = {(file.name, file.sha256) for file in Catalogue(folder).manifest.files}
    except DataError:
        return False
    return built == {(file.name, file.sha256) for file in entry.files}
