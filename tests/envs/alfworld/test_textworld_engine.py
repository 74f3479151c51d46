"""The original engine in its process, and the compiled one against it, live."""

import os
import pickle
import random
import signal
import subprocess
import sys
from collections import Counter

import pytest

from agentgym_r1.data.alfworld import TASK_TYPES, read_tasks, write_game
from agentgym_r1.data.worlds import household
from agentgym_r1.envs.alfworld.engine import CompiledEngine
from agentgym_r1.envs.alfworld.games import compile_task
from agentgym_r1.envs.alfworld.planner import plan
from agentgym_r1.envs.alfworld.textworld_engine import TextWorldEngine, check_installed, check_python, official_logic
from agentgym_r1.errors import ConfigError, DataError, EpisodeError, MissingExtra

VERBS = {
    *("look", "inventory", "help", "go", "open", "close", "examine"),
    *("take", "move", "use", "clean", "heat", "cool", "slice"),
}
EAGER = {"take": 6, "move": 4, "open": 4, "heat": 6, "cool": 6, "clean": 6, "slice": 6, "use": 6, "go": 0.4}
ODD = [
    "",
    "dance",
    "GO TO FRIDGE 1",
    "take apple 1",
    "go to nowhere 1",
    "ouvre la fenêtre",
    "put apple 1 in/on fridge 1",
]


def test_python_313_is_told_what_to_do_instead():
    check_python((3, 12))
    with pytest.raises(ConfigError, match=r"does not run on Python 3\.13.*use engine='compiled'"):
        check_python((3, 13))


def test_a_missing_package_is_named_with_the_line_that_installs_it(monkeypatch):
    monkeypatch.setattr("sys.path", [])
    with pytest.raises(MissingExtra, match=r"textworld, alfworld, .*: pip install 'agentgym-r1\[textworld\]'"):
        check_installed()


def test_the_module_imports_nothing_of_textworld():
    code = (
        "import sys, agentgym_r1.envs.alfworld.textworld_engine;"
        "sys.exit(any(name.split('.')[0] in {'textworld', 'alfworld', 'fast_downward'} for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.fixture
def original(textworld_here):
    """Makes engines and closes them."""
    made = []

    def make(task):
        made.append(TextWorldEngine(task.gold.problem, goal=task.prompt, name=task.id))
        return made[-1]

    yield make
    for engine in made:
        engine.close()


@pytest.fixture(scope="module")
def tasks():
    """A small household game of each type."""
    made = household.tasks("train", size=6, room_size="small")
    return [made[index] for index in range(6)]


def command_for(engine, rng):
    """Return a random command that rather does something, sometimes an odd one."""
    if rng.random() < 0.1:
        return rng.choice([*ODD, rng.choice(engine.admissible).upper(), f"  {rng.choice(engine.admissible)} "])
    commands = engine.admissible
    return rng.choices(commands, [EAGER.get(command.partition(" ")[0], 1) for command in commands])[0]


def assert_equal_play(compiled, original, commands):
    """Play both engines side by side; ``commands`` gives the next one from what is admissible."""
    assert compiled.reset() == original.reset()
    assert compiled.admissible == original.admissible
    verbs = Counter()
    for command in commands:
        outcome = compiled.step(command)
        assert outcome == original.step(command), command
        assert compiled.admissible == original.admissible, command
        verbs[command.partition(" ")[0]] += outcome.accepted
    return verbs


def wandering(engine, rng, steps):
    for _ in range(steps):
        yield command_for(engine, rng)


def receptacle_of(game, name):
    """Return the name of the receptacle that an object lies in at the start; empty when in none."""
    number = game.object_numbers[name]
    inside = (game.receptacles[place] for place, mask in enumerate(game.start.inside) if mask >> number & 1)
    return next(inside, "")


def slicing(game):
    """Yield commands that take a knife to things, slice them, wash the knife and show it; none without a knife."""
    for knife in [name for name in game.objects if name.startswith(("knife", "butterknife"))][:1]:
        home = receptacle_of(game, knife)
        yield from (f"go to {home}", f"open {home}", f"take {knife} from {home}")
        for thing in [name for name in game.objects if game.sliceable >> game.object_numbers[name] & 1]:
            yield from (f"go to {receptacle_of(game, thing)}", f"slice {thing} with {knife}")
        basin = next(name for name in game.receptacles if name.startswith("sinkbasin"))
        yield from (f"go to {basin}", f"clean {knife} with {basin}", f"examine {knife}")


@pytest.mark.textworld
@pytest.mark.slow
def test_household_games_play_the_same_in_both_engines(original):
    made = household.tasks("train", size=12, room_size="small")
    verbs = Counter()
    for index in range(12):
        task = made[index]
        game = compile_task(task)
        compiled = CompiledEngine(game, goal=task.prompt)
        rng = random.Random(index)
        walk = task.gold.walkthrough if index < 6 else wandering(compiled, rng, 20)
        verbs += assert_equal_play(compiled, original(task), walk)
    assert {made[index].kind for index in range(6)} == set(TASK_TYPES)
    assert set(verbs) >= VERBS - {"slice"}


@pytest.mark.textworld
@pytest.mark.slow
@pytest.mark.real
@pytest.mark.parametrize("split", ["train", "valid_seen", "valid_unseen"])
def test_official_games_play_the_same_in_both_engines(original, sample_games, split):
    chosen = {}
    for task in read_tasks([sample_games], split):
        chosen.setdefault(task.kind, task)
    verbs = Counter()
    for number, task in enumerate(chosen.values()):
        game = compile_task(task)
        compiled = CompiledEngine(game, goal=task.prompt)
        rng = random.Random(number)
        kinds = (task.gold.walkthrough, wandering(compiled, rng, 20), slicing(game))
        verbs += assert_equal_play(compiled, original(task), kinds[number % 3])
    assert len(chosen) == 6
    assert {"slice", "clean", "go", "take", "open"} <= set(+verbs)


@pytest.mark.textworld
def test_slicing_and_washing_are_the_same_in_both_engines(original):
    made = household.tasks("train", size=100, task_types=["pick_heat_then_place_in_recep"])
    games = {index: compile_task(made[index]) for index in range(100)}
    index = next(index for index, game in games.items() if game.knives and game.sliceable)
    compiled = CompiledEngine(games[index], goal=made[index].prompt)
    verbs = assert_equal_play(compiled, original(made[index]), [*slicing(games[index]), "look", "inventory", "help"])
    assert set(+verbs) >= {"go", "take", "slice", "clean", "examine", "look", "inventory", "help"}


@pytest.mark.textworld
def test_the_goal_is_said_as_given(original, tasks):
    engine = TextWorldEngine(tasks[0].gold.problem, goal='a "quoted" [odd] {goal}', name="odd")
    assert engine.reset().endswith('Your task is to: a "quoted" [odd] {goal}.')
    engine.close()


@pytest.mark.textworld
def test_a_snapshot_brings_the_original_back(original, tasks):
    engine = original(tasks[0])
    engine.reset()
    commands = plan(compile_task(tasks[0]), compile_task(tasks[0]).start)
    for command in commands[:2]:
        engine.step(command)
    snapshot, before = engine.snapshot(), engine.admissible
    expected = engine.step(commands[2])
    engine.restore(snapshot)
    assert (engine.admissible, engine.step(commands[2])) == (before, expected)
    again = pickle.loads(pickle.dumps(engine))
    assert again.admissible == engine.admissible
    again.close()
    with pytest.raises(DataError, match="belongs to game"):
        engine.restore(original(tasks[1]).snapshot())
    with pytest.raises(DataError, match="expected a snapshot"):
        engine.restore(b"{")


@pytest.mark.textworld
def test_a_dead_process_is_an_error_with_its_code(original, tasks):
    engine = original(tasks[0])
    engine.reset()
    os.kill(engine.process_id, signal.SIGKILL)
    with pytest.raises(EpisodeError, match=r"process ended with code -9 .* make a new engine"):
        engine.step("look")
    engine.close()
    engine.close()
    with pytest.raises(EpisodeError, match="was closed"):
        engine.reset()


@pytest.mark.textworld
def test_a_problem_that_textworld_refuses_is_an_error_with_its_reason(original):
    engine = TextWorldEngine("(define (problem p) (:domain alfred) (:init))", goal="", name="broken game")
    with pytest.raises(EpisodeError, match="broken game: TextWorld cannot play this game"):
        engine.reset()
    engine.close()


@pytest.mark.textworld
def test_a_written_game_is_played_by_textworld_itself(original, tasks, tmp_path):
    engine = original(tasks[2])
    expected = engine.reset()
    file = write_game(tasks[2], tmp_path, logic=official_logic()) / "game.tw-pddl"
    code = (
        "import sys, textworld; from textworld.envs import PddlEnv;"
        "from alfworld.agents.environment.alfred_tw_env import AlfredDemangler;"
        "env = AlfredDemangler(PddlEnv(textworld.EnvInfos())); env.load(sys.argv[1]);"
        "sys.stdout.write(env.reset().feedback)"
    )
    played = subprocess.run([sys.executable, "-c", code, file], check=True, capture_output=True, text=True)
    assert played.stdout.endswith(expected)
