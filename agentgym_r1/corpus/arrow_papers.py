"""Libraries on disk: a corpus file of titles and abstracts, and beside it a file of the rest, both memory-mapped."""

from array import array
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from agentgym_r1.corpus.arrow import ArrowCorpus, write_corpus
from agentgym_r1.corpus.base import Corpus, id_hash, one_line, temporary_beside
from agentgym_r1.corpus.papers import Links, Paper, link
from agentgym_r1.errors import DataError
from agentgym_r1.types import Document

CORPUS = "corpus.arrow"
DETAILS = "papers.arrow"
FORMAT = b"agentgym-r1 papers"
FORMAT_VERSION = 1
CHUNK_ROWS = 4096
_NO_YEAR = -(2**31)


class ArrowPapers:
    """The library in a folder that ``write_papers`` made: memory-mapped, opened at once, pickled by its path.

    Raises:
        DataError: a file is missing, damaged or of a later format version, or the two do not belong together.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        corpus = ArrowCorpus(self.folder / CORPUS)
        self.documents: Corpus = corpus
        table = _open(self.folder / DETAILS, corpus.sha256)
        self._authors, self._venues = table.column("authors"), table.column("venue")
        self._years = np.asarray(table.column("year").fill_null(_NO_YEAR))
        self._references, self._citations = (_links(table.column(name)) for name in ("references", "citations"))

    def __reduce__(self) -> tuple[type["ArrowPapers"], tuple[Path]]:
        return type(self), (self.folder,)

    def __len__(self) -> int:
        return len(self.documents)

    def __getitem__(self, index: int) -> Paper:
        document = self.documents[index]
        return Paper(
            id=document.id,
            title=document.title,
            abstract=document.text,
            authors=tuple(self._authors[index].as_py()),
            year=self.year(index),
            venue=self._venues[index].as_py(),
            references=tuple(self.documents[target].id for target in self.references(index)),
        )

    def __iter__(self) -> Iterator[Paper]:
        return (self[index] for index in range(len(self)))

    def index_of(self, paper_id: str) -> int:
        """Return the position of an id; raise KeyError when no paper has it."""
        return self.documents.index_of(paper_id)

    def year(self, index: int) -> int | None:
        """Return the year of a paper, without reading the rest."""
        year = int(self._years[index])
        return None if year == _NO_YEAR else year

    def references(self, index: int) -> list[int]:
        """Return the positions of the papers that a paper cites, in its own order."""
        return self._references.of(index)

    def citations(self, index: int) -> list[int]:
        """Return the positions of the papers that cite a paper, in order."""
        return self._citations.of(index)


def write_papers(folder: str | Path, papers: Iterable[Paper]) -> str:
    """Stream papers into a library folder and return the sha256 of its documents.

    The citations are derived from the references. Memory holds names, venues and 8 bytes a reference.

    Args:
        folder: where; it is made.
        papers: any iterable, read once.

    Raises:
        DataError: two papers share an id, a text is not valid Unicode, or the folder cannot be written.
    """
    folder = Path(folder)
    details = _Details()
    sha256 = write_corpus(folder / CORPUS, details.collect(papers))
    references = link(details.counts, ArrowCorpus(folder / CORPUS).positions.locate(details.hashes))
    temporary = temporary_beside(folder / DETAILS)
    try:
        _write(temporary, details, references, sha256)
        temporary.replace(folder / DETAILS)
    except OSError as err:
        raise DataError(f"{folder}: not written ({one_line(err)})") from err
    finally:
        temporary.unlink(missing_ok=True)
    return sha256


class _Details:
    """Takes down what the corpus file does not hold while the papers stream by."""

    def __init__(self) -> None:
        self.counts = array("q")
        self.hashes = array("Q")
        self.chunks: list[tuple[Any, ...]] = []
        self._rows: list[tuple[Any, ...]] = []

    def collect(self, papers: Iterable[Paper]) -> Iterator[Document]:
        """Yield the papers as documents."""
        for paper in papers:
            self.counts.append(len(paper.references))
            self.hashes.extend(map(id_hash, paper.references))
            self._rows.append((paper.authors, paper.year, paper.venue))
            if len(self._rows) == CHUNK_ROWS:
                self._close_chunk()
            yield paper.document()
        self._close_chunk()

    def _close_chunk(self) -> None:
        import pyarrow as pa

        columns = list(zip(*self._rows)) or [(), (), ()]
        self.chunks.append(tuple(pa.array(column, kind) for column, kind in zip(columns, _detail_types())))
        self._rows = []


def _detail_types() -> tuple[Any, Any, Any]:
    import pyarrow as pa

    return pa.large_list(pa.string()), pa.int32(), pa.large_string()


def _write(path: Path, details: _Details, references: Links, sha256: str) -> None:
    import pyarrow as pa

    columns = [pa.concat_arrays(chunks) for chunks in zip(*details.chunks)]
    columns += [_list_array(links) for links in (references, references.reversed())]
    names = ("authors", "year", "venue", "references", "citations")
    fields = [pa.field(name, column.type) for name, column in zip(names, columns)]
    schema = pa.schema(fields, metadata={FORMAT: str(FORMAT_VERSION), "corpus": sha256})
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, schema) as writer:
        writer.write_batch(pa.record_batch(columns, schema=schema))


def _list_array(links: Links) -> Any:
    import pyarrow as pa

    return pa.LargeListArray.from_arrays(links.starts, links.targets)


def _links(column: Any) -> Links:
    return Links(np.asarray(column.offsets), np.asarray(column.values))


def _open(path: Path, corpus_sha256: str) -> Any:
    import pyarrow as pa

    again = "install or write the library again"
    if not path.is_file():
        raise DataError(f"{path}: no such file; {again}")
    try:
        reader = pa.ipc.open_file(pa.memory_map(str(path)))
        metadata = reader.schema.metadata or {}
        version = int(metadata.get(FORMAT, 0))
        if version > FORMAT_VERSION:
            raise DataError(
                f"{path}: papers of format {version}, this version reads up to {FORMAT_VERSION}: upgrade agentgym-r1"
            )
        if version == 0 or metadata[b"corpus"].decode() != corpus_sha256:
            raise DataError(f"{path}: does not belong to the {CORPUS} beside it; {again}")
        batch = reader.get_batch(0)
        batch.validate(full=True)
    except (pa.ArrowException, OSError, ValueError, KeyError) as err:
        raise DataError(f"{path}: damaged ({one_line(err)}); {again}") from err
    return batch
