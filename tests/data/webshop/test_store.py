"""Reading catalogues."""

import pickle
from pathlib import Path

import pytest

from agentgym_r1.data.webshop import Catalogue, build_catalogue
from agentgym_r1.data.webshop.nouns import WordNouns
from agentgym_r1.data.worlds.shop import WorldShop
from agentgym_r1.errors import DataError


def test_products_are_found_by_asin(small: Catalogue) -> None:
    assert [small.row_of(asin) for asin in ("A3", "A1", "A4", "A2")] == [2, 0, 3, 1]


@pytest.mark.parametrize("asin", ["", "A", "A11", "a1", "Z", "zz" * 50, "ü", "\x00", "A1\x00", "\ud800"])
def test_an_asin_that_is_not_sold_has_no_row(small: Catalogue, asin: str) -> None:
    assert small.row_of(asin) is None


def test_headlines_are_what_the_results_show(small: Catalogue) -> None:
    assert small.headline(1) == ("A2", "Tin Whistle A2", "$5.0 to $7.25")


def test_rows_are_found_by_category_query_and_attribute(tmp_path: Path) -> None:
    shop = build_catalogue(WorldShop(60), tmp_path / "shop", nouns=WordNouns(), part_rows=16)
    products = [shop.product(row) for row in range(60)]
    one = next(product for product in products if product.attributes)
    attribute = one.attributes[0]
    assert shop.rows_where("category", one.category) == [
        r for r, p in enumerate(products) if p.category == one.category
    ]
    assert shop.rows_where("query", one.query) == [r for r, p in enumerate(products) if p.query == one.query]
    assert shop.rows_where("attributes", attribute) == [r for r, p in enumerate(products) if attribute in p.attributes]
    assert shop.rows_where("category", "nothing") == []


@pytest.mark.parametrize("row", [-1, 4])
def test_a_row_outside_is_an_index_error(small: Catalogue, row: int) -> None:
    with pytest.raises(IndexError, match=f"row {row} of a catalogue of 4 products"):
        small.product(row)


def test_pickling_keeps_the_path_only(small: Catalogue) -> None:
    data = pickle.dumps(small)
    assert len(data) < 500
    assert pickle.loads(data).product(0) == small.product(0)


def test_a_folder_that_is_no_catalogue_says_so(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"not a finished catalogue: it has no manifest\.json"):
        Catalogue(tmp_path)


def test_a_damaged_manifest_says_so(small: Catalogue) -> None:
    (small.folder / "manifest.json").write_text("{", encoding="utf-8")
    with pytest.raises(DataError, match=r"manifest\.json cannot be read"):
        Catalogue(small.folder)


def test_another_format_says_so(small: Catalogue) -> None:
    path = small.folder / "manifest.json"
    path.write_text(path.read_text(encoding="utf-8").replace('"format": 1', '"format": 99'), encoding="utf-8")
    with pytest.raises(DataError, match="catalogue format 99, this version reads 1"):
        Catalogue(small.folder)


def test_a_truncated_file_says_so(small: Catalogue) -> None:
    path = small.folder / "products-00000.arrow"
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(DataError, match=r"products-00000\.arrow cannot be read .*; build the catalogue again"):
        Catalogue(small.folder)


def test_a_missing_file_says_so(small: Catalogue) -> None:
    (small.folder / "products-00000.arrow").unlink()
    with pytest.raises(DataError, match="not all of its 4 products"):
        Catalogue(small.folder)


def test_a_missing_array_says_so(small: Catalogue) -> None:
    (small.folder / "original_prices.npy").unlink()
    with pytest.raises(DataError, match=r"original_prices\.npy cannot be read"):
        small.array("original_prices")
