"""The process that runs TextWorld: JSON lines in, JSON lines out; imports nothing of this library.

The first line it reads is a game file's ``pddl_domain``, ``grammar`` and ``pddl_problem``; then each line is a command,
or null to start the game over. It answers ``{"text", "won", "admissible"}``, or ``{"error"}`` and ends. It also ends
when its input does.
"""

import json
import os
import sys
from collections.abc import Mapping
from typing import Any


def _load(game: Mapping[str, str]) -> Any:
    import textworld
    from alfworld.agents.environment.alfred_tw_env import AlfredDemangler
    from textworld.envs import PddlEnv

    env = AlfredDemangler(PddlEnv(textworld.EnvInfos(won=True, admissible_commands=True)))
    env.load(game)
    return env


def _answer(env: Any, command: str | None) -> dict[str, Any]:
    state = env.reset() if command is None else env.step(command)[0]
    return {"text": state.feedback, "won": bool(state["won"]), "admissible": state["admissible_commands"]}


def main() -> None:
    """Serve one game on standard input and output."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what the libraries print must not reach the answers
    try:
        env = _load(json.loads(sys.stdin.readline()))
        for line in sys.stdin:
            print(json.dumps(_answer(env, json.loads(line))), file=answers, flush=True)
    except Exception as err:
        print(json.dumps({"error": f"{type(err).__name__}: {err}"}), file=answers, flush=True)
        raise


if __name__ == "__main__":
    main()
