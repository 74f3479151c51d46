"""Schemas about rates: travel, meeting, tanks, machines, mixtures, blends, averages, errands, fuel."""

from fractions import Fraction

from agentgym_r1.data.worlds.arithmetic.story import Result, Schema, Story, listing, money
from agentgym_r1.data.worlds.arithmetic.term import Term, term, total


def travel(story: Story, steps: int) -> Result:
    """Travel in legs at different speeds: the way left (2 steps), the way (3, 4), or the average speed (5, 6)."""
    who, legs = story.person(), {2: 1, 3: 2, 4: 3, 5: 2, 6: 3}[steps]
    hours = [story.number(2, 5) for _ in range(legs)]
    speeds = [story.number(20, 110, by=5) for _ in range(legs)]
    first, *later = [f"{time} hours at {speed} kilometers an hour" for time, speed in zip(hours, speeds)]
    story.say(f"{who} drives for {first}.", f"On a journey, {who} first drives for {first}.")
    for leg in later:
        story.say(f"Then {who.they} drives for another {leg}.")
    ways = [story.step(time * speed) for time, speed in zip(hours, speeds)]
    if steps == 2:
        whole = story.number(150, 900, by=10)
        story.say(f"The whole journey is {whole} kilometers long.")
        return Result("final", story.step(whole - ways[0]), f"How many kilometers does {who} still have to go?", who)
    way = story.step(total(ways))
    if steps <= 4:
        return Result("distance", way, f"How many kilometers does {who} drive in total?", who, label="this way")
    pace = story.step(way / story.step(total(hours)))
    return Result("final", pace, f"What is {who}'s average speed, in kilometers per hour?", who)


def meeting(story: Story, steps: int) -> Result:
    """Two people come towards each other: hours, minutes (3 steps) or the way of one of them (4)."""
    first, second = story.person(), story.person()
    slow, faster, quarters = story.number(10, 24), story.number(2, 8), story.number(2, 12)
    fast = term(slow.value + faster.value)
    gap = term((slow.value + fast.value) * Fraction(quarters.value) / 4)
    story.say(f"{first} and {second} live {gap} kilometers apart and cycle towards each other on the same road.")
    if steps == 4:
        story.say(f"{first} rides at {slow} kilometers an hour and {second} {faster} kilometers an hour faster.")
        fast = story.step(slow + faster)
    else:
        story.say(f"{first} rides at {slow} kilometers an hour and {second} at {fast}.")
    story.say("They set off at the same time.", "Both leave at the same moment.")
    hours = story.step(gap / story.step(slow + fast))
    if steps == 2:
        return Result("final", hours, "After how many hours do they meet?", first)
    if steps == 3:
        return Result("final", story.step(hours * 60), "After how many minutes do they meet?", first)
    return Result("final", story.step(hours * slow), f"How many kilometers has {first} cycled when they meet?", first)


def tank(story: Story, steps: int) -> Result:
    """Fill a tank that leaks: net rate, missing volume, time in minutes, then hours (4 and 5 steps)."""
    who, inflow, leak = story.person(), story.number(12, 60), story.number(2, 10)
    start, second = story.number(50, 250, by=10), story.number(8, 30)
    net = inflow.value - leak.value + (second.value if steps == 5 else 0)
    missing = full = term(net * story.rng.randint(2, 16) * 15 + (0 if steps == 2 else start.value))
    story.say(f"{who} fills a water tank that holds {full} liters.")
    if steps != 2:
        story.say(f"There are already {start} liters in it.")
        missing = story.step(full - start)
    if steps == 5:
        story.say(f"One pipe brings {inflow} liters a minute and a second one {second} liters a minute.")
        inflow = story.step(inflow + second)
    else:
        story.say(f"A pipe brings {inflow} liters a minute.", f"Every minute {inflow} liters flow in.")
    story.say(
        f"Because of a leak, {leak} liters a minute are lost.",
        f"The tank loses {leak} liters a minute through a crack.",
    )
    minutes = story.step(missing / story.step(inflow - leak))
    if steps <= 3:
        return Result("time", minutes, "How many minutes does it take until the tank is full?", who)
    return Result("final", story.step(minutes / 60), "How many hours does it take until the tank is full?", who)


def machines(story: Story, steps: int) -> Result:
    """Scale the output of machines to other machines (2 steps), other hours (3), and a defect rate (4)."""
    who, few, rate = story.person(), story.number(2, 9), story.number(12, 90)
    made, many = term(few.value * rate.value), story.number(10, 20)
    story.say(f"In {who}'s factory, {few} machines make {made} screws an hour, all at the same speed.")
    single = story.step(made / few)
    hourly = story.step(single * many)
    if steps == 2:
        return Result("final", hourly, f"How many screws would {many} such machines make in an hour?", who)
    hours = story.number(3, 12)
    story.say(f"For a large order, {many} such machines run for {hours} hours.")
    output = story.step(hourly * hours)
    if steps == 3:
        return Result("final", output, "How many screws do they make for the order?", who)
    faulty = story.number(1, 5)
    story.say(f"{faulty}% of these screws are faulty.")
    bad = story.whole(output * faulty / 100)
    return Result("final", bad, "How many faulty screws are among those made for the order?", who)


def mixture(story: Story, steps: int) -> Result:
    """Mix two drinks: the juice in them (3 steps), the rest (4), or the strength of the mixture (5)."""
    who, (some, more) = story.person(), _parts(story)
    weak, strong = story.percent(low=5, high=40), story.percent(low=45, high=90)
    story.say(
        f"{who} mixes {some} liters of a drink that contains {weak}% juice with {more} liters of one that contains "
        f"{strong}% juice."
    )
    juice = story.step(total([story.step(some * weak / 100), story.step(more * strong / 100)]))
    if steps == 3:
        return Result("final", juice, "How many liters of juice does the mixture contain?", who)
    if steps == 4:
        rest = story.step(some + more - juice)
        return Result("final", rest, "How many liters of the mixture are not juice?", who)
    strength = story.step(juice * 100 / story.step(some + more))
    return Result("final", strength, "What percentage of the mixture is juice?", who)


def blend(story: Story, steps: int) -> Result:
    """Blend two goods of different prices: the value (3 steps) or the price of a kilogram (5)."""
    who, cheap, dear = story.person(), story.price(4, 9), story.price(10, 24)
    some, more = _parts(story)
    what = story.pick(("coffee", "tea", "rice", "nuts"))
    story.say(
        f"{who} blends {some} kilograms of {what} at {money(cheap)} a kilogram with {more} kilograms at "
        f"{money(dear)} a kilogram."
    )
    worth = story.step(total([story.step(some * cheap), story.step(more * dear)]))
    if steps == 3:
        return Result("cost", worth, f"How many dollars does all of the {what} cost?", who)
    per = story.step(worth / story.step(some + more))
    return Result("final", per, "How many dollars does a kilogram of the blend cost?", who)


def _parts(story: Story) -> tuple[Term, Term]:
    """Draw two amounts whose sum is a good divisor."""
    whole = story.pick((5, 8, 10, 16, 20, 25))
    some = story.number(2, whole - 2)
    return some, term(whole - some.value)


def average(story: Story, steps: int) -> Result:
    """Average some results: the mean (2 steps), the best minus the mean (3), the result that lifts it (4)."""
    who, count = story.person(), story.rng.randint(3, 4)
    marks = [story.number(40, 98) for _ in range(count)]
    what = story.pick(("quizzes", "tests", "rounds of a card game"))
    story.say(f"In {count} {what}, {who} gets {listing([str(mark) for mark in marks])} points.")
    summed = story.step(total(marks))
    if steps == 4:
        goal = story.number(60, 99)
        story.say(f"{who} wants an average of exactly {goal} points after {count + 1} {what}.")
        needed = story.step(story.step(goal * story.step(term(count) + 1)) - summed)
        return Result("final", needed, "How many points are needed in the next one?", who)
    mean = story.step(summed / count)
    if steps == 2:
        return Result("final", mean, f"What is the average of {who}'s results, in points?", who)
    goal = story.number(60, 100)
    story.say(f"The best average in the group is {goal} points.")
    return Result("final", story.step(goal - mean), f"By how many points is {who}'s average below the best one?", who)


def errands(story: Story, steps: int) -> Result:
    """Add up times: pieces of work with breaks between them, preparation (4 steps)."""
    who, noun = story.person(), story.pick(("cars to wash", "letters to write", "shelves to build", "walls to paint"))
    count, each, pause = story.number(3, 9), story.number(12, 50), story.number(3, 10)
    story.say(f"{who} has {count} {noun}, and each of them takes {each} minutes.")
    work = story.step(count * each)
    if steps == 2:
        ready = story.number(5, 30)
        story.say(f"Getting everything ready takes another {ready} minutes.")
        return Result("time", story.step(work + ready), f"How many minutes does {who} need altogether?", who)
    story.say(f"Between two of them {who.they} takes a break of {pause} minutes.")
    breaks = story.step(story.step(count - 1) * pause)
    return Result("time", story.step(work + breaks), f"How many minutes pass from start to finish for {who}?", who)


def commute(story: Story, steps: int) -> Result:
    """Ride to work and back for days: kilometers (2 steps), fuel (3), cost (4, 5)."""
    who, way, days = story.person(), story.number(6, 60), story.number(3, 20)
    story.say(f"{who} lives {way} kilometers from work and drives there and back on {days} days a month.")
    month = story.step(story.step(way * 2) * days)
    if steps == 2:
        return Result("final", month, f"How many kilometers does {who} commute in a month?", who)
    use = story.number(5, 9)
    story.say(f"The car uses {use} liters of fuel for 100 kilometers.")
    fuel = story.step(month * use / 100)
    if steps == 3:
        return Result("final", fuel, f"How many liters of fuel does {who} use for it in a month?", who)
    price = story.price(1, 2)
    story.say(f"A liter of fuel costs {money(price)}.")
    cost = story.step(fuel * price)
    if steps == 4:
        return Result("cost", cost, f"How many dollars does {who} pay for fuel in a month?", who)
    parking = story.number(20, 90, by=5)
    story.say(f"Parking at work costs {money(parking)} a month.")
    return Result("cost", story.step(cost + parking), f"How many dollars does commuting cost {who} in a month?", who)


SCHEMAS = (
    Schema(travel, (2, 3, 4, 5, 6), ends=(2, 5, 6)),
    Schema(meeting, (2, 3, 4), ends=(2, 3, 4)),
    Schema(tank, (2, 3, 4, 5), ends=(4, 5)),
    Schema(machines, (2, 3, 4), ends=(2, 3, 4)),
    Schema(mixture, (3, 4, 5), ends=(3, 4, 5)),
    Schema(blend, (3, 5), ends=(5,)),
    Schema(average, (2, 3, 4), ends=(2, 3, 4)),
    Schema(errands, (2, 4)),
    Schema(commute, (2, 3, 4, 5), ends=(2, 3)),
)
