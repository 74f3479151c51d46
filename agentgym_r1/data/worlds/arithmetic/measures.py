"""Schemas about measures: recipes, ropes, fences, floors, loads, gardens, with the conversions between units."""

from agentgym_r1.data.worlds.arithmetic.story import Result, Schema, Story, money
from agentgym_r1.data.worlds.arithmetic.term import ceil, term


def recipe(story: Story, steps: int) -> Result:
    """Scale a recipe: cups (2 steps), milliliters (3), and what is still missing (4)."""
    who, serves, cups = story.person(), story.number(2, 8), story.number(2, 8)
    dish, what = story.pick((("pancakes", "milk"), ("soup", "stock"), ("rice pudding", "milk"), ("punch", "juice")))
    guests = story.number(9, 40)
    story.say(f"A recipe for {dish} takes {cups} cups of {what} and serves {serves} people.")
    story.say(f"{who} cooks for {guests} people.", f"{who} wants to make enough for {guests} people.")
    needed = story.step(story.step(cups / serves) * guests)
    if steps == 2:
        return Result("final", needed, f"How many cups of {what} does {who} need?", who)
    size = story.pick((term(240), term(250)))
    story.say(f"One cup holds {size} milliliters.", f"A cup is {size} milliliters.")
    volume = story.step(needed * size)
    if steps == 3:
        return Result("final", volume, f"How many milliliters of {what} does {who} need?", who)
    has = story.number(200, 2000, by=50)
    story.say(f"{who.they} has {has} milliliters of {what} at home.")
    return Result("final", story.step(volume - has), f"How many milliliters of {what} are missing?", who)


def rope(story: Story, steps: int) -> Result:
    """Cut a length given in meters into pieces given in centimeters: pieces (2 steps), or what is left (3, 4)."""
    who, meters, long = story.person(), story.number(4, 30), story.number(15, 90, by=5)
    what = story.pick(("rope", "ribbon", "wire", "cord"))
    story.say(f"{who} has {meters} meters of {what}.")
    length = story.step(meters * 100)
    if steps == 2:
        story.say(f"{who.they} cuts it into pieces of {long} centimeters, as many as possible.")
        return Result("final", story.step(length // long), "How many full pieces are there?", who)
    pieces = story.number(3, 20)
    story.say(f"{who.they} cuts off {pieces} pieces, each {long} centimeters long.")
    left = story.step(length - story.step(pieces * long))
    if steps == 3:
        return Result("final", left, f"How many centimeters of {what} are left?", who)
    share = story.number(2, 6)
    story.say(f"The rest is cut into {share} equal pieces.")
    return Result("final", story.step(left / share), "How many centimeters long is each of these equal pieces?", who)


def fence(story: Story, steps: int) -> Result:
    """Fence a rectangle: its outline (2 steps), without the gate (3), the price (4), with delivery (5)."""
    who, long, wide = story.person(), story.number(10, 60), story.number(6, 40)
    place = story.pick(("garden", "pasture", "playground", "vegetable patch"))
    story.say(f"{who} puts a fence around a rectangular {place} that is {long} meters long and {wide} meters wide.")
    outline = story.step(story.step(long + wide) * 2)
    if steps == 2:
        return Result("final", outline, "How many meters long is the fence?", who)
    gate = story.number(2, 5)
    story.say(f"A gap of {gate} meters is left open for a gate.")
    outline = story.step(outline - gate)
    if steps == 3:
        return Result("final", outline, "How many meters of fence are needed?", who)
    price = story.number(6, 30)
    story.say(f"A meter of fence costs {money(price)}.", f"The fence costs {money(price)} a meter.")
    cost = story.step(outline * price)
    if steps == 5:
        delivery = story.number(15, 80, by=5)
        story.say(f"Delivery is another {money(delivery)}.")
        cost = story.step(cost + delivery)
    return Result("cost", cost, f"How many dollars does {who} pay for the fence?", who)


def floor_tiles(story: Story, steps: int) -> Result:
    """Cover a floor with square tiles: how many (3 steps), what they cost (4), with a discount (6)."""
    who, side = story.person(), story.pick((20, 25, 50))
    long, wide = story.number(2, 12), story.number(2, 9)
    story.say(
        f"{who} covers a floor of {long} meters by {wide} meters with square tiles of {side} by {side} centimeters."
    )
    tiles = story.step(story.whole(long * 100 / side) * story.whole(wide * 100 / side))
    if steps == 3:
        return Result("final", tiles, "How many tiles are needed?", who)
    price = story.price(1, 4)
    story.say(f"A tile costs {money(price)}.", f"The tiles cost {money(price)} each.")
    cost = story.step(tiles * price)
    if steps == 6:
        off = story.percent(low=5, high=25)
        story.say(f"On such a large order, the dealer gives {off}% off.")
        cost = story.step(cost - story.step(cost * off / 100))
    return Result("cost", cost, f"How many dollars do the tiles cost {who}?", who)


def carpets(story: Story, steps: int) -> Result:
    """Add the areas of two rooms (3 steps), without a hallway (4), at a price (5)."""
    who = story.person()
    sides = [story.number(3, 9) for _ in range(4)]
    story.say(
        f"{who} lays carpet in two rooms, one of {sides[0]} by {sides[1]} meters and one of "
        f"{sides[2]} by {sides[3]} meters."
    )
    area = story.step(story.step(sides[0] * sides[1]) + story.step(sides[2] * sides[3]))
    if steps == 3:
        return Result("final", area, "How many square meters of carpet are needed?", who)
    if steps == 5:
        bare = story.number(2, 8)
        story.say(f"Built-in cupboards take up {bare} square meters of these floors and stay without carpet.")
        area = story.step(area - bare)
    price = story.price(8, 30)
    story.say(f"A square meter costs {money(price)}.", f"The carpet is {money(price)} per square meter.")
    return Result("cost", story.step(area * price), f"How many dollars does the carpet cost {who}?", who)


def loads(story: Story, steps: int) -> Result:
    """Carry sacks in trips of limited weight: kilograms (2 steps), trips (3), or minutes (4)."""
    who, sacks, heavy, extra = story.person(), story.number(20, 120), story.number(15, 50), story.number(40, 400, by=20)
    what = story.pick(("potatoes", "cement", "sand", "flour"))
    story.say(
        f"{who} has to deliver {sacks} sacks of {what} of {heavy} kilograms each and a machine of {extra} kilograms."
    )
    weight = story.step(story.step(sacks * heavy) + extra)
    if steps == 2:
        return Result("final", weight, "How many kilograms is that altogether?", who)
    room = story.number(300, 900, by=50)
    story.say(f"The van carries at most {room} kilograms at a time, and a load can be divided in any way.")
    trips = story.step(ceil(weight / room))
    if steps == 3:
        return Result("final", trips, "How many trips are necessary?", who)
    minutes = story.number(15, 70, by=5)
    story.say(f"A trip, including the way back, takes {minutes} minutes.")
    return Result("time", story.step(trips * minutes), f"How many minutes is {who} on the road?", who)


def climb(story: Story, steps: int) -> Result:
    """Climb at a steady rate: what is left of a height, after a drop (3 steps), and how long it takes (4)."""
    who, stages, more = story.person(), story.number(2, 6), story.number(4, 20)
    each, back = story.number(60, 240, by=20), story.number(10, 50, by=5)
    high = term(each.value * stages.value - (0 if steps == 2 else back.value) + each.value * more.value // 4)
    story.say(f"{who} climbs a mountain whose top is {high} meters above the valley.")
    story.say(
        f"In each hour {who.they} gains {each} meters of height, and {who.they} has been climbing for {stages} hours."
    )
    gained = story.step(each * stages)
    if steps >= 3:
        story.say(f"After that the path leads downhill by {back} meters.", f"Then the path drops by {back} meters.")
        gained = story.step(gained - back)
    left = story.step(high - gained)
    if steps <= 3:
        return Result("final", left, "How many meters of height are still to climb?", who)
    hours = story.step(left / each)
    return Result("final", hours, f"How many more hours does {who} need at the same pace?", who)


def rainwater(story: Story, steps: int) -> Result:
    """Water beds from a barrel, converting gallons, quarts and cups."""
    who, gallons, beds = story.person(), story.number(10, 60), story.number(3, 12)
    quarts = story.number(2, 12)
    story.say(f"{who}'s barrel holds {gallons} gallons of rainwater, and a gallon is 4 quarts.")
    story.say(f"{who.they} waters {beds} flower beds with {quarts} quarts each.")
    left = story.step(story.step(gallons * 4) - story.step(beds * quarts))
    if steps == 3:
        return Result("final", left, "How many quarts remain in the barrel?", who)
    cans = story.pick((2, 3, 5))
    story.say(f"The rest is used to fill watering cans of {cans} quarts.")
    return Result("final", story.step(left // cans), "How many watering cans can be filled to the brim?", who)


SCHEMAS = (
    Schema(recipe, (2, 3, 4), ends=(2, 3, 4)),
    Schema(rope, (2, 3, 4), ends=(2, 3, 4)),
    Schema(fence, (2, 3, 4, 5), ends=(2, 3)),
    Schema(floor_tiles, (3, 4, 6), ends=(3,)),
    Schema(carpets, (3, 4, 5), ends=(3,)),
    Schema(loads, (2, 3, 4), ends=(2, 3)),
    Schema(climb, (2, 3, 4), ends=(2, 3, 4)),
    Schema(rainwater, (3, 4), ends=(3, 4)),
)
