"""The bm25 policy."""

import gymnasium as gym
import pytest

from agentgym_r1.errors import ConfigError
from agentgym_r1.policies import SearchOncePolicy, make_policy
from agentgym_r1.policies.registry import check_fits
from agentgym_r1.registration import ENTRIES
from agentgym_r1.rollout import rollout


def test_it_keeps_what_one_search_of_the_query_finds() -> None:
    env = gym.make("AgentR1/PaperSearch-v0", source="world", split="dev", k=7)
    policy = make_policy("bm25")
    assert isinstance(policy, SearchOncePolicy)
    episode = rollout(env, policy, task="dev-000003", seed=0)
    assert len(episode.transitions) == 2
    assert (episode.metrics["searches"], episode.metrics["papers"]) == (1.0, 7.0)
    assert episode.transitions[-1].terminated
    query = env.unwrapped.tasks[3].prompt
    (hits,) = env.unwrapped.library.search([query], k=7)
    gold = set(env.unwrapped.tasks[3].gold.papers)
    assert episode.score == len({hit.paper.id for hit in hits} & gold) / len(gold)


def test_it_fits_paper_search_only() -> None:
    fitting = [entry.id for entry in ENTRIES if "bm25" in entry.baselines]
    assert fitting == ["AgentR1/PaperSearch-v0"]
    for entry in ENTRIES:
        if entry.id not in fitting:
            with pytest.raises(ConfigError, match="bm25 does not fit"):
                check_fits("bm25", entry)
