"""How the next prompt s_{t+1} is written from the episode so far: append, window, state and summary, within a budget.

A prompt never loses its instructions, its tool schemas, its task or its newest observation. When it does not fit, the
oldest history goes first; when even that is not enough, the newest observation is cut in the middle, visibly. The
report says what happened; environments publish it as ``info["context"]``.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from agentgym_r1.errors import ConfigError, unknown_name
from agentgym_r1.types import Message

CountTokens = Callable[[str], int]
MESSAGE_OVERHEAD = 8
_BYTES_PER_TOKEN = 3
_MIN_ROOM = 32


@dataclass(frozen=True, slots=True)
class Turn:
    """One finished step: what the policy said and what the world answered."""

    action: str
    feedback: str


@dataclass(frozen=True, slots=True)
class Section:
    """A titled part of the state: ``items`` oldest first, of which the last ``keep`` are never dropped."""

    title: str
    items: tuple[str, ...]
    keep: int = 1


@dataclass(frozen=True, slots=True)
class Parts:
    """Everything a prompt can be written from.

    Attributes:
        system: instructions and tool schemas.
        task: the question or goal.
        opening: what the world showed at reset, possibly empty.
        turns: the finished steps, oldest first.
        sections: the environment's own account of the state, in reading order.
    """

    system: str
    task: str
    opening: str = ""
    turns: tuple[Turn, ...] = ()
    sections: tuple[Section, ...] = ()


@dataclass(frozen=True, slots=True)
class Prompt:
    """The prompt of the next decision and the report of what was left out."""

    messages: tuple[Message, ...]
    report: Mapping[str, Any] = field(default_factory=dict)

    def text(self) -> str:
        """Return the whole prompt as one text, each message under its role."""
        return "\n\n".join(f"[{message.role}]\n{message.content}" for message in self.messages)


class ContextPolicy(Protocol):
    """Writes the next prompt."""

    @property
    def name(self) -> str:
        """The name that selects it."""
        ...

    def compose(self, parts: Parts, *, budget: int, count: CountTokens) -> Prompt:
        """Return the prompt for ``parts`` in at most ``budget`` tokens as ``count`` counts them.

        Counts are added message by message, with 8 tokens a message for the chat template.
        """
        ...


def estimate_tokens(text: str) -> int:
    """Return a cautious token count without a tokenizer: a token for every three UTF-8 bytes, rounded up."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // _BYTES_PER_TOKEN)


@dataclass(frozen=True, slots=True)
class Window:
    """The conversation with its last ``turns`` steps; None keeps all that fit (the append policy)."""

    turns: int | None = None

    def __post_init__(self) -> None:
        if self.turns is not None and self.turns < 1:
            raise ConfigError(f"the window must hold at least 1 turn, got {self.turns}")

    @property
    def name(self) -> str:
        """``append`` or ``window``."""
        return "append" if self.turns is None else "window"

    def compose(self, parts: Parts, *, budget: int, count: CountTokens) -> Prompt:
        """Return system, task, then the kept turns as assistant and user messages."""
        kept = parts.turns if self.turns is None else parts.turns[-self.turns :]
        outside = len(parts.turns) - len(kept)
        return _conversation(parts, kept, outside, self.name, budget=budget, count=count)


@dataclass(frozen=True, slots=True)
class Summary:
    """The last ``turns`` steps as they were, and one line for each earlier one.

    The lines are the policy's last line and the world's first line of the step: a rule, no model, so that a prompt can
    be written again from its parts.
    """

    turns: int = 2

    def __post_init__(self) -> None:
        if self.turns < 1:
            raise ConfigError(f"the summary must keep at least 1 turn, got {self.turns}")

    @property
    def name(self) -> str:
        """``summary``."""
        return "summary"

    def compose(self, parts: Parts, *, budget: int, count: CountTokens) -> Prompt:
        """Return a state prompt whose history is the summary, followed by the kept turns."""
        old, kept = parts.turns[: -self.turns], parts.turns[-self.turns :]
        lines = tuple(_one_line(number, turn) for number, turn in enumerate(old, 1))
        cost = _costs(lines, count)
        reserved = sum(_costs([t.action + t.feedback for t in kept], count)) + 2 * MESSAGE_OVERHEAD * len(kept)
        room = budget - reserved - count(parts.system + parts.task + parts.opening)
        dropped = _drop(cost, room)
        summary = _titled("Earlier steps", lines[dropped:]) if lines else ""
        opening = "\n\n".join(filter(None, [parts.opening, summary]))
        inner = Parts(parts.system, parts.task, opening, kept)
        return _conversation(inner, kept, 0, self.name, budget=budget, count=count, already_dropped=dropped)


@dataclass(frozen=True, slots=True)
class State:
    """The prompt rebuilt from the environment's sections at every step (Agent-R1's recipes; arXiv 2511.14460)."""

    @property
    def name(self) -> str:
        """``state``."""
        return "state"

    def compose(self, parts: Parts, *, budget: int, count: CountTokens) -> Prompt:
        """Return system and one user message: the task, then every section; droppable items go oldest first."""
        fixed = count(parts.system) + count(parts.task) + 2 * MESSAGE_OVERHEAD
        fixed += sum(count(section.title) + 4 for section in parts.sections)
        costs = [_costs(section.items, count) for section in parts.sections]
        room = budget - fixed
        kept, dropped = _drop_from_sections(parts.sections, costs, room)
        cut = 0
        kept_cost = sum(sum(c[len(c) - len(k) :]) for c, k in zip(costs, kept))
        if kept_cost > room:
            kept, cut = _cut_longest(kept, excess=kept_cost - room, count=count)
        body = [_titled(section.title, items) for section, items in zip(parts.sections, kept)]
        messages = (Message("system", parts.system), Message("user", "\n\n".join([parts.task, *body])))
        return Prompt(messages, _report(self.name, messages, parts, budget, count, dropped=dropped, cut=cut))


CONTEXTS = ("append", "window", "state", "summary")


def get_context(name: str, *, turns: int | None = None) -> ContextPolicy:
    """Return a context policy by name.

    Args:
        name: ``append``, ``window``, ``state`` or ``summary``.
        turns: how many steps ``window`` (default 4) and ``summary`` (default 2) keep; the others take none.

    Raises:
        ConfigError: unknown name, or turns where they mean nothing.
    """
    if name not in CONTEXTS:
        raise unknown_name("context", name, CONTEXTS)
    if name in {"append", "state"} and turns is not None:
        raise ConfigError(f"context {name!r} takes no context_turns, got {turns}; window and summary do")
    if name == "window":
        return Window(4 if turns is None else turns)
    if name == "summary":
        return Summary(2 if turns is None else turns)
    return Window() if name == "append" else State()


def cut_middle(text: str, room: int, count: CountTokens) -> str:
    """Return ``text`` within about ``room`` tokens, its middle replaced by a mark that says how much is missing."""
    total = count(text)
    if total <= room:
        return text
    keep = max(room - count(_mark(total)), 2)
    characters = max(int(len(text) * keep / total), 2)
    while characters > 2 and count(text[: characters // 2]) + count(text[-(characters // 2) :]) > keep:
        characters = characters * 9 // 10
    head, tail = text[: characters // 2], text[len(text) - characters // 2 :]
    return head + _mark(total - count(head) - count(tail)) + tail


def _mark(missing: int) -> str:
    return f"\n[... about {missing} tokens cut ...]\n"


def _conversation(
    parts: Parts,
    kept: Sequence[Turn],
    outside: int,
    name: str,
    *,
    budget: int,
    count: CountTokens,
    already_dropped: int = 0,
) -> Prompt:
    fixed = count(parts.system) + count(_joined(parts.task, parts.opening)) + 2 * MESSAGE_OVERHEAD
    costs = [count(turn.action) + count(turn.feedback) + 2 * MESSAGE_OVERHEAD for turn in kept]
    dropped = min(_drop(costs, budget - fixed), max(len(kept) - 1, 0))
    kept, cost = list(kept[dropped:]), sum(costs[dropped:])
    dropped += outside
    omitted = f"\n\n[{dropped} earlier steps are not shown]" if dropped else ""
    opening, cut = parts.opening, 0
    if excess := max(fixed + cost + count(omitted) - budget, 0):
        if kept:
            kept[-1], cut = _shorten_turn(kept[-1], excess, count)
        else:
            opening = _shorten(opening, excess, count)
            cut = count(parts.opening) - count(opening)
    messages = [
        Message("system", parts.system),
        Message("user", _joined(parts.task, opening) + omitted),
    ]
    for turn in kept:
        messages += [Message("assistant", turn.action), Message("user", turn.feedback)]
    dropped += already_dropped
    return Prompt(tuple(messages), _report(name, messages, parts, budget, count, dropped=dropped, cut=cut))


def _joined(*texts: str) -> str:
    return "\n\n".join(filter(None, texts))


def _report(
    name: str, messages: Sequence[Message], parts: Parts, budget: int, count: CountTokens, *, dropped: int, cut: int
) -> dict[str, Any]:
    tokens = sum(count(message.content) + MESSAGE_OVERHEAD for message in messages)
    return {"policy": name, "tokens": tokens, "fits": tokens <= budget, "dropped": dropped, "cut_tokens": cut}


def _shorten_turn(turn: Turn, excess: int, count: CountTokens) -> tuple[Turn, int]:
    """Cut the action, which is history, before the feedback, which is the newest observation."""
    action = _shorten(turn.action, excess, count)
    gone = count(turn.action) - count(action)
    feedback = _shorten(turn.feedback, excess - gone, count) if gone < excess else turn.feedback
    return Turn(action, feedback), gone + count(turn.feedback) - count(feedback)


def _shorten(text: str, excess: int, count: CountTokens) -> str:
    return cut_middle(text, max(count(text) - excess, _MIN_ROOM), count)


def _costs(items: Sequence[str], count: CountTokens) -> list[int]:
    return [count(item) + 1 for item in items]


def _drop(costs: Sequence[int], room: int) -> int:
    """Return how many of the oldest must go so that the rest costs at most ``room``."""
    total = sum(costs)
    for dropped, cost in enumerate(costs):
        if total <= room:
            return dropped
        total -= cost
    return len(costs)


def _drop_from_sections(
    sections: Sequence[Section], costs: Sequence[Sequence[int]], room: int
) -> tuple[list[tuple[str, ...]], int]:
    """Drop the oldest droppable items, the section with most droppable tokens first, until the rest fits."""
    starts = [0] * len(sections)
    total = sum(map(sum, costs))
    limits = [max(len(section.items) - section.keep, 0) for section in sections]
    order = sorted(range(len(sections)), key=lambda i: -sum(costs[i][: limits[i]]))
    for i in order:
        while total > room and starts[i] < limits[i]:
            total -= costs[i][starts[i]]
            starts[i] += 1
    return [section.items[start:] for section, start in zip(sections, starts)], sum(starts)


def _cut_longest(
    kept: Sequence[tuple[str, ...]], *, excess: int, count: CountTokens
) -> tuple[list[tuple[str, ...]], int]:
    """Cut the longest items until ``excess`` tokens are gone or nothing long is left."""
    items = [list(section) for section in kept]
    cut = 0
    places = sorted(
        ((count(text), s, i) for s, section in enumerate(items) for i, text in enumerate(section)), reverse=True
    )
    for cost, s, i in places:
        if excess - cut <= 0 or cost <= _MIN_ROOM:
            break
        items[s][i] = _shorten(items[s][i], excess - cut, count)
        cut += cost - count(items[s][i])
    return [tuple(section) for section in items], cut


def _titled(title: str, items: Sequence[str]) -> str:
    return f"{title}:\n" + ("\n".join(items) if items else "(none)")


def _one_line(number: int, turn: Turn) -> str:
    said = turn.action.strip().splitlines()[-1:] or [""]
    heard = turn.feedback.strip().splitlines()[:1] or [""]
    return f"{number}. {said[0][:160]} -> {heard[0][:160]}"
