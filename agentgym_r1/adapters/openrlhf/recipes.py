"""Recipes: a YAML file with the options of ``train ppo`` and, under ``openrlhf``, OpenRLHF's flags."""

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from agentgym_r1.adapters.openrlhf.advantages import ALGORITHMS, DISTILLATION
from agentgym_r1.adapters.openrlhf.launch import Launch
from agentgym_r1.adapters.openrlhf.plan import UNITS
from agentgym_r1.adapters.openrlhf.spec import RunSpec
from agentgym_r1.errors import ConfigError, require, unknown_name
from agentgym_r1.registration import ENTRIES

_SPEC = {f.name for f in fields(RunSpec)} - {"env_kwargs", "eval_kwargs"}
_LAUNCH = {"model", "device", "tasks", "eval_tasks", "eval_every", "ray"}
_SPLITS = {"split", "eval_split"}
OPTIONS = _SPEC | _LAUNCH | _SPLITS | {"env_args", "openrlhf"}


def read_recipe(path: Path) -> dict[str, Any]:
    """Return the options of a recipe.

    Raises:
        ConfigError: the file cannot be read, is no mapping, or has an unknown option.
    """
    yaml = require("yaml", "openrlhf")
    try:
        options = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as err:
        raise ConfigError(f"cannot read the recipe {path}: {err.strerror or err}") from err
    except yaml.YAMLError as err:
        raise ConfigError(f"the recipe {path} is not YAML: {' '.join(str(err).split())}") from err
    if not isinstance(options, dict):
        raise ConfigError(f"the recipe {path} must be a mapping of options, got {type(options).__name__}")
    for name in options:
        if name not in OPTIONS:
            raise unknown_name("option of a recipe", str(name), OPTIONS)
    return options


def build_launch(
    recipe: Path | None, given: Mapping[str, Any], *, env_args: Mapping[str, Any], extra: tuple[str, ...] = ()
) -> Launch:
    """Return the run of a recipe with the options given on the command line on top.

    Raises:
        ConfigError: no environment or model, or an unknown algorithm, unit or device.
    """
    options = {**(read_recipe(recipe) if recipe is not None else {}), **given}
    for name in ("env", "model"):
        if not options.get(name):
            raise ConfigError(f"a run needs --{name}, or a recipe that names it")
    for name, known in (("algorithm", ALGORITHMS), ("unit", UNITS), ("device", ("gpu", "cpu"))):
        if name in options and options[name] not in known:
            raise unknown_name(name, str(options[name]), known)
    if (options.get("algorithm") == DISTILLATION) != bool(options.get("teacher")):
        raise ConfigError("distillation takes both: --algorithm distill and --teacher MODEL")
    arguments = {**options.get("env_args", {}), **env_args}
    default = {entry.id: entry.split for entry in ENTRIES}.get(options["env"], "test")
    spec = RunSpec(
        **{name: options[name] for name in _SPEC & options.keys() - {"out"}},
        out=str(Path(options["out"]).absolute()),
        env_kwargs={"split": options.get("split", "train"), **arguments},
        eval_kwargs={**arguments, "split": options.get("eval_split", default)},
    )
    own = {name: options[name] for name in _LAUNCH & options.keys()}
    return Launch(spec=spec, flags=options.get("openrlhf", {}), extra=extra, **own)
