"""A small library about kites, and queries for it."""

from typing import Any

from agentgym_r1.corpus import MemoryPapers, Paper
from agentgym_r1.data.gold import PaperGold
from agentgym_r1.data.tasks import ListTasks
from agentgym_r1.envs.paper_search.env import PaperSearchEnv
from agentgym_r1.retrieval import MemoryRetriever
from agentgym_r1.retrieval.library import LocalLibrary
from agentgym_r1.text_env import Options
from agentgym_r1.types import Task, ToolCall

PAPERS = (
    Paper("k1", "Kite tails", "Tails of kites steady them.", year=2001),
    Paper("k2", "Kite strings", "Strings of kites break.", year=2005, references=("k1",)),
    Paper("f1", "Flying toys at sea", "Sailors let wings rise on ropes.", year=2010, references=("k1", "k2")),
    Paper("f2", "Ropes and wings", "Again on wings.", year=2012, references=("f1",)),
    Paper("b1", "Bread ovens", "Ovens for bread.", year=1999),
    Paper("b2", "Bread crusts", "Crusts of bread.", year=None, references=("b1",)),
)
TASKS = (
    Task("kites", "kites", PaperGold(("k1", "f1"), ("Kite tails", "Flying toys at sea"), ("A lost paper",)), "flying"),
    Task("bread", "bread", PaperGold(("b1", "b2"), ("Bread ovens", "Bread crusts"))),
)


class Driver:
    """Steps an environment with calls instead of text."""

    def __init__(self, env: PaperSearchEnv) -> None:
        self.env = env

    def __call__(self, *calls: tuple[str, str]) -> dict[str, Any]:
        """Take a step; a call is (tool, its one argument) and ("finish", "")."""
        arguments = {"search": "query", "expand": "paper_id"}
        made = [ToolCall(tool, {arguments[tool]: value} if tool in arguments else {}) for tool, value in calls]
        observation, reward, terminated, truncated, info = self.env.step(self.env.format.call(*made))
        info |= {"observation": observation, "reward": reward, "terminated": terminated, "truncated": truncated}
        return info


def make_env(library: Any = None, **kwargs: Any) -> PaperSearchEnv:
    papers = MemoryPapers(PAPERS)
    own = library or LocalLibrary(papers, MemoryRetriever(papers.documents))
    tasks = ListTasks(TASKS, name="kites", split="test", source="world")
    options = kwargs.pop("options", Options(max_steps=5))
    return PaperSearchEnv(tasks, own, options=options, **{"k": 2, **kwargs})
