"""The library world: literature queries over generated papers with a citation graph."""

from agentgym_r1.data.worlds.library.world import DEFAULT_PAPERS, KINDS, corpus, tasks

__all__ = ["DEFAULT_PAPERS", "KINDS", "corpus", "tasks"]
