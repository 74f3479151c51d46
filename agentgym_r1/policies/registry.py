"""Policies by name, as the command line spells them."""

import importlib
import os
from collections.abc import Mapping
from pathlib import Path

from agentgym_r1.errors import ConfigError, unknown_name
from agentgym_r1.policies.exploits import EXPLOITS
from agentgym_r1.policies.scripted import ExpertPolicy, RandomPolicy, ScriptedPolicy
from agentgym_r1.policies.search_once import SearchOncePolicy
from agentgym_r1.registration import Entry
from agentgym_r1.types import Policy

ENGINE_VARIABLE = "AGENTGYM_R1_ENGINE"
MODEL_POLICIES = ("tool_calling", "react")
BASELINES = {SearchOncePolicy.name: SearchOncePolicy()}
_WITHOUT_MODEL: Mapping[str, Policy] = {"random": RandomPolicy(), "expert": ExpertPolicy(), **BASELINES, **EXPLOITS}
BUILTIN = tuple(_WITHOUT_MODEL)


def is_model_policy(spec: str) -> bool:
    """Return whether ``spec`` names a policy over a language model."""
    return spec.partition("@")[0] in MODEL_POLICIES


def default_policies(entry: Entry | None) -> tuple[str, ...]:
    """Return what a benchmark of an environment runs by default.

    These are random, expert, the baselines and exploits that fit it, and tool_calling when an engine is configured.

    Args:
        entry: of an environment of the suite; None for one of your own, which no baseline or exploit is known to fit.
    """
    engine = ("tool_calling",) if os.environ.get(ENGINE_VARIABLE) else ()
    fitting = (*entry.baselines, *entry.exploits) if entry else ()
    return ("random", "expert", *fitting, *engine)


def check_fits(spec: str, entry: Entry | None) -> None:
    """Raise ConfigError for a baseline or an exploit that means nothing in an environment; see default_policies."""
    if entry is None:
        return
    if spec in EXPLOITS and spec not in entry.exploits:
        raise ConfigError(f"{spec} does not fit {entry.id}, whose exploits are {', '.join(entry.exploits) or 'none'}")
    if spec in BASELINES and spec not in entry.baselines:
        raise ConfigError(f"{spec} does not fit {entry.id}, whose baselines are {', '.join(entry.baselines) or 'none'}")


def make_policy(spec: str, *, max_tokens: int = 512, temperature: float = 0.0) -> Policy:
    """Return the policy that ``spec`` names.

    Args:
        spec: ``random``, ``expert``, ``bm25``, ``exploit-NAME``, ``scripted:FILE`` (one action a line),
            ``MODULE:NAME`` (a policy of your own: a class, or a function that makes one, called without arguments), or
            ``tool_calling`` and ``react``, followed by ``@ENGINE`` or with $AGENTGYM_R1_ENGINE set (see
            policies.engines.spec).
        max_tokens: most tokens of a language model's response.
        temperature: of a language model's sampling; 0 is greedy.

    Raises:
        ConfigError: unknown name, unreadable script, no such module or name, or a model policy without an engine.
    """
    name, _, engine = spec.partition("@")
    if name in MODEL_POLICIES:
        return _model_policy(name, engine or os.environ.get(ENGINE_VARIABLE, ""), max_tokens, temperature)
    if name.startswith("scripted:"):
        return _scripted(Path(name.removeprefix("scripted:")))
    if name in _WITHOUT_MODEL:
        return _WITHOUT_MODEL[name]
    if ":" in name:
        return _own(name)
    raise unknown_name(
        "policy", spec, [*BUILTIN, "scripted:FILE", "MODULE:NAME", *(f"{model}@ENGINE" for model in MODEL_POLICIES)]
    )


def _scripted(path: Path) -> Policy:
    try:
        return ScriptedPolicy(path.read_text(encoding="utf-8").splitlines())
    except OSError as err:
        raise ConfigError(f"cannot read the script {path}: {err.strerror or err}") from err


def _own(spec: str) -> Policy:
    """Return the policy that ``MODULE:NAME`` makes."""
    module, _, name = spec.partition(":")
    try:
        make = getattr(importlib.import_module(module), name)
    except (ImportError, ValueError, AttributeError) as err:
        raise ConfigError(f"cannot import the policy {spec}: {err}; is its folder on PYTHONPATH?") from err
    policy = make()
    if not callable(getattr(policy, "begin", None)) or not isinstance(getattr(policy, "name", None), str):
        raise ConfigError(
            f"{spec} makes a {type(policy).__name__}, expected a Policy: a name, and begin(env, seed=...)"
        )
    found: Policy = policy
    return found


def _model_policy(name: str, engine: str, max_tokens: int, temperature: float) -> Policy:
    if not engine:
        raise ConfigError(
            f"{name} needs a language model: {name}@http://127.0.0.1:8000/v1#MODEL or {name}@hf:smollm2, "
            f"or set {ENGINE_VARIABLE}"
        )
    from agentgym_r1.policies.engines.base import Sampling
    from agentgym_r1.policies.engines.spec import engine_from_spec
    from agentgym_r1.policies.lm import ReActPolicy, ToolCallingPolicy

    sampling = Sampling(max_tokens=max_tokens, temperature=temperature)
    kind = ToolCallingPolicy if name == "tool_calling" else ReActPolicy
    return kind(engine_from_spec(engine), sampling=sampling)
