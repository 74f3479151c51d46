"""Protocol presets: what a published number's protocol sets at once, per family of environments.

Sources: Agent-R1 (arXiv 2511.14460) and its recipes, Search-R1 (arXiv 2503.09516), GiGPO (arXiv 2505.10978), ReAct
(arXiv 2210.03629), GLAM (arXiv 2302.02662). A keyword given to gym.make after ``protocol`` overrides the preset.
"""

from collections.abc import Mapping
from dataclasses import fields
from types import MappingProxyType
from typing import Any

from agentgym_r1.errors import ConfigError, unknown_name
from agentgym_r1.text_env import Options

DEFAULT_PROTOCOL = "agent-r1"

_QA: Mapping[str, Mapping[str, Any]] = {
    "agent-r1": {"action_format": "hermes", "context": "state", "max_steps": 5, "k": 5, "first_search": True},
    "search-r1": {
        "action_format": "tags",
        "context": "append",
        "max_steps": 4,
        "k": 3,
        "feedback_tokens": 500,
        "forced_answer": True,
    },
    "gigpo": {"action_format": "tags", "context": "window", "context_turns": 4, "max_steps": 4, "k": 3},
    "react": {"action_format": "react", "context": "append", "max_steps": 7, "k": 1, "lookup": True},
}
_GSM8K: Mapping[str, Mapping[str, Any]] = {
    "agent-r1": {"action_format": "hermes", "context": "append", "max_steps": 5},
    "react": {"action_format": "react", "context": "append", "max_steps": 5},
}
_WEBSHOP: Mapping[str, Mapping[str, Any]] = {
    "agent-r1": {"action_format": "hermes", "context": "state", "max_steps": 15},
    "gigpo": {
        "action_format": "action_tags",
        "context": "window",
        "context_turns": 2,
        "max_steps": 15,
        "outcome": "success",
        "success_reward": 10.0,
        "invalid_penalty": -0.1,
    },
    "react": {"action_format": "plain", "context": "append", "max_steps": 15},
}
_ALFWORLD: Mapping[str, Mapping[str, Any]] = {
    "agent-r1": {"action_format": "hermes", "context": "state", "max_steps": 50, "split": "valid_seen"},
    "gigpo": {
        "action_format": "action_tags",
        "context": "window",
        "context_turns": 2,
        "max_steps": 50,
        "success_reward": 10.0,
        "invalid_penalty": -0.1,
        "split": "valid_seen",
    },
    "react": {
        "action_format": "plain",
        "context": "append",
        "max_steps": 50,
        "list_commands": False,
        "split": "valid_unseen",
    },
}
"""Agent-R1 trains with max_steps=20."""
_PAPER_SEARCH: Mapping[str, Mapping[str, Any]] = {
    "agent-r1": {"action_format": "hermes", "context": "state", "max_steps": 5, "k": 10},
    "retrieval": {"action_format": "hermes", "context": "state", "max_steps": 5, "k": 100},
}
"""``retrieval`` is what retrieval benchmarks measure: a ranking of 100 papers for one query."""
_MINIGRID: Mapping[str, Mapping[str, Any]] = {
    "agent-r1": {"action_format": "hermes", "context": "state", "max_steps": 64},
    "glam": {"action_format": "plain", "context": "window", "context_turns": 3, "max_steps": 64},
}

PRESETS: Mapping[str, Mapping[str, Mapping[str, Any]]] = MappingProxyType(
    {
        "qa": _QA,
        "gsm8k": _GSM8K,
        "webshop": _WEBSHOP,
        "alfworld": _ALFWORLD,
        "paper_search": _PAPER_SEARCH,
        "minigrid": _MINIGRID,
    }
)


def protocols(family: str) -> tuple[str, ...]:
    """Return the protocols a family of environments has, the default first."""
    return tuple(PRESETS[family])


def resolve(family: str, protocol: str, overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keyword arguments of a preset with the caller's overrides on top.

    Raises:
        ConfigError: the family has no such protocol.
    """
    if protocol not in PRESETS[family]:
        raise unknown_name(f"protocol of the {family} environments", protocol, PRESETS[family])
    return {**PRESETS[family][protocol], **overrides}


def evaluation_split(family: str, protocol: str) -> str | None:
    """Return the split a protocol evaluates on, None where it names none; raise ConfigError as ``resolve`` does."""
    split: str | None = resolve(family, protocol, {}).get("split")
    return split


def split_options(chosen: Mapping[str, Any], *, own: Mapping[str, Any]) -> tuple[Options, dict[str, Any]]:
    """Divide keyword arguments into Options and the environment's own, which start from the defaults in ``own``.

    Raises:
        ConfigError: a keyword is neither.
    """
    shared = {field.name for field in fields(Options)}
    unknown = sorted(set(chosen) - shared - set(own))
    if unknown:
        raise unknown_name("argument of this environment", unknown[0], {*shared, *own, "split", "source", "protocol"})
    mine = {**own, **{key: value for key, value in chosen.items() if key in own}}
    return Options(**{key: value for key, value in chosen.items() if key in shared}), mine


def check_choice(name: str, value: Any, known: tuple[Any, ...]) -> None:
    """Raise ConfigError when an argument is not one of the known values."""
    if value not in known:
        raise ConfigError(f"{name} must be one of {', '.join(map(repr, known))}, got {value!r}")
