"""FreeText in Gymnasium's spaces machinery and vector environments."""

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv
from gymnasium.vector.utils import create_shared_memory, read_from_shared_memory, write_to_shared_memory
from hypothesis import given
from hypothesis import strategies as st

from agentgym_r1.errors import ConfigError
from agentgym_r1.spaces import FreeText

TEXTS = ("", "plain", "ümläut 語 🙂", "tab\t and \x00 nul\n", "\ud800 lone", "x" * 500)


class Echo(gym.Env[str, str]):
    """Answers with the action; starts with a text that depends on the seed."""

    observation_space = FreeText(1000)
    action_space = FreeText(1000)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        super().reset(seed=seed)
        return f"Größe {self.np_random.integers(100)} 🙂", {}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        return action, 0.0, False, False, {}


def test_any_text_is_contained_and_other_types_are_not() -> None:
    space = FreeText(500)
    assert all(space.contains(text) for text in TEXTS)
    assert not space.contains("x" * 501)
    assert not space.contains(b"bytes")
    assert not space.contains(None)


def test_samples_are_contained_and_follow_the_seed() -> None:
    one, two = FreeText(seed=3), FreeText(seed=3)
    samples = [one.sample() for _ in range(50)]
    assert samples == [two.sample() for _ in range(50)]
    assert len(set(samples)) > 40
    assert all(one.contains(sample) for sample in samples)


def test_masks_are_refused_with_a_reason() -> None:
    with pytest.raises(ConfigError, match="neither mask"):
        FreeText().sample(mask=np.ones(1))  # type: ignore[arg-type]


def test_a_space_of_no_length_is_refused() -> None:
    with pytest.raises(ConfigError, match="at least 1, got 0"):
        FreeText(0)


@pytest.mark.parametrize("shared_memory", [True, False])
def test_unicode_survives_async_vector_environments(shared_memory: bool) -> None:
    envs = AsyncVectorEnv([Echo] * 3, shared_memory=shared_memory)
    try:
        first, _ = envs.reset(seed=1)
        assert all(text.startswith("Größe") for text in first)
        actions = ("", "a\tb 語", "🙂" * 200)
        observations, *_ = envs.step(actions)
        assert tuple(observations) == actions
    finally:
        envs.close()


def test_unicode_survives_sync_vector_environments() -> None:
    envs = SyncVectorEnv([Echo] * 2)
    envs.reset(seed=1)
    observations, *_ = envs.step(("\x00", "語 "))
    assert tuple(observations) == ("\x00", "語 ")


@given(st.lists(st.text(max_size=40), min_size=1, max_size=4))
def test_shared_memory_returns_what_was_written(texts: list[str]) -> None:
    space = FreeText(40)
    memory = create_shared_memory(space, n=len(texts))
    for index, text in enumerate(texts):
        write_to_shared_memory(space, index, text, memory)
    assert tuple(read_from_shared_memory(space, memory, n=len(texts))) == tuple(texts)


def test_shared_memory_refuses_a_text_that_is_too_long() -> None:
    space = FreeText(4)
    with pytest.raises(ConfigError, match="5 characters and the space holds 4"):
        write_to_shared_memory(space, 0, "12345", create_shared_memory(space))
