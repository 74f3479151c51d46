"""Schemas about people and animals: ages, scores, surveys, seats, reading, heads and legs, wheels, growth."""

from agentgym_r1.data.worlds.arithmetic.story import Result, Schema, Story
from agentgym_r1.data.worlds.arithmetic.term import ceil, term, total


def ages(story: Story, steps: int) -> Result:
    """Chain ages: times as old, younger, in some years; with 5 and 6 steps the sum of all ages."""
    first, second, third = story.person(), story.person(), story.person()
    age, years = story.number(6, 19), story.number(3, 15)
    factor, words = story.times(2, 4)
    story.say(f"{first} is {age} years old.", f"{first} has just turned {age}.")
    story.say(f"{second} is {words} as old as {first}.")
    older = story.step(age * factor)
    if steps == 2:
        return Result("final", story.step(older + years), f"How old will {second} be in {years} years?", second)
    younger = story.number(2, 12)
    story.say(f"{third} is {younger} years younger than {second}.")
    last = story.step(older - younger)
    if steps == 3:
        return Result("final", story.step(last + years), f"How old will {third} be in {years} years?", third)
    summed = story.step(total([age, older, last]))
    if steps == 4:
        return Result("final", story.step(summed / 3), "What is the average age of the three, in years?", first)
    later = story.step(summed + story.step(years * 3))
    return Result("final", later, f"How old will the three be together in {years} years?", first)


def scores(story: Story, steps: int) -> Result:
    """Count the points of a game, compare them with the opponent's (5 steps), with a record (6)."""
    who, threes, twos, ones = story.person(), story.number(3, 12), story.number(8, 24), story.number(4, 15)
    story.say(f"{who}'s basketball team makes {twos} shots worth 2 points and {threes} shots worth 3 points.")
    parts = [story.step(twos * 2), story.step(threes * 3)]
    if steps == 3:
        return Result("final", story.step(total(parts)), "How many points does the team score?", who)
    story.say(f"It also makes {ones} free throws, which are worth 1 point each.")
    points = story.step(total([*parts, ones]))
    margin = story.number(2, 12)
    story.say(f"The other team scores {margin} points fewer.", f"That beats the other team by {margin} points.")
    other = story.step(points - margin)
    if steps == 4:
        return Result("final", other, "How many points does the other team score?", who)
    both = story.step(points + other)
    return Result("final", both, "How many points are scored in the whole game?", who)


def survey(story: Story, steps: int) -> Result:
    """Split a group by percentages and fractions."""
    who, everybody, percent = story.person(), story.number(60, 600, by=20), story.percent(low=15, high=85)
    club = story.pick(("choir", "sports club", "music school", "hiking club"))
    story.say(f"{who}'s {club} has {everybody} members.", f"There are {everybody} members in {who}'s {club}.")
    story.say(f"{percent}% of them are adults and the others are children.")
    adults = story.whole(everybody * percent / 100)
    children = story.whole(everybody - adults)
    if steps == 2:
        return Result("final", children, f"How many children are in the {club}?", who)
    part = story.part(children)
    story.say(f"{part} the children come by bike.")
    biking = story.step(part.of(children))
    if steps == 3:
        return Result("final", biking, "How many children come by bike?", who)
    if steps == 4:
        return Result("final", story.step(children - biking), "How many children do not come by bike?", who)
    other = story.part(adults)
    story.say(f"{other} the adults come by bike.")
    grown = story.step(other.of(adults))
    riders = story.step(biking + grown)
    if steps == 5:
        return Result("final", riders, f"How many members of the {club} come by bike?", who)
    return Result("final", story.step(everybody - riders), f"How many members of the {club} do not come by bike?", who)


def seating(story: Story, steps: int) -> Result:
    """Count seats at tables and benches and compare them with the guests."""
    who, tables, each = story.person(), story.number(6, 20), story.number(4, 10)
    story.say(f"For a party, {who} sets up {tables} tables with {each} seats each.")
    seats = story.step(tables * each)
    if steps >= 4:
        benches, room = story.number(2, 9), story.number(3, 6)
        story.say(f"There are also {benches} benches, each with room for {room} people.")
        seats = story.step(seats + story.step(benches * room))
    if steps in {3, 5}:
        families, size = story.number(4, 18), story.number(3, 6)
        story.say(f"{families} families come, with {size} people in each.")
        guests = story.step(families * size)
    else:
        guests = story.number(15, 120)
        story.say(f"{guests} guests come to the party.", f"In the end {guests} guests come.")
    return Result("final", story.step(seats - guests), "How many seats stay empty?", who)


def reading(story: Story, steps: int) -> Result:
    """Read a book at two speeds; ask for the pages left (2), the days still needed (3), or all days (4, 5)."""
    who, days, pace = story.person(), story.number(3, 9), story.number(8, 30)
    if steps == 5:
        chapters, each = story.number(8, 24), story.number(12, 30)
        story.say(f"{who} reads a book with {chapters} chapters of {each} pages each.")
        pages = story.step(chapters * each)
    else:
        pages = story.number(150, 500)
        story.say(f"{who} reads a book of {pages} pages.", f"{who} starts a book that has {pages} pages.")
    story.say(f"For the first {days} days {who.they} reads {pace} pages a day.")
    left = story.step(pages - story.step(days * pace))
    if steps == 2:
        return Result("final", left, f"How many pages does {who} still have to read?", who)
    faster = term(pace.value + story.rng.randint(4, 20))
    story.say(f"After that {who.they} reads {faster} pages a day.")
    more = story.step(ceil(left / faster))
    if steps == 3:
        return Result("final", more, f"How many more days does {who} need to finish the book?", who)
    return Result("final", story.step(days + more), f"How many days does it take {who} to read the book?", who)


def heads_and_legs(story: Story, steps: int) -> Result:
    """Find how many have four legs and how many two, from heads and legs."""
    who, four, two = story.person(), story.number(5, 30), story.number(5, 30)
    beast, bird = story.pick((("sheep", "ducks"), ("goats", "hens"), ("cows", "geese"), ("rabbits", "pigeons")))
    heads, legs = term(four.value + two.value), term(4 * four.value + 2 * two.value)
    story.say(f"{who} has only {beast} and {bird}, {heads} animals altogether.")
    story.say(f"{who.they} counts {legs} legs: 4 for each of the {beast} and 2 for each of the {bird}.")
    beasts = story.step(story.step(legs - story.step(heads * 2)) / 2)
    if steps == 3:
        return Result("final", beasts, f"How many {beast} does {who} have?", who)
    return Result("final", story.step(heads - beasts), f"How many {bird} does {who} have?", who)


def wheels(story: Story, steps: int) -> Result:
    """Add up wheels of several vehicles; ask for the sum or for what a spare stock leaves."""
    who, cars, bikes, trikes = story.person(), story.number(3, 15), story.number(4, 25), story.number(2, 12)
    story.say(f"In {who}'s repair shop stand {cars} cars, {bikes} bicycles and {trikes} tricycles.")
    story.say("A car has 4 wheels, a bicycle 2 and a tricycle 3.")
    count = story.step(total([story.step(cars * 4), story.step(bikes * 2), story.step(trikes * 3)]))
    if steps == 4:
        return Result("final", count, "How many wheels are there in total?", who)
    done = story.number(5, 60)
    story.say(f"{done} of the wheels have already been checked.")
    return Result("final", story.step(count - done), "How many wheels are still to be checked?", who)


def growth(story: Story, steps: int) -> Result:
    """Double or triple something again and again (a power), then subtract (3 steps) and divide (4)."""
    who, start, rounds = story.person(), story.number(3, 40), story.number(2, 6)
    factor, words = story.pick(((2, "doubles"), (3, "triples")))
    story.say(f"{who} starts an online newsletter with {start} readers.")
    story.say(f"The number of readers {words} every month.", f"Every month the number of readers {words}.")
    readers = story.step(start * story.step(term(factor) ** rounds))
    if steps == 2:
        return Result("final", readers, f"How many readers are there after {rounds} months?", who)
    gone = story.number(3, 30)
    story.say(f"After {rounds} months, {gone} readers unsubscribe.")
    readers = story.step(readers - gone)
    if steps == 3:
        return Result("final", readers, "How many readers are left then?", who)
    part = story.part(readers)
    story.say(f"{part} the remaining readers write back.")
    return Result("final", story.step(part.of(readers)), f"How many readers write back to {who}?", who)


SCHEMAS = (
    Schema(ages, (2, 3, 4, 5), ends=(2, 3, 4, 5)),
    Schema(scores, (3, 4, 5), ends=(3, 4, 5)),
    Schema(survey, (2, 3, 4, 5, 6), ends=(2, 3, 4, 5, 6)),
    Schema(seating, (2, 3, 4, 5), ends=(2, 3, 4, 5)),
    Schema(reading, (2, 3, 4, 5), ends=(2, 3, 4, 5)),
    Schema(heads_and_legs, (3, 4), ends=(3, 4)),
    Schema(wheels, (4, 5), ends=(4, 5)),
    Schema(growth, (2, 3, 4), ends=(2, 3, 4)),
)
