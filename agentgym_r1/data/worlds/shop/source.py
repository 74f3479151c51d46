"""The generated shop as a source of a catalogue: records and instructions, made one by one from the seed."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from agentgym_r1.data.webshop.products import Instruction, Listing
from agentgym_r1.data.webshop.sources import SourceFile
from agentgym_r1.data.worlds.shop.wares import Design, design, record
from agentgym_r1.errors import ConfigError
from agentgym_r1.types import digest

VERSION = 1
SIBLING_SHARE = 4
MOST_SIBLINGS = 3
INSTRUCTED_SHARE = {False: 0.53, True: 0.86}
MOST_INSTRUCTED = 2_000
HUMAN_SHARE = 0.4
ATTRIBUTES_ASKED = {2: 0.43, 3: 0.27, 4: 0.18, 5: 0.12}
_REQUESTS = (
    "i need a {options}{noun} that is {attributes}",
    "looking for {options}{plural}, they should be {attributes}",
    "can you get me a {options}{noun}? it has to be {attributes}",
    "my sister wants a {options}{noun} which is {attributes}",
    "please order a {attributes} {noun} for us{behind}",
    "we ran out of {plural}. buy something {attributes}{behind}",
)


@dataclass(frozen=True, slots=True)
class WorldShop:
    """A shop of generated products: three quarters are designs, the rest siblings that differ in one attribute.

    Args:
        products: how many, at least 1.
        seed: another seed is another shop.

    Raises:
        ConfigError: fewer than one product.
    """

    products: int = 1_000
    seed: int = 0
    kind: Literal["world"] = "world"
    is_full: Literal[False] = False

    def __post_init__(self) -> None:
        if self.products < 1:
            raise ConfigError(f"products must be at least 1, got {self.products}")

    @property
    def name(self) -> str:
        """Name of the shop, with its size and seed."""
        return f"shop-{self.products}-{self.seed}"

    @property
    def size(self) -> int:
        """The number of products."""
        return self.products

    def files(self) -> tuple[SourceFile, ...]:
        """Return what identifies the shop: everything it depends on, hashed."""
        return (SourceFile(self.name, digest([VERSION, self.products, self.seed])),)

    def records(self, start: int) -> Iterator[tuple[dict[str, Any], Listing, int]]:
        """Yield the products from position ``start`` on."""
        for position in range(start, self.products):
            made, rng = self._design(position)
            yield (
                record(made, asin=f"W{position:09d}", page=rng.randint(1, 300)),
                self._listing(made, rng),
                position + 1,
            )

    def _design(self, position: int) -> tuple[Design, random.Random]:
        """Return the design at a position: siblings stand far from each other, behind all designs."""
        designs = self.products - self.products // SIBLING_SHARE
        sibling, family = divmod(position, designs)
        made = design(random.Random(f"shop/{self.seed}/design/{family}"), siblings=1)[sibling]
        return made, random.Random(f"shop/{self.seed}/product/{position}")

    def _listing(self, made: Design, rng: random.Random) -> Listing:
        """Return the attributes of a product, and instructions where it has two attributes to ask for."""
        share = min(INSTRUCTED_SHARE[bool(made.options)], MOST_INSTRUCTED / self.products)
        asked = len(made.attributes) >= 2 and rng.random() < share
        human = made.attributes and rng.random() < share * HUMAN_SHARE
        return Listing(
            attributes=made.attributes,
            synthetic=_generated(made, rng) if asked else None,
            human=(_written(made, rng),) if human else (),
        )


def _generated(made: Design, rng: random.Random) -> Instruction:
    """Return an instruction for all option choices; it names the attribute in which siblings differ."""
    count = min(rng.choices(list(ATTRIBUTES_ASKED), list(ATTRIBUTES_ASKED.values()))[0], len(made.attributes))
    attributes = (made.attributes[0], *rng.sample(made.attributes[1:], count - 1))
    return Instruction(f"Look for {', '.join(attributes)} {made.ware.plural} of {made.material}", attributes)


def _written(made: Design, rng: random.Random) -> Instruction:
    """Return an instruction as a person might write it, in which the options are part of the sentence."""
    attributes = made.attributes[:1] + tuple(
        rng.sample(made.attributes[1:], min(rng.randint(0, 1), len(made.attributes) - 1))
    )
    options = tuple(rng.choice(values) for _, values in made.options[: rng.randint(0, 2)])
    text = rng.choice(_REQUESTS).format(
        noun=made.ware.noun,
        plural=made.ware.plural,
        attributes=" and ".join(attributes),
        options="".join(f"{value} " for value in options),
        behind="".join(f", {value}" for value in options),
    )
    return Instruction(f"{text}.", attributes, options)
