"""The manifest of an installed data set: what was installed, from which files, and the panel hash of every split."""

from pathlib import Path

import msgspec

from agentgym_r1.errors import DataError

NAME = "manifest.json"
FORMAT_VERSION = 1


class FileRecord(msgspec.Struct, frozen=True):
    """A file's name, its size in bytes and its sha256 (hex)."""

    name: str
    bytes: int
    sha256: str


class SplitRecord(msgspec.Struct, frozen=True):
    """An installed split: its file, the number of its tasks, and the hash of the panel they make."""

    file: FileRecord
    tasks: int
    panel: str


class CorpusRecord(msgspec.Struct, frozen=True):
    """The installed corpus: its file, the number of its documents, and the hash that index manifests carry."""

    file: FileRecord
    documents: int
    corpus_sha256: str


class Manifest(msgspec.Struct, frozen=True):
    """What ``data get`` installed.

    Attributes:
        format: version of this layout.
        name, title, licence, homepage: as in the catalogue.
        origin: "download" (the pinned official files) or "folder" (whatever a local folder held).
        sources: the files it was read from, by split.
        splits: the installed splits.
        corpus: the installed corpus, or None when the set has none.
        written_by: the library and version that wrote it.
        papers: the file of what a set of papers holds besides its corpus (see ArrowPapers); None for other sets.
    """

    format: int
    name: str
    title: str
    licence: str
    homepage: str
    origin: str
    sources: dict[str, list[FileRecord]]
    splits: dict[str, SplitRecord]
    corpus: CorpusRecord | None
    written_by: str
    papers: FileRecord | None = None


class _Version(msgspec.Struct):
    format: int


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write ``manifest.json`` into a folder."""
    text = msgspec.json.format(msgspec.json.encode(manifest), indent=2)
    (folder / NAME).write_bytes(text + b"\n")


def read_manifest(folder: Path) -> Manifest:
    """Return the manifest of an installed set.

    Raises:
        DataError: it is missing, damaged, or of a later format version.
    """
    path = folder / NAME
    again = f"install it again: agentgym-r1 data get {folder.name}"
    try:
        data = path.read_bytes()
        version = msgspec.json.decode(data, type=_Version).format
        if version > FORMAT_VERSION:
            raise DataError(f"{path}: format {version}, this version reads up to {FORMAT_VERSION}: upgrade agentgym-r1")
        return msgspec.json.decode(data, type=Manifest)
    except OSError as err:
        raise DataError(f"{path}: cannot be read ({err.strerror}); {again}") from err
    except msgspec.DecodeError as err:
        raise DataError(f"{path} is damaged ({err}); {again}") from err
