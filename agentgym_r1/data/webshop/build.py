"""Build a catalogue from a source, product by product: bounded memory, resumed after an interruption."""

import itertools
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import msgspec
from filelock import FileLock

from agentgym_r1.data.download import Progress, disk_errors, no_progress
from agentgym_r1.data.webshop.finish import finish_catalogue
from agentgym_r1.data.webshop.nouns import NounTagger, best_tagger
from agentgym_r1.data.webshop.products import Listing, Product, is_sold, product_of
from agentgym_r1.data.webshop.sources import ShopSource, SourceFile
from agentgym_r1.data.webshop.store import Catalogue
from agentgym_r1.data.webshop.tables import (
    Columns,
    append_row,
    empty_columns,
    part_paths,
    product_types,
    read_table,
    write_table,
)
from agentgym_r1.errors import DataError

PART_ROWS = 16_384
_PLAN = "plan.json"
_NEXT = b"next"


def build_catalogue(
    source: ShopSource,
    folder: Path,
    *,
    nouns: NounTagger | None = None,
    part_rows: int = PART_ROWS,
    progress: Progress = no_progress,
) -> Catalogue:
    """Build the catalogue of a source, or open it when it is there already.

    What is done stays in ``FOLDER.partial``, so that a killed build goes on where it stopped; the folder appears whole.
    Processes that want the same folder wait for the first one. Memory: the entries of items_ins_v2*.json, the products
    of one file, and some bytes a product.

    Args:
        source: the products, for example ``find_official(folder)``.
        folder: the catalogue's place.
        nouns: finds the nouns of titles; by default spaCy where it is installed.
        part_rows: products a file; a killed build loses at most one file's.
        progress: called with a label, what is done (offsets of the source, then products) and the total.

    Raises:
        DataError: a file is missing or malformed, the folder holds another catalogue, or it cannot be written.
    """
    with disk_errors(folder.parent):
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(folder.with_name(f".{folder.name}.lock")):
            if not folder.exists():
                _Build(source, folder, nouns or best_tagger(), part_rows, progress).run()
    catalogue = Catalogue(folder)
    if catalogue.manifest.files != source.files():
        raise DataError(
            f"{folder} is the catalogue of {_names(catalogue.manifest.files)}, not of {_names(source.files())}; "
            "choose another folder or delete it"
        )
    return catalogue


@dataclass(frozen=True, slots=True)
class _Plan:
    """What must be equal for a build to go on."""

    files: tuple[SourceFile, ...]
    nouns: str
    part_rows: int


class _Build:
    """One catalogue on its way."""

    def __init__(
        self, source: ShopSource, folder: Path, tagger: NounTagger, part_rows: int, progress: Progress
    ) -> None:
        self._source, self._folder, self._tagger, self._progress = source, folder, tagger, progress
        self._work = folder.with_name(f"{folder.name}.partial")
        self._plan = _Plan(source.files(), tagger.name, part_rows)

    def run(self) -> None:
        """Do what is left to do and give the folder its name."""
        self._begin()
        self._write_products()
        plan = self._plan
        finish_catalogue(self._work, self._source, nouns=plan.nouns, part_rows=plan.part_rows, progress=self._progress)
        (self._work / _PLAN).unlink()
        self._work.replace(self._folder)

    def _begin(self) -> None:
        """Keep what an earlier build with the same plan did; otherwise start afresh."""
        plan = self._work / _PLAN
        if not plan.is_file() or plan.read_bytes() != msgspec.json.encode(self._plan):
            shutil.rmtree(self._work, ignore_errors=True)
            self._work.mkdir()
            plan.write_bytes(msgspec.json.encode(self._plan))

    def _write_products(self) -> None:
        parts = [read_table(path) for path in part_paths(self._work)]
        seen = {asin for part in parts for asin in part.column("asin").to_pylist()}
        start = int(parts[-1].schema.metadata[_NEXT]) if parts else 0
        entries = self._unseen(start, seen)
        for number in itertools.count(len(parts)):
            batch = list(itertools.islice(entries, self._plan.part_rows))
            if not batch:
                break
            columns = self._columns(batch)
            path = self._work / f"products-{number:05d}.arrow"
            write_table(path, columns, product_types(), metadata={_NEXT: str(batch[-1][2])})
            self._progress("products", batch[-1][2], self._source.size)

    def _unseen(self, start: int, seen: set[str]) -> Iterator[tuple[dict[str, Any], Listing, int]]:
        """Yield what the shop sells, each asin once."""
        for record, listing, offset in self._source.records(start):
            if is_sold(record) and record["asin"] not in seen:
                seen.add(record["asin"])
                yield record, listing, offset

    def _columns(self, batch: Sequence[tuple[dict[str, Any], Listing, int]]) -> Columns:
        nouns = self._tagger([str(record.get("name", "")) for record, _, _ in batch])
        columns = empty_columns(product_types())
        for (record, listing, _), words in zip(batch, nouns, strict=True):
            append_row(columns, _row(product_of(record, listing, nouns=words), listing))
        return columns


def _row(product: Product, listing: Listing) -> dict[str, Any]:
    values = {field.name: getattr(product, field.name) for field in fields(product)}
    options = values.pop("options")
    return values | {
        "option_names": [name for name, _ in options],
        "option_values": [values for _, values in options],
        "synthetic": [asdict(listing.synthetic)] if listing.synthetic else [],
        "human": [asdict(instruction) for instruction in listing.human],
    }


def _names(files: tuple[SourceFile, ...]) -> str:
    return ", ".join(f"{file.name} ({file.sha256[:12]})" for file in files)
