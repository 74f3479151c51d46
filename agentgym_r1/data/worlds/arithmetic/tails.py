"""Tails: what happens to a result afterwards, so that any schema can run on to the wanted number of steps."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from agentgym_r1.data.worlds.arithmetic.story import Kind, Result, Story, money
from agentgym_r1.data.worlds.arithmetic.term import Term, Unusable, term
from agentgym_r1.data.worlds.arithmetic.vocabulary import CONTAINERS, DEAR_GOODS, GOODS, KIN

MANY = 60


@dataclass(frozen=True, slots=True)
class Tail:
    """A continuation of a result of one kind; ``write`` takes exactly ``steps`` steps."""

    kind: Kind
    steps: int
    write: Callable[[Story, Result], Result]


def spend(story: Story, result: Result) -> Result:
    """Spend a fixed sum."""
    who, noun = result.who, story.noun(GOODS)
    price = story.price(noun.low, noun.high)
    story.say(f"With {result.label} {who} buys {noun.a} for {money(price)}.")
    return _left(story, result, price)


def spend_part(story: Story, result: Result) -> Result:
    """Spend a fraction."""
    who, part = result.who, story.part(result.value)
    story.say(f"{who} gives {part} {result.label} to charity.", f"{who} gives {part} {result.label} to the children.")
    return _left(story, result, part.of(result.value))


def spend_percent(story: Story, result: Result) -> Result:
    """Spend a percentage, in two steps."""
    who, share = result.who, story.percent(low=10, high=50)
    story.say(f"{who} uses {share}% of {result.label} to pay back a loan.")
    return _left(story, result, story.step(result.value * share / 100))


def earn_weekly(story: Story, result: Result) -> Result:
    """Add an allowance for some weeks, in two steps."""
    who, weeks, allowance = result.who, story.number(3, 12), story.number(4, 25)
    story.say(
        f"{who} keeps {result.label} and adds {money(allowance)} every week for {weeks} weeks.",
        f"To {result.label} {who} adds {money(allowance)} a week, for {weeks} weeks.",
    )
    amount = story.step(result.value + story.step(allowance * weeks))
    ask = f"How many dollars does {who} have after these {weeks} weeks?"
    return replace(result, value=amount, ask=ask, label="all of this money")


def afford(story: Story, result: Result) -> Result:
    """Buy as many of something as the money allows."""
    who, noun = result.who, story.noun(GOODS)
    price = story.number(noun.low, noun.high)
    story.say(f"{who} uses {result.label} to buy as many {noun} as possible at {money(price)} each.")
    bought = story.step(result.value // price)
    if bought.value > MANY:
        raise Unusable(f"nobody buys {bought} {noun}")
    return Result("items", bought, f"How many {noun} can {who} buy?", who, noun, f"these {noun}")


def miss(story: Story, result: Result) -> Result:
    """Compare the money with a price that is higher."""
    who, noun = result.who, story.noun(DEAR_GOODS)
    price = term(-(-result.value.value // 10) * 10 + story.rng.randint(2, 12) * 10)
    story.say(f"{who} wants to use {result.label} for {noun.a} that costs {money(price)}.")
    return Result("final", story.step(price - result.value), f"How many more dollars does {who} need for it?", who)


def divide_money(story: Story, result: Result) -> Result:
    """Share the money among relatives."""
    who, heads = result.who, story.number(3, 8)
    story.say(f"{who} divides {result.label} equally among {heads} children of the family.")
    return Result("final", story.step(result.value / heads), "How many dollars does each child get?", who)


def split_cost(story: Story, result: Result) -> Result:
    """Split a cost among several people."""
    who, friends = result.who, story.number(3, 6)
    story.say(f"{who} is one of {friends} people who share this cost equally.")
    return Result("final", story.step(result.value / friends), f"How many dollars does {who} pay in the end?", who)


def coupon(story: Story, result: Result) -> Result:
    """Take a fixed sum off a cost."""
    who, off = result.who, story.number(2, 15)
    story.say(f"A friend gives {who} {money(off)} towards it.", f"{who}'s {story.pick(KIN)} pays {money(off)} of it.")
    return replace(result, value=story.step(result.value - off), ask=f"How many dollars are left for {who} to pay?")


def wallet(story: Story, result: Result) -> Result:
    """Pay a cost out of a wallet."""
    who = result.who
    before = term(-(-result.value.value // 10) * 10 + story.rng.randint(1, 9) * 10)
    story.say(f"{who} pays for it out of savings of {money(before)}.", f"Before paying, {who} had {money(before)}.")
    return Result(
        "money",
        story.step(before - result.value),
        f"How many dollars does {who} have afterwards?",
        who,
        label="what is left",
    )


def give(story: Story, result: Result) -> Result:
    """Give some of the things away."""
    who, few = result.who, story.number(2, 15)
    story.say(f"{who} gives {few} of {result.label} to {who.their} {story.pick(KIN)}.")
    ask = f"How many {result.noun} does {who} have after that?"
    return replace(result, value=story.step(result.value - few), ask=ask, label=f"the remaining {result.noun}")


def find(story: Story, result: Result) -> Result:
    """Get more of the things."""
    who, more = result.who, story.number(4, 40)
    story.say(f"Later {who} gets {more} more {result.noun} from {who.their} {story.pick(KIN)}.")
    ask = f"How many {result.noun} does {who} have after that?"
    return replace(result, value=story.step(result.value + more), ask=ask, label=f"these {result.noun}")


def give_part(story: Story, result: Result) -> Result:
    """Give a fraction of the things away."""
    who, part = result.who, story.part(result.value)
    story.say(f"{who} gives {part} {result.label} to the local school.")
    left = story.step(result.value - part.of(result.value))
    ask = f"How many {result.noun} does {who} keep?"
    return replace(result, value=left, ask=ask, label=f"the remaining {result.noun}")


def sell(story: Story, result: Result) -> Result:
    """Sell the things."""
    who, price = result.who, story.price(1, 5)
    story.say(f"{who} sells {result.label} for {money(price)} each.")
    return Result(
        "money", story.step(result.value * price), f"How many dollars does {who} get for them?", who, label="this money"
    )


def pack(story: Story, result: Result) -> Result:
    """Pack the things without rest and sell the packs, in two steps."""
    who, box, each = result.who, story.pick(CONTAINERS), story.number(3, 12)
    price = story.price(4, 20)
    story.say(
        f"{who} packs {result.label} into {box.many} of {each} and sells every full {box.one} for {money(price)}."
    )
    full = story.step(result.value // each)
    return Result(
        "money",
        story.step(full * price),
        f"How many dollars does {who} get for the {box.many}?",
        who,
        label="this money",
    )


def share(story: Story, result: Result) -> Result:
    """Share the things out."""
    who, heads = result.who, story.number(3, 9)
    story.say(f"{who} shares {result.label} equally among {heads} children.")
    return Result("final", story.whole(result.value / heads), f"How many {result.noun} does each child get?", who)


def fuel(story: Story, result: Result) -> Result:
    """Pay for the fuel of a distance, in two steps."""
    who, use, price = result.who, story.number(5, 10), story.price(1, 2)
    story.say(
        f"For {result.label} the car uses {use} liters of fuel per 100 kilometers, and a liter costs {money(price)}."
    )
    cost = story.step(story.step(result.value * use / 100) * price)
    return Result("cost", cost, f"How many dollars does {who} pay for this fuel?", who)


def both_ways(story: Story, result: Result) -> Result:
    """Count a distance twice."""
    who = result.who
    story.say(f"Later {who} covers the same distance again on the way back.")
    return replace(
        result,
        value=story.step(result.value * 2),
        ask="How many kilometers is that, there and back?",
        label="the whole way",
    )


def pause(story: Story, result: Result) -> Result:
    """Add a break to a time."""
    minutes = story.number(10, 45, by=5)
    story.say(f"After that {result.who} rests for {minutes} minutes.")
    return replace(result, value=story.step(result.value + minutes), ask="How many minutes is that altogether?")


def every_day(story: Story, result: Result) -> Result:
    """Spend the same time on several days."""
    who, days = result.who, story.number(3, 6)
    story.say(f"{who} does the same on {days} days of the week, and it always takes equally long.")
    return replace(result, value=story.step(result.value * days), ask="How many minutes is that in the whole week?")


def in_hours(story: Story, result: Result) -> Result:
    """Convert a time to hours."""
    story.say(f"{result.who} writes this time down in hours.")
    return Result("final", story.step(result.value / 60), "What number of hours is that?", result.who)


def _left(story: Story, result: Result, spent: Term) -> Result:
    ask = f"How many dollars does {result.who} have left?"
    return replace(result, value=story.step(result.value - spent), ask=ask, label="what is left")


TAILS = (
    Tail("money", 1, spend),
    Tail("money", 1, spend_part),
    Tail("money", 2, spend_percent),
    Tail("money", 2, earn_weekly),
    Tail("money", 1, afford),
    Tail("money", 1, miss),
    Tail("money", 1, divide_money),
    Tail("cost", 1, split_cost),
    Tail("cost", 1, coupon),
    Tail("cost", 1, wallet),
    Tail("items", 1, give),
    Tail("items", 1, find),
    Tail("items", 1, give_part),
    Tail("items", 1, sell),
    Tail("items", 2, pack),
    Tail("items", 1, share),
    Tail("distance", 2, fuel),
    Tail("distance", 1, both_ways),
    Tail("time", 1, pause),
    Tail("time", 1, every_day),
    Tail("time", 1, in_hours),
)
