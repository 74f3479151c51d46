"""Open a corpus file, whatever its kind."""

from pathlib import Path

from agentgym_r1.corpus.arrow import ArrowCorpus
from agentgym_r1.corpus.base import Corpus, check_exists
from agentgym_r1.corpus.jsonl import JsonlCorpus, read_json
from agentgym_r1.errors import DataError


def open_corpus(path: str | Path) -> Corpus:
    """Open a corpus file: ``.arrow``, ``.jsonl``, or ``.json`` (a list of ``{"title", "text"}``; ids are positions).

    A file with another name is recognised by its first bytes.

    Raises:
        DataError: the file is missing, truncated, foreign, packed or of a later format version; the message says which.
    """
    path = Path(path)
    check_exists(path)
    kind = path.suffix if path.suffix in {".arrow", ".jsonl", ".json"} else _sniff(path)
    if kind == ".arrow":
        return ArrowCorpus(path)
    return JsonlCorpus(path) if kind == ".jsonl" else read_json(path)


def _sniff(path: Path) -> str:
    with path.open("rb") as handle:
        head = handle.read(512).lstrip()
    if head.startswith(b"\x1f\x8b"):
        raise DataError(f"{path}: packed with gzip, which has no random access: unpack it first (gunzip -k)")
    for magic, kind in ((b"ARROW1", ".arrow"), (b"[", ".json"), (b"{", ".jsonl")):
        if head.startswith(magic):
            return kind
    raise DataError(f"{path}: neither Arrow, JSONL nor JSON; a corpus is *.arrow, *.jsonl or *.json")
