"""Policies that play the environments, and the engines behind them."""

from agentgym_r1.policies.exploits import EXPLOITS, ExploitPolicy
from agentgym_r1.policies.registry import make_policy
from agentgym_r1.policies.scripted import ExpertPolicy, RandomPolicy, ScriptedPolicy
from agentgym_r1.policies.search_once import SearchOncePolicy

__all__ = [
    "EXPLOITS",
    "ExpertPolicy",
    "ExploitPolicy",
    "RandomPolicy",
    "ScriptedPolicy",
    "SearchOncePolicy",
    "make_policy",
]
