"""Policies that play the environments, and the engines behind them."""

from agentgym_r1.policies.exploits import EXPLOITS, ExploitPolicy
from agentgym_r1.policies.registry import make_policy
from agentgym_r1.policies.scripted import ExpertPolicy, RandomPolicy, ScriptedPolicy

__all__ = ["EXPLOITS", "ExpertPolicy", "ExploitPolicy", "RandomPolicy", "ScriptedPolicy", "make_policy"]
