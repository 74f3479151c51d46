"""A small kitchen written for the tests, and the official games as they were published."""

import sys
import tarfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from agentgym_r1.data.get import get
from agentgym_r1.envs.alfworld.compile import compile_game
from agentgym_r1.envs.alfworld.model import Game
from agentgym_r1.envs.alfworld.textworld_engine import check_installed, check_python
from agentgym_r1.errors import AgentGymError

FURNITURE = {
    # name: (type, place, has a door); the sink basin and the counter share a place
    "CounterTop_bar_1": ("CounterTopType", "loc_bar_1", False),
    "Sink_bar_1_bar_SinkBasin": ("SinkBasinType", "loc_bar_1", False),
    "Fridge_bar_1": ("FridgeType", "loc_bar_2", True),
    "Microwave_bar_1": ("MicrowaveType", "loc_bar_3", True),
    "Drawer_bar_1": ("DrawerType", "loc_bar_4", True),
    "Drawer_bar_2": ("DrawerType", "loc_bar_4", True),
}
THINGS = {
    # name: (type, where it lies, abilities)
    "Apple_bar_1": ("AppleType", "Fridge_bar_1", "pickupable cleanable heatable coolable sliceable"),
    "Apple_bar_2": ("AppleType", "CounterTop_bar_1", "pickupable cleanable heatable coolable sliceable"),
    "Bowl_bar_1": ("BowlType", "CounterTop_bar_1", "pickupable cleanable coolable isReceptacleObject"),
    "Knife_bar_1": ("KnifeType", "Drawer_bar_1", "pickupable cleanable"),
    "DeskLamp_bar_1": ("DeskLampType", "CounterTop_bar_1", "toggleable"),
    "TeddyBear_bar_1": ("TeddyBearType", "Drawer_bar_2", "pickupable"),
}
FITS = {
    "CounterTopType": "AppleType BowlType KnifeType",
    "SinkBasinType": "AppleType BowlType KnifeType",
    "FridgeType": "AppleType BowlType",
    "MicrowaveType": "AppleType BowlType",
    "DrawerType": "KnifeType AppleType",
}
GOALS = {
    "place": """(and (exists (?r - receptacle) (exists (?o - object) (and
        (inReceptacle ?o ?r) (objectType ?o AppleType) (receptacleType ?r DrawerType)))))""",
    "clean": """(and (exists (?r - receptacle) (exists (?o - object) (and (cleanable ?o) (objectType ?o AppleType)
        (receptacleType ?r FridgeType) (isClean ?o) (inReceptacle ?o ?r)))))""",
    "heat": """(and (exists (?r - receptacle) (exists (?o - object) (and (heatable ?o) (objectType ?o AppleType)
        (receptacleType ?r CounterTopType) (isHot ?o) (inReceptacle ?o ?r)))))""",
    "cool": """(and (exists (?r - receptacle) (exists (?o - object) (and (coolable ?o) (objectType ?o BowlType)
        (receptacleType ?r MicrowaveType) (isCool ?o) (inReceptacle ?o ?r)))))""",
    "two": """(and (exists (?r - receptacle) (exists (?o1 - object) (and (objectType ?o1 AppleType)
        (receptacleType ?r DrawerType) (inReceptacle ?o1 ?r) (exists (?o2 - object) (and (not (= ?o1 ?o2))
        (objectType ?o2 AppleType) (receptacleType ?r DrawerType) (inReceptacle ?o2 ?r)))))))""",
    "look": """(and (exists (?ot - object ?r - receptacle ?a - agent ?l - location) (and (objectType ?ot DeskLampType)
        (toggleable ?ot) (isToggled ?ot) (receptacleAtLocation ?r ?l) (atLocation ?a ?l) (inReceptacle ?ot ?r)))
        (exists (?o - object ?a - agent) (and (objectType ?o KnifeType) (holds ?a ?o))))""",
}


def kitchen_problem(goal: str, *more_facts: str) -> str:
    facts = ["(atLocation agent1 loc_bar_9)", *more_facts]
    for name, (kind, place, door) in FURNITURE.items():
        facts += [f"(receptacleType {name} {kind})", f"(receptacleAtLocation {name} {place})"]
        facts += [f"(openable {name})"] if door else []
    for name, (kind, where, abilities) in THINGS.items():
        facts += [f"(objectType {name} {kind})", f"(inReceptacle {name} {where})"]
        facts += [f"(objectAtLocation {name} {FURNITURE[where][1]})"]
        facts += [f"({ability} {name})" for ability in abilities.split()]
    facts += [f"(canContain {outer} {inner})" for outer, kinds in FITS.items() for inner in kinds.split()]
    facts += ["(inReceptacleObject Apple_bar_2 Bowl_bar_1)"]
    return f"(define (problem tests)\n(:domain alfred)\n(:init\n{chr(10).join(facts)}\n)\n(:goal {goal})\n)"


@pytest.fixture(scope="session")
def goals() -> Mapping[str, str]:
    """One goal of each form."""
    return GOALS


@pytest.fixture(scope="session")
def problem() -> Callable[..., str]:
    """Returns the PDDL of the kitchen for a goal, with more initial facts."""
    return kitchen_problem


@pytest.fixture(scope="session")
def kitchen() -> Callable[..., Game]:
    """Returns the kitchen's game for a form of goal, with more initial facts."""
    return lambda goal, *more_facts: compile_game(kitchen_problem(GOALS[goal], *more_facts), name="kitchen")


@pytest.fixture(scope="session")
def sample_games(samples: Path) -> Path:
    """The archive with all evaluation games and 120 training games."""
    return samples / "data" / "alfworld" / "sample.tar.xz"


@pytest.fixture(scope="session")
def all_games(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all 3,827 official games."""
    folder = tmp_path_factory.mktemp("alfworld")
    with tarfile.open(samples / "data" / "alfworld" / "all_games_slim.tar.xz") as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", None)  # Python before 3.11.4 has none
        archive.extractall(folder)
    return folder


@pytest.fixture(scope="session")
def installed(sample_games: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home of an installation of the sample."""
    home = tmp_path_factory.mktemp("home")
    folder = tmp_path_factory.mktemp("download")
    (folder / sample_games.name).symlink_to(sample_games)
    get("alfworld", source=folder, home=home)
    return home


@pytest.fixture(scope="session")
def textworld_here() -> None:
    """Skips where TextWorld cannot run, and says why."""
    try:
        check_python(sys.version_info[:2])
        check_installed()
    except AgentGymError as err:
        pytest.skip(str(err))
