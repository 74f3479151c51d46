"""The words of the generated shop: departments, what they sell, what it can be like, and the choices it comes in."""

from collections.abc import Mapping
from dataclasses import dataclass

CLOTHES = "clothes"
DIMENSIONS = "dimensions"
PACKS = "packs"
VOLUMES = "volumes"
LENGTHS = "lengths"


@dataclass(frozen=True, slots=True)
class Ware:
    """One sort of product.

    Attributes:
        noun: one of it, as titles and people call it.
        plural: what a shopper searches for.
        path: categories below the department.
        price: the median price.
        parts: nouns that titles and features mention.
        sizes: which system of sizes it comes in.
        taste: "flavor name", "scent" or empty: the option it may have besides color and size.
    """

    noun: str
    plural: str
    path: tuple[str, ...]
    price: float
    parts: tuple[str, ...]
    sizes: str = PACKS
    taste: str = ""


@dataclass(frozen=True, slots=True)
class Department:
    """A department: its category, the first step of the path, wares, materials and attributes."""

    category: str
    root: str
    wares: tuple[Ware, ...]
    materials: tuple[str, ...]
    attributes: tuple[str, ...]


KITCHEN = Department(
    category="kitchen",
    root="Kitchen & Table",
    wares=(
        Ware("saucepan", "saucepans", ("Cookware", "Pots & Pans", "Saucepans"), 38, ("lid", "handle"), VOLUMES),
        Ware("cutting board", "cutting boards", ("Preparation", "Boards"), 24, ("juice groove", "feet"), DIMENSIONS),
        Ware("tea kettle", "tea kettles", ("Cookware", "Kettles", "Stove Kettles"), 34, ("whistle", "spout"), VOLUMES),
        Ware("mixing bowl", "mixing bowls", ("Preparation", "Bowls"), 22, ("rim", "base"), VOLUMES),
        Ware("spice rack", "spice racks", ("Storage", "Racks & Holders", "Spice Racks"), 29, ("jars", "labels")),
        Ware("lunch box", "lunch boxes", ("Storage", "Food Containers", "Lunch Boxes"), 19, ("clips", "dividers")),
        Ware("bread knife", "bread knives", ("Cutlery", "Knives", "Serrated Knives"), 26, ("blade", "sheath"), LENGTHS),
    ),
    materials=("stainless steel", "cast iron", "bamboo", "borosilicate glass", "copper", "enamel", "acacia wood"),
    attributes=(
        *("dishwasher safe", "heat resistant", "rust proof", "lead free", "oven safe", "double walled", "soft grip"),
        *("space saving", "induction ready", "hand polished", "drip free", "shatter proof", "odor free", "stackable"),
    ),
)
GARDEN = Department(
    category="garden",
    root="Garden & Patio",
    wares=(
        Ware("watering can", "watering cans", ("Watering", "Cans"), 21, ("rose", "spout"), VOLUMES),
        Ware(
            "plant pot",
            "plant pots",
            ("Planters", "Pots & Saucers", "Indoor Pots"),
            18,
            ("saucer", "drain"),
            DIMENSIONS,
        ),
        Ware(
            "garden hose",
            "garden hoses",
            ("Watering", "Hoses & Fittings", "Hoses"),
            36,
            ("nozzle", "coupling"),
            LENGTHS,
        ),
        Ware("pruning shears", "pruning shears", ("Hand Tools", "Cutting", "Shears"), 23, ("spring", "lock"), LENGTHS),
        Ware("bird feeder", "bird feeders", ("Wildlife", "Birds", "Feeders"), 27, ("perch", "hook"), DIMENSIONS),
        Ware(
            "patio lantern", "patio lanterns", ("Outdoor Decor", "Lighting", "Lanterns"), 32, ("panel", "stand"), PACKS
        ),
    ),
    materials=("galvanized steel", "terracotta", "cedar wood", "rubber", "wrought iron", "stone resin", "rattan"),
    attributes=(
        *(
            "frost proof",
            "kink free",
            "sun resistant",
            "self draining",
            "squirrel proof",
            "solar powered",
            "hand forged",
        ),
        *("wind proof", "easy assembly", "leak proof", "powder coated", "bird friendly", "peat free", "wall mounted"),
    ),
)
PETS = Department(
    category="pets",
    root="Pet Care",
    wares=(
        Ware("dog leash", "dog leashes", ("Dogs", "Walking", "Leashes"), 17, ("clasp", "loop"), LENGTHS),
        Ware("cat bed", "cat beds", ("Cats", "Furniture", "Beds"), 33, ("cushion", "cover"), DIMENSIONS),
        Ware(
            "pet carrier",
            "pet carriers",
            ("Travel", "Carriers & Crates", "Carriers"),
            44,
            ("strap", "zipper"),
            DIMENSIONS,
        ),
        Ware("chew toy", "chew toys", ("Dogs", "Toys", "Chewing"), 12, ("rope", "squeaker"), PACKS, "flavor name"),
        Ware("food bowl", "food bowls", ("Feeding", "Bowls & Mats", "Bowls"), 16, ("ring", "mat"), VOLUMES),
        Ware("fish tank filter", "fish tank filters", ("Aquariums", "Water", "Filters"), 39, ("pump", "sponge")),
    ),
    materials=("nylon", "plush fleece", "canvas", "silicone", "ceramic", "felt", "braided cotton"),
    attributes=(
        *("chew proof", "tangle free", "non skid", "airline approved", "whisper quiet", "tick repellent", "vet tested"),
        *("escape proof", "fold flat", "tip proof", "washable cover", "glow stitched", "fur resistant", "bite tested"),
    ),
)
DESK = Department(
    category="stationery",
    root="Office & Paper",
    wares=(
        Ware("notebook", "notebooks", ("Paper", "Books & Pads", "Notebooks"), 13, ("ribbon", "pocket"), DIMENSIONS),
        Ware("fountain pen", "fountain pens", ("Writing", "Pens", "Fountain Pens"), 28, ("nib", "converter"), PACKS),
        Ware(
            "desk organizer", "desk organizers", ("Desk", "Storage", "Organizers"), 25, ("drawer", "tray"), DIMENSIONS
        ),
        Ware("sketch pad", "sketch pads", ("Art", "Drawing", "Pads"), 15, ("spiral", "cardboard"), DIMENSIONS),
        Ware("wall calendar", "wall calendars", ("Paper", "Calendars"), 14, ("hanger", "stickers"), DIMENSIONS),
        Ware("pencil case", "pencil cases", ("Writing", "Cases & Pouches", "Pencil Cases"), 12, ("zipper", "sleeve")),
    ),
    materials=("recycled paper", "vegan leather", "walnut wood", "brushed aluminum", "linen cloth", "cork", "brass"),
    attributes=(
        *("acid free", "smudge proof", "lay flat", "refillable", "bleed resistant", "left handed", "undated pages"),
        *("quick drying", "tear resistant", "hand bound", "dot grid", "anti scratch", "fade resistant", "pocket sized"),
    ),
)
OUTDOOR = Department(
    category="outdoor",
    root="Camping & Hiking",
    wares=(
        Ware("family tent", "family tents", ("Shelter", "Tents", "Family Tents"), 165, ("poles", "pegs"), DIMENSIONS),
        Ware("sleeping bag", "sleeping bags", ("Sleeping", "Bags"), 72, ("hood", "zipper"), LENGTHS),
        Ware("hiking backpack", "hiking backpacks", ("Packs", "Backpacks"), 88, ("hip belt", "rain cover"), VOLUMES),
        Ware(
            "camping stove",
            "camping stoves",
            ("Cooking", "Stoves & Fuel", "Stoves"),
            54,
            ("burner", "windshield"),
            PACKS,
        ),
        Ware("headlamp", "headlamps", ("Lighting", "Headlamps"), 31, ("beam", "band"), PACKS),
        Ware("water bottle", "water bottles", ("Hydration", "Bottles"), 23, ("straw", "cap"), VOLUMES),
    ),
    materials=("ripstop nylon", "titanium", "merino wool", "polyester mesh", "goose down", "anodized aluminum"),
    attributes=(
        *(
            "water resistant",
            "ultra light",
            "four season",
            "insect proof",
            "rechargeable",
            "freeze proof",
            "self inflating",
        ),
        *(
            "packs small",
            "bpa free",
            "storm tested",
            "reflective trim",
            "quick release",
            "taste free",
            "mountain tested",
        ),
    ),
)
APPAREL = Department(
    category="apparel",
    root="Clothing",
    wares=(
        Ware("wool sweater", "wool sweaters", ("Women", "Knitwear", "Sweaters"), 58, ("collar", "cuffs"), CLOTHES),
        Ware("rain jacket", "rain jackets", ("Men", "Outerwear", "Jackets"), 79, ("hood", "pockets"), CLOTHES),
        Ware("linen shirt", "linen shirts", ("Men", "Shirts", "Casual Shirts"), 36, ("buttons", "collar"), CLOTHES),
        Ware("hiking socks", "hiking socks", ("Women", "Socks"), 16, ("heel", "arch"), CLOTHES),
        Ware("sun hat", "sun hats", ("Accessories", "Hats & Caps", "Sun Hats"), 22, ("brim", "cord"), CLOTHES),
        Ware("evening dress", "evening dresses", ("Women", "Dresses", "Evening"), 64, ("sash", "lining"), CLOTHES),
        Ware("work trousers", "work trousers", ("Men", "Trousers", "Workwear"), 47, ("knees", "pockets"), CLOTHES),
    ),
    materials=("organic cotton", "lambswool", "washed linen", "corduroy", "softshell", "viscose", "denim"),
    attributes=(
        *("machine washable", "wrinkle free", "moisture wicking", "slim cut", "pre shrunk", "tagless", "high waisted"),
        *(
            "wind stopping",
            "odor resistant",
            "hand knitted",
            "stretch waist",
            "fully lined",
            "lint free",
            "uv protective",
        ),
    ),
)
PANTRY = Department(
    category="pantry",
    root="Food & Drinks",
    wares=(
        Ware("herbal tea", "herbal teas", ("Drinks", "Tea", "Herbal Tea"), 11, ("bags", "tin"), PACKS, "flavor name"),
        Ware("roasted nuts", "roasted nuts", ("Snacks", "Nuts & Seeds"), 16, ("pouch", "mix"), PACKS, "flavor name"),
        Ware(
            "oat cookies",
            "oat cookies",
            ("Snacks", "Biscuits", "Cookies"),
            12,
            ("box", "crumble"),
            PACKS,
            "flavor name",
        ),
        Ware("hot sauce", "hot sauces", ("Condiments", "Sauces"), 10, ("bottle", "drizzle"), VOLUMES, "flavor name"),
        Ware(
            "coffee beans",
            "coffee beans",
            ("Drinks", "Coffee", "Whole Beans"),
            19,
            ("bag", "roast"),
            PACKS,
            "flavor name",
        ),
        Ware("fruit spread", "fruit spreads", ("Breakfast", "Spreads"), 9, ("jar", "pulp"), VOLUMES, "flavor name"),
    ),
    materials=("whole grain", "wild harvest", "stone ground", "small batch", "single origin", "sun dried"),
    attributes=(
        *("gluten free", "no added sugar", "fair trade", "plant based", "nut free", "low sodium", "keto friendly"),
        *(
            "slow roasted",
            "caffeine free",
            "kosher certified",
            "high fiber",
            "palm oil free",
            "resealable",
            "gift ready",
        ),
    ),
)
CARE = Department(
    category="care",
    root="Bath & Body",
    wares=(
        Ware(
            "hand soap", "hand soaps", ("Washing", "Soap", "Hand Soap"), 12, ("dispenser", "lather"), VOLUMES, "scent"
        ),
        Ware("scented candle", "scented candles", ("Home Fragrance", "Candles"), 21, ("wick", "jar"), PACKS, "scent"),
        Ware("bath towel", "bath towels", ("Linen", "Towels", "Bath Towels"), 26, ("hem", "loop"), DIMENSIONS),
        Ware("shaving brush", "shaving brushes", ("Shaving", "Tools", "Brushes"), 24, ("bristles", "stand"), PACKS),
        Ware("lip balm", "lip balms", ("Skin", "Lips", "Balms"), 8, ("stick", "wax"), PACKS, "scent"),
        Ware("body lotion", "body lotions", ("Skin", "Body", "Lotions"), 17, ("tube", "pump"), VOLUMES, "scent"),
    ),
    materials=("olive oil", "beeswax", "oat milk", "bamboo fiber", "sea salt", "shea butter", "soy wax"),
    attributes=(
        *(
            "fragrance free",
            "cruelty free",
            "long burning",
            "quick absorbing",
            "paraben free",
            "dye free",
            "hypoallergenic",
        ),
        *(
            "travel sized",
            "cold pressed",
            "dermatologist tested",
            "extra foaming",
            "reef safe",
            "hand poured",
            "lead safe",
        ),
    ),
)

DEPARTMENTS = (KITCHEN, GARDEN, PETS, DESK, OUTDOOR, APPAREL, PANTRY, CARE)

SHADES = ("", "pale ", "deep ", "dusty ", "bright ", "matte ", "soft ", "smoky ")
COLORS = (
    *("black", "white", "gray", "red", "blue", "green", "yellow", "orange", "purple", "pink", "brown", "beige", "teal"),
    *("navy", "olive", "coral", "mint", "ivory", "plum", "rust", "sand", "slate", "copper", "lilac", "mustard"),
)
STYLES = (
    *("classic", "modern", "rustic", "slim", "tall", "with lid", "with case", "left side", "right side", "striped"),
    *("checked", "plain", "engraved", "starter set", "deluxe set", "refill", "single", "pair"),
)
FITS = ("regular", "slim", "relaxed", "tall", "petite", "wide")
TASTES: Mapping[str, tuple[str, ...]] = {
    "flavor name": (
        *(
            "honey lemon",
            "dark cherry",
            "salted caramel",
            "ginger peach",
            "maple pecan",
            "smoked paprika",
            "vanilla fig",
        ),
        *("wild berry", "toasted coconut", "orange spice", "mint cocoa", "chili mango", "apple cinnamon", "plain"),
    ),
    "scent": (
        *(
            "cedar smoke",
            "lavender field",
            "sea breeze",
            "orange blossom",
            "vanilla bean",
            "fresh linen",
            "rose garden",
        ),
        *("pine forest", "green tea", "amber spice", "unscented", "lemon verbena", "sandalwood", "eucalyptus mint"),
    ),
}
LETTER_SIZES = ("x-small", "small", "medium", "large", "x-large", "xx-large", "3x-large", "4x-large", "5x-large")

SYLLABLES = (
    *("bar", "cor", "del", "fen", "gil", "har", "jun", "kel", "lor", "mar", "nor", "ost", "pel", "quin", "ras", "sol"),
    *("tam", "ul", "ven", "wes", "yar", "zan", "bri", "cly", "dro", "fy", "gra", "hol", "ith", "ju", "kro", "lu"),
)
SERIES = (
    *("Harbor", "Meadow", "Summit", "Lantern", "Willow", "Compass", "Ember", "Juniper", "Orchard", "Pioneer", "Quarry"),
    *("Ridge", "Sparrow", "Tundra", "Voyage", "Anchor", "Bramble", "Canyon", "Drift", "Echo", "Falcon", "Grove"),
)
USES = (
    *("home", "travel", "beginners", "daily use", "small spaces", "gifts", "families", "weekends", "the workshop"),
    *("students", "guests", "holidays", "the office", "long trips", "rainy days", "busy mornings"),
)
