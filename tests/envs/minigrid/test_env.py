"""The environment of levels: moves, feedback, reward and limits."""

import gymnasium as gym
import pytest

import agentgym_r1  # noqa: F401 - registers the environments
from agentgym_r1.envs.minigrid.env import MiniGridEnv
from agentgym_r1.envs.minigrid.level import MOVES
from agentgym_r1.types import ToolCall

pytest.importorskip("minigrid", reason="needs minigrid: pip install 'agentgym-r1[minigrid]'")
ID = "AgentR1/MiniGrid-v0"


def make(**kwargs: object) -> MiniGridEnv:
    env = gym.make(ID, **{"level": "MiniGrid-Empty-5x5-v0", **kwargs}).unwrapped
    assert isinstance(env, MiniGridEnv)
    return env


def say(env: MiniGridEnv, *moves: str) -> str:
    return env.format.call(*[ToolCall("env_step", {"command": move}) for move in moves])


def test_the_prompt_holds_the_mission_and_what_is_seen() -> None:
    observation, info = make().reset(seed=0)
    assert "Mission: get to the green goal square" in observation
    assert "- a green goal 2 steps ahead and 2 steps to the right" in observation
    assert info["available_actions"] == list(MOVES)
    assert (info["task"]["kind"], info["task"]["set"]) == ("MiniGrid-Empty-5x5-v0", "minigrid")


def test_observations_are_equal_for_a_seed() -> None:
    one, other = gym.make(ID), gym.make(ID)
    for seed in range(20):
        assert one.reset(seed=seed)[0] == other.reset(seed=seed)[0]


def test_a_win_pays_what_the_level_pays() -> None:
    env = make(success_reward=10.0)
    env.reset(seed=0)
    for move in ["go forward", "go forward", "turn right", "go forward"]:
        assert env.step(say(env, move))[1] == 0.0
    _, reward, terminated, _, info = env.step(say(env, "Go  FORWARD"))
    assert terminated
    assert (info["success"], info["score"]) == (True, 1.0)
    assert reward == pytest.approx(10 * (1 - 0.9 * 5 / 100))
    assert info["metrics"] == {"moves": 5.0, "level_reward": pytest.approx(0.955)}
    assert info["available_actions"] == []


def test_a_move_without_effect_says_so() -> None:
    env = make()
    env.reset(seed=0)
    *_, info = env.step(say(env, "drop"))
    assert info["feedback"].startswith("Nothing changes.\nYou face east")
    assert not info["valid_action"]
    assert info["events"] == {"nothing_changes": 1.0}


def test_an_unknown_move_is_answered_with_the_moves_and_does_not_count_for_the_level() -> None:
    env = make()
    env.reset(seed=0)
    *_, info = env.step(say(env, "jump"))
    assert "There is no move 'jump'. The moves are: turn left, turn right, go forward" in info["feedback"]
    assert not info["valid_action"]
    observation, *_, info = env.step(env.format.answer("x"))
    assert info["feedback"].startswith("No answer is needed, only moves.")
    assert "2. (no move)" in observation


def test_only_the_first_of_several_moves_is_made() -> None:
    env = make()
    env.reset(seed=0)
    *_, info = env.step(say(env, "turn left", "turn left"))
    assert info["feedback"].startswith("1 more calls were ignored: one a step.\nYou face north")


def test_the_levels_limit_ends_the_episode_when_it_comes_first() -> None:
    env = make(level="MiniGrid-MultiRoom-N2-S4-v0")
    env.reset(seed=0)
    steps = 0
    over = False
    while not over:
        _, reward, terminated, over, info = env.step(say(env, "turn left"))
        steps += 1
    assert (steps, terminated, reward, info["success"]) == (40, False, 0.0, False)
    assert make(max_steps=7).reset(seed=0)
    assert make().reset(seed=0)


def test_lava_ends_the_episode_without_a_win() -> None:
    env = make(level="MiniGrid-LavaGapS5-v0")
    starts = (env.reset(options={"index": index}) for index in range(20))
    assert any("- lava 1 step ahead\n" in observation for observation, _ in starts)
    _, reward, terminated, _, info = env.step(say(env, "go forward"))
    assert (terminated, reward, info["success"], info["score"]) == (True, 0.0, False, 0.0)


def test_a_snapshot_is_continued_move_by_move() -> None:
    env, other = make(level="BabyAI-UnlockLocal-v0"), make(level="BabyAI-UnlockLocal-v0")
    env.reset(seed=1)
    for _ in range(4):
        env.step(env.expert())
    saved = env.snapshot()
    other.reset(seed=2)
    other.restore(saved)
    assert other.last() == env.last()
    while not env.over:
        action = env.expert()
        assert other.expert() == action
        assert env.step(action)[:4] == other.step(action)[:4]


def test_several_levels_may_be_chosen() -> None:
    env = make(level=["BabyAI-GoToObj-v0", "BabyAI-OpenDoor-v0"], split="dev")
    assert len(env.tasks) == 100
    assert {env.reset(seed=seed)[1]["task"]["kind"] for seed in range(10)} == {
        "BabyAI-GoToObj-v0",
        "BabyAI-OpenDoor-v0",
    }


def test_in_the_glam_protocol_a_response_is_a_move() -> None:
    env = make(protocol="glam")
    env.reset(seed=0)
    *_, info = env.step("go forward")
    assert info["valid_action"]
