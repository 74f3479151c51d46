"""The words of the word problems: people, things with prices, places. Each split owns a third of the names."""

from dataclasses import dataclass

from agentgym_r1.data.worlds.arithmetic.term import Term
from agentgym_r1.data.worlds.seeded import SPLITS, words


@dataclass(frozen=True, slots=True)
class Person:
    """A name with its pronouns."""

    name: str
    they: str
    them: str
    their: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Noun:
    """A thing that is counted; ``low`` and ``high`` bound its price in dollars."""

    one: str
    many: str
    low: int = 1
    high: int = 10

    def count(self, number: Term) -> str:
        """Return the number with the noun in the right form: 1 pencil, 12 pencils."""
        return f"{number} {self.form(number)}"

    def form(self, number: Term) -> str:
        """Return the form of the noun that goes with the number."""
        return self.one if number.value == 1 else self.many

    @property
    def a(self) -> str:
        """The singular with its article: a desk, an armchair."""
        return f"{'an' if self.one[0] in 'aeiou' else 'a'} {self.one}"

    def __str__(self) -> str:
        return self.many


_WOMEN = words(
    "Abigail Adele Aisha Alba Amara Anneke Beatriz Bridget Carmen Celia Chloe Clara Daphne Delia Dina Edith Elena Elif "
    "Esther Farah Fiona Freya Gemma Greta Hana Harriet Imani Ines Irene Ivy Jana Joan Kavita Kerstin Lena Lorna Lucia "
    "Mabel Marta Mei Mina Nadia Naomi Nora Odette Olive Paloma Petra Priya Renata Rosa Ruth Salma Signe Sofia Tamsin "
    "Thea Uma Vera Wanda Yara Yuki Zelda"
)
_MEN = words(
    "Abel Adrian Ahmed Albert Anton Arjun Baptiste Bjorn Caleb Carlos Cedric Conor Dario Desmond Diego Edgar Elias "
    "Emeka Ernest Fabian Felix Finn Gareth Georg Hamza Henrik Hugo Idris Ivan Jasper Joel Jonas Kaito Karim Kofi Lars "
    "Leo Luka Magnus Malik Marco Mateo Milo Nasser Nils Oscar Otto Pablo Percy Quentin Rafael Ravi Rowan Samir Stefan "
    "Tariq Theo Tobias Umar Victor Walter Xavier Zane"
)
PEOPLE: dict[str, tuple[Person, ...]] = {
    split: tuple(
        [Person(name, "she", "her", "her") for name in _WOMEN[third::3]]
        + [Person(name, "he", "him", "his") for name in _MEN[third::3]]
    )
    for third, split in enumerate(SPLITS)
}

GOODS = (
    Noun("notebook", "notebooks", 2, 6),
    Noun("pencil case", "pencil cases", 3, 9),
    Noun("paint set", "paint sets", 6, 15),
    Noun("kite", "kites", 5, 14),
    Noun("scarf", "scarves", 8, 20),
    Noun("mug", "mugs", 4, 12),
    Noun("candle", "candles", 2, 8),
    Noun("puzzle", "puzzles", 7, 18),
    Noun("plant pot", "plant pots", 3, 11),
    Noun("packet of seeds", "packets of seeds", 1, 4),
    Noun("flashlight", "flashlights", 6, 16),
    Noun("water bottle", "water bottles", 4, 13),
    Noun("poster", "posters", 3, 9),
    Noun("pair of socks", "pairs of socks", 2, 7),
    Noun("hat", "hats", 7, 19),
    Noun("jar of honey", "jars of honey", 4, 9),
    Noun("tin of tea", "tins of tea", 3, 8),
    Noun("picture frame", "picture frames", 5, 15),
)
DEAR_GOODS = (
    Noun("bicycle", "bicycles", 120, 400),
    Noun("armchair", "armchairs", 80, 300),
    Noun("winter coat", "winter coats", 60, 200),
    Noun("guitar", "guitars", 90, 350),
    Noun("tent", "tents", 70, 260),
    Noun("desk", "desks", 60, 240),
    Noun("printer", "printers", 60, 220),
    Noun("bookcase", "bookcases", 50, 180),
    Noun("camera", "cameras", 100, 380),
    Noun("sewing machine", "sewing machines", 90, 320),
)
KEEPSAKES = (
    Noun("marble", "marbles"),
    Noun("sticker", "stickers"),
    Noun("trading card", "trading cards"),
    Noun("seashell", "seashells"),
    Noun("stamp", "stamps"),
    Noun("glass bead", "glass beads"),
    Noun("button", "buttons"),
    Noun("postcard", "postcards"),
    Noun("toy animal", "toy animals"),
    Noun("comic book", "comic books"),
)
BAKES = (
    Noun("muffin", "muffins"),
    Noun("oatmeal cookie", "oatmeal cookies"),
    Noun("bread roll", "bread rolls"),
    Noun("cupcake", "cupcakes"),
    Noun("apple turnover", "apple turnovers"),
    Noun("waffle", "waffles"),
    Noun("pretzel", "pretzels"),
)
FRUIT = (
    Noun("apple", "apples"),
    Noun("pear", "pears"),
    Noun("orange", "oranges"),
    Noun("peach", "peaches"),
    Noun("plum", "plums"),
    Noun("lemon", "lemons"),
    Noun("mango", "mangoes"),
)
PRODUCTS = (
    Noun("wooden spoon", "wooden spoons"),
    Noun("lamp", "lamps"),
    Noun("brick", "bricks"),
    Noun("toy truck", "toy trucks"),
    Noun("cardboard box", "cardboard boxes"),
    Noun("light bulb", "light bulbs"),
    Noun("roof tile", "roof tiles"),
    Noun("clay bowl", "clay bowls"),
)
CONTAINERS = (Noun("box", "boxes"), Noun("crate", "crates"), Noun("bag", "bags"), Noun("basket", "baskets"))
BAKED_IN = (Noun("tray", "trays"), Noun("batch", "batches"))
SHOPS = ("market", "corner shop", "department store", "craft fair", "village store", "flea market", "shopping center")
KIN = ("brother", "sister", "cousin", "neighbor", "best friend", "uncle", "aunt", "classmate")
