"""SciFact (arXiv 2004.14974): scientific claims as queries for the abstracts that their authors cited.

The gold are all cited abstracts, as in BEIR, whether or not they hold evidence. There are no citations between papers.
"""

import shutil
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from agentgym_r1.corpus import Paper
from agentgym_r1.data.papers.loader import PaperLoader, Query
from agentgym_r1.data.reading import jsonl_rows
from agentgym_r1.errors import DataError

T = TypeVar("T")
ARCHIVE = "data.tar.gz"


class _Paper(msgspec.Struct, frozen=True):
    doc_id: int
    title: str
    abstract: list[str]


class _Claim(msgspec.Struct, frozen=True):
    id: int
    claim: str
    cited_doc_ids: list[int]


def _papers(paths: Sequence[Path]) -> Iterator[Paper]:
    for row in _rows(paths[0], "corpus.jsonl", _Paper):
        yield Paper(str(row.doc_id), row.title, " ".join(sentence.strip() for sentence in row.abstract))


def _queries(split: str, paths: Sequence[Path]) -> Iterator[Query]:
    for row in _rows(paths[0], f"claims_{split}.jsonl", _Claim):
        yield Query(str(row.id), row.claim, [(str(identity), "") for identity in row.cited_doc_ids])


def _rows(path: Path, name: str, row: type[T]) -> Iterator[T]:
    """Yield the rows of a file, or of the file ``data/NAME`` inside the official archive."""
    if path.name != ARCHIVE:
        yield from jsonl_rows(path, row)
        return
    with tempfile.TemporaryDirectory() as folder:
        try:
            with tarfile.open(path) as archive, (Path(folder) / name).open("wb") as target:
                member = archive.extractfile(f"data/{name}")
                if member is None:
                    raise KeyError(f"data/{name} is no file")
                shutil.copyfileobj(member, target)
        except (tarfile.TarError, KeyError, OSError) as err:
            raise DataError(f"{path}: not SciFact's archive ({err}); download it again") from err
        yield from jsonl_rows(Path(folder) / name, row)


LOADER = PaperLoader(
    files={
        "dev": ("claims_dev.jsonl", "data/claims_dev.jsonl", ARCHIVE),
        "train": ("claims_train.jsonl", "data/claims_train.jsonl", ARCHIVE),
    },
    library=(("corpus.jsonl", "data/corpus.jsonl", ARCHIVE),),
    papers=_papers,
    queries=_queries,
)
