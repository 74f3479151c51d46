"""AgentR1/ALFWorld: household tasks given as text commands, in ALFWorld's games (Shridhar et al., ICLR 2021).

The texts are those of TextWorld 1.7 with ALFWorld 0.4, whichever engine plays. An episode ends at the first win.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Final

from pydantic import Field

from agentgym_r1.actions import ParsedAction
from agentgym_r1.context import Section
from agentgym_r1.data.alfworld import PAPER_NAMES, TASK_TYPES
from agentgym_r1.data.worlds import household
from agentgym_r1.envs.alfworld.engine import CompiledEngine, Engine, canonical
from agentgym_r1.envs.alfworld.engine import Outcome as Answer
from agentgym_r1.envs.alfworld.games import GOALS, Goals, installed_games, shared_game
from agentgym_r1.envs.alfworld.planner import plan
from agentgym_r1.envs.alfworld.progress import progress
from agentgym_r1.envs.alfworld.state import anchor
from agentgym_r1.envs.alfworld.textworld_engine import TextWorldEngine
from agentgym_r1.envs.presets import DEFAULT_PROTOCOL, check_choice, resolve, split_options
from agentgym_r1.envs.sources import choose_source
from agentgym_r1.envs.vector import VectorTextEnv
from agentgym_r1.errors import ConfigError
from agentgym_r1.text_env import Options, Outcome, StepPlan, TextEnv, Verdict
from agentgym_r1.tools.base import BoundCall, ToolBox
from agentgym_r1.types import Source, TaskSet, ToolCall, ToolResult

ENGINES: Final = ("compiled", "textworld")
KNOBS: Final = ("room_size", "receptacles", "distractors")
_ANYWHERE: Final = "look"
_LONGEST_SHOWN: Final = 200


@dataclass(frozen=True, slots=True)
class EnvStep:
    """The tool ``env_step``: reads a command; carrying it out is the environment's."""

    name: ClassVar[str] = "env_step"
    description: ClassVar[str] = "Carry out one command in the room."
    example: ClassVar[Mapping[str, str]] = {"command": _ANYWHERE}

    def __call__(self, command: Annotated[str, Field(description="one command, to the letter")]) -> ToolResult:
        """Return the command as the games know it, as data."""
        return ToolResult("", data=canonical(command))


class ALFWorldEnv(TextEnv):
    """Find things in a room, carry them one at a time, clean, heat or cool them, and put them where they belong.

    Args:
        tasks: tasks whose gold is a GameGold.
        options: see Options.
        engine: ``compiled``, or ``textworld`` for the original in a process of its own.
        list_commands: show the admissible commands in the prompt; info["available_actions"] has them in any case.

    Raises:
        ConfigError: unknown engine.
    """

    kind_names: ClassVar[Mapping[str, str]] = PAPER_NAMES

    def __init__(
        self, tasks: TaskSet, *, options: Options, engine: str = "compiled", list_commands: bool = True
    ) -> None:
        check_choice("engine", engine, ENGINES)
        self._engine_name = engine
        self._list_commands = list_commands
        self._toolbox = ToolBox([EnvStep()])
        super().__init__(tasks, tools=self._toolbox.schemas, options=options)
        self._game: CompiledEngine | None = None
        self._original: TextWorldEngine | None = None
        self._playing = ""
        self._legal: tuple[str, ...] = ()
        self._said: list[str] = []
        self._history: list[str] = []

    def sibling(self) -> "ALFWorldEnv":
        """Return a new environment over the same tasks, with the same arguments."""
        return ALFWorldEnv(
            self.tasks, options=self.options, engine=self._engine_name, list_commands=self._list_commands
        )

    def _instructions(self) -> str:
        return (
            "You are in a room and give commands until the task is done. You can hold one thing at a time. A door must "
            "be open before you can take something out or put something in. The commands are: go to PLACE, open PLACE, "
            "close PLACE, take THING from PLACE, move THING to PLACE, clean THING with PLACE, heat THING with PLACE, "
            "cool THING with PLACE, slice THING with THING, use THING, examine THING or PLACE, look, inventory, help. "
            "Write names with their numbers, as the room shows them. What cannot be done has no effect."
        )

    def _task_text(self) -> str:
        return f"Task: {self.task.prompt}."

    def _begin(self, results: Sequence[ToolResult]) -> str:
        self._said, self._history = [], []
        self._open()
        self._play.reset()
        text = self._engine.reset()
        self._legal = tuple(self._engine.admissible)
        return text

    def _open(self) -> None:
        """Have the engines of the task's game, those of the last episode when it was the same game.

        The task's own problem, tens of kilobytes of text, is let go of: it is in the game.
        """
        task = self.task
        self._task = replace(task, gold=replace(task.gold, problem=""))
        if self._playing == self._digest and self._game is not None:
            return
        self.close()
        self._game = CompiledEngine(shared_game(task, self._digest), goal=task.prompt)
        if self._engine_name == "textworld":
            self._original = TextWorldEngine(task.gold.problem, goal=task.prompt, name=task.id)
        self._playing = self._digest

    @property
    def _play(self) -> CompiledEngine:
        """The compiled game, which goes along with the original where that one plays: planner and progress need it."""
        assert self._game is not None
        return self._game

    @property
    def _engine(self) -> Engine:
        return self._original or self._play

    def _plan_calls(self, parsed: ParsedAction) -> tuple[BoundCall | ToolResult, ...]:
        return tuple(self._toolbox.check(call, self.format) for call in parsed.calls[: self.max_calls])

    def _perform(self, plan: StepPlan, results: Sequence[ToolResult]) -> Outcome:
        if not results:
            right = self._say(_ANYWHERE)
            return Outcome(f"The room takes no answer, only commands. A right example:\n{right}", valid=False)
        if not results[0].ok:
            return Outcome(results[0].text, valid=False)
        ignored = len(plan.parsed.calls) - self.max_calls
        note = f"{ignored} more calls were ignored: one a step.\n\n" if ignored > 0 else ""
        answer = self._carry_out(results[0].data)
        return Outcome(
            f"{note}{answer.text}",
            verdict=self._verdict(won=True) if answer.won else None,
            valid=answer.accepted,
            events={"nothing_happens": float(not answer.accepted)},
        )

    def _carry_out(self, command: str) -> Answer:
        self._said += [*[""] * (self.steps - len(self._said)), command]
        answer = self._play.step(command)
        if self._original is not None:
            answer = self._original.step(command)
        self._legal = tuple(self._engine.admissible)
        return answer

    def _verdict(self, *, won: bool) -> Verdict:
        return Verdict(success=won, score=float(won), metrics={"progress": self.potential()})

    def _unfinished(self) -> Verdict:
        return self._verdict(won=False)

    def _available_actions(self) -> tuple[str, ...]:
        return self._legal

    def _current(self) -> str:
        return f"Possible commands now:\n{self._commands()}" if self._list_commands and self._legal else ""

    def _commands(self) -> str:
        return "\n".join(self._legal)

    def _sections(self) -> tuple[Section, ...]:
        for n, turn in enumerate(self._turns[len(self._history) :], len(self._history)):
            command = _shorten(self._said[n]) if n < len(self._said) else ""
            self._history.append(f"{n + 1}. {command or '(no command)'}\n{turn.feedback}")
        sections = (Section("Room", (self._opening,)), Section("Commands so far", tuple(self._history)))
        return (*sections, Section("Possible commands now", (self._commands(),))) if self._current() else sections

    def potential(self) -> float:
        """Return the share of the task's sub-goals that hold; 1 exactly when it is done."""
        return progress(self._play.game, self._play.state)

    def anchor(self) -> str:
        """Return a short name of the game's state, equal however it was reached."""
        return anchor(self._play.game, self._play.state)

    def expert(self) -> str:
        """Return the next command of the recorded solution while it was followed, else of a plan from here.

        Where nothing leads to the goal any more (what is in hand fits nowhere), it looks around.
        """
        game, done = self._play.game, tuple(self._said)
        if len(done) == self.steps < len(game.walkthrough) and done == game.walkthrough[: len(done)]:
            return self._say(game.walkthrough[len(done)])
        return self._say(next(iter(plan(game, self._play.state) or ()), _ANYWHERE))

    def _say(self, command: str) -> str:
        return self.format.call(ToolCall(EnvStep.name, {"command": command}))

    def _state(self) -> Any:
        original = self._original.snapshot().decode() if self._original else None
        return {"said": self._said, "game": self._play.snapshot().decode(), "original": original}

    def _load_state(self, state: Any) -> None:
        self._open()
        self._said, self._history = list(state["said"]), []
        self._play.restore(state["game"].encode())
        if self._original is not None:
            self._original.restore(state["original"].encode())
        self._legal = tuple(self._engine.admissible)

    def close(self) -> None:
        """End TextWorld's process, where it plays; a reset starts another."""
        if self._original is not None:
            self._original.close()
        self._game = self._original = None
        self._playing = ""


def make(
    *,
    split: str | None = None,
    source: Source = "auto",
    protocol: str = DEFAULT_PROTOCOL,
    goal: Goals = "template",
    task_types: str | Collection[str] = TASK_TYPES,
    **options: Any,
) -> ALFWorldEnv:
    """Make the environment; the entry point of gym.make.

    Args:
        split: ``train``, ``valid_seen`` or ``valid_unseen``; by default the one the protocol evaluates on.
        source: ``auto``, ``real`` or ``world``.
        protocol: a preset; see envs.presets.
        goal: ``template`` for ALFWorld's own wording, ``human`` for the first one that people gave (real games only).
        task_types: one or more types to keep, by ALFWorld's names or the papers': Pick, Look, Clean, Heat, Cool, Pick2.
        **options: fields of Options, ``engine`` and ``list_commands``, and the household world's knobs ``room_size``,
            ``receptacles`` and ``distractors``.
    """
    chosen = resolve("alfworld", protocol, options)
    split = split or str(chosen["split"])
    knobs = {name: value for name in KNOBS if (value := chosen.pop(name, None)) is not None}
    del chosen["split"]
    shared, own = split_options(chosen, own={"engine": "compiled", "list_commands": True})
    tasks = open_games(split, source=source, goal=goal, task_types=task_types, knobs=knobs)
    return ALFWorldEnv(tasks, options=shared, **own)


def open_games(
    split: str, *, source: Source, goal: Goals, task_types: str | Collection[str], knobs: Mapping[str, Any]
) -> TaskSet:
    """Return the tasks of a split; see ``make``.

    Raises:
        ConfigError: a name is unknown, or an argument does not fit the source.
        DataError: the real games are asked for and not installed.
    """
    check_choice("goal", goal, GOALS)
    names = [task_types] if isinstance(task_types, str) else list(task_types)
    official = {paper: kind for kind, paper in PAPER_NAMES.items()}
    kinds = [official.get(name, name) for name in names]
    if choose_source("alfworld", source):
        if knobs:
            raise ConfigError(f"{', '.join(knobs)} shape the household world: add source='world', or leave them out")
        return installed_games(split, task_types=kinds, goals=goal)
    if goal == "human":
        raise ConfigError("the household world has no goals in people's words: use goal='template' or the real games")
    return household.tasks(split, task_types=kinds, **knobs)


def make_vector(num_envs: int, **kwargs: Any) -> VectorTextEnv:
    """Make the batched environment; the vector entry point of gym.make_vec."""
    first = make(**kwargs)
    return VectorTextEnv([lambda: first, *[first.sibling] * (num_envs - 1)])


def _shorten(command: str) -> str:
    return command if len(command) <= _LONGEST_SHOWN else f"{command[:_LONGEST_SHOWN]}..."
