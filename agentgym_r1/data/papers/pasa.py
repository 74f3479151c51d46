"""PaSa (arXiv 2501.10120): AutoScholarQuery and RealScholarQuery, and the paper database they were made with.

In the database a paper is a member of ``cs_paper_2nd.zip`` named by the letters of its title, with title, abstract and
the titles it cites, section by section; ``id2paper.json`` gives the arXiv ids. About one in fifteen gold papers of
RealScholarQuery is not in it. The queries install without the database too, for use with a live library.
"""

import json
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from agentgym_r1.corpus import Paper, title_key
from agentgym_r1.data.papers.loader import PaperLoader, Query
from agentgym_r1.data.reading import jsonl_rows
from agentgym_r1.errors import DataError


class _Row(msgspec.Struct, frozen=True):
    qid: str
    question: str
    answer: list[str]
    answer_arxiv_id: list[str]


def _queries(split: str, paths: Sequence[Path]) -> Iterator[Query]:
    for row in jsonl_rows(paths[0], _Row):
        ids = [*row.answer_arxiv_id, *[""] * (len(row.answer) - len(row.answer_arxiv_id))]
        yield Query(row.qid, row.question, list(zip(ids, row.answer)))


def _papers(paths: Sequence[Path]) -> Iterator[Paper]:
    names, archive_path = paths
    try:
        titles: dict[str, str] = msgspec.json.decode(names.read_bytes(), type=dict[str, str])
        ids: dict[str, str] = {}
        for arxiv_id, title in titles.items():
            ids.setdefault(title_key(title), arxiv_id)
        with zipfile.ZipFile(archive_path) as archive:
            for member in archive.namelist():
                yield _paper(member, json.loads(archive.read(member)), ids)
    except (msgspec.MsgspecError, zipfile.BadZipFile, ValueError, KeyError, TypeError, OSError) as err:
        raise DataError(f"{archive_path.parent}: not PaSa's paper database ({err}); download it again") from err


def _paper(member: str, record: dict[str, Any], ids: dict[str, str]) -> Paper:
    cited = [ids.get(title_key(title), title_key(title)) for title in _cited_titles(record.get("sections"))]
    arxiv_id = ids.get(member, member)
    title = " ".join(str(record["title"]).split())
    abstract = " ".join(str(record["abstract"]).split())
    return Paper(arxiv_id, title, abstract, year=year_of(arxiv_id), references=tuple(dict.fromkeys(cited)))


def _cited_titles(sections: Any) -> list[str]:
    """Return the titles in lists of lists and mappings of them; whatever else is there is left out."""
    if isinstance(sections, str):
        return [sections] if sections else []
    parts = sections.values() if isinstance(sections, dict) else sections if isinstance(sections, list) else ()
    return [title for part in parts for title in _cited_titles(part)]


def year_of(arxiv_id: str) -> int | None:
    """Return the year in an arXiv id (``2101.00190``, ``cs/0112017``), or None when it has none."""
    digits = arxiv_id.rpartition("/")[2][:4]
    if not (digits.isascii() and digits.isdigit()):
        return None
    year = int(digits[:2])
    return 1900 + year if year > 90 else 2000 + year


LOADER = PaperLoader(
    files={
        "dev": ("AutoScholarQuery/dev.jsonl", "AutoScholarQuery_dev.jsonl"),
        "test": ("AutoScholarQuery/test.jsonl", "AutoScholarQuery_test.jsonl"),
        "real": ("RealScholarQuery/test.jsonl", "RealScholarQuery_test.jsonl"),
        "train": ("AutoScholarQuery/train.jsonl", "AutoScholarQuery_train.jsonl"),
    },
    library=(
        ("paper_database/id2paper.json", "paper_database_id2paper.json"),
        ("paper_database/cs_paper_2nd.zip", "paper_database_cs_paper_2nd.zip"),
    ),
    papers=_papers,
    queries=_queries,
    library_required=False,
)
