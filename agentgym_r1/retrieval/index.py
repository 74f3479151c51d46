"""Index folders: a manifest that says what is in them, made whole or not at all, refused when anything disagrees."""

import hashlib
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

import msgspec
from filelock import FileLock

from agentgym_r1.corpus import ArrowCorpus, Corpus, corpus_sha256, open_corpus, write_corpus
from agentgym_r1.errors import DataError, RetrievalError
from agentgym_r1.types import Document

FORMAT_VERSION = 1
MANIFEST = "manifest.json"
DOCUMENTS = "documents.arrow"
LIBRARIES = ("agentgym-r1", "numpy", "numba", "pyarrow", "faiss-cpu", "faiss-gpu", "onnxruntime", "tokenizers")


@dataclass(frozen=True, slots=True)
class FileRecord:
    """Size in bytes and sha256 of one file of an index."""

    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """What an index folder holds.

    Attributes:
        format_version: of the folder; a reader refuses a later one.
        kind: of the retriever, for example ``bm25``.
        count: the number of documents.
        corpus_sha256: ``Corpus.sha256`` of what was indexed.
        ids_sha256: hash of the ids in order, to tell changed texts from another corpus.
        corpus: the absolute path of the corpus, or the name of the file inside the folder that holds it.
        settings: what this kind of index depends on besides the corpus.
        files: every other file of the folder, and by its absolute path one elsewhere.
        versions: of the libraries that made it.
    """

    format_version: int
    kind: str
    count: int
    corpus_sha256: str
    ids_sha256: str
    corpus: str
    settings: dict[str, Any]
    files: dict[str, FileRecord]
    versions: dict[str, str] = field(default_factory=dict)


def create_index(
    folder: Path,
    corpus: Corpus,
    *,
    kind: str,
    settings: Mapping[str, Any],
    write: Callable[[Path], None],
    adopted: Sequence[Path] = (),
    resume: Collection[str] = (),
) -> None:
    """Make an index folder unless it is there already.

    Two processes that start together build it once: the second waits. A build that is killed leaves a hidden folder
    beside the place, which the next build removes or resumes.

    Args:
        folder: where; its parent is made.
        corpus: what is indexed. A corpus that is a file is named by its path; any other is copied into the folder.
        kind: of the retriever.
        settings: what goes into the manifest for this kind.
        write: writes the files of the index into the folder it is given.
        adopted: files elsewhere that belong to the index as they are.
        resume: the names of what ``write`` goes on from when a killed build has left it; all else is removed first.

    Raises:
        RetrievalError: the folder cannot be written, or holds something else.
    """
    with _locked(folder):
        if (folder / MANIFEST).is_file():
            return
        if folder.exists():
            raise RetrievalError(f"{folder}: exists and is not an index; choose another folder")
        building = folder.with_name(f".{folder.name}.building")
        _clear(building, keep=resume)
        write(building)
        place = _keep_corpus(building, corpus)
        manifest = Manifest(
            format_version=FORMAT_VERSION,
            kind=kind,
            count=len(corpus),
            corpus_sha256=corpus.sha256,
            ids_sha256=_ids_sha256(corpus),
            corpus=place,
            settings=dict(settings),
            files={path.name: _record(path) for path in sorted(building.iterdir())}
            | {str(path.resolve()): _record(path) for path in adopted},
            versions=_versions(),
        )
        text = msgspec.json.format(msgspec.json.encode(manifest), indent=2)
        (building / MANIFEST).write_bytes(text)
        building.rename(folder)


def _clear(folder: Path, *, keep: Collection[str]) -> None:
    """Make a folder that holds nothing but what is named, if that."""
    folder.mkdir(exist_ok=True)
    for path in folder.iterdir():
        if path.name not in keep:
            shutil.rmtree(path) if path.is_dir() else path.unlink()


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold the lock beside a folder; the system frees it when the process dies."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(folder.with_name(f".{folder.name}.lock")):
            yield
    except OSError as err:
        raise RetrievalError(f"{folder.parent}: cannot be written ({err.strerror}); choose another folder") from err


def _keep_corpus(folder: Path, corpus: Corpus) -> str:
    """Return where a reader finds the corpus: its own file, or a copy of one in memory."""
    path = getattr(corpus, "path", None)
    if isinstance(path, Path):
        return str(path.resolve())
    write_corpus(folder / DOCUMENTS, corpus)
    return DOCUMENTS


def read_manifest(folder: Path) -> Manifest:
    """Return the manifest of a folder whose files are all there in full size.

    Raises:
        RetrievalError: no index, a later format, a manifest that cannot be read, a missing or truncated file.
    """
    try:
        data = (folder / MANIFEST).read_bytes()
    except OSError as err:
        raise RetrievalError(f"{folder}: no index there ({MANIFEST}: {err.strerror})") from err
    try:
        version = msgspec.json.decode(data)["format_version"]
        if version > FORMAT_VERSION:
            raise RetrievalError(
                f"{folder}: index format {version}, this version reads up to {FORMAT_VERSION}: upgrade agentgym-r1"
            )
        manifest = msgspec.json.decode(data, type=Manifest)
    except (msgspec.DecodeError, KeyError, TypeError) as err:
        raise RetrievalError(f"{folder / MANIFEST}: cannot be read ({err}); build the index again") from err
    for name, record in manifest.files.items():
        size = (folder / name).stat().st_size if (folder / name).is_file() else None
        if size != record.size:
            found = "no file" if size is None else size
            raise RetrievalError(f"{folder / name}: {record.size} bytes expected, {found} found; build the index again")
    return manifest


def verify_index(folder: str | Path) -> Manifest:
    """Check every byte of an index folder and its corpus, and return its manifest.

    Raises:
        RetrievalError: a file differs from what the manifest says.
    """
    folder = Path(folder)
    manifest = read_manifest(folder)
    for name, record in manifest.files.items():
        found = _record(folder / name)
        if found != record:
            raise RetrievalError(
                f"{folder / name}: sha256 {record.sha256[:12]} expected, {found.sha256[:12]} found; build it again"
            )
    found_corpus = corpus_sha256(indexed_corpus(folder, manifest))
    if found_corpus != manifest.corpus_sha256:
        raise RetrievalError(
            f"{folder}: its corpus reads differently now ({found_corpus[:12]}); write the corpus again"
        )
    return manifest


def indexed_corpus(folder: Path, manifest: Manifest, corpus: Corpus | None = None) -> Corpus:
    """Return the corpus of an index: its own copy, else the one given, else the file it was built from.

    Raises:
        RetrievalError: that corpus is gone, or is not the one that was indexed; the message says what differs.
    """
    if corpus is not None:
        _check_corpus(folder, manifest, corpus)
    if manifest.corpus == DOCUMENTS:
        return ArrowCorpus(folder / DOCUMENTS)
    if corpus is not None:
        return corpus
    try:
        opened = _open_named(Path(manifest.corpus))
    except DataError as err:
        raise RetrievalError(f"{folder}: the corpus it was built from cannot be opened: {err}") from err
    _check_corpus(folder, manifest, opened)
    return opened


def _open_named(path: Path) -> Corpus:
    """Open what a manifest names: a corpus file, or a Lucene index that stores its documents."""
    from agentgym_r1.retrieval.lucene_folder import LuceneCorpus, is_lucene

    return LuceneCorpus(path) if is_lucene(path) else open_corpus(path)


def _check_corpus(folder: Path, manifest: Manifest, corpus: Corpus) -> None:
    if corpus.sha256 == manifest.corpus_sha256:
        return
    same_ids = _ids_sha256(corpus) == manifest.ids_sha256
    difference = "the ids agree, the texts differ" if same_ids else "other ids"
    raise RetrievalError(
        f"{folder}: built from another corpus ({difference}): indexed {manifest.count} documents"
        f" {manifest.corpus_sha256[:12]}, given {len(corpus)} documents {corpus.sha256[:12]}; build an index for it"
    )


def _ids_sha256(corpus: Corpus) -> str:
    return corpus_sha256(Document(document.id, "", "") for document in corpus)


def _record(path: Path) -> FileRecord:
    with path.open("rb") as handle:
        return FileRecord(path.stat().st_size, hashlib.file_digest(handle, "sha256").hexdigest())


def _versions() -> dict[str, str]:
    versions = {}
    for name in LIBRARIES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            versions[name] = "not installed"
    return versions
