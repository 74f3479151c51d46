"""TextEnv and ToolEnv: the two base classes an environment author meets.

A step is: parse the response, run its tool calls or hand its command to the world, itemise the reward, write the next
prompt. The step is split in two, ``plan_step`` and ``finish_step``, so that a vector environment can run the tool calls
of many environments in one batch.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import gymnasium as gym
import msgspec

from agentgym_r1.actions import ActionFormat, ParsedAction, get_format
from agentgym_r1.context import CountTokens, Parts, Prompt, Section, Turn, cut_middle, estimate_tokens, get_context
from agentgym_r1.errors import ConfigError, EpisodeError
from agentgym_r1.spaces import MAX_LENGTH, FreeText
from agentgym_r1.tools.base import BoundCall, Tool, ToolBox, run_batch
from agentgym_r1.types import Task, TaskSet, ToolResult, ToolSchema, well_formed

SNAPSHOT_VERSION = 1
RESET_OPTIONS = ("task", "index")


@dataclass(frozen=True, slots=True)
class Verdict:
    """How an episode ended: ``success``, ``score`` in 0..1 as the task's protocol defines it, and further metrics."""

    success: bool
    score: float
    metrics: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a step did to the world.

    Attributes:
        feedback: the world's answer, as the policy reads it. Never holds reward or gold.
        rewards: itemised reward of the step; the outcome of a finished task is added by the base class.
        verdict: given when the task is over (the step is then terminal), else None.
        valid: false when the action was not understood or not possible.
        events: counts that reward wrappers read ("repeated_query", "new_gold", ...).
    """

    feedback: str
    rewards: Mapping[str, float] = field(default_factory=dict)
    verdict: Verdict | None = None
    valid: bool = True
    events: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StepPlan:
    """A parsed action and the tool calls it asks for: bound ones still to run, and refused ones already answered."""

    action: str
    parsed: ParsedAction
    calls: tuple[BoundCall | ToolResult, ...] = ()


@dataclass(frozen=True, slots=True)
class Options:
    """How an environment talks to the policy: what the presets set and any caller of gym.make may override.

    Attributes:
        max_steps: steps after which the episode is truncated.
        action_format: ``hermes``, ``tags``, ``react``, ``native`` or ``plain``.
        context: ``append``, ``window``, ``state`` or ``summary``; ``context_turns`` is the size of ``window`` and
            ``summary``.
        context_budget: tokens the prompt may take; None bounds it by the observation space only.
        count_tokens: counts the tokens of a text; the default is a cautious estimate without a tokenizer.
        feedback_tokens: what one answer of the world may take; longer ones are cut in the middle. None cuts nothing.
        success_reward: outcome reward of a score of 1.0.
        invalid_penalty: reward term ``invalid`` of every action that was not understood or not possible.
        forced_answer: after ``max_steps`` steps one more is granted in which calls are refused and only an answer
            counts (Search-R1's final turn, arXiv 2503.09516); only for environments with an answer.
        render_mode: None or ``ansi``.
    """

    max_steps: int
    action_format: str = "hermes"
    context: str = "state"
    context_turns: int | None = None
    context_budget: int | None = None
    count_tokens: CountTokens = estimate_tokens
    feedback_tokens: int | None = None
    success_reward: float = 1.0
    invalid_penalty: float = 0.0
    forced_answer: bool = False
    render_mode: str | None = None

    def __post_init__(self) -> None:
        for name in ("max_steps", "context_budget", "feedback_tokens"):
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
                raise ConfigError(f"{name} must be an integer of at least 1, got {value!r}")
        if self.render_mode not in {None, "ansi"}:
            raise ConfigError(f"render_mode must be None or 'ansi', got {self.render_mode!r}")
        get_format(self.action_format)
        get_context(self.context, turns=self.context_turns)


class TextEnv(gym.Env[str, str], ABC):
    """A text environment whose observation is the complete prompt of the next decision.

    Subclasses implement ``_instructions``, ``_begin``, ``_perform`` and ``expert``, plus ``_state`` and ``_load_state``
    for snapshots; the rest has defaults.

    Args:
        tasks: the tasks of the split; a reset without options draws one with the environment's generator.
        tools: schemas of what the policy may call.
        options: see Options.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 1}  # noqa: RUF012 - Gymnasium's declaration
    answers: ClassVar[bool] = False
    max_calls: ClassVar[int] = 1
    kind_names: ClassVar[Mapping[str, str]] = {}
    """What tables call the kinds of tasks, in the order of the tables; a kind left out is called what it is."""

    def __init__(self, tasks: TaskSet, *, tools: Sequence[ToolSchema], options: Options) -> None:
        self.tasks = tasks
        self.tools = tuple(tools)
        self.options = options
        self.format: ActionFormat = get_format(options.action_format, tools=self.tools)
        self.max_steps = options.max_steps
        self.render_mode = options.render_mode
        self.observation_space = FreeText()
        self.action_space = FreeText()
        self._context = get_context(options.context, turns=options.context_turns)
        how_to_act = self.format.instructions(self.tools, answers=self.answers)
        self._system = "\n\n".join(filter(None, [self._instructions(), how_to_act]))
        self._index: int | None = None
        self._task: Task | None = None
        self._digest = ""
        self._opening = ""
        self._turns: list[Turn] = []
        self._over = True
        self._prompt = Prompt(())
        self._observation = ""

    # What a subclass writes.

    @abstractmethod
    def _instructions(self) -> str:
        """Return what the policy is told about the task family, in one place."""

    @abstractmethod
    def _begin(self, results: Sequence[ToolResult]) -> str:
        """Start the episode of ``self.task`` and return what the world shows first (may be empty).

        ``results`` answer the calls of ``_opening_calls``.
        """

    @abstractmethod
    def _perform(self, plan: StepPlan, results: Sequence[ToolResult]) -> Outcome:
        """Carry out an understood action; ``results`` answer ``plan.calls``, in order."""

    @abstractmethod
    def expert(self) -> str:
        """Return the next action of a solution of this task from the current state, in the environment's format."""

    @abstractmethod
    def _state(self) -> Any:
        """Return the episode's own state as builtins (dict, list, str, int, float, bool, None)."""

    @abstractmethod
    def _load_state(self, state: Any) -> None:
        """Take back what ``_state`` returned; called after the task is set."""

    def _opening_calls(self) -> tuple[BoundCall, ...]:
        """Return the tool calls that the opening of ``self.task`` needs; none by default."""
        return ()

    def _plan_calls(self, parsed: ParsedAction) -> tuple[BoundCall | ToolResult, ...]:
        """Return the tool calls an action asks for, to be run in one batch; none by default."""
        return ()

    def _task_text(self) -> str:
        """Return the task as the prompt shows it; the task's prompt by default."""
        return self.task.prompt

    def _draw(self) -> int:
        """Return the index of a task drawn with the environment's generator; every task is as likely by default."""
        return int(self.np_random.integers(len(self.tasks)))

    def _misread(self, error: str) -> str:
        """Return the feedback to a response that was not understood; what was wrong with it by default."""
        return error

    def _take_note(self, text: str) -> None:
        """Hear why an action was not understood, or what was ignored in it; for environments with own sections."""

    def _sections(self) -> tuple[Section, ...]:
        """Return the state's sections for the state context; the history of steps by default."""
        history = tuple(f"{n}. {t.action.strip()}\n{t.feedback}" for n, t in enumerate(self._turns, 1))
        opening = (Section("Observation", (self._opening,)),) if self._opening else ()
        return (*opening, Section("History", history))

    def _current(self) -> str:
        """Return what holds at this moment only; contexts that show the conversation add it to the newest answer."""
        return ""

    def _unfinished(self) -> Verdict:
        """Return the verdict when the step limit hits before the task is over."""
        return Verdict(success=False, score=0.0)

    def _available_actions(self) -> tuple[str, ...] | None:
        """Return the legal commands where the world lists them, else None; ``<words>`` in one stands for free text."""
        return None

    def potential(self) -> float:
        """Return how far the task has come, from 0 to 1, for potential-based shaping (uses gold; 0 by default)."""
        return 0.0

    def anchor(self) -> str:
        """Return a text equal exactly for equal states of the same task: the prompt itself by default (GiGPO)."""
        return self._observation

    # What everybody calls.

    @property
    def task(self) -> Task:
        """The current task; raises EpisodeError before the first reset."""
        if self._task is None:
            raise EpisodeError("there is no task yet: call reset() first")
        return self._task

    @property
    def steps(self) -> int:
        """How many steps of the episode were taken."""
        return len(self._turns)

    @property
    def over(self) -> bool:
        """Whether the episode has ended, or none has begun."""
        return self._over

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """Start an episode.

        Args:
            seed: seeds the environment's generator, as Gymnasium defines it.
            options: ``{"task": ID}`` or ``{"index": N}`` selects the task; by default it is drawn.

        Raises:
            ConfigError: unknown option, task id or index.
        """
        return self.finish_reset(run_batch(self.plan_reset(seed=seed, options=options)))

    def plan_reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[BoundCall, ...]:
        """Choose the task and name the tool calls that its opening needs; the first half of ``reset``."""
        super().reset(seed=seed)
        self._index = self._select(options or {})
        self._task = self.tasks[self._index]
        self._digest = self._task.digest()
        self._turns = []
        return self._opening_calls()

    def finish_reset(self, results: Sequence[ToolResult]) -> tuple[str, dict[str, Any]]:
        """Begin the planned episode; ``results`` answer the calls of ``plan_reset``, in order."""
        self._opening = self._begin(results)
        self._over = False
        return self._compose(), self._info(self._opening, valid=True)

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Take the policy's raw response.

        Raises:
            ConfigError: the action is not a string.
            EpisodeError: the episode is over or has not begun.
        """
        plan = self.plan_step(action)
        return self.finish_step(plan, run_batch([c for c in plan.calls if isinstance(c, BoundCall)]))

    def plan_step(self, action: str) -> StepPlan:
        """Parse an action and name the tool calls to run; the first half of ``step``."""
        self._check_running(action)
        action = well_formed(action)
        parsed = self.format.parse(action)
        return StepPlan(action, parsed, () if parsed.error else self._plan_calls(parsed))

    def refuse(self, action: str, reason: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Take a step that does not reach the world: the observation gives ``reason``; it counts as invalid."""
        self._check_running(action)
        return self.finish_step(StepPlan(action, ParsedAction(error=reason)), ())

    def finish_step(
        self, plan: StepPlan, results: Sequence[ToolResult]
    ) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Carry out a planned step; ``results`` answer the plan's bound calls, in order."""
        if plan.parsed.error:
            outcome = Outcome(self._misread(plan.parsed.error), valid=False)
        else:
            fresh = iter(results)
            outcome = self._perform(plan, [next(fresh) if isinstance(c, BoundCall) else c for c in plan.calls])
        for note in filter(None, [plan.parsed.error, *plan.parsed.notes]):
            self._take_note(note)
        feedback = self._shape_feedback(outcome.feedback, plan.parsed.notes)
        self._turns.append(Turn(plan.action, feedback))
        terminated = outcome.verdict is not None
        truncated = not terminated and len(self._turns) >= self.max_steps
        self._over = terminated or truncated
        verdict = outcome.verdict or (self._unfinished() if truncated else None)
        terms = self._reward_terms(outcome, verdict)
        observation = self._compose()
        info = self._info(feedback, valid=outcome.valid)
        info |= {"reward_terms": terms, "events": dict(outcome.events)}
        if verdict is not None:
            info |= {"success": verdict.success, "score": verdict.score, "metrics": dict(verdict.metrics)}
        return observation, sum(terms.values()), terminated, truncated, info

    def render(self) -> str | None:
        """Return the current prompt in ``ansi`` mode, else None."""
        return self._observation if self.render_mode == "ansi" else None

    def snapshot(self) -> bytes:
        """Return the state of the episode; ``restore`` on any environment made with the same arguments continues it.

        Raises:
            EpisodeError: before the first reset.
        """
        if self._index is None:
            raise EpisodeError("there is nothing to take a snapshot of: call reset() first")
        return msgspec.msgpack.encode(
            {
                "version": SNAPSHOT_VERSION,
                "task": self.task.id,
                "digest": self._digest,
                "over": self._over,
                "opening": self._opening,
                "turns": [[turn.action, turn.feedback] for turn in self._turns],
                "generator": msgspec.json.encode(_texts(self.np_random.bit_generator.state)),
                "state": self._state(),
            },
            enc_hook=_refuse,
        )

    def restore(self, snapshot: bytes) -> None:
        """Continue from ``snapshot``: every later observation and reward equals the original's.

        Raises:
            ConfigError: not a snapshot, of another version, or of a task this environment does not have.
        """
        saved = _decode_snapshot(snapshot)
        index = self.tasks.index_of(saved["task"])
        task = self.tasks[index]
        digest = task.digest()
        if digest != saved["digest"]:
            raise ConfigError(
                f"the snapshot's task {task.id!r} has other content here: it was taken on another data set"
            )
        self._index, self._task, self._digest = index, task, digest
        self._over, self._opening = saved["over"], saved["opening"]
        self._turns = [Turn(action, feedback) for action, feedback in saved["turns"]]
        self.np_random.bit_generator.state = _numbers(msgspec.json.decode(saved["generator"]))
        self._load_state(saved["state"])
        self._compose()

    def last(self) -> tuple[str, dict[str, Any]]:
        """Return the current observation and its info again, for example after ``restore``."""
        return self._observation, self._info(self._turns[-1].feedback if self._turns else self._opening, valid=True)

    # Inside.

    def _check_running(self, action: str) -> None:
        if not isinstance(action, str):
            raise ConfigError(f"an action is a str, got {type(action).__name__}")
        if self._over:
            raise EpisodeError("the episode is over or has not begun: call reset() first")

    def _select(self, options: Mapping[str, Any]) -> int:
        unknown = sorted(set(options) - set(RESET_OPTIONS))
        if unknown:
            raise ConfigError(f"unknown reset options {unknown}; known: {list(RESET_OPTIONS)}")
        if "task" in options and "index" in options:
            raise ConfigError("give reset either options={'task': ID} or options={'index': N}, not both")
        if "task" in options:
            return self.tasks.index_of(str(options["task"]))
        if "index" in options:
            return _check_index(options["index"], len(self.tasks), f"{self.tasks.name}/{self.tasks.split}")
        return self._draw()

    def _shape_feedback(self, feedback: str, notes: Sequence[str]) -> str:
        text = "\n".join(filter(None, [*notes, feedback]))
        limit = self.options.feedback_tokens
        return text if limit is None else cut_middle(text, limit, self.options.count_tokens)

    def _reward_terms(self, outcome: Outcome, verdict: Verdict | None) -> dict[str, float]:
        terms = dict(outcome.rewards)
        terms["outcome"] = self._outcome_reward(verdict) if verdict is not None else 0.0
        if self.options.invalid_penalty:
            terms["invalid"] = 0.0 if outcome.valid else self.options.invalid_penalty
        return terms

    def _outcome_reward(self, verdict: Verdict) -> float:
        return self.options.success_reward * verdict.score

    def _compose(self) -> str:
        opening, turns = ("", ()) if self._context.name == "state" else self._conversation()
        parts = Parts(
            system=self._system,
            task=self._task_text(),
            opening=opening,
            turns=turns,
            sections=self._sections(),
        )
        budget, count = self.options.context_budget, self.options.count_tokens
        if budget is None:
            budget, count = MAX_LENGTH, len
        if self.format.name == "native":
            budget -= count(msgspec.json.encode(self._schemas()).decode())
        self._prompt = self._context.compose(parts, budget=budget, count=count)
        self._observation = self._prompt.text()
        return self._observation

    def _conversation(self) -> tuple[str, tuple[Turn, ...]]:
        """Return the opening and the turns, the newest of them with what holds now."""
        turns = [Turn(turn.action, self.format.feedback(turn.feedback)) for turn in self._turns]
        current = self._current()
        if not turns:
            return "\n\n".join(filter(None, [self._opening, current])), ()
        if current:
            turns[-1] = Turn(turns[-1].action, f"{turns[-1].feedback}\n\n{current}")
        return self._opening, tuple(turns)

    def _schemas(self) -> list[dict[str, Any]]:
        return [tool.to_openai() for tool in self.tools]

    def _info(self, feedback: str, *, valid: bool) -> dict[str, Any]:
        info: dict[str, Any] = {
            "messages": [message.to_dict() for message in self._prompt.messages],
            "tools": self._schemas(),
            "stop": list(self.format.stop),
            "context": dict(self._prompt.report),
            "feedback": feedback,
            "valid_action": valid,
            "task": {
                "id": self.task.id,
                "split": self.tasks.split,
                "index": self._index,
                "source": self.tasks.source,
                "set": self.tasks.name,
                "kind": self.task.kind,
                "digest": self._digest,
            },
        }
        actions = self._available_actions()
        if actions is not None:
            info["available_actions"] = list(actions)
        return info


class ToolEnv(TextEnv):
    """A task that is a set of tools and a scored final answer.

    Subclasses implement ``_instructions``, ``_score`` and ``expert``; ``_absorb`` sees every batch of results.

    Args:
        tasks: the tasks of the split.
        tools: the tools, callables with typed arguments.
        options: see Options.
    """

    answers: ClassVar[bool] = True
    max_calls: ClassVar[int] = 4

    def __init__(self, tasks: TaskSet, *, tools: Sequence[Tool], options: Options) -> None:
        self._toolbox = ToolBox(tools)
        super().__init__(tasks, tools=self._toolbox.schemas, options=options)
        self.max_steps = options.max_steps + options.forced_answer

    @abstractmethod
    def _score(self, answer: str) -> Verdict:
        """Score the final answer of the current task."""

    def _absorb(self, calls: Sequence[BoundCall | ToolResult], results: Sequence[ToolResult]) -> Mapping[str, float]:
        """Take note of what the tools answered and return the step's events; nothing by default."""
        return {}

    def _plan_calls(self, parsed: ParsedAction) -> tuple[BoundCall | ToolResult, ...]:
        if self.options.forced_answer and self.steps == self.max_steps - 1:
            refusal = f"No more calls are allowed: give the answer, for example {self.format.answer('42')}"
            return tuple(ToolResult(refusal, ok=False) for _ in parsed.calls[:1])
        return tuple(self._toolbox.check(call, self.format) for call in parsed.calls[: self.max_calls])

    def _perform(self, plan: StepPlan, results: Sequence[ToolResult]) -> Outcome:
        if not plan.parsed.calls:
            return Outcome("", verdict=self._score(plan.parsed.answer or ""))
        events = self._absorb(plan.calls, results)
        return Outcome(self._join(plan.parsed, results), valid=all(result.ok for result in results), events=events)

    def _join(self, parsed: ParsedAction, results: Sequence[ToolResult]) -> str:
        texts = [result.text for result in results]
        ignored = len(parsed.calls) - len(results)
        if ignored > 0 and len(results) == self.max_calls:
            texts.append(f"{ignored} more calls were ignored: at most {self.max_calls} a step.")
        return "\n\n".join(texts)


def _check_index(index: Any, count: int, where: str) -> int:
    if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < count:
        raise ConfigError(f"{where} has tasks 0 to {count - 1}, got index {index!r}")
    return index


def _decode_snapshot(snapshot: bytes) -> dict[str, Any]:
    try:
        saved = msgspec.msgpack.decode(snapshot)
    except (msgspec.DecodeError, TypeError) as err:
        raise ConfigError(f"not a snapshot of an environment: {err}") from err
    if not isinstance(saved, dict) or "version" not in saved:
        raise ConfigError("not a snapshot of an environment: expected bytes from snapshot()")
    if saved["version"] != SNAPSHOT_VERSION:
        raise ConfigError(f"the snapshot has version {saved['version']}, expected {SNAPSHOT_VERSION}")
    return saved


def _refuse(value: Any) -> Any:
    raise TypeError(f"_state() must return builtins, got {type(value).__name__}")


def _texts(value: Any) -> Any:
    """Return a generator state with its 128-bit integers as texts."""
    if isinstance(value, dict):
        return {key: _texts(item) for key, item in value.items()}
    return f"int:{value}" if isinstance(value, int) else value


def _numbers(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _numbers(item) for key, item in value.items()}
    return int(value[4:]) if isinstance(value, str) and value.startswith("int:") else value
