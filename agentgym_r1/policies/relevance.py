"""A language model as the judge of paper search: PaSa's selector over any engine (arXiv 2501.10120)."""

import asyncio
import logging
import math
import struct
from collections.abc import Sequence

from agentgym_r1.corpus import Paper
from agentgym_r1.disk_cache import DiskCache
from agentgym_r1.policies.engines.base import Engine, Sampling
from agentgym_r1.rollout import run_sync
from agentgym_r1.types import Message, Response, Task, digest

logger = logging.getLogger(__name__)

PROMPT_VERSION = 1
_SAMPLING = Sampling(max_tokens=4)
_SCORE = struct.Struct("<d")


class ModelRelevance:
    """Asks a model, for each paper, whether it satisfies the query.

    The score is the probability of a yes where the engine tells how sure the model was of its first token, else 1 or 0.
    A response that is neither yes nor no counts as no. The papers of a step are asked about at the same time; an engine
    that fails makes the step fail, as a judgement that is missing is not a judgement of 0.

    Args:
        engine: the model; whoever made it closes it.
        cache: remembers the judgements on disk, by model, query and paper; several processes may share it.
    """

    shown = True

    def __init__(self, engine: Engine, *, cache: DiskCache | None = None) -> None:
        self._engine = engine
        self._cache = cache

    def judge(self, task: Task, papers: Sequence[Paper]) -> list[float]:
        """Return how relevant each paper is to the task's query; see ``Relevance.judge``.

        Raises:
            EngineError: the model cannot be reached or understood.
            DataError: the cache cannot be used.
        """
        keys = [self._key(task.prompt, paper) for paper in papers]
        known = {key: _SCORE.unpack(value)[0] for key, value in self._remembered(keys).items()}
        new = {key: paper for key, paper in zip(keys, papers) if key not in known}
        if new:
            scores = dict(zip(new, run_sync(self._ask(task.prompt, list(new.values())))))
            if self._cache is not None:
                self._cache.put({key: _SCORE.pack(score) for key, score in scores.items()})
            known |= scores
        return [known[key] for key in keys]

    def _key(self, query: str, paper: Paper) -> str:
        return digest([PROMPT_VERSION, self._engine.name, query, paper.title, paper.abstract])

    def _remembered(self, keys: Sequence[str]) -> dict[str, bytes]:
        return self._cache.get(keys) if self._cache is not None else {}

    async def _ask(self, query: str, papers: Sequence[Paper]) -> list[float]:
        prompts = [_prompt(query, paper) for paper in papers]
        answers = await asyncio.gather(*(self._engine.generate(prompt, sampling=_SAMPLING) for prompt in prompts))
        return [_score(answer) for answer in answers]


def _prompt(query: str, paper: Paper) -> list[Message]:
    return [
        Message("system", "You judge whether a paper belongs in the answer to a literature query. Say yes or no."),
        Message(
            "user",
            f"Query: {query}\n\nTitle: {paper.title}\nAbstract: {paper.abstract or '(none)'}\n\n"
            "Does the paper meet every condition of the query? Say yes or no and nothing else.",
        ),
    ]


def _score(response: Response) -> float:
    words = "".join(letter if letter.isalpha() else " " for letter in response.text.casefold()).split()
    word = words[0] if words else ""
    if word not in {"yes", "no"}:
        logger.warning("a judgement is neither yes nor no and counts as no: %r", response.text[:100])
        return 0.0
    sure = response.text[:1].isalpha() and response.logprobs
    probability = math.exp(min(response.logprobs[0], 0.0)) if sure else 1.0
    return probability if word == "yes" else 1.0 - probability
