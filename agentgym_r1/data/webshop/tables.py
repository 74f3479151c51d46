"""The Arrow files of a catalogue: their columns, and how they are written and mapped."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agentgym_r1.errors import DataError

Columns = dict[str, list[Any]]


def empty_columns(types: Mapping[str, Any]) -> Columns:
    """Return a list for each column."""
    return {name: [] for name in types}


def append_row(columns: Columns, row: Mapping[str, Any]) -> None:
    """Append a value to every column."""
    for name, values in columns.items():
        values.append(row[name])


def product_types() -> dict[str, Any]:
    """Return the Arrow type of each column of the products."""
    import pyarrow as pa

    text, texts = pa.string(), pa.list_(pa.string())
    instructions = pa.list_(pa.struct({"text": text, "attributes": texts, "options": texts}))
    return {
        "asin": text,
        "title": text,
        "price_tag": text,
        "category": text,
        "query": text,
        "product_category": text,
        "description": text,
        "bullets": texts,
        "option_names": texts,
        "option_values": pa.list_(texts),
        "prices": pa.list_(pa.float64()),
        "attributes": texts,
        "nouns": texts,
        "image": text,
        "synthetic": instructions,
        "human": instructions,
    }


def instruction_types() -> dict[str, Any]:
    """Return the Arrow type of each column of the instructions."""
    import pyarrow as pa

    return {
        "row": pa.int32(),
        "number": pa.int32(),
        "text": pa.string(),
        "attributes": pa.list_(pa.string()),
        "options": pa.list_(pa.string()),
        "combinations": pa.int64(),
        "meetable": pa.int64(),
        "choosable": pa.list_(pa.list_(pa.string())),
        "original_limit": pa.float64(),
        "split": pa.int8(),
    }


def write_table(path: Path, columns: Columns, types: dict[str, Any], *, metadata: dict[bytes, str]) -> None:
    """Write one record batch, whole or not at all."""
    import pyarrow as pa

    schema = pa.schema(list(types.items()), metadata=metadata)
    batch = pa.record_batch([pa.array(columns[name], types[name]) for name in types], schema=schema)
    temporary = path.with_suffix(".tmp")
    with pa.OSFile(str(temporary), "wb") as sink, pa.ipc.new_file(sink, schema) as writer:
        writer.write_batch(batch)
    temporary.replace(path)


def part_paths(folder: Path) -> list[Path]:
    """Return the product files of a folder, whole or being built, in order."""
    return sorted(folder.glob("products-*.arrow"))


def read_table(path: Path) -> Any:
    """Return the one record batch of an Arrow file, memory-mapped; raise DataError when it is not whole."""
    import pyarrow as pa

    try:
        return pa.ipc.open_file(pa.memory_map(str(path))).get_batch(0)
    except (OSError, pa.ArrowException) as err:
        raise DataError(f"{path} cannot be read ({' '.join(str(err).split())}); build the catalogue again") from err
