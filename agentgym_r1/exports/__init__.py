"""Recorded trajectories as data sets for other trainers: SFT, DPO, KTO and Parquet, with a data card beside each."""

from agentgym_r1.exports.export import FORMATS, export
from agentgym_r1.exports.filters import Filters

__all__ = ["FORMATS", "Filters", "export"]
