"""What rooms are made of: furniture, the things that lie on and in it, and what can be done with them.

Type names are ALFWorld's, because its texts and its rules know objects by them; what goes where was chosen here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from agentgym_r1.data.worlds.seeded import words

WITH_DOOR: Final = frozenset(words("Cabinet Drawer Fridge Microwave Safe"))
LAMPS: Final = ("DeskLamp", "FloorLamp")
LAMP_PLACES: Final = frozenset(words("Desk SideTable Dresser Shelf CoffeeTable"))


@dataclass(frozen=True, slots=True)
class Thing:
    """Something that can be carried.

    Attributes:
        places: the furniture it may lie on or in.
        abilities: predicates of the domain that are true of it, besides being pickupable.
    """

    places: frozenset[str]
    abilities: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Room:
    """A kind of room.

    Attributes:
        fixed: the furniture that every such room has once.
        repeated: the furniture a larger room has more of.
        things: what may lie around.
        lit: whether it has a lamp that can be turned on.
    """

    fixed: tuple[str, ...]
    repeated: tuple[str, ...]
    things: tuple[str, ...]
    lit: bool = False


def _thing(places: str, abilities: str = "") -> Thing:
    return Thing(frozenset(words(places)), words(abilities))


_WORKTOPS: Final = "CounterTop DiningTable SideTable"
_FOOD: Final = f"{_WORKTOPS} Fridge Microwave SinkBasin GarbageCan"
_TABLEWARE: Final = f"{_WORKTOPS} Cabinet Shelf SinkBasin CoffeeTable"
_CUTLERY: Final = f"{_WORKTOPS} Drawer SinkBasin"
_DESKTOPS: Final = "Desk Dresser Shelf SideTable CoffeeTable DiningTable"
_SMALL: Final = f"{_DESKTOPS} Drawer"
_SOFT: Final = "Bed Sofa ArmChair"
_WASHROOM: Final = "CounterTop Cabinet Shelf Drawer Toilet SideTable"

THINGS: Final[Mapping[str, Thing]] = {
    "AlarmClock": _thing(_DESKTOPS),
    "Apple": _thing(_FOOD, "cleanable heatable coolable sliceable"),
    "BaseballBat": _thing("Bed DiningTable SideTable Desk"),
    "BasketBall": _thing("Bed Desk Dresser ArmChair"),
    "Book": _thing(f"{_SMALL} {_SOFT}"),
    "Bowl": _thing(f"{_TABLEWARE} Fridge Microwave", "cleanable coolable isReceptacleObject"),
    "Box": _thing(f"{_DESKTOPS} Sofa ArmChair", "isReceptacleObject"),
    "Bread": _thing(f"{_WORKTOPS} Fridge Microwave GarbageCan", "heatable coolable sliceable"),
    "ButterKnife": _thing(_CUTLERY, "cleanable"),
    "CD": _thing(f"{_SMALL} Safe GarbageCan"),
    "Candle": _thing(f"{_WASHROOM} CoffeeTable"),
    "CellPhone": _thing(f"{_SMALL} {_SOFT} Safe"),
    "Cloth": _thing(f"{_WASHROOM} SinkBasin BathtubBasin LaundryHamper GarbageCan", "cleanable"),
    "CreditCard": _thing(f"{_SMALL} {_SOFT} Safe CounterTop"),
    "Cup": _thing(f"{_TABLEWARE} Fridge Microwave", "cleanable heatable coolable isReceptacleObject"),
    "DishSponge": _thing("CounterTop SinkBasin BathtubBasin Cabinet Drawer", "cleanable"),
    "Egg": _thing(_FOOD, "cleanable heatable coolable sliceable"),
    "Fork": _thing(_CUTLERY, "cleanable"),
    "HandTowel": _thing("HandTowelHolder CounterTop SinkBasin BathtubBasin Cabinet"),
    "Kettle": _thing(f"{_WORKTOPS} StoveBurner Cabinet SinkBasin", "cleanable"),
    "KeyChain": _thing(f"{_SMALL} {_SOFT} Safe CounterTop"),
    "Knife": _thing(_CUTLERY, "cleanable"),
    "Ladle": _thing(f"{_CUTLERY} Cabinet", "cleanable"),
    "Laptop": _thing(f"{_DESKTOPS} {_SOFT}"),
    "Lettuce": _thing(f"{_WORKTOPS} Fridge SinkBasin GarbageCan", "cleanable coolable sliceable"),
    "Mug": _thing(
        f"{_TABLEWARE} Fridge Microwave CoffeeMachine Desk", "cleanable heatable coolable isReceptacleObject"
    ),
    "Newspaper": _thing(f"{_SMALL} Sofa ArmChair TVStand GarbageCan"),
    "Pan": _thing(f"{_WORKTOPS} StoveBurner Cabinet Fridge SinkBasin", "cleanable coolable isReceptacleObject"),
    "Pen": _thing(f"{_SMALL} GarbageCan"),
    "Pencil": _thing(f"{_SMALL} GarbageCan"),
    "PepperShaker": _thing(f"{_WORKTOPS} Cabinet Drawer Shelf"),
    "Pillow": _thing(_SOFT),
    "Plate": _thing(f"{_TABLEWARE} Fridge Microwave", "cleanable heatable coolable isReceptacleObject"),
    "Plunger": _thing("Cabinet Toilet"),
    "Pot": _thing(f"{_WORKTOPS} StoveBurner Cabinet Fridge SinkBasin", "cleanable coolable isReceptacleObject"),
    "Potato": _thing(_FOOD, "cleanable heatable coolable sliceable"),
    "RemoteControl": _thing(f"{_SMALL} Sofa ArmChair TVStand"),
    "SaltShaker": _thing(f"{_WORKTOPS} Cabinet Drawer Shelf"),
    "SoapBar": _thing(f"{_WASHROOM} SinkBasin BathtubBasin GarbageCan", "cleanable"),
    "SoapBottle": _thing(f"{_WASHROOM} GarbageCan"),
    "Spatula": _thing(_CUTLERY, "cleanable"),
    "Spoon": _thing(_CUTLERY, "cleanable"),
    "SprayBottle": _thing(f"{_WASHROOM} GarbageCan"),
    "Statue": _thing(f"{_DESKTOPS} CounterTop Safe"),
    "TissueBox": _thing(f"{_WASHROOM} CoffeeTable TVStand"),
    "ToiletPaper": _thing(f"{_WASHROOM} ToiletPaperHanger GarbageCan"),
    "Tomato": _thing(_FOOD, "cleanable heatable coolable sliceable"),
    "Towel": _thing("TowelHolder BathtubBasin"),
    "Vase": _thing(f"{_DESKTOPS} CounterTop Cabinet Safe"),
    "Watch": _thing(f"{_SMALL} Safe TVStand"),
    "WateringCan": _thing("SideTable DiningTable CoffeeTable Shelf Drawer"),
    "WineBottle": _thing(f"{_WORKTOPS} Cabinet Fridge GarbageCan", "coolable"),
}

ROOMS: Final[Mapping[str, Room]] = {
    "kitchen": Room(
        fixed=words("Fridge Microwave SinkBasin CounterTop StoveBurner GarbageCan Cabinet Drawer"),
        repeated=words("Cabinet Cabinet Cabinet Drawer Drawer StoveBurner CounterTop Shelf CoffeeMachine DiningTable"),
        things=words(
            "Apple Bowl Bread ButterKnife Cup DishSponge Egg Fork Kettle Knife Ladle Lettuce Mug Pan PepperShaker "
            "Plate Pot Potato SaltShaker SoapBottle Spatula Spoon Statue Tomato Vase WineBottle"
        ),
    ),
    "bedroom": Room(
        fixed=words("Bed Desk Drawer Shelf SideTable GarbageCan"),
        repeated=words("Drawer Drawer Drawer Shelf Shelf SideTable Dresser Desk LaundryHamper Safe ArmChair"),
        things=words(
            "AlarmClock BaseballBat BasketBall Book Box CD CellPhone Cloth CreditCard KeyChain Laptop Mug Pen Pencil "
            "Pillow Statue Watch"
        ),
        lit=True,
    ),
    "livingroom": Room(
        fixed=words("Sofa ArmChair CoffeeTable SideTable Drawer Shelf TVStand GarbageCan"),
        repeated=words("Drawer Drawer Shelf SideTable ArmChair Sofa CoffeeTable DiningTable Dresser Safe"),
        things=words(
            "Book Bowl Box CellPhone CreditCard KeyChain Laptop Newspaper Pencil Pillow Plate RemoteControl Statue "
            "TissueBox Vase Watch WateringCan"
        ),
        lit=True,
    ),
    "bathroom": Room(
        fixed=words("SinkBasin CounterTop Cabinet Toilet GarbageCan TowelHolder HandTowelHolder"),
        repeated=words("Cabinet Cabinet Drawer Drawer Shelf BathtubBasin SinkBasin SideTable ToiletPaperHanger"),
        things=words(
            "Candle Cloth DishSponge HandTowel Plunger SoapBar SoapBottle SprayBottle TissueBox ToiletPaper Towel"
        ),
    ),
}
