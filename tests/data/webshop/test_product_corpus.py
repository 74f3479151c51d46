"""The catalogue as a corpus."""

import pytest

from agentgym_r1.corpus import Corpus, corpus_sha256
from agentgym_r1.data.webshop import Catalogue, ProductCorpus, search_text
from agentgym_r1.types import Document


def test_a_catalogue_is_a_corpus_of_search_texts(small: Catalogue) -> None:
    corpus = ProductCorpus(small)
    assert isinstance(corpus, Corpus)
    assert len(corpus) == 4
    assert list(corpus)[1] == Document("A2", "", search_text(small.product(1)))


def test_its_hash_is_that_of_its_documents(small: Catalogue) -> None:
    corpus = ProductCorpus(small)
    assert corpus.sha256 == corpus_sha256(corpus)


def test_documents_are_found_by_asin(small: Catalogue) -> None:
    assert ProductCorpus(small).index_of("A4") == 3
    with pytest.raises(KeyError):
        ProductCorpus(small).index_of("A9")


def test_positions_outside_are_index_errors(small: Catalogue) -> None:
    with pytest.raises(IndexError):
        ProductCorpus(small)[4]
