"""Schemas about money: shopping, sales, pay, budgets, profit, plans, tickets, bills, interest, coins, installments."""

from fractions import Fraction

from agentgym_r1.data.worlds.arithmetic.story import Result, Schema, Story, listing, money
from agentgym_r1.data.worlds.arithmetic.term import Term, Unusable, larger, smaller, term, total
from agentgym_r1.data.worlds.arithmetic.vocabulary import CONTAINERS, DEAR_GOODS, GOODS, PRODUCTS, SHOPS


def shopping(story: Story, steps: int) -> Result:
    """Buy several kinds of things; ask for the sum (3 steps) or for the change."""
    who, kinds = story.person(), {2: 1, 3: 2}.get(steps, steps - 2)
    lines, totals = [], []
    for _ in range(kinds):
        noun, count = story.noun(GOODS), story.number(2, 8)
        price = story.price(noun.low, noun.high)
        lines.append(f"{noun.count(count)} at {money(price)} each")
        totals.append(story.step(count * price))
    story.say(
        f"{who} goes to the {story.pick(SHOPS)} and buys {listing(lines)}.",
        f"At the {story.pick(SHOPS)}, {who} picks out {listing(lines)}.",
    )
    spent = story.step(total(totals)) if kinds > 1 else totals[0]
    if steps == 3:
        return Result("cost", spent, story.ask(f"How many dollars does {who} spend in total?"), who)
    paid = story.pick([note for note in map(term, (20, 50, 100, 200, 300, 500)) if note.value > spent.value] or [None])
    if paid is None:
        raise Unusable("no note is large enough")
    story.say(f"{who.they} pays with {money(paid)}.", f"{who.they} hands over {money(paid)}.")
    change = story.step(paid - spent)
    return Result("money", change, story.ask(f"How many dollars does {who} get back?"), who, label="this change")


def sale(story: Story, steps: int) -> Result:
    """Buy at a percentage off; with a voucher (3 steps) and several pieces (4 steps)."""
    who, noun, off = story.person(), story.noun(DEAR_GOODS), story.percent(low=5, high=50)
    price = story.number(noun.low, noun.high, by=10)
    count = story.number(2, 4)
    story.say(
        f"{noun.a} normally costs {money(price)}, but this week there is {off}% off.",
        f"The regular price of {noun.a} is {money(price)}. This week the store takes {off}% off.",
    )
    saved = story.step(price * off / 100)
    paid = story.step(price - saved)
    if steps == 4:
        paid = story.step(paid * count)
        story.say(f"{who} runs a hostel and buys {noun.count(count)} at the reduced price.")
    else:
        story.say(f"{who} buys one at the reduced price.", f"{who} decides to buy one.")
    if steps >= 3:
        voucher = story.number(5, 40, by=5)
        story.say(f"At the till {who.they} also uses a voucher worth {money(voucher)}.")
        paid = story.step(paid - voucher)
    return Result("cost", paid, story.ask(f"How many dollars does {who} pay?"), who)


def wages(story: Story, steps: int) -> Result:
    """Work by the hour, minus a cost with 3 steps; 4 and 5 pay overtime at one and a half times the rate."""
    who, rate = story.person(), story.number(10, 32, by=2)
    job = story.pick(("in a bakery", "at a garage", "in a plant nursery", "at the library", "in a warehouse"))
    story.say(f"{who} works {job} and earns {money(rate)} an hour.")
    if steps >= 4:
        pay = _overtime(story, who.they, rate, given_total=steps == 5)
    else:
        days, hours = story.number(3, 6), story.number(4, 9)
        story.say(f"This week {who.they} works {hours} hours a day for {days} days.")
        pay = story.step(story.step(days * hours) * rate)
    if steps == 3:
        fare = story.number(10, 60, by=5)
        story.say(f"Getting to work costs {who.them} {money(fare)} a week.")
        pay = story.step(pay - fare)
        return Result(
            "money", pay, f"How many dollars of this week's pay does {who} have left?", who, label="what is left"
        )
    return Result("money", pay, f"How many dollars does {who} earn this week?", who, label="this week's pay")


def _overtime(story: Story, they: str, rate: Term, *, given_total: bool) -> Term:
    regular, extra = story.number(30, 40), story.number(2, 9)
    story.say(
        f"The first {regular} hours of a week are paid at that rate, and every hour beyond them is paid at one and a "
        "half times the rate.",
        f"Anything beyond {regular} hours a week is overtime, which pays one and a half times as much.",
    )
    if given_total:
        hours = term(regular.value + extra.value)
        story.say(f"This week {they} works {hours} hours.")
        extra = story.step(hours - regular)
    else:
        story.say(f"This week {they} works the {regular} normal hours and {extra} hours of overtime.")
    overtime = story.step(story.step(rate * term(Fraction(3, 2))) * extra)
    return story.step(story.step(rate * regular) + overtime)


def budget(story: Story, steps: int) -> Result:
    """Divide an income by fractions and percentages; ask what is saved in a month or in several."""
    who, income = story.person(), story.number(1200, 4800, by=120)
    rent, food = story.pick((3, 4, 5, 6)), story.percent(low=10, high=25)
    words = {3: "a third", 4: "a quarter", 5: "a fifth", 6: "a sixth"}[rent]
    story.say(f"{who} earns {money(income)} a month.", f"Every month {who} takes home {money(income)}.")
    bills = [story.step(income / rent), story.step(income * food / 100)]
    uses = [f"{words} of it on rent", f"{food}% of it on food"]
    if steps == 5:
        travel = story.percent(low=5, high=15)
        bills.append(story.step(income * travel / 100))
        uses.append(f"{travel}% of it on travel")
    story.say(f"{who.they} spends {listing(uses)}, and saves the rest.")
    saved = story.step(income - total(bills))
    if steps == 3:
        return Result("money", saved, f"How many dollars does {who} save in a month?", who, label="a month's savings")
    months = story.number(3, 18)
    story.say(f"{who.they} goes on like this for {months} months.", f"{who.they} does so for {months} months.")
    saved = story.step(saved * months)
    return Result("money", saved, f"How many dollars does {who} save in all?", who, label="all of these savings")


def profit(story: Story, steps: int) -> Result:
    """Buy boxes, sell pieces: revenue minus cost; with 5 steps some pieces are broken."""
    who, box, noun = story.person(), story.pick(CONTAINERS), story.noun(PRODUCTS)
    boxes, each = story.number(3, 12), story.number(6, 24)
    price = story.price(3, 9)
    goods = story.step(boxes * each)
    if steps == 3:
        cost = story.number(20, 400, by=10)
        story.say(f"{who} pays {money(cost)} for {boxes} {box.many} of {noun}, with {each} {noun} in each {box.one}.")
    else:
        unit = story.number(8, 60)
        story.say(f"{who} buys {boxes} {box.many} of {noun} at {money(unit)} per {box.one}.")
        story.say(f"Each {box.one} holds {each} {noun}.", f"There are {each} {noun} in a {box.one}.")
        cost = story.step(boxes * unit)
    if steps == 5:
        broken = story.number(2, 12)
        story.say(f"{broken} of the {noun} turn out to be broken and have to be thrown away.")
        goods = story.step(goods - broken)
        story.say(f"{who.they} sells all the others for {money(price)} each.")
    else:
        story.say(f"{who.they} sells every {noun.one} for {money(price)}.")
    gain = story.step(story.step(goods * price) - cost)
    return Result("money", gain, f"How many dollars of profit does {who} make?", who, label="this profit")


def plans(story: Story, steps: int) -> Result:
    """Compare two tariffs: a month's difference (3, 5 steps), a year's (4), or a year of the cheaper one (6)."""
    who, uses = story.person(), story.number(8, 40)
    what, one = story.pick((("a gym", "visit"), ("a swimming pool", "visit"), ("a bike rental", "ride")))
    fee, each = story.number(5, 30), story.price(1, 4)
    story.say(f"{who} compares two offers of {what} and expects {uses} {one}s a month.")
    story.say(f"The basic offer costs {money(fee)} a month plus {money(each)} for every {one}.")
    basic = story.step(story.step(uses * each) + fee)
    if steps <= 4:
        other = story.number(20, 150, by=5)
        story.say(f"With the premium offer, everything is included for {money(other)} a month.")
    else:
        higher, lower = story.number(31, 60), story.price(1, 2)
        story.say(f"The premium offer costs {money(higher)} a month plus {money(lower)} for every {one}.")
        other = story.step(story.step(uses * lower) + higher)
    if steps == 6:
        story.say(f"{who} takes the cheaper offer for a year.")
        best = story.step(story.step(smaller(basic, other)) * 12)
        return Result("cost", best, f"How many dollars does {who} pay for the year?", who)
    gap = story.step(larger(basic, other) - smaller(basic, other))
    if steps == 4:
        gap = story.step(gap * 12)
    span = "year" if steps == 4 else "month"
    return Result("final", gap, f"By how many dollars a {span} do the two offers differ?", who)


def tickets(story: Story, steps: int) -> Result:
    """Sell two kinds of tickets; 4 steps give the total, 5 subtract the rent of the hall."""
    who, child, adult = story.person(), story.number(2, 7), story.number(8, 18)
    show = story.pick(("a puppet show", "a school concert", "a magic show", "a film night"))
    children, adults = story.number(15, 80), story.number(15, 80)
    story.say(f"{who} organizes {show}. A ticket costs {money(adult)} for adults and {money(child)} for children.")
    if steps == 3:
        story.say(f"{adults} adults and {children} children come.")
    else:
        everybody = term(adults.value + children.value)
        story.say(f"{everybody} people come, {children} of them children and all the others adults.")
        adults = story.step(everybody - children)
    takings = story.step(story.step(adults * adult) + story.step(children * child))
    if steps == 5:
        rent = story.number(50, 300, by=10)
        story.say(f"The rent of the hall, {money(rent)}, is paid out of the ticket money.")
        takings = story.step(takings - rent)
        return Result("money", takings, "How many dollars of the ticket money are left?", who, label="what is left")
    return Result("money", takings, "How many dollars do the tickets bring in?", who, label="the ticket money")


def restaurant(story: Story, steps: int) -> Result:
    """Add up dishes, add a tip in percent, and (4, 6, 7 steps) divide the bill."""
    who, kinds = story.person(), (steps - 1) // 2
    dishes = story.rng.sample(
        ("bowls of soup", "pizzas", "salads", "pasta dishes", "lemonades", "slices of cake"), kinds
    )
    counts = [story.number(2, 5) for _ in dishes]
    prices = [story.price(4, 14) for _ in dishes]
    order = listing([f"{n} {dish} at {money(price)} each" for n, dish, price in zip(counts, dishes, prices)])
    story.say(
        f"{who} and some friends eat out. They order {order}.",
        f"{who} has lunch with friends, and they share {order}.",
    )
    parts = [story.step(count * price) for count, price in zip(counts, prices)]
    bill = story.step(total(parts)) if kinds > 1 else parts[0]
    tip = story.percent(low=10, high=25)
    story.say(f"They add a tip of {tip}%.", f"They leave a {tip}% tip on top of the bill.")
    due = story.step(bill + story.step(bill * tip / 100))
    if steps in {3, 5}:
        return Result("final", due, "How many dollars do they pay altogether, tip included?", who)
    people = story.number(3, 8)
    story.say(f"The {people} of them share the cost equally.")
    return Result("final", story.step(due / people), "How many dollars does each of them pay?", who)


def piecework(story: Story, steps: int) -> Result:
    """Earn a base wage plus a bonus for pieces above a target; a week of it (4 steps), minus material (5 steps)."""
    who, noun = story.person(), story.noun(PRODUCTS)
    base, target, bonus = story.number(60, 140, by=5), story.number(20, 60), story.price(1, 5)
    made = term(target.value + story.rng.randint(3, 25))
    story.say(f"A workshop pays {money(base)} a day for making {target} {noun}.")
    story.say(
        f"Every further {noun.one} earns {money(bonus)} extra.", f"For each one beyond that it adds {money(bonus)}."
    )
    story.say(f"{who} makes {made} {noun} a day.")
    pay = story.step(base + story.step(story.step(made - target) * bonus))
    if steps == 3:
        return Result("money", pay, f"How many dollars does {who} earn in a day?", who, label="a day's pay")
    days = story.number(3, 6)
    story.say(f"{who.they} works {days} days this week.")
    pay = story.step(pay * days)
    if steps == 5:
        cost = story.number(15, 90, by=5)
        story.say(f"At the end of the week {who.they} pays {money(cost)} for tools.")
        pay = story.step(pay - cost)
    return Result("money", pay, f"How many dollars does {who} have from this week's work?", who, label="this money")


def exchange(story: Story, steps: int) -> Result:
    """Change money at a rate, with a flat fee (2 steps) or a percentage (3 and 4 steps)."""
    who, euros = story.person(), story.number(80, 900, by=20)
    rate = term(Fraction(story.rng.randint(21, 29), 20))
    story.say(f"{who} comes home from a trip with {euros} euros and changes them into dollars.")
    story.say(f"The bank gives {money(rate)} for a euro.", f"One euro is worth {money(rate)} at the bank.")
    if steps == 4:
        spent = story.number(10, 60, by=5)
        story.say(f"Before that, {who.they} spends {spent} of the euros on a present at the airport.")
        euros = story.step(euros - spent)
    dollars = story.step(euros * rate)
    if steps == 2:
        fee = story.number(2, 15)
        story.say(f"From the dollars, it keeps a fee of {money(fee)}.")
    else:
        share = story.number(1, 6)
        story.say(f"From the dollars, it keeps a fee of {share}%.")
        fee = story.step(dollars * share / 100)
    return Result(
        "money", story.step(dollars - fee), f"How many dollars does {who} receive?", who, label="these dollars"
    )


def interest(story: Story, steps: int) -> Result:
    """Earn simple interest for years: the interest (2 steps), the balance (3), or what a purchase leaves of it (4)."""
    who, capital = story.person(), story.number(200, 4000, by=100)
    rate, years = story.number(2, 8), story.number(2, 9)
    story.say(
        f"{who} puts {money(capital)} into a savings account that pays {rate}% simple interest a year.",
        f"A savings account pays {rate}% simple interest a year, and {who} puts {money(capital)} into it.",
    )
    story.say(f"The money stays there for {years} years.", f"{who.they} leaves it there for {years} years.")
    earned = story.step(story.step(capital * rate / 100) * years)
    if steps == 2:
        return Result("final", earned, f"How many dollars of interest does {who} earn in that time?", who)
    balance = story.step(capital + earned)
    if steps == 3:
        return Result(
            "money", balance, "How many dollars are in the account after that?", who, label="the money in the account"
        )
    noun = story.noun(DEAR_GOODS)
    price = story.number(noun.low, noun.high, by=5)
    story.say(f"After that {who.they} takes all of the money out and buys {noun.a} for {money(price)}.")
    return Result(
        "money", story.step(balance - price), f"How many dollars does {who} have left?", who, label="what is left"
    )


def coin_jar(story: Story, steps: int) -> Result:
    """Count coins of two kinds (3 steps in cents, 4 in dollars) or of three kinds (5 steps)."""
    who, kinds = story.person(), 3 if steps == 5 else 2
    coins = story.rng.sample((("quarters", 25), ("dimes", 10), ("nickels", 5)), kinds)
    counts = [story.number(4, 60) for _ in coins]
    story.say(f"{who} empties a jar with {listing([f'{n} {coin}' for n, (coin, _) in zip(counts, coins)])}.")
    story.say("A quarter is worth 25 cents, a dime 10 cents and a nickel 5 cents.")
    parts = [story.step(count * cents) for count, (_, cents) in zip(counts, coins)]
    worth = story.step(total(parts))
    if steps == 3:
        return Result("final", worth, "How many cents are the coins worth?", who)
    return Result(
        "money", story.step(worth / 100), "How many dollars are the coins worth?", who, label="the money from the jar"
    )


def installments(story: Story, steps: int) -> Result:
    """Pay in installments: the sum (2 steps), what it costs more than cash (3), also with a fee in percent (4)."""
    who, noun = story.person(), story.noun(DEAR_GOODS)
    down, monthly, months = story.number(20, 90, by=5), story.number(15, 60), story.number(4, 18)
    story.say(
        f"{who} buys {noun.a} in installments: {money(down)} at once and {money(monthly)} a month for {months} months."
    )
    paid = story.step(down + story.step(monthly * months))
    if steps == 2:
        return Result("cost", paid, f"How many dollars does {who} pay for the {noun.one} in all?", who)
    if steps == 4:
        fee = story.number(8, 30)
        story.say(f"The contract itself costs {money(fee)} on top of that.")
        paid = story.step(paid + fee)
    cash = story.number(100, 700, by=10)
    story.say(f"Paid in cash, the {noun.one} would have cost {money(cash)}.")
    return Result("final", story.step(paid - cash), f"How many dollars would {who} have saved by paying in cash?", who)


SCHEMAS = (
    Schema(shopping, (2, 3, 4, 5, 6)),
    Schema(sale, (2, 3, 4)),
    Schema(wages, (2, 3, 4, 5)),
    Schema(budget, (3, 4, 5)),
    Schema(profit, (3, 4, 5)),
    Schema(plans, (3, 4, 5, 6), ends=(3, 4, 5)),
    Schema(tickets, (3, 4, 5)),
    Schema(restaurant, (3, 4, 5, 6, 7), ends=(3, 4, 5, 6, 7)),
    Schema(piecework, (3, 4, 5)),
    Schema(exchange, (2, 3, 4)),
    Schema(interest, (2, 3, 4), ends=(2,)),
    Schema(coin_jar, (3, 4, 5), ends=(3,)),
    Schema(installments, (2, 3, 4), ends=(3, 4)),
)
