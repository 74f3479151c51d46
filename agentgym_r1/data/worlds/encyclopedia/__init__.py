"""The encyclopedia world: multi-hop questions in the formats of HotpotQA, 2WikiMultiHopQA and MuSiQue."""

from agentgym_r1.data.worlds.encyclopedia.world import Flavour, corpus, tasks

__all__ = ["Flavour", "corpus", "tasks"]
