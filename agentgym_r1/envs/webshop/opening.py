"""Which shop an environment plays in: a real or generated catalogue with its search, opened once a process."""

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from agentgym_r1.data.webshop import Catalogue, Goals, ProductCorpus, ShopTasks
from agentgym_r1.data.webshop.goals import Sampling
from agentgym_r1.data.webshop.installed import open_installed, open_world
from agentgym_r1.data.webshop.store import Kind
from agentgym_r1.envs.sources import choose_source
from agentgym_r1.envs.webshop.engine import Shop
from agentgym_r1.envs.webshop.search import BM25Search, RetrieverSearch, Search
from agentgym_r1.errors import ConfigError
from agentgym_r1.home import home
from agentgym_r1.retrieval import Retriever, open_retriever
from agentgym_r1.retrieval.bm25 import BM25Retriever
from agentgym_r1.types import Source

SMALL = 1_000
FULL: Literal["full"] = "full"
Products = int | Literal["full"]


@dataclass(frozen=True, slots=True)
class Stock:
    """What identifies a catalogue of this machine.

    Attributes:
        home: the library's folder.
        name: of a real catalogue; empty for a generated one.
        products: how many are generated.
    """

    home: Path
    name: str
    products: int


def choose_stock(source: Source, products: Products) -> Stock:
    """Return the catalogue to use.

    Args:
        source: ``auto``, ``real`` or ``world``.
        products: 1,000, which the small real set and by default the world have; ``full`` for all real products, or
            another number for a world of that size.

    Raises:
        ConfigError: an unknown source, or no catalogue of that source has so many products.
        DataError: the real set is asked for and not installed.
    """
    if products == FULL and source != "world":
        choose_source("webshop-full", "real" if source == "auto" else source)
        return Stock(home(), "webshop-full", 0)
    if isinstance(products, bool) or not isinstance(products, int):
        raise ConfigError(f"products must be a number, or 'full' for the real set, got {products!r}")
    if products == SMALL and choose_source("webshop", source):
        return Stock(home(), "webshop", SMALL)
    if source == "real":
        raise ConfigError(f"the real sets have {SMALL} products or 'full', got products={products}")
    return Stock(home(), "", products)


@functools.lru_cache(maxsize=4)
def open_catalogue(stock: Stock) -> Catalogue:
    """Open a catalogue; a generated one is made the first time.

    Raises:
        ConfigError: fewer than one product.
        DataError: it is damaged, or cannot be written.
    """
    if stock.name:
        return open_installed(stock.name, home=stock.home)
    return open_world(products=stock.products, home=stock.home)


@functools.lru_cache(maxsize=8)
def open_goals(stock: Stock, kind: Kind | None, sampling: Sampling, split: str) -> ShopTasks:
    """Return the goals of a split; without a kind, those that published results use.

    Raises:
        ConfigError: an unknown kind, sampling or split, or a split without goals.
    """
    catalogue = open_catalogue(stock)
    goals = Goals(catalogue, kind=kind or catalogue.manifest.default_kind, sampling=sampling)
    return ShopTasks(goals, split=split)


def open_shop(stock: Stock, retriever: Retriever | str | Path) -> Shop:
    """Return the shop over a catalogue; environments that name the same retriever share it, and its caches.

    Args:
        stock: the catalogue.
        retriever: what ``open_retriever`` takes.

    Raises:
        ConfigError: no such retriever.
        RetrievalError: its index cannot be opened, or is of another catalogue.
    """
    if isinstance(retriever, str):
        return _shared_shop(stock, retriever)
    return _shop(open_catalogue(stock), retriever)


@functools.lru_cache(maxsize=4)
def _shared_shop(stock: Stock, retriever: str) -> Shop:
    return _shop(open_catalogue(stock), retriever)


def _shop(catalogue: Catalogue, retriever: Retriever | str | Path) -> Shop:
    return Shop(catalogue, _search(catalogue, open_retriever(retriever, corpus=ProductCorpus(catalogue))))


def _search(catalogue: Catalogue, retriever: Retriever) -> Search:
    if isinstance(retriever, BM25Retriever) and retriever.corpus.sha256 == catalogue.manifest.documents_sha256:
        return BM25Search(retriever, catalogue)
    return RetrieverSearch(retriever, catalogue)
