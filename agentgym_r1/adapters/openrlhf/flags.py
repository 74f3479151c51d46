"""OpenRLHF's own command line, read from its source: flags are checked in milliseconds, without importing torch.

The parser and the checks after it sit under ``__main__`` of openrlhf/cli/train_ppo_ray.py, train_sft.py and
train_dpo.py. That block is run here without its imports and without its last call, which would train.
"""

import argparse
import ast
import contextlib
import importlib.util
import os
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NoReturn

from agentgym_r1.errors import ConfigError, MissingExtra


class _Given(argparse.ArgumentParser):
    """A parser that reads given flags instead of the process's, with its usage errors as ConfigError."""

    def __init__(self, flags: Sequence[str]) -> None:
        super().__init__()
        self._flags = list(flags)

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        return super().parse_args(self._flags, namespace)

    def error(self, message: str) -> NoReturn:
        raise ConfigError(f"OpenRLHF does not take these flags: {message}")


def resolve_flags(flags: Sequence[str], *, command: str = "train_ppo_ray") -> Any:
    """Return the arguments of an OpenRLHF command, a nested namespace, after its own parser and checks.

    Raises:
        ConfigError: a flag is unknown, has a wrong value, or a check fails.
        MissingExtra: OpenRLHF is not installed.
    """
    folder = openrlhf_folder()
    tree = ast.parse((folder / "cli" / f"{command}.py").read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    body = [node for node in block.body if not isinstance(node, ast.ImportFrom) and not _is_call_of(node, "train")]
    module = ast.fix_missing_locations(ast.Module(body, type_ignores=[]))
    names = {
        "argparse": argparse.Namespace(ArgumentParser=lambda: _Given(flags)),
        "os": os,
        "datetime": datetime,
        "hierarchize": _load(folder / "utils" / "config.py").hierarchize,
    }
    try:
        with contextlib.redirect_stdout(sys.stderr):  # its recommendations
            exec(compile(module, command, "exec"), names)  # noqa: S102 - OpenRLHF's source, as the run executes it
    except AssertionError as err:
        raise ConfigError(f"OpenRLHF does not take these flags: {err}") from err
    return names["args"]


def openrlhf_folder() -> Path:
    """Return the folder of the installed OpenRLHF, without importing it.

    Raises:
        MissingExtra: it is not installed.
    """
    spec = importlib.util.find_spec("openrlhf")
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtra("openrlhf is not installed: make train-env, then .venv-train/bin/agentgym-r1 train ppo ...")
    return Path(spec.submodule_search_locations[0])


def _is_call_of(node: ast.stmt, name: str) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Call)
        and isinstance(node.value.func, ast.Name)
        and node.value.func.id == name
    )


def _load(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
