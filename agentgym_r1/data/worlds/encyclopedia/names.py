"""Coined names: syllable grammars for people and places, word patterns for titles; every name belongs to one split."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agentgym_r1.data.worlds.seeded import owner, words


@dataclass(frozen=True, slots=True)
class Tongue:
    """A syllable grammar: words of one tongue sound alike.

    Attributes:
        onsets, vowels, codas: parts of a syllable; a coda may be missing.
        places, surnames, women, men: endings by what is named.
    """

    onsets: tuple[str, ...]
    vowels: tuple[str, ...]
    codas: tuple[str, ...]
    places: tuple[str, ...]
    surnames: tuple[str, ...]
    women: tuple[str, ...]
    men: tuple[str, ...]


TONGUES = (
    Tongue(
        words("b br d dr f gr h k kr l m n r sk st t tr v"),
        words("a e i o u ei"),
        words("l n r rn sk st ld nd lm"),
        words("vikka mard holtre fellum dalde havnir strande"),
        words("senne quisten lunde erssen bergar vadde"),
        words("ala elke hilde runa ive ettel"),
        words("enn ulfar arn mund ikke orn"),
    ),
    Tongue(
        words("b c d f g l m n p r s t v z ch gl"),
        words("a e i o u ia io"),
        words("l n r s m"),
        words("onna ezzia arrio ettra accio oldo ente"),
        words("ellio ozzini azzaro ardici uccino entero"),
        words("inna elba arra iria issa"),
        words("odo inno andro elmo erro"),
    ),
    Tongue(
        words("b d g j k l m n p r s t w z ny mb nd sh"),
        words("a e i o u"),
        words("n m"),
        words("ambe undu oro ari ela ingo"),
        words("anga ele umbe oyo adi ika"),
        words("a isha ene ala umi"),
        words("o abu ani eko une"),
    ),
    Tongue(
        words("b br c cl d g gw l ll m n p r t th"),
        words("a e i o u y ae"),
        words("n r th dd l s wn"),
        words("abern wythe oeddan ennor arthen cumber"),
        words("eddyn wynd ethin owern orran ockell"),
        words("wenna ethe yssa ira annon"),
        words("anwy yrel ocan iad ewin"),
    ),
    Tongue(
        words("b ch d k kh l m n r s sh t y z zh"),
        words("a e i o u ay ao"),
        words("n ng r k sh m"),
        words("abadar ashk urun andark iken oral"),
        words("ovin ayant iandar enku ukar arovin"),
        words("aray inay usha ayali olgal"),
        words("anur irkan orim eshan ulek"),
    ),
    Tongue(
        words("b d f h k l m n p r s t v j"),
        words("a e i o u aa ee ie"),
        words("l n r s t k"),
        words("merre damme ingel oorde evelter isse"),
        words("strake inkel ovenne haane emansen elaar"),
        words("keline jena tinke sjeda isaar"),
        words("erten ombo winner bouter usken"),
    ),
)

ADJECTIVES = words(
    "Amber Ashen Bitter Borrowed Brass Broken Buried Cedar Copper Crooked Distant Drowned Eastern Emerald Empty "
    "Faded Fallen Foreign Forgotten Frozen Gilded Glass Golden Granite Hidden Hollow Hundredth Idle Iron Ivory Lantern "
    "Last Late Lonely Lower Marble Midnight Mirrored Northern Obsidian Orphaned Pale Paper Patient Quiet Red Restless "
    "Salt Scarlet Second Secret Seventh Silent Silver Sleeping Slow Small Southern Stolen Sunken Unfinished Unwritten "
    "Velvet Wandering Western White Wicker Winter Wooden Yellow"
)
NOUNS = words(
    "Alphabet Anchor Apprentice Archive Atlas Bakery Balcony Beacon Bell Bridge Candle Canal Carousel Cartographer "
    "Cellar Chapel Clock Compass Corridor Courtyard Crossing Daughter Door Dune Envoy Estuary Ferry Fountain Garden "
    "Gardener Gate Glacier Granary Guest Harbour Harvest Heron House Inheritance Island Juggler Key Kiln Lamp "
    "Ledger Letter Librarian Library Lighthouse Locksmith Loom Map Market Meadow Mill Mirror Museum Nightingale Oath "
    "Observatory Orchard Organist Palace Passenger Pilot Quarry Rain River Road Room Sail Season Shepherd Shore "
    "Silence Staircase Stranger Summer Tailor Tide Tower Train Translator Valley Village Violin Visitor Watchmaker "
    "Well Widow Window Witness"
)
BEASTS = words(
    "heron finch warbler owl plover moth beetle frog newt lizard vole shrew carp perch trout mussel sparrow thrush "
    "toad snail bat kestrel"
)

VOWELS = "aeiouy"


class Namer:
    """Coins names that are new in the world and owned by its split.

    Args:
        rng: the source of randomness.
        split: the split that must own every name.
    """

    def __init__(self, rng: random.Random, split: str) -> None:
        self.rng = rng
        self._split = split
        self._taken: set[str] = set()

    def new(self, draw: Callable[[], str]) -> str:
        """Draw until a word or title is owned by the split and not taken yet; take it."""
        return self.combine(lambda: self._owned(draw))

    def combine(self, draw: Callable[[], str]) -> str:
        """Draw until a name is not taken yet; take it. For names that contain a word the split owns."""
        while True:
            name = draw()
            if name not in self._taken:
                self._taken.add(name)
                return name

    def stem(self, tongue: Tongue, endings: Sequence[str]) -> str:
        """Return a coined word of the tongue, capitalised, owned by the split and new."""
        return self.new(lambda: self._word(tongue, endings))

    def place(self, tongue: Tongue) -> str:
        """Return a coined name of a place."""
        return self.stem(tongue, tongue.places)

    def surname(self, tongue: Tongue) -> str:
        """Return a coined family name."""
        return self.stem(tongue, tongue.surnames)

    def title(self, earlier: Sequence[str], *, lookalikes: float) -> str:
        """Return the title of a work; with probability ``lookalikes`` it shares a word with an earlier one."""
        return self.new(lambda: self._title(earlier, lookalikes))

    def _owned(self, draw: Callable[[], str]) -> str:
        while True:
            name = draw()
            if owner(name) == self._split:
                return name

    def _word(self, tongue: Tongue, endings: Sequence[str]) -> str:
        choice = self.rng.choice
        while True:
            stem = "".join(choice(tongue.onsets) + choice(tongue.vowels) for _ in range(choice((1, 1, 2))))
            stem += choice(tongue.codas) if self.rng.random() < 0.4 else ""
            ending = choice(endings)
            link = choice(tongue.onsets) if stem[-1] in VOWELS and ending[0] in VOWELS else ""
            word = stem + link + ending
            if 5 <= len(word) <= 11:
                return word.capitalize()

    def _title(self, earlier: Sequence[str], lookalikes: float) -> str:
        choice = self.rng.choice
        adjective, (noun, other) = choice(ADJECTIVES), self.rng.sample(NOUNS, 2)
        if earlier and self.rng.random() < lookalikes:
            borrowed = [word for word in choice(earlier).split() if word in ADJECTIVES or word in NOUNS]
            for word in borrowed[:1]:
                adjective, noun = (word, noun) if word in ADJECTIVES else (adjective, word)
        patterns = (
            f"The {adjective} {noun}",
            f"The {adjective} {noun}",
            f"The {noun} and the {other}",
            f"{adjective} {noun}",
            f"{'An' if noun[0] in 'AEIOU' else 'A'} {noun} for the {other}",
            f"The {other} of the {adjective} {noun}",
            f"Beyond the {adjective} {noun}",
        )
        return choice(patterns)
