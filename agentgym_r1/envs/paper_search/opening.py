"""Make AgentR1/PaperSearch: choose the queries and the library, which all environments of a process share."""

import functools
from pathlib import Path
from typing import Any

from agentgym_r1.corpus import ArrowPapers, MemoryPapers, Papers
from agentgym_r1.data.installed import folder_of, installed_manifest, is_installed, open_tasks
from agentgym_r1.data.worlds import library as world
from agentgym_r1.envs.paper_search.env import PaperSearchEnv, Prices
from agentgym_r1.envs.paper_search.relevance import Relevance
from agentgym_r1.envs.presets import DEFAULT_PROTOCOL, check_choice, resolve, split_options
from agentgym_r1.envs.sources import choose_source
from agentgym_r1.envs.vector import VectorTextEnv
from agentgym_r1.errors import ConfigError
from agentgym_r1.retrieval import Retriever, open_retriever
from agentgym_r1.retrieval.library import Library, LocalLibrary
from agentgym_r1.retrieval.opening import NAMES
from agentgym_r1.retrieval.scholar import SERVICES, open_library
from agentgym_r1.types import Source, TaskSet

SETS = ("pasa", "litsearch", "acl", "scifact")
FALLBACK = "litsearch"
ANY, OWN, BM25 = "auto", "own", "bm25"
_PRICES = {"best": 3, "search_cost": 0.0, "expand_cost": 0.0, "refused": -0.5}
_OWN = {"k": 10, "listed": 50, "process": True, **_PRICES}


def make(
    *,
    split: str = "test",
    source: Source = "auto",
    protocol: str = DEFAULT_PROTOCOL,
    data: str = ANY,
    library: Library | str = OWN,
    retriever: Retriever | str | Path = BM25,
    relevance: Relevance | None = None,
    **options: Any,
) -> PaperSearchEnv:
    """Make the environment; the entry point of gym.make.

    Args:
        split: ``test`` (also ``train``, ``dev``, and ``real`` of PaSa; SciFact has ``dev`` and ``train``).
        source: ``auto``, ``real`` or ``world``.
        protocol: a preset; see envs.presets.
        data: whose queries: ``pasa``, ``litsearch``, ``acl`` or ``scifact``; ``auto`` takes the first of them that is
            installed with its library.
        library: ``own`` searches the library that came with the queries. Any other one is searched for the same
            queries, and gold papers are then recognised by their titles: ``semantic-scholar``, ``openalex`` (see
            retrieval.scholar), or a Library.
        retriever: searches the own library: ``bm25``, ``dense``, the URL of a service, an index folder, or a Retriever.
        relevance: measures the process reward; by default membership in the gold set.
        **options: fields of Options; ``k`` (papers a search), ``listed`` (papers in the prompt), ``process`` (whether
            there is a process reward), and fields of Prices.
    """
    shared, own = split_options(resolve("paper_search", protocol, options), own=_OWN)
    fields = {name: own.pop(name) for name in _PRICES}
    prices = Prices(**fields) if own.pop("process") else None
    if isinstance(library, str):
        check_choice("library", library, (OWN, *SERVICES))
    name = _choose(data, source, has_library=library != OWN)
    tasks: TaskSet = open_tasks(name, split) if name else world.tasks(split)
    return PaperSearchEnv(
        tasks,
        _opened(library, name, split, retriever),
        options=shared,
        prices=prices,
        relevance=relevance,
        by_title=library != OWN,
        **own,
    )


def make_vector(num_envs: int, **kwargs: Any) -> VectorTextEnv:
    """Make the batched environment, all of it over one library; the vector entry point of gym.make_vec."""
    first = make(**kwargs)
    return VectorTextEnv([lambda: first, *[first.sibling] * (num_envs - 1)])


def _choose(data: str, source: Source, *, has_library: bool) -> str:
    """Return the set whose queries are used, or nothing for the world."""
    check_choice("data", data, (ANY, *SETS))
    ready = [name for name in SETS if is_installed(name) and (has_library or installed_manifest(name).papers)]
    chosen = data if data != ANY else next(iter(ready), FALLBACK)
    return chosen if choose_source(chosen, source) else ""


def _opened(library: Library | str, name: str, split: str, retriever: Retriever | str | Path) -> Library:
    if not isinstance(library, str):
        return library
    return _own_library(name, split, retriever) if library == OWN else open_library(library)


def _own_library(name: str, split: str, retriever: Retriever | str | Path) -> LocalLibrary:
    """Return the library of a set, or of the world's split."""
    place = _place(name) if name else (split, "")
    if isinstance(retriever, str) and retriever in NAMES:
        return _searched_by_name(*place, retriever)
    papers = _papers(*place)
    return LocalLibrary(papers, open_retriever(retriever, corpus=papers.documents))


def _place(name: str) -> tuple[str, str]:
    """Return the folder of a set's library and the hash of its documents."""
    corpus = installed_manifest(name).corpus
    if corpus is None:
        raise ConfigError(f"{name} is installed without its library: install it with, or pass library=")
    return str(folder_of(name)), corpus.corpus_sha256


@functools.lru_cache(maxsize=4)
def _searched_by_name(place: str, sha256: str, retriever: str) -> LocalLibrary:
    papers = _papers(place, sha256)
    return LocalLibrary(papers, open_retriever(retriever, corpus=papers.documents))


@functools.lru_cache(maxsize=4)
def _papers(place: str, sha256: str) -> Papers:
    """Return the papers in a folder, or those of the world's split when there is no hash."""
    return ArrowPapers(place) if sha256 else MemoryPapers(world.corpus(place))
