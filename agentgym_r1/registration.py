"""The one table of environments, and their registration with Gymnasium."""

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import gymnasium as gym

from agentgym_r1.errors import ConfigError, unknown_name

ANSWER_EXPLOITS = tuple(f"exploit-{name}" for name in ("candidates", "echo", "stuff", "yes", "dump", "inject"))

REMOTE = "AgentR1/Remote-v0"
"""Any of the environments, played by ``agentgym-r1 serve``."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One registered environment.

    Attributes:
        id: the Gymnasium id.
        entry_point: ``module:function`` that makes one environment.
        vector_entry_point: ``module:function`` that makes the batched environment.
        summary: what the agent does, in one line.
        data: the real sets it can use, as ``agentgym-r1 data get`` names them.
        world: the embedded world it uses otherwise.
        split: the split that evaluation uses by default.
        family: which presets apply, as envs.presets names them.
        exploits: the exploit policies that mean something in it; by default those for tasks with an answer.
        baselines: further policies that mean something in it and play by default.
        extras: extras of this package that it, or some option of it, needs.
        needs: modules of extras that it cannot do without.
    """

    id: str
    entry_point: str
    vector_entry_point: str
    summary: str
    data: tuple[str, ...]
    world: str
    split: str
    family: str
    exploits: tuple[str, ...] = ANSWER_EXPLOITS
    baselines: tuple[str, ...] = ()
    extras: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()

    def is_playable(self) -> bool:
        """Return whether everything that it cannot do without is installed."""
        return all(find_spec(module) is not None for module in self.needs)


_QA = "agentgym_r1.envs.hotpotqa"

ENTRIES = (
    Entry(
        id="AgentR1/GSM8K-v0",
        entry_point="agentgym_r1.envs.gsm8k:make",
        vector_entry_point="agentgym_r1.envs.gsm8k:make_vector",
        summary="Solve a word problem with a calculator.",
        data=("gsm8k",),
        world="arithmetic",
        split="test",
        family="gsm8k",
    ),
    Entry(
        id="AgentR1/HotpotQA-v0",
        entry_point=f"{_QA}:make_hotpotqa",
        vector_entry_point=f"{_QA}:make_vector_hotpotqa",
        summary="Answer a two-hop question by searching a corpus.",
        data=("hotpotqa",),
        world="encyclopedia",
        split="dev",
        family="qa",
    ),
    Entry(
        id="AgentR1/2WikiMultiHopQA-v0",
        entry_point=f"{_QA}:make_twowiki",
        vector_entry_point=f"{_QA}:make_vector_twowiki",
        summary="Answer a two-to-four-hop question of 2WikiMultiHopQA by searching a corpus.",
        data=("2wiki",),
        world="encyclopedia",
        split="dev",
        family="qa",
    ),
    Entry(
        id="AgentR1/MuSiQue-v0",
        entry_point=f"{_QA}:make_musique",
        vector_entry_point=f"{_QA}:make_vector_musique",
        summary="Answer a two-to-four-hop question of MuSiQue by searching a corpus.",
        data=("musique",),
        world="encyclopedia",
        split="dev",
        family="qa",
    ),
    Entry(
        id="AgentR1/WebShop-v0",
        entry_point="agentgym_r1.envs.webshop.env:make",
        vector_entry_point="agentgym_r1.envs.webshop.env:make_vector",
        summary="Buy what an instruction asks for, in a shop of 1,000 or more products.",
        data=("webshop", "webshop-full"),
        world="shop",
        split="test",
        family="webshop",
        exploits=("exploit-first", "exploit-click", "exploit-no-options"),
    ),
    Entry(
        id="AgentR1/ALFWorld-v0",
        entry_point="agentgym_r1.envs.alfworld.env:make",
        vector_entry_point="agentgym_r1.envs.alfworld.env:make_vector",
        summary="Do a household task by text commands in a room.",
        data=("alfworld",),
        world="household",
        split="valid_seen",
        family="alfworld",
        exploits=(),
        extras=("textworld",),
    ),
    Entry(
        id="AgentR1/PaperSearch-v0",
        entry_point="agentgym_r1.envs.paper_search.opening:make",
        vector_entry_point="agentgym_r1.envs.paper_search.opening:make_vector",
        summary="Collect the papers of a library that satisfy a query, by search and citation expansion.",
        data=("pasa", "litsearch", "acl", "scifact"),
        world="library",
        split="test",
        family="paper_search",
        exploits=(),
        baselines=("bm25",),
    ),
    Entry(
        id="AgentR1/MiniGrid-v0",
        entry_point="agentgym_r1.envs.minigrid.env:make",
        vector_entry_point="agentgym_r1.envs.minigrid.env:make_vector",
        summary="Carry out a mission in a grid of rooms, on any level of MiniGrid or BabyAI.",
        data=(),
        world="",
        split="test",
        family="minigrid",
        exploits=(),
        extras=("minigrid",),
        needs=("minigrid",),
    ),
)


def make_env(env_id: str, **kwargs: Any) -> gym.Env[Any, Any]:
    """Return ``gym.make(env_id, **kwargs)``.

    Args:
        env_id: a Gymnasium id, or ``module:id``, which imports the module that registers it first.
        **kwargs: of the environment.

    Raises:
        ConfigError: there is no such environment or module, or it does not take the arguments.
    """
    if env_id not in gym.registry and ":" not in env_id:
        raise unknown_name("environment", env_id, [entry.id for entry in ENTRIES])
    try:
        return gym.make(env_id, **kwargs)
    except (gym.error.Error, ModuleNotFoundError) as err:
        raise ConfigError(f"cannot make {env_id}: {err}") from err
    except TypeError as err:
        if "unexpected keyword argument" not in str(err):
            raise
        raise ConfigError(f"{env_id} does not take the arguments {', '.join(kwargs)}: {err}") from err


def register_all() -> None:
    """Register every environment with Gymnasium; called by ``import agentgym_r1``."""
    for entry in ENTRIES:
        if entry.id not in gym.registry:
            gym.register(id=entry.id, entry_point=entry.entry_point, vector_entry_point=entry.vector_entry_point)
    if REMOTE not in gym.registry:
        gym.register(id=REMOTE, entry_point="agentgym_r1.envs.remote:RemoteEnv")
