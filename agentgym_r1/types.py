"""The nouns of the suite: messages, tools, tasks, transitions, trajectories, and the policy protocols."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, is_dataclass
from typing import Any, Literal, Protocol

import gymnasium as gym

Role = Literal["system", "user", "assistant", "tool"]
Source = Literal["auto", "real", "world"]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A request to run the tool ``name`` with JSON ``arguments``; ``id`` is the caller's (OpenAI format), or empty."""

    name: str
    arguments: Mapping[str, Any]
    id: str = ""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool answered: ``text`` for the policy, ``ok`` for success, ``data`` for the environment only."""

    text: str
    ok: bool = True
    data: Any = None


@dataclass(frozen=True, slots=True)
class ToolSchema:
    """What a policy must know to call a tool.

    Attributes:
        name, description: as the policy reads them.
        parameters: JSON schema of the arguments, an object.
        example: a right call.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    example: ToolCall

    def to_openai(self) -> dict[str, Any]:
        """Return the schema in the OpenAI ``tools`` format."""
        function = {"name": self.name, "description": self.description, "parameters": dict(self.parameters)}
        return {"type": "function", "function": function}


@dataclass(frozen=True, slots=True)
class Message:
    """One chat message of a prompt."""

    role: Role
    content: str

    def to_dict(self) -> dict[str, str]:
        """Return the message in the OpenAI chat format."""
        return {"role": self.role, "content": self.content}


@dataclass(frozen=True, slots=True)
class Document:
    """One entry of a corpus: ``id`` is unique in it; ``title`` may be empty."""

    id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Task:
    """What one episode asks.

    Attributes:
        id: unique within its split; the data set's own id where it has one.
        prompt: the question, goal or instruction, exactly as the policy reads it.
        gold: what scoring needs (a frozen dataclass or JSON value); never shown to the policy.
        kind: the task type the metrics are broken down by ("bridge", "pick_heat_then_place", ...), or empty.
    """

    id: str
    prompt: str
    gold: Any
    kind: str = ""

    def digest(self) -> str:
        """Return the sha256 (hex) of everything that defines the task: id, prompt, gold and kind."""
        gold = asdict(self.gold) if is_dataclass(self.gold) and not isinstance(self.gold, type) else self.gold
        return digest({"id": self.id, "prompt": self.prompt, "gold": gold, "kind": self.kind})


class TaskSet(Protocol):
    """The tasks of one split, in their published order. Immutable, cheap to open, read one by one."""

    @property
    def name(self) -> str:
        """The data set or world, for example ``gsm8k`` or ``arithmetic``."""
        ...

    @property
    def split(self) -> str:
        """The split, for example ``dev``."""
        ...

    @property
    def source(self) -> Literal["real", "world"]:
        """Whether the tasks are a published set's or a generated world's."""
        ...

    def __len__(self) -> int: ...

    def __getitem__(self, index: int) -> Task:
        """Return the task at ``index``; raise IndexError outside 0..len-1."""
        ...

    def ids(self) -> Sequence[str]:
        """Return all task ids in order, without loading the tasks."""
        ...

    def index_of(self, task_id: str) -> int:
        """Return the position of a task id; raise ConfigError naming the split when it is not there."""
        ...


@dataclass(frozen=True, slots=True)
class Response:
    """What a policy answered to one prompt.

    Attributes:
        text: the whole response, as the environment parses it.
        prompt_ids: token ids the engine was given; empty when the engine does not tell.
        action_ids: token ids the engine sampled, the end token included when it was sampled.
        logprobs: log-probability of each action id under the sampling policy; as long as ``action_ids`` or empty.
        finish_reason: "stop", "length", or empty.
        prompt_tokens: prompt length in tokens, 0 when unknown.
        completion_tokens: response length in tokens, 0 when unknown.
    """

    text: str
    prompt_ids: tuple[int, ...] = ()
    action_ids: tuple[int, ...] = ()
    logprobs: tuple[float, ...] = ()
    finish_reason: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0


class Agent(Protocol):
    """A policy at work in one episode."""

    async def act(self, observation: str, info: Mapping[str, Any]) -> Response:
        """Return the action for ``observation``; ``info`` is what reset or step returned with it."""
        ...


class Policy(Protocol):
    """Something that can play any number of episodes, also at the same time."""

    @property
    def name(self) -> str:
        """The name in tables and files."""
        ...

    def begin(self, env: gym.Env[str, str], *, seed: int) -> Agent:
        """Return the agent of one episode, called right after ``env.reset``.

        Args:
            env: the environment of the episode. Only privileged policies (the expert) look inside it.
            seed: the only source of randomness of the agent, so that the episode does not depend on its neighbours.
        """
        ...


@dataclass(frozen=True, slots=True)
class Transition:
    """One step of an episode: the training sample (s_t, a_t, r_t) with everything replay and training need.

    Attributes:
        observation: the prompt s_t as text.
        messages: the same prompt as chat messages.
        action: the response a_t as text.
        reward: r_t, the sum of ``reward_terms`` unless an outer wrapper changed it.
        feedback: what the world answered, without the rest of the next prompt.
        terminated, truncated: as Gymnasium defines them.
        valid_action: whether the response was understood and could be carried out.
        context: what the context policy dropped or cut from this step's prompt, as info["context"] said.
        prompt_ids, action_ids, logprobs, prompt_tokens, completion_tokens, finish_reason: see Response.
    """

    observation: str
    messages: tuple[Message, ...]
    action: str
    reward: float
    feedback: str
    terminated: bool
    truncated: bool
    valid_action: bool
    reward_terms: Mapping[str, float] = field(default_factory=dict)
    context: Mapping[str, Any] = field(default_factory=dict)
    prompt_ids: tuple[int, ...] = ()
    action_ids: tuple[int, ...] = ()
    logprobs: tuple[float, ...] = ()
    prompt_tokens: int = 0
    completion_tokens: int = 0
    finish_reason: str = ""


@dataclass(frozen=True, slots=True)
class Trajectory:
    """One episode.

    Attributes:
        env_id: the Gymnasium id.
        env_kwargs: the keyword arguments of gym.make, enough to make the environment again.
        task_id, task_kind, task_digest, split, source: which task was played, its kind and its sha256.
        policy: the policy's name.
        seed: seed given to reset and to the policy.
        repeat: 0-based count of this task's evaluations.
        transitions: the steps, in order.
        final_observation: the observation after the last step.
        success, score, metrics: the verdict at the end; success is False and score 0.0 when the episode broke.
        error: empty, or the one-line reason why the episode could not be finished.
        seconds: wall time.
    """

    env_id: str
    env_kwargs: Mapping[str, Any]
    task_id: str
    task_kind: str
    task_digest: str
    split: str
    source: str
    policy: str
    seed: int
    repeat: int
    transitions: tuple[Transition, ...]
    final_observation: str
    success: bool
    score: float
    metrics: Mapping[str, float]
    error: str = ""
    seconds: float = 0.0

    @property
    def episode_return(self) -> float:
        """The undiscounted sum of rewards."""
        return sum(transition.reward for transition in self.transitions)


class AgentFlow(Protocol):
    """The outermost layer: anything that turns a task and a policy into a trajectory (Agent-R1's AgentFlowBase)."""

    async def run(self, task: str, policy: Policy) -> Trajectory:
        """Play the task id with the policy."""
        ...


def digest(value: Any) -> str:
    """Return the sha256 (hex) of a JSON value in canonical form (sorted keys, no blanks, UTF-8)."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def panel_hash(tasks: Iterable[Task]) -> str:
    """Return the hash of a frozen panel: of the sorted list of (task id, task digest).

    It depends on nothing but the tasks, so two machines that print the same hash evaluate the same tasks.
    """
    return digest(sorted([task.id, task.digest()] for task in tasks))


def well_formed(text: str) -> str:
    """Return ``text`` with lone surrogates replaced by U+FFFD, so that it can be encoded everywhere."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return "".join("\ufffd" if "\ud800" <= character <= "\udfff" else character for character in text)
    return text
