"""AgentR1/ALFWorld as an environment; what holds for every environment is tested in test_every_environment."""

import gc
import pickle
import random
import tracemalloc

import gymnasium as gym
import pytest
from hypothesis import given
from hypothesis import strategies as st

import agentgym_r1  # noqa: F401 - registers the environments
from agentgym_r1.bench.run import BenchConfig, run
from agentgym_r1.bench.table import table
from agentgym_r1.data.alfworld import PAPER_NAMES, TASK_TYPES
from agentgym_r1.data.worlds import household
from agentgym_r1.envs.alfworld.engine import CompiledEngine
from agentgym_r1.envs.alfworld.games import compile_task, shared_game
from agentgym_r1.errors import ConfigError
from agentgym_r1.types import ToolCall, panel_hash

ID = "AgentR1/ALFWorld-v0"


def make(**kwargs):
    return gym.make(ID, **{"source": "world", "room_size": "small", **kwargs}).unwrapped


def say(env, command):
    return env.format.call(ToolCall("env_step", {"command": command}))


def play(env, commands):
    """Take commands and return the steps."""
    return [env.step(say(env, command)) for command in commands]


def wander(env, rng, steps):
    """Take random admissible commands, as long as the episode lasts."""
    while not env.over and env.steps < steps:
        env.step(say(env, rng.choice(env.last()[1]["available_actions"])))


@pytest.mark.parametrize("action_format", ["hermes", "react", "plain", "action_tags", "native"])
def test_the_game_says_what_its_engine_says(action_format):
    env = make(action_format=action_format)
    task = env.tasks[3]
    engine = CompiledEngine(compile_task(task), goal=task.prompt)
    _, info = env.reset(options={"index": 3})
    assert info["feedback"] == engine.reset()
    for command in (*task.gold.walkthrough[:-1], "dance", "go to the moon 1", task.gold.walkthrough[-1]):
        assert info["available_actions"] == engine.admissible
        observation, reward, terminated, _, info = env.step(say(env, command))
        outcome = engine.step(command)
        assert (info["feedback"], info["valid_action"]) == (outcome.text, outcome.accepted)
        assert (reward, terminated) == (outcome.reward, outcome.won)
        assert outcome.text in observation
    assert (info["success"], info["score"], info["metrics"]) == (True, 1.0, {"progress": 1.0})


def test_the_older_spelling_does_the_same():
    env = make(task_types="Pick")
    env.reset(options={"index": 0})
    *before, last = env.task.gold.walkthrough
    thing, place = last.removeprefix("move ").split(" to ")
    play(env, before)
    assert play(env, [f"put {thing} in/on {place}"])[0][2]


def test_gigpo_pays_ten_for_success_and_takes_a_tenth_for_what_has_no_effect():
    env = make(protocol="gigpo")
    env.reset(options={"index": 1})
    for action in (say(env, "dance"), "no action at all"):
        assert env.step(action)[1] == -0.1
    assert [step[1] for step in play(env, env.task.gold.walkthrough)][-2:] == [0.0, 10.0]


@pytest.mark.parametrize(("kwargs", "limit"), [({}, 50), ({"protocol": "react"}, 50), ({"max_steps": 20}, 20)])
def test_the_step_limit_is_no_success(kwargs, limit):
    env = make(**kwargs)
    env.reset(options={"index": 0})
    steps = play(env, ["look"] * limit)
    assert [step[3] for step in steps] == [False] * (limit - 1) + [True]
    assert (steps[-1][4]["success"], steps[-1][4]["score"], steps[-1][2]) == (False, 0.0, False)


@pytest.mark.parametrize(
    ("protocol", "split"), [("agent-r1", "valid_seen"), ("gigpo", "valid_seen"), ("react", "valid_unseen")]
)
def test_each_protocol_evaluates_on_its_own_split(protocol, split, tmp_path):
    assert make(protocol=protocol).tasks.split == split
    config = BenchConfig((ID,), ("expert",), tmp_path, source="world", protocol=protocol, episodes=1)
    (row,) = run(config, on_plan=lambda total, done: None, on_episode=lambda trajectory: None)["rows"]
    assert (row["split"], row["success"]) == (split, 1.0)


def test_the_expert_says_the_recorded_solution_as_long_as_it_was_followed():
    env = make()
    env.reset(options={"index": 2})
    for command in env.task.gold.walkthrough:
        assert env.expert() == say(env, command)
        env.step(env.expert())
    assert env.over


@pytest.mark.parametrize("split", ["train", "valid_seen", "valid_unseen"])
def test_the_expert_wins_from_anywhere(split):
    env = make(split=split, max_steps=100)
    for index in range(30):
        env.reset(options={"index": index})
        wander(env, random.Random(index), 40)
        while not env.over:
            env.step(env.expert())
        assert env.potential() == 1.0


def test_progress_grows_to_one():
    env = make()
    for index in range(6):
        env.reset(options={"index": index})
        values = [env.potential()]
        for command in env.task.gold.walkthrough:
            play(env, [command])
            values.append(env.potential())
        assert values == sorted(values)
        assert values[0] < values[-1] == 1.0


def test_equal_states_have_one_anchor_however_they_were_reached():
    env = make()
    env.reset(options={"index": 0})
    start = env.anchor()
    places = [command for command in env.last()[1]["available_actions"] if command.startswith("go to ")]
    play(env, [places[0]])
    first = env.anchor()
    play(env, [places[-1], "look", "dance", places[0]])
    assert env.anchor() == first != start


@pytest.mark.parametrize("context", ["append", "window", "summary"])
def test_the_possible_commands_stand_once_after_the_newest_answer(context):
    env = make(context=context)
    _, info = env.reset(options={"index": 0})
    for _ in range(4):
        listed = "\n".join(info["available_actions"])
        texts = [message["content"] for message in info["messages"]]
        assert [listed in text for text in texts] == [False] * (len(texts) - 1) + [True]
        assert listed not in info["feedback"]
        *_, info = env.step(env.expert())


def test_the_possible_commands_can_be_left_out_of_the_prompt():
    env = make(protocol="react")
    observation, info = env.reset(options={"index": 0})
    assert len(info["available_actions"]) > 10
    assert not any(command in observation for command in info["available_actions"] if command.startswith("go to "))


def test_the_state_keeps_every_command_with_its_answer():
    env = make()
    env.reset(options={"index": 0})
    observation, *_ = [env.step(action)[0] for action in ("???", say(env, "look"), say(env, "x" * 1000))][-1:]
    assert "1. (no command)\n" in observation
    assert "2. look\n" in observation
    assert f"3. {'x' * 200}...\nNothing happens." in observation


def test_one_command_a_step_is_carried_out():
    env = make()
    env.reset(options={"index": 0})
    first, second = env.task.gold.walkthrough[:2]
    *_, info = env.step(f"{say(env, first)}\n{say(env, second)}")
    assert info["feedback"].startswith("1 more calls were ignored: one a step.\n\n")
    assert env.expert() == say(env, second)


@pytest.mark.parametrize(
    "action",
    ["<answer>done</answer>", '<tool_call>{"name": "env_step", "arguments": {"order": "look"}}</tool_call>'],
)
def test_what_is_no_command_is_answered_with_a_right_one(action):
    env = make()
    env.reset(options={"index": 0})
    *_, info = env.step(action)
    assert not info["valid_action"]
    assert say(env, "look") in info["feedback"]


@pytest.mark.parametrize("name", [*TASK_TYPES, *PAPER_NAMES.values()])
def test_a_type_of_task_can_be_chosen_by_both_names(name):
    env = make(task_types=[name])
    kinds = {env.tasks[index].kind for index in range(12)}
    assert len(kinds) == 1
    assert name in {*kinds, *map(PAPER_NAMES.get, kinds)}


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"task_types": "Bake"}, "unknown task type 'Bake'"),
        ({"task_types": []}, "at least one of"),
        ({"engine": "unity"}, "engine must be one of 'compiled', 'textworld'"),
        ({"goal": "poetic"}, "goal must be one of 'template', 'human'"),
        ({"goal": "human"}, "no goals in people's words"),
        ({"room_size": "vast"}, "unknown room size"),
        ({"split": "dev"}, "unknown split"),
    ],
)
def test_a_wrong_argument_says_what_is_right(kwargs, message):
    with pytest.raises(ConfigError, match=message):
        make(**kwargs)


def test_a_game_is_compiled_once_for_all_environments():
    tasks = household.tasks("train", size=600, room_size="small")
    first = shared_game(tasks[0], tasks[0].digest())
    assert shared_game(tasks[0], tasks[0].digest()) is first
    for index in range(1, 600):
        shared_game(tasks[index], tasks[index].digest())
    assert shared_game(tasks[0], tasks[0].digest()) is not first


def test_the_bench_names_the_types_as_the_papers_do(tmp_path):
    config = BenchConfig((ID,), ("expert", "random"), tmp_path, source="world", episodes=30)
    results = run(config, on_plan=lambda total, done: None, on_episode=lambda trajectory: None)
    assert list(results["rows"][0]["kinds"]) == ["Pick", "Look", "Clean", "Heat", "Cool", "Pick2"]
    said = "".join(str(part) for part in table(results).renderables)
    assert "expert by kind: Pick 1.000 (" in said
    assert "All 1.000 (30)" in said
    assert "expert means: progress 1.000" in said
    assert "random by kind" not in said
    assert "random means" not in said


def test_panels_of_types_are_parts_of_the_split():
    whole = make().tasks
    parts = [make(task_types=kind).tasks for kind in TASK_TYPES]
    hashes = {panel_hash(tasks[index] for index in range(20)) for tasks in (whole, *parts)}
    assert len(hashes) == 7


@given(st.lists(st.text(max_size=60), max_size=6))
def test_any_text_is_an_action(texts):
    for env in ENVS:
        env.reset(options={"index": 0})
        for text in texts:
            for action in (text, say(env, text) if text.strip() else text):
                observation, reward, *_ = env.step(action)
                assert env.observation_space.contains(observation)
                assert reward <= 0


def odd_text(rng):
    return "".join(chr(rng.choice((rng.randrange(32, 127), rng.randrange(0x110000)))) for _ in range(rng.randrange(30)))


@pytest.mark.slow
def test_a_hundred_thousand_odd_actions_never_raise():
    env = make()
    rng = random.Random(0)
    _, info = env.reset(seed=0)
    for _ in range(100_000):
        right = say(env, rng.choice(info["available_actions"]))
        at = rng.randrange(len(right))
        text = rng.choice((odd_text(rng), say(env, odd_text(rng)), right, right[:at] + odd_text(rng) + right[at:]))
        *_, info = env.step(text)
        if env.over:
            _, info = env.reset()


ENVS = [make(), make(protocol="gigpo"), make(protocol="react")]


@pytest.mark.real
@pytest.mark.parametrize(
    ("split", "counts", "panel"),
    [
        ("valid_seen", [35, 13, 27, 16, 25, 24], "8c6e68c2ff78c634b5efd4fac5e60417233d455c9508a50e90520c4242218ebc"),
        ("valid_unseen", [24, 18, 31, 23, 21, 17], "39f34010d01d08db217e17bf53f5141be436cf8bf5d1c865cdf8ca8a221540e0"),
    ],
    ids=["valid_seen", "valid_unseen"],
)
def test_the_expert_wins_every_official_game_of_the_frozen_panels(
    installed, monkeypatch, tmp_path, split, counts, panel
):
    monkeypatch.setenv("AGENTGYM_R1_HOME", str(installed))
    config = BenchConfig((ID,), ("expert",), tmp_path, source="real", split=split)
    results = run(config, on_plan=lambda total, done: None, on_episode=lambda trajectory: None)
    (row,) = results["rows"]
    assert (row["episodes"], row["success"], row["errors"]) == (sum(counts), 1.0, 0)
    assert [(kind["episodes"], kind["success"]) for kind in row["kinds"].values()] == [(count, 1.0) for count in counts]
    assert results["panel"][ID] == panel


@pytest.mark.real
@pytest.mark.parametrize("split", ["train", "valid_seen", "valid_unseen"])
def test_the_expert_wins_official_games_from_anywhere(installed, monkeypatch, split):
    monkeypatch.setenv("AGENTGYM_R1_HOME", str(installed))
    env = make(source="real", room_size=None, split=split, max_steps=60)
    wins = 0
    for seed in range(60):
        env.reset(seed=seed)
        wander(env, random.Random(seed), 30)
        while not env.over:
            action = env.expert()
            env.step(action)
        wins += env.potential() == 1.0
        assert env.potential() == 1.0 or action == say(env, "look")  # what is in hand fits nowhere
    assert wins > 50


@pytest.mark.real
def test_human_goals_are_what_the_prompt_says(installed, monkeypatch):
    monkeypatch.setenv("AGENTGYM_R1_HOME", str(installed))
    env = make(source="real", room_size=None, goal="human", task_types=["Heat"])
    observation, info = env.reset(options={"index": 0})
    told = env.task.gold.annotations[0].rstrip(". ")
    assert f"Task: {told}." in observation
    assert info["feedback"].endswith(f"Your task is to: {told}.")
    assert (len(env.tasks), env.task.kind) == (16, "pick_heat_then_place_in_recep")


@pytest.mark.real
def test_the_knobs_of_the_world_do_not_fit_the_official_games(installed, monkeypatch):
    monkeypatch.setenv("AGENTGYM_R1_HOME", str(installed))
    with pytest.raises(ConfigError, match="distractors shape the household world: add source='world'"):
        make(source="real", room_size=None, distractors=3)


@pytest.mark.textworld
@pytest.mark.usefixtures("textworld_here")
@pytest.mark.slow
def test_both_engines_make_the_same_environment():
    envs = [make(engine=engine, split="train", context="window") for engine in ("compiled", "textworld")]
    rng = random.Random(0)
    for index in range(2):
        starts = [env.reset(options={"index": index}) for env in envs]
        assert starts[0] == starts[1]
        for _ in range(12):
            commands = [*envs[0].last()[1]["available_actions"], "dance"]
            action = envs[0].expert() if rng.random() < 0.3 else say(envs[0], rng.choice(commands))
            steps = [env.step(action) for env in envs]
            assert steps[0] == steps[1]
            assert envs[0].expert() == envs[1].expert()
            if envs[0].over:
                break
    for env in envs:
        env.close()


@pytest.mark.textworld
@pytest.mark.usefixtures("textworld_here")
def test_the_original_engine_starts_over_comes_back_and_is_ended():
    env = make(engine="textworld")
    first, _ = env.reset(options={"index": 0})
    env.step(env.expert())
    saved = env.snapshot()
    expected = env.step(env.expert())
    env.restore(saved)
    assert env.step(env.expert()) == expected
    copy = pickle.loads(pickle.dumps(env))
    assert copy.last() == env.last()
    copy.close()
    assert env.reset(options={"index": 0})[0] == first
    env.close()
    env.close()
    assert env.reset(options={"index": 0})[0] == first
    env.close()


def test_an_environment_in_the_middle_of_an_episode_takes_less_than_50_kilobytes():
    count = 128

    def play(split):
        envs = gym.make_vec(
            ID, num_envs=count, vectorization_mode="vector_entry_point", source="world", room_size="large", split=split
        )
        envs.reset(seed=0)
        for _ in range(10):
            envs.step(('<tool_call>{"name": "env_step", "arguments": {"command": "look"}}</tool_call>',) * count)
        return envs

    play("valid_unseen").close()  # what is made once
    gc.collect()
    tracemalloc.start()
    envs = play("train")
    gc.collect()
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    envs.close()
    assert held / count < 50_000
