"""Schemas about things that are counted: stocks, fractions, boxes, remainders, harvests, ratios, collections."""

from agentgym_r1.data.worlds.arithmetic.story import Result, Schema, Story, money
from agentgym_r1.data.worlds.arithmetic.term import Term, Unusable, ceil, term, total
from agentgym_r1.data.worlds.arithmetic.vocabulary import (
    BAKED_IN,
    BAKES,
    CONTAINERS,
    FRUIT,
    KEEPSAKES,
    KIN,
    PRODUCTS,
    Person,
)


def stock(story: Story, steps: int) -> Result:
    """Follow a stock through deliveries, sales and losses, one to a step."""
    who, noun = story.person(), story.noun(PRODUCTS)
    now = story.number(40, 200)
    story.say(f"{who} runs a store and starts the week with {noun.count(now)}.")
    weekdays = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
    days = sorted(story.rng.sample(range(7), min(7, steps)))
    for day in days:
        now = _stock_day(story, now, f"On {weekdays[day]}", noun.many)
    if steps == 8:
        lost = story.number(2, 10)
        now = story.step(now - lost)
        story.say(f"When {who.they} counts the {noun} on the last evening, {lost} are missing.")
    return Result("items", now, f"How many {noun} does {who} have in the end?", who, noun, f"these {noun}")


def _stock_day(story: Story, now: Term, day: str, things: str) -> Term:
    match story.rng.randrange(5):
        case 0:
            count = story.number(10, 60)
            story.say(f"{day}, {count} new {things} are delivered.", f"{day}, a truck brings {count} more {things}.")
            return story.step(now + count)
        case 1:
            count = story.number(5, 40)
            story.say(f"{day}, {count} {things} are sold.", f"{day}, customers buy {count} of the {things}.")
            return story.step(now - count)
        case 2:
            part = story.part(now)
            story.say(f"{day}, {part} the {things} in stock are sold.")
            return story.step(now - part.of(now))
        case 3:
            count = story.number(2, 6)
            story.say(f"{day}, {count} damaged {things} are thrown away.")
            return story.step(now - count)
    factor, words = story.times(2, 3)
    story.say(f"{day}, a delivery leaves the store with {words} as many {things} as before.")
    return story.step(now * factor)


def leftovers(story: Story, steps: int) -> Result:
    """Give away fractions of what is left; an odd number of steps starts with boxes of things."""
    who, noun = story.person(), story.noun(KEEPSAKES)
    if steps % 2:
        box, boxes, each = story.pick(CONTAINERS), story.number(3, 12), story.number(8, 40, by=4)
        story.say(f"{who} has {boxes} {box.many} with {each} {noun} in each of them.")
        left = story.step(boxes * each)
    else:
        left = story.number(60, 480, by=12)
        story.say(f"{who} has {noun.count(left)}.", f"{who} owns a collection of {noun.count(left)}.")
    for turn, kin in enumerate(story.rng.sample(KIN, steps // 2)):
        part = story.part(left)
        whole = f"the {noun}" if turn == 0 else "what is left"
        opening = who.they if turn == 0 else f"then {who.they}"
        story.say(f"{opening} gives {part} {whole} to {who.their} {kin}.")
        left = story.step(left - story.step(part.of(left)))
    return Result("items", left, f"How many {noun} does {who} have left?", who, noun, f"the remaining {noun}")


def packing(story: Story, steps: int) -> Result:
    """Pack things into containers that may stay partly empty: round up; with losses (3) and a cost a container (4)."""
    who, noun, box, tray = story.person(), story.noun(BAKES), story.pick(CONTAINERS), story.pick(BAKED_IN)
    trays, each, room = story.number(4, 15), story.number(9, 24), story.number(5, 12)
    story.say(f"{who} bakes {trays} {tray.many} of {noun}, with {each} {noun} to a {tray.one}.")
    goods = story.step(trays * each)
    if steps >= 3:
        burnt = story.number(2, 15)
        story.say(f"{burnt} of them get burnt and are thrown away.", f"{who.they} drops {burnt} of them on the floor.")
        goods = story.step(goods - burnt)
    story.say(f"The {noun} that can be sold are packed into {box.many}, and a {box.one} holds up to {room} of them.")
    boxes = story.step(ceil(goods / room))
    if steps < 4:
        return Result("final", boxes, f"How many {box.many} does {who} need for all of them?", who)
    price = story.price(1, 3)
    story.say(f"An empty {box.one} costs {money(price)}.", f"The {box.many} cost {money(price)} each.")
    return Result("cost", story.step(boxes * price), f"How many dollars does {who} pay for the {box.many}?", who)


def remainder(story: Story, steps: int) -> Result:
    """Share things out evenly and ask for what is left over, after a sum (2 steps), a product (3), a difference (4)."""
    who, noun = story.person(), story.noun(KEEPSAKES)
    friend, guests, extra = story.pick(KIN), story.number(6, 15), story.number(10, 60)
    if steps == 2:
        have = story.number(40, 180)
        story.say(f"{who} has {noun.count(have)}.")
    else:
        bags, each = story.number(3, 9), story.number(8, 40)
        story.say(f"{who} buys {bags} bags with {each} {noun} in each.")
        have = story.step(bags * each)
    story.say(f"{who.their} {friend} adds {extra} more.", f"{extra} more come from {who.their} {friend}.")
    have = story.step(have + extra)
    if steps == 4:
        kept = story.number(3, 20)
        story.say(f"{who.they} puts {kept} of them aside.")
        have = story.step(have - kept)
    ending = " the others" if steps == 4 else " them"
    story.say(
        f"{who.they} shares{ending} among {guests} guests so that everybody gets the same number, as many as possible."
    )
    return Result("final", story.step(have % guests), f"How many {noun} are left over after the sharing?", who)


def eggs(story: Story, steps: int) -> Result:
    """Collect eggs for days, keep some, and sell the rest by the carton of 12."""
    who, hens, each = story.person(), story.number(6, 40), story.number(2, 6)
    weeks, dozens = story.number(3, 14), story.number(0, 2)
    kept = term(hens.value * each.value * weeks.value % 12 + 12 * dozens.value)
    if kept.value < 2:
        raise Unusable("the family eats eggs, too")
    story.say(f"{who} keeps {hens} hens, and each hen lays {each} eggs a week.")
    weekly = story.step(hens * each)
    story.say(f"In {weeks} weeks {who.they} sells all of the eggs except {kept}, which the family eats.")
    sold = story.step(story.step(weekly * weeks) - kept)
    if steps == 3:
        return Result("final", sold, f"How many eggs does {who} sell?", who)
    story.say("The eggs are sold in cartons of 12.", "Each carton holds 12 eggs.")
    cartons = story.whole(sold / 12)
    if steps == 4:
        return Result("final", cartons, f"How many cartons does {who} sell?", who)
    price = story.price(2, 6)
    story.say(f"A carton costs {money(price)}.", f"{who.they} gets {money(price)} for a carton.")
    earned = story.step(cartons * price)
    if steps == 5:
        return Result("money", earned, f"How many dollars does {who} get for the eggs?", who, label="the egg money")
    feed = story.number(5, 15)
    story.say(f"The feed for the hens costs {money(feed)} altogether.")
    return Result(
        "money",
        story.step(earned - feed),
        "How many dollars remain after paying for the feed?",
        who,
        label="what is left",
    )


def orchard(story: Story, steps: int) -> Result:
    """Multiply rows, trees and fruit; a percentage is spoiled (4 steps)."""
    who, noun = story.person(), story.noun(FRUIT)
    rows, trees, each = story.number(4, 15), story.number(5, 20), story.number(20, 120, by=10)
    story.say(f"{who}'s orchard has {rows} rows of {trees} {noun.one} trees.")
    count = story.step(rows * trees)
    if steps == 3:
        young = story.number(3, 20)
        story.say(f"{young} of the trees are still too young to bear fruit.")
        count = story.step(count - young)
    bearing = "that bears fruit gives" if steps == 3 else "gives"
    story.say(f"Every tree {bearing} {each} {noun} this year.")
    fruit = story.step(count * each)
    if steps < 4:
        return Result("items", fruit, f"How many {noun} does {who} harvest?", who, noun, f"these {noun}")
    spoiled = story.percent(low=5, high=30)
    story.say(f"{spoiled}% of the {noun} are eaten by birds.", f"A storm spoils {spoiled}% of the {noun}.")
    good = story.whole(fruit - story.whole(fruit * spoiled / 100))
    return Result("items", good, f"How many good {noun} does {who} harvest?", who, noun, f"the good {noun}")


def ratio(story: Story, steps: int) -> Result:
    """Divide a total in a ratio: one share (3 steps, 4 with a total to compute), or the difference of two (5)."""
    first, second = story.person(), story.person()
    noun, (left, right) = story.noun(KEEPSAKES), story.rng.sample((2, 3, 4, 5, 7), 2)
    if steps == 4:
        packs, each = story.number(3, 12), story.number(8, 36)
        story.say(f"{first} and {second} buy {packs} packs of {each} {noun} together.")
        have = story.step(packs * each)
    else:
        have = term((left + right) * story.rng.randint(6, 50))
        story.say(f"{first} and {second} have {noun.count(have)} together.")
    story.say(f"They split them between {first} and {second} in the ratio {left} to {right}.")
    share = story.whole(have / story.step(term(left) + right))
    one = story.step(share * left)
    if steps < 5:
        return Result("items", one, f"How many {noun} does {first} get?", first, noun, f"these {noun}")
    other = story.step(share * right)
    gap = other - one if right > left else one - other
    who = second if right > left else first
    return Result("final", story.step(gap), f"How many more {noun} does {who} get than the other?", who)


def comparison(story: Story, steps: int) -> Result:
    """Compare collections: times as many, fewer, a fraction of; ask for the last one or for the sum."""
    people, noun, now = [story.person()], story.noun(KEEPSAKES), story.number(12, 60, by=2)
    story.say(f"{people[0]} has {noun.count(now)}.")
    counts = [now]
    asks_sum = steps >= 3 and story.rng.random() < 0.7
    for _ in range(steps - asks_sum):
        people.append(story.person())
        counts.append(_next_collection(story, people[-2:], counts[-1], noun.many))
    if asks_sum:
        return Result("final", story.step(total(counts)), f"How many {noun} do they all have together?", people[0])
    return Result("items", counts[-1], f"How many {noun} does {people[-1]} have?", people[-1], noun, f"these {noun}")


def _next_collection(story: Story, pair: list[Person], now: Term, things: str) -> Term:
    known, who = pair
    match story.rng.randrange(4):
        case 0:
            factor, words = story.times()
            story.say(f"{who} has {words} as many as {known}.", f"{who} owns {words} as many {things} as {known}.")
            return story.step(now * factor)
        case 1:
            fewer = story.number(3, 20)
            story.say(f"{who} has {fewer} fewer than {known}.", f"{who} has {fewer} {things} fewer than {known}.")
            return story.step(now - fewer)
        case 2:
            more = story.number(5, 40)
            story.say(f"{who} has {more} more than {known}.", f"{who} has {more} {things} more than {known}.")
            return story.step(now + more)
    part = story.part(now)
    amount = part.words.removesuffix(" of")
    story.say(f"{who} has {amount} as many as {known}.", f"{who} has only {amount} as many {things} as {known}.")
    return story.step(part.of(now))


SCHEMAS = (
    Schema(stock, (3, 4, 5, 6, 7, 8)),
    Schema(leftovers, (2, 3, 4, 5, 6)),
    Schema(packing, (2, 3, 4), ends=(2, 3)),
    Schema(remainder, (2, 3, 4), ends=(2, 3, 4)),
    Schema(eggs, (3, 4, 5, 6), ends=(3, 4)),
    Schema(orchard, (2, 3, 4)),
    Schema(ratio, (3, 4, 5), ends=(5,)),
    Schema(comparison, (2, 3, 4, 5, 6)),
)
