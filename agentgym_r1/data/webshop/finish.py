"""The last step of building a catalogue: what needs all products."""

import math
import random
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from agentgym_r1.corpus import CorpusHasher
from agentgym_r1.data.download import Progress
from agentgym_r1.data.webshop.choices import can_meet, choosable
from agentgym_r1.data.webshop.corpus import document_of
from agentgym_r1.data.webshop.draws import ORIGINAL_SEED, limit, original_order, price
from agentgym_r1.data.webshop.products import Instruction, Options
from agentgym_r1.data.webshop.sources import ShopSource
from agentgym_r1.data.webshop.splits import SPLITS, split_of
from agentgym_r1.data.webshop.store import KINDS, MANIFEST, Kind, Manifest, product_at
from agentgym_r1.data.webshop.tables import (
    append_row,
    empty_columns,
    instruction_types,
    part_paths,
    read_table,
    write_table,
)
from agentgym_r1.errors import DataError


def finish_catalogue(work: Path, source: ShopSource, *, nouns: str, part_rows: int, progress: Progress) -> None:
    """Write the index of asins, the original's draws, the instructions and the manifest of a folder of products.

    Raises:
        DataError: the folder holds no products.
    """
    asins = np.array([asin.encode() for asin in _values(work, "asin")], dtype=np.bytes_)
    if not len(asins):
        raise DataError(f"{source.name} holds no products; expected at least one")
    rows = np.argsort(asins, kind="stable").astype(np.int32)
    np.save(work / "asins.npy", asins[rows])
    np.save(work / "asin_rows.npy", rows)
    rng = random.Random(ORIGINAL_SEED)
    prices = [price(rng, values) for values in _values(work, "prices")]
    np.save(work / "original_prices.npy", np.array(prices))
    goals = {kind: _write_instructions(work, kind, prices, rng.getstate()) for kind in KINDS}
    manifest = Manifest(
        name=source.name,
        source=source.kind,
        products=len(prices),
        goals=goals,
        splits="ranges" if source.is_full else "hash",
        nouns=nouns,
        files=source.files(),
        documents_sha256=_documents_hash(work, len(prices), progress),
        part_rows=part_rows,
    )
    (work / MANIFEST).write_bytes(msgspec.json.format(msgspec.json.encode(manifest), indent=2))


def _write_instructions(work: Path, kind: Kind, prices: list[float], state: Any) -> int:
    """Write the instructions of a kind and the orders of their goals; return the number of all goals."""
    rng = random.Random()
    rng.setstate(state)
    columns = empty_columns(instruction_types())
    for row, number, instruction, options in _instructions(work, kind):
        entry = {
            "row": row,
            "number": number,
            **asdict(instruction),
            **_combinations(kind, instruction, options),
            "original_limit": limit(rng, prices[row]),
            "split": SPLITS.index(split_of(instruction.text)),
        }
        append_row(columns, entry)
    write_table(work / f"{kind}.arrow", columns, instruction_types(), metadata={})
    for name in ("combinations", "meetable"):
        order = original_order(sum(columns[name]))
        np.save(work / f"{kind}_{name}_order.npy", np.array(order, dtype=np.int32))
    return sum(columns["combinations"])


def _combinations(kind: Kind, instruction: Instruction, options: Options) -> dict[str, Any]:
    """Return how many goals an instruction has, how many of them can be met, and the values that can be met."""
    if kind == "human":
        return {"combinations": 1, "meetable": int(can_meet(options, instruction.options)), "choosable": []}
    values = choosable(options)
    return {
        "combinations": math.prod(len(values) for _, values in options),
        "meetable": math.prod(map(len, values)),
        "choosable": values,
    }


def _instructions(work: Path, kind: Kind) -> Iterator[tuple[int, int, Instruction, Options]]:
    """Yield (product row, number within the product, instruction, options) where it asks for an attribute."""
    rows = ((columns, within) for columns, count in _parts(work) for within in range(count))
    for row, (columns, within) in enumerate(rows):
        for number, entry in enumerate(columns[kind][within].as_py()):
            if entry["attributes"]:
                yield row, number, Instruction(**entry), product_at(columns, within).options


def _documents_hash(work: Path, total: int, progress: Progress) -> str:
    hasher = CorpusHasher()
    done = 0
    for columns, count in _parts(work):
        for within in range(count):
            hasher.add(document_of(product_at(columns, within)))
        done += count
        progress("search texts", done, total)
    return hasher.hexdigest()


def _values(work: Path, name: str) -> Iterator[Any]:
    for columns, _ in _parts(work):
        yield from columns[name].to_pylist()


def _parts(work: Path) -> Iterator[tuple[dict[str, Any], int]]:
    """Yield the columns of each file and its number of rows; one file at a time is mapped."""
    for path in part_paths(work):
        part = read_table(path)
        yield {name: part.column(name) for name in part.schema.names}, part.num_rows
