"""A catalogue on disk: products and instructions in Arrow files that all processes of a machine map and share.

The folder is written once by ``build_catalogue`` and never changed; its manifest comes last, so a folder with one is
whole.
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np
import numpy.typing as npt

from agentgym_r1.data.webshop.products import Product
from agentgym_r1.data.webshop.sources import SourceFile
from agentgym_r1.data.webshop.tables import part_paths, read_table
from agentgym_r1.errors import DataError

FORMAT_VERSION = 1
MANIFEST = "manifest.json"

Kind = Literal["synthetic", "human"]
KINDS: tuple[Kind, ...] = ("synthetic", "human")


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a catalogue is and came from.

    Attributes:
        name: of the source.
        source: "real" or "world".
        products: number of products.
        goals: number of goals of each kind.
        splits: "hash" (by the hash of the instruction) or "ranges" (by position, as the original's full catalogue).
        nouns: which tagger found the title nouns.
        files: the inputs.
        documents_sha256: hash of the search texts, as ``agentgym_r1.corpus`` defines it.
        part_rows: products in each file but the last.
        format: version of the folder's format.
    """

    name: str
    source: Literal["real", "world"]
    products: int
    goals: dict[Kind, int]
    splits: Literal["hash", "ranges"]
    nouns: str
    files: tuple[SourceFile, ...]
    documents_sha256: str
    part_rows: int
    format: int = FORMAT_VERSION

    @property
    def default_kind(self) -> Kind:
        """The kind of goals that published results use: people's on all products, generated ones on a part of them."""
        return "human" if self.splits == "ranges" else "synthetic"


class Catalogue:
    """The products of a shop, read from a folder; opening reads no product, and pickling keeps only the path.

    Args:
        folder: what ``build_catalogue`` made.

    Raises:
        DataError: the folder is no catalogue, not whole, or of a later format.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.manifest = _read_manifest(self.folder)
        parts = [read_table(path) for path in part_paths(self.folder)]
        if sum(part.num_rows for part in parts) != self.manifest.products:
            raise DataError(
                f"{self.folder}: not all of its {self.manifest.products} products are there; build it again"
            )
        self._parts = [{name: part.column(name) for name in part.schema.names} for part in parts]

    def __reduce__(self) -> tuple[type["Catalogue"], tuple[Path]]:
        return type(self), (self.folder,)

    def __len__(self) -> int:
        return self.manifest.products

    def product(self, row: int) -> Product:
        """Return the product at a row; raise IndexError outside 0..len-1."""
        return product_at(*self._place(row))

    def headline(self, row: int) -> tuple[str, str, str]:
        """Return (asin, title, price tag), what a page of results shows; cheaper than the product."""
        part, within = self._place(row)
        return part["asin"][within].as_py(), part["title"][within].as_py(), part["price_tag"][within].as_py()

    def row_of(self, asin: str) -> int | None:
        """Return the row of a product, or None when the shop does not sell it."""
        key = np.array([asin.encode(errors="replace")])
        place = int(np.searchsorted(self._asins, key)[0])
        if place == len(self):
            return None
        row = int(self._asin_rows[place])
        return row if self.headline(row)[0] == asin else None

    def rows_where(self, field: Literal["category", "query", "attributes"], value: str) -> list[int]:
        """Return the rows of all products with this category or query, or with it among their attributes, in order."""
        import pyarrow.compute as pc

        rows: list[int] = []
        for number, part in enumerate(self._parts):
            column = part[field]
            if field == "attributes":
                matches = pc.list_parent_indices(column).filter(pc.equal(pc.list_flatten(column), value)).unique()
            else:
                matches = pc.indices_nonzero(pc.equal(column, value))
            rows.extend(number * self.manifest.part_rows + row for row in matches.to_pylist())
        return rows

    def array(self, name: str) -> npt.NDArray[Any]:
        """Return a stored array, memory-mapped; raise DataError when it is missing."""
        path = self.folder / f"{name}.npy"
        try:
            stored: npt.NDArray[Any] = np.load(path, mmap_mode="r")
        except (OSError, ValueError) as err:
            raise DataError(f"{path} cannot be read ({err}); build the catalogue again") from err
        return stored

    def table(self, kind: Kind) -> Any:
        """Return the instructions of a kind as an Arrow record batch, memory-mapped."""
        return read_table(self.folder / f"{kind}.arrow")

    @functools.cached_property
    def _asins(self) -> npt.NDArray[np.bytes_]:
        return self.array("asins")

    @functools.cached_property
    def _asin_rows(self) -> npt.NDArray[np.int32]:
        return self.array("asin_rows")

    def _place(self, row: int) -> tuple[dict[str, Any], int]:
        if not 0 <= row < len(self):
            raise IndexError(f"row {row} of a catalogue of {len(self)} products")
        part, within = divmod(row, self.manifest.part_rows)
        return self._parts[part], within


def product_at(columns: Mapping[str, Any], row: int) -> Product:
    """Return the product of a row of a part, given the part's columns by name."""

    def value(name: str) -> Any:
        return columns[name][row].as_py()

    return Product(
        asin=value("asin"),
        title=value("title"),
        category=value("category"),
        query=value("query"),
        product_category=value("product_category"),
        description=value("description"),
        bullets=tuple(value("bullets")),
        options=tuple(zip(value("option_names"), map(tuple, value("option_values")), strict=True)),
        prices=tuple(value("prices")),
        price_tag=value("price_tag"),
        attributes=tuple(value("attributes")),
        nouns=tuple(value("nouns")),
        image=value("image"),
    )


def _read_manifest(folder: Path) -> Manifest:
    path = folder / MANIFEST
    if not path.is_file():
        raise DataError(f"{folder} is not a finished catalogue: it has no {MANIFEST}; build it (again)")
    try:
        manifest = msgspec.json.decode(path.read_bytes(), type=Manifest)
    except (OSError, msgspec.MsgspecError) as err:
        raise DataError(f"{path} cannot be read ({err}); build the catalogue again") from err
    if manifest.format != FORMAT_VERSION:
        raise DataError(
            f"{folder} has catalogue format {manifest.format}, this version reads {FORMAT_VERSION}; build it again"
        )
    return manifest
