"""The catalogue as a corpus for the retrievers: one document a product, with the text that WebShop indexes."""

from collections.abc import Iterator
from pathlib import Path

from agentgym_r1.data.webshop.products import Product, search_text
from agentgym_r1.data.webshop.store import Catalogue
from agentgym_r1.types import Document


def document_of(product: Product) -> Document:
    """Return what the search index holds of a product."""
    return Document(product.asin, "", search_text(product))


class ProductCorpus:
    """A ``Corpus`` over a catalogue: ids are asins, in the catalogue's order; no text is stored twice."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue

    @property
    def path(self) -> Path:
        """The catalogue's folder; an index over this corpus names it instead of copying the texts."""
        return self._catalogue.folder

    @property
    def sha256(self) -> str:
        """Hash of the documents, computed when the catalogue was built."""
        return self._catalogue.manifest.documents_sha256

    def __len__(self) -> int:
        return len(self._catalogue)

    def __getitem__(self, index: int) -> Document:
        return document_of(self._catalogue.product(index))

    def __iter__(self) -> Iterator[Document]:
        return (self[index] for index in range(len(self)))

    def index_of(self, document_id: str) -> int:
        """Return the row of an asin; raise KeyError when the shop does not sell it."""
        row = self._catalogue.row_of(document_id)
        if row is None:
            raise KeyError(document_id)
        return row
