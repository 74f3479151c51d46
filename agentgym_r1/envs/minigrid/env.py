"""AgentR1/MiniGrid: any level of MiniGrid and BabyAI (Chevalier-Boisvert et al. 2023, 2019) as text.

The moves are called as in BabyAI-Text (Carta et al. 2023); the words of the description are ours. Success and reward
are the level's own. Layouts come from the minigrid package, whatever source is asked for: there is no embedded world.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from pydantic import Field

from agentgym_r1.actions import ParsedAction
from agentgym_r1.context import Section
from agentgym_r1.data.gold import LevelGold
from agentgym_r1.envs.minigrid.expert import Expert
from agentgym_r1.envs.minigrid.level import DONE, Level
from agentgym_r1.envs.minigrid.tasks import LEVELS, LevelTasks
from agentgym_r1.envs.minigrid.text import describe
from agentgym_r1.envs.presets import DEFAULT_PROTOCOL, resolve, split_options
from agentgym_r1.envs.sources import check_source
from agentgym_r1.envs.vector import VectorTextEnv
from agentgym_r1.text_env import Options, Outcome, StepPlan, TextEnv, Verdict
from agentgym_r1.tools.base import BoundCall, ToolBox
from agentgym_r1.types import Source, TaskSet, ToolCall, ToolResult

_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Move:
    """The tool ``env_step``: reads a command; carrying it out is the environment's."""

    name: ClassVar[str] = "env_step"
    description: ClassVar[str] = "Make one move."
    example: ClassVar[Mapping[str, str]] = {"command": "go forward"}

    def __call__(self, command: Annotated[str, Field(description="one of the moves")]) -> ToolResult:
        """Return the command in its plain spelling, as data."""
        return ToolResult("", data=" ".join(command.casefold().split()))


class MiniGridEnv(TextEnv):
    """Do what a mission says in a grid of rooms, of which only what lies ahead is seen.

    Args:
        tasks: tasks whose gold is a LevelGold.
        options: see Options. A level has a limit of its own; whichever comes first ends the episode.
    """

    def __init__(self, tasks: TaskSet, *, options: Options) -> None:
        self._toolbox = ToolBox([Move()])
        super().__init__(tasks, tools=self._toolbox.schemas, options=options)
        self._levels: dict[str, Level] = {}
        self._moves: list[str] = []
        self._said: list[str] = []
        self._earned = 0.0
        self._expert: Expert | None = None

    def _instructions(self) -> str:
        return (
            "You move in a grid of rooms and carry out a mission. You see only what lies ahead and to the sides, not "
            "through walls and closed doors. The moves are: turn left, turn right, go forward (one step, not into "
            "things), pick up (the thing one step ahead, if you carry nothing), drop (what you carry, one step ahead), "
            "toggle (open or close the door one step ahead; a locked door needs the key of its color in your hands), "
            f"and, in missions to go to something that ask for it, {DONE} (say that you have arrived)."
        )

    def _task_text(self) -> str:
        return f"Mission: {self.task.prompt}"

    def _begin(self, results: Sequence[ToolResult]) -> str:
        self._lay_out()
        return describe(self._level)

    def _lay_out(self) -> None:
        self._moves, self._said, self._earned, self._expert = [], [], 0.0, None
        self._level.reset(self._gold.seed)
        self.max_steps = min(self.options.max_steps, self._level.limit)

    @property
    def _level(self) -> Level:
        name = self._gold.level
        if name not in self._levels:
            self._levels[name] = Level(name)
        return self._levels[name]

    def _plan_calls(self, parsed: ParsedAction) -> tuple[BoundCall | ToolResult, ...]:
        return tuple(self._toolbox.check(call, self.format) for call in parsed.calls[: self.max_calls])

    def _perform(self, plan: StepPlan, results: Sequence[ToolResult]) -> Outcome:
        if not results:
            return Outcome(f"No answer is needed, only moves. A right example:\n{self._example()}", valid=False)
        if not results[0].ok:
            return Outcome(results[0].text, valid=False)
        command = str(results[0].data)
        if command not in self._level.moves:
            listed = ", ".join(self._level.moves)
            return Outcome(
                f"There is no move {command[:_SHOWN]!r}. The moves are: {listed}. A right example:\n{self._example()}",
                valid=False,
            )
        ignored = len(plan.parsed.calls) - self.max_calls
        note = f"{ignored} more calls were ignored: one a step.\n" if ignored > 0 else ""
        return self._make(command, note)

    def _make(self, move: str, note: str) -> Outcome:
        step = self._level.move(move)
        self._moves.append(move)
        self._said += [*[""] * (self.steps - len(self._said)), move]
        self._earned = step.reward
        seen = describe(self._level)
        return Outcome(
            f"{note}{seen}" if step.changed else f"{note}Nothing changes.\n{seen}",
            verdict=self._verdict(won=step.reward > 0) if step.over else None,
            valid=step.changed,
            events={"nothing_changes": float(not step.changed)},
        )

    def _verdict(self, *, won: bool) -> Verdict:
        metrics = {"moves": float(len(self._moves)), "level_reward": self._earned}
        return Verdict(success=won, score=float(won), metrics=metrics)

    def _unfinished(self) -> Verdict:
        return self._verdict(won=False)

    def _outcome_reward(self, verdict: Verdict) -> float:
        """Return what the level pays, which is less the longer it took, and nothing at the step limit."""
        return self.options.success_reward * self._earned

    def _available_actions(self) -> tuple[str, ...]:
        return () if self.over else self._level.moves

    def _sections(self) -> tuple[Section, ...]:
        said = [*self._said, *[""] * (self.steps - len(self._said))]
        history = tuple(
            f"{n}. {command or '(no move)'}\n{turn.feedback}"
            for n, (command, turn) in enumerate(zip(said, self._turns, strict=True), 1)
        )
        return Section("At the beginning", (self._opening,)), Section("Moves so far", history)

    def expert(self) -> str:
        """Return the next move of BabyAI's bot, or of a shortest way where the level is not BabyAI's."""
        if self._expert is None:
            level = Level(self._gold.level)
            level.reset(self._gold.seed)
            self._expert = Expert(level)
        return self._say(self._expert.next(self._moves))

    def _example(self) -> str:
        return self._say(str(Move.example["command"]))

    def _say(self, move: str) -> str:
        return self.format.call(ToolCall(Move.name, {"command": move}))

    def _state(self) -> Any:
        return {"moves": self._moves, "said": self._said}

    def _load_state(self, state: Any) -> None:
        self._lay_out()
        for move in state["moves"]:
            self._earned = self._level.move(move).reward
        self._moves, self._said = list(state["moves"]), list(state["said"])

    @property
    def _gold(self) -> LevelGold:
        gold = self.task.gold
        assert isinstance(gold, LevelGold)
        return gold


def make(
    *,
    split: str = "test",
    source: Source = "auto",
    protocol: str = DEFAULT_PROTOCOL,
    level: str | Sequence[str] = LEVELS,
    **options: Any,
) -> MiniGridEnv:
    """Make the environment; the entry point of gym.make.

    Args:
        split: ``train``, ``dev`` or ``test``: layouts of other seeds.
        source: has no effect, as the layouts are the minigrid package's; it is checked.
        protocol: a preset; see envs.presets.
        level: the Gymnasium id of a level of MiniGrid or BabyAI, or several; by default ten.
        **options: fields of Options.

    Raises:
        MissingExtra: the minigrid package is not installed.
    """
    check_source(source)
    shared, _ = split_options(resolve("minigrid", protocol, options), own={})
    levels = (level,) if isinstance(level, str) else tuple(level)
    return MiniGridEnv(LevelTasks(levels, split=split), options=shared)


def make_vector(num_envs: int, **kwargs: Any) -> VectorTextEnv:
    """Make the batched environment; the vector entry point of gym.make_vec."""
    return VectorTextEnv([lambda: make(**kwargs)] * num_envs)
