"""AgentR1/WebShop: buy what an instruction asks for, by searching a shop and clicking through its pages.

The pages, commands and rewards are WebShop's (Yao et al., NeurIPS 2022); the score is not on the page that the policy
reads last.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

import msgspec
from pydantic import Field

from agentgym_r1.actions import ParsedAction
from agentgym_r1.context import Section
from agentgym_r1.data.webshop import Goal, ShopTasks
from agentgym_r1.data.webshop.goals import Sampling
from agentgym_r1.data.webshop.matching import is_among
from agentgym_r1.data.webshop.store import Kind
from agentgym_r1.envs.presets import DEFAULT_PROTOCOL, check_choice, resolve, split_options
from agentgym_r1.envs.vector import VectorTextEnv
from agentgym_r1.envs.webshop.commands import Command, parse_command
from agentgym_r1.envs.webshop.engine import MODES, Mode, Shop
from agentgym_r1.envs.webshop.expert import next_command
from agentgym_r1.envs.webshop.opening import SMALL, Products, choose_stock, open_goals, open_shop
from agentgym_r1.envs.webshop.reward import purchase_reward
from agentgym_r1.envs.webshop.session import Session
from agentgym_r1.errors import EpisodeError
from agentgym_r1.retrieval import Retriever
from agentgym_r1.text_env import Options, Outcome, StepPlan, TextEnv, Verdict
from agentgym_r1.tools.base import BoundCall, ToolBox
from agentgym_r1.types import Source, ToolCall, ToolResult

OUTCOMES = ("score", "success")
FREE_SEARCH = "search[<keywords>]"
_EXAMPLE = "search[wool blanket]"
_AVAILABLE = "Available actions"
_REMEMBERED = 4
_LONGEST_SHOWN = 200
_IN_SIGHT = 0.25
_OPENED = 0.5


@dataclass(frozen=True, slots=True)
class EnvStep:
    """The tool ``env_step``: reads commands, and searches at once for all that many shoppers search for.

    What a command does to a shopper's own pages is the environment's.
    """

    shop: Shop
    name: ClassVar[str] = "env_step"
    description: ClassVar[str] = "Carry out one command in the shop: search[words] or click[element]."
    example: ClassVar[Mapping[str, str]] = {"command": _EXAMPLE}

    def __call__(
        self, command: Annotated[str, Field(description="search[words] or click[element on the page]")]
    ) -> ToolResult:
        """Read one command; see ``batch``."""
        return self.batch([{"command": command}])[0]

    def batch(self, arguments: Sequence[Mapping[str, Any]]) -> list[ToolResult]:
        """Return the Command of each text as data, None where it is none, after the shop has searched for them all."""
        commands = [parse_command(str(each["command"]).strip()) for each in arguments]
        self.shop.prefetch(c.argument for c in commands if c is not None and c.verb == "search" and c.argument)
        return [ToolResult("", data=command) for command in commands]


class WebShopEnv(TextEnv):
    """Buy a product of the kind asked for, with the attributes and options asked for, within the price.

    Args:
        tasks: the goals of a split.
        shop: where to buy.
        options: see Options.
        observation_mode: how pages are shown: ``text``, ``text_rich`` or ``url``.
        outcome: what the outcome reward is a multiple of: the ``score`` of the purchase (WebShop's reward, 0 to 1), or
            its ``success`` (1 for a score of 1.0, otherwise 0; GiGPO).
    """

    tasks: ShopTasks

    def __init__(
        self, tasks: ShopTasks, shop: Shop, *, options: Options, observation_mode: Mode = "text", outcome: str = "score"
    ) -> None:
        check_choice("observation_mode", observation_mode, MODES)
        check_choice("outcome", outcome, OUTCOMES)
        self.shop, self._mode, self._outcome = shop, observation_mode, outcome
        self._toolbox = ToolBox([EnvStep(shop)])
        super().__init__(tasks, tools=self._toolbox.schemas, options=options)
        self._session = Session()
        self._goal: Goal | None = None
        self._page = ""
        self._legal: tuple[str, ...] = ()
        self._done: list[str] = []
        self._note = ""

    def sibling(self) -> "WebShopEnv":
        """Return a new environment over the same goals and shop, with the same arguments."""
        return WebShopEnv(
            self.tasks, self.shop, options=self.options, observation_mode=self._mode, outcome=self._outcome
        )

    @property
    def session(self) -> Session:
        """Where the shopper stands."""
        return self._session

    @property
    def goal(self) -> Goal:
        """The goal of the episode, its product included; EpisodeError before the first reset."""
        if self._goal is None:
            raise EpisodeError("there is no goal yet: call reset() first")
        return self._goal

    def _instructions(self) -> str:
        return (
            "You are shopping on a web site. Find and buy a product that fits the instruction: search for it, open a "
            "product of the results by its id, choose the options that are asked for, and click buy now. The purchase "
            "ends the task; it counts how well the product, its options and its price fit the instruction."
        )

    def _task_text(self) -> str:
        return f"Instruction: {self.task.prompt}"

    def _draw(self) -> int:
        if self.tasks.goals.sampling == "seeded":
            return super()._draw()
        return int(self.np_random.choice(len(self.tasks), p=self.tasks.chances))

    def _begin(self, results: Sequence[ToolResult]) -> str:
        self._done, self._note = [], ""
        self._enter(Session())
        return self._view()

    def _plan_calls(self, parsed: ParsedAction) -> tuple[BoundCall | ToolResult, ...]:
        return tuple(self._toolbox.check(call, self.format) for call in parsed.calls[: self.max_calls])

    def _perform(self, plan: StepPlan, results: Sequence[ToolResult]) -> Outcome:
        if not results:
            return self._refuse("The shop takes no answer: the task ends with click[buy now].")
        if not results[0].ok:
            return self._stay(results[0].text)
        command: Command | None = results[0].data
        if command is None:
            return self._refuse("That is no command of the shop, which are search[words] and click[element].")
        if not self.shop.accepts(self._session, command):
            return self._refuse(f"There is no {_shorten(command.argument)!r} to click on this page.")
        ignored = len(plan.parsed.calls) - self.max_calls
        return self._carry_out(command, note=f"{ignored} more calls were ignored: one a step." if ignored > 0 else "")

    def _carry_out(self, command: Command, *, note: str) -> Outcome:
        said, known = str(command).lower(), self.goal.row in self._session.seen
        repeated = command.verb == "search" and said in self._done
        self._done.append(said)
        self._note = note
        self._look(self.shop.step(self._session, command))
        return Outcome(
            "\n\n".join(filter(None, [note, self._view()])),
            verdict=self._verdict() if self._session.page == "end" else None,
            events={
                "repeated_query": float(repeated),
                "new_gold": float(not known and self.goal.row in self._session.seen),
            },
        )

    def _refuse(self, reason: str) -> Outcome:
        """Leave everything as it is; say why, and show a command that is right on this page."""
        right = next((command for command in self._legal if command != FREE_SEARCH), _EXAMPLE)
        return self._stay(f"{reason} A right example:\n{self._say(right)}")

    def _stay(self, reason: str) -> Outcome:
        feedback = self._misread(reason)
        self._note = reason
        return Outcome(feedback, valid=False)

    def _misread(self, error: str) -> str:
        self._done.append("")
        self._note = ""
        return f"{error}\n\n{self._view()}"

    def _take_note(self, text: str) -> None:
        self._note = "\n".join(filter(None, [self._note, text]))

    def _enter(self, session: Session) -> None:
        """Take the task's goal and look at a session's page."""
        assert self._index is not None
        self._goal = self.tasks.goal(self._index)
        self._look(session)

    def _look(self, session: Session) -> None:
        self._session = session
        self._page = self.shop.observe(session, self.task.prompt, mode=self._mode)
        clicks = [Command("click", name) for name in self.shop.clickables(session)]
        legal = [
            str(click) for click in clicks if self.shop.accepts(session, click) and parse_command(str(click)) == click
        ]
        self._legal = (FREE_SEARCH, *legal) if session.page == "start" else tuple(legal)

    def _view(self) -> str:
        """Return the page with the commands it allows."""
        return f"{self._page}\n\n{_AVAILABLE}:\n{self._commands()}" if self._legal else self._page

    def _commands(self) -> str:
        return "\n".join(self._legal)

    def _sections(self) -> tuple[Section, ...]:
        done = tuple(f"{n}. {_shorten(said) or '(not carried out)'}" for n, said in enumerate(self._done, 1))
        sections = [Section("Commands so far", done, keep=_REMEMBERED)]
        if self._note:
            sections.append(Section("Feedback", (self._note,)))
        sections.append(Section("Page", (self._page,)))
        return (*sections, Section(_AVAILABLE, (self._commands(),))) if self._legal else tuple(sections)

    def _available_actions(self) -> tuple[str, ...]:
        return self._legal

    def _verdict(self) -> Verdict:
        session, gold = self._session, self.goal.gold
        price = self.tasks.goals.price(session.row)
        bought = purchase_reward(self.shop.product(session.row), gold, price=price, options=dict(session.options))
        return Verdict(success=bought.reward >= 1.0, score=bought.reward, metrics=bought.metrics())

    def _unfinished(self) -> Verdict:
        gold = self.goal.gold
        asked = {"r_type": True, "r_att": gold.attributes, "r_option": gold.options, "r_price": True}
        return Verdict(success=False, score=0.0, metrics={name: 0.0 for name, given in asked.items() if given})

    def _outcome_reward(self, verdict: Verdict) -> float:
        value = verdict.score if self._outcome == "score" else float(verdict.success)
        return self.options.success_reward * value

    def potential(self) -> float:
        """Return 0.25 with the goal's product in sight, 0.5 on its page, and 1 with all of its options chosen there."""
        session, goal = self._session, self.goal
        if session.row == goal.row:
            chosen = dict(session.options).values()
            wanted = goal.gold.options
            share = sum(is_among(option, chosen) for option in wanted) / len(wanted) if wanted else 1.0
            return _OPENED + (1.0 - _OPENED) * share
        return _IN_SIGHT if goal.row in self.shop.shown(session) else 0.0

    def anchor(self) -> str:
        """Return the address of the page, which holds the search, the page's number and the chosen options."""
        return self.shop.url(self._session, name="0")

    def expert(self) -> str:
        """Return the next command on the shortest way to buying the goal's product as asked for."""
        command = next_command(self.shop, self._session, self.goal)
        if command is None:
            raise EpisodeError("the purchase is made: call reset() first")
        return self._say(str(command))

    def _say(self, command: str) -> str:
        return self.format.call(ToolCall(EnvStep.name, {"command": command}))

    def _state(self) -> Any:
        return {"session": msgspec.to_builtins(self._session), "done": self._done, "note": self._note}

    def _load_state(self, state: Any) -> None:
        self._done, self._note = list(state["done"]), str(state["note"])
        self._enter(msgspec.convert(state["session"], Session))


def _shorten(text: str) -> str:
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."


def make(
    *,
    split: str = "test",
    source: Source = "auto",
    protocol: str = DEFAULT_PROTOCOL,
    retriever: Retriever | str | Path = "bm25",
    products: Products = SMALL,
    goals: Kind | None = None,
    goal_sampling: Sampling = "seeded",
    **options: Any,
) -> WebShopEnv:
    """Make the environment; the entry point of gym.make.

    Args:
        split: ``train``, ``dev`` or ``test``.
        source: ``auto``, ``real`` or ``world``.
        protocol: a preset; see envs.presets.
        retriever: ``bm25`` or ``dense``, the URL of a service, an index folder, or a Retriever whose passages' ids are
            asins.
        products: 1,000 (the small real set, or a world), ``full`` (all real products), or the size of a world.
        goals: ``synthetic`` or ``human``; by default synthetic ones of a part of the products, human ones of all.
        goal_sampling: ``seeded``, or ``original`` for the prices, limits and odds of WebShop's own stream, some of
            whose goals cannot be met in full.
        **options: fields of Options, and ``observation_mode`` and ``outcome``.
    """
    shared, own = split_options(
        resolve("webshop", protocol, options), own={"observation_mode": "text", "outcome": "score"}
    )
    stock = choose_stock(source, products)
    tasks = open_goals(stock, goals, goal_sampling, split)
    return WebShopEnv(tasks, open_shop(stock, retriever), options=shared, **own)


def make_vector(num_envs: int, **kwargs: Any) -> VectorTextEnv:
    """Make the batched environment over one shop; the vector entry point of gym.make_vec."""
    first = make(**kwargs)
    return VectorTextEnv([lambda: first, *[first.sibling] * (num_envs - 1)])
