"""Where the products of a catalogue come from: the official files, or a generated shop."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol, TypeVar

import msgspec

from agentgym_r1.data.download import sha256_file
from agentgym_r1.data.webshop.json_stream import objects
from agentgym_r1.data.webshop.products import ATTRIBUTES_WHEN_UNLISTED, Instruction, Listing
from agentgym_r1.errors import DataError

FULL_PRODUCTS_SHA256 = "2ef591d65df3af89e972ab72468eb82cbf124d876552d9f3678667edd620a6c8"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One input of a catalogue, as its manifest records it."""

    name: str
    sha256: str


class ShopSource(Protocol):
    """The products of a shop in their order, and what is known beside them."""

    @property
    def name(self) -> str:
        """What the catalogue is called."""
        ...

    @property
    def kind(self) -> Literal["real", "world"]:
        """Whether the products are published or generated."""
        ...

    @property
    def is_full(self) -> bool:
        """Whether these are all products of the original, whose splits are ranges of goal positions."""
        ...

    @property
    def size(self) -> int:
        """The last offset that ``records`` yields, as far as it is known beforehand."""
        ...

    def files(self) -> tuple[SourceFile, ...]:
        """Return what identifies the source; an interrupted build goes on only with the same."""
        ...

    def records(self, start: int) -> Iterator[tuple[dict[str, Any], Listing, int]]:
        """Yield each record behind an offset (0, or one yielded before), what stands beside it, and the next offset."""
        ...


@dataclass(frozen=True, slots=True)
class _ListedProduct:
    """An entry of items_ins_v2*.json."""

    attributes: tuple[str, ...] = ATTRIBUTES_WHEN_UNLISTED
    instruction: str | None = None
    instruction_attributes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _HumanInstruction:
    """An entry of items_human_ins.json."""

    instruction: str
    instruction_attributes: tuple[str, ...] = ()
    instruction_options: tuple[str, ...] = ()

    def plain(self) -> Instruction:
        return Instruction(self.instruction, self.instruction_attributes, self.instruction_options)


@dataclass(slots=True)
class OfficialFiles:
    """The files of the original: products, generated instructions, and instructions of people.

    Args:
        products: items_shuffle*.json, or JSON lines whose objects hold such a record under ``product``.
        listed: items_ins_v2*.json.
        human: items_human_ins.json; without it, ``instructions`` inside the product records count.

    Raises:
        DataError: a file is missing or not in its official format.
    """

    products: Path
    listed: Path
    human: Path | None = None
    kind: Literal["real"] = field(default="real", init=False)
    _files: tuple[SourceFile, ...] = field(default=(), init=False, repr=False)

    @property
    def name(self) -> str:
        """The name of the products file."""
        return self.products.stem

    @property
    def is_full(self) -> bool:
        """Whether the products file is the published one of all products."""
        return any(file.sha256 == FULL_PRODUCTS_SHA256 for file in self.files())

    @property
    def size(self) -> int:
        """Bytes of the products file."""
        return self.products.stat().st_size

    def files(self) -> tuple[SourceFile, ...]:
        """Return name and hash of each file; the first call reads them."""
        if not self._files:
            paths = (self.products, self.listed, self.human)
            self._files = tuple(SourceFile(path.name, _sha256(path)) for path in paths if path)
        return self._files

    def records(self, start: int) -> Iterator[tuple[dict[str, Any], Listing, int]]:
        """Yield the product records behind a byte offset."""
        listed = _decode(self.listed, dict[str, _ListedProduct])
        human = _decode(self.human, dict[str, list[_HumanInstruction]]) if self.human else None
        for entry, offset in objects(self.products, start=start):
            record = entry.get("product", entry)
            asin = record.get("asin")
            instructions = _inside(record) if human is None else human.get(asin, [])
            yield record, _listing(listed.get(asin, _ListedProduct()), instructions), offset


def _listing(listed: _ListedProduct, human: Sequence[_HumanInstruction]) -> Listing:
    text = listed.instruction
    return Listing(
        attributes=listed.attributes,
        synthetic=None if text is None else Instruction(text, listed.instruction_attributes),
        human=tuple(entry.plain() for entry in human),
    )


def find_official(folder: Path, *, full: bool = False) -> OfficialFiles:
    """Return the official files of a folder: the set of 1,000 products, or all of them.

    Raises:
        DataError: the folder lacks one; the message names what was looked for.
    """
    suffix = "" if full else "_1000"
    products = [folder / f"items_shuffle{suffix}.json"] + ([] if full else [folder / "resources_1k_documents.jsonl"])
    listed, human = folder / f"items_ins_v2{suffix}.json", folder / "items_human_ins.json"
    found = next((path for path in products if path.is_file()), None)
    if found is None or not listed.is_file():
        raise DataError(
            f"{folder} holds no WebShop products: expected {' or '.join(path.name for path in products)}, "
            f"and {listed.name}; get them with: agentgym-r1 data get webshop"
        )
    return OfficialFiles(found, listed, human if human.is_file() else None)


def _inside(record: Mapping[str, Any]) -> list[_HumanInstruction]:
    return msgspec.convert(record.get("instructions", []), list[_HumanInstruction])


def _decode(path: Path, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except (OSError, msgspec.MsgspecError) as err:
        raise DataError(f"{path} cannot be read ({err}); download it again") from err


def _sha256(path: Path) -> str:
    try:
        return sha256_file(path)
    except OSError as err:
        raise DataError(f"{path} cannot be read ({err.strerror}); pass another file") from err
