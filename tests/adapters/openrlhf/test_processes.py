"""A trainer ends with the command that started it."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agentgym_r1.adapters.openrlhf.processes import run_to_end

ROOT = Path(__file__).resolve().parents[3]
TRAINER = """
import os, pathlib, signal, sys, time
path = pathlib.Path(sys.argv[1])
signal.signal(signal.SIGTERM, lambda *_: (path.with_suffix(".ended").touch(), os._exit(0)))
path.with_suffix(".tmp").write_text(str(os.getpid()))
path.with_suffix(".tmp").rename(path)
time.sleep(120)
"""
COMMAND = """
import sys
from agentgym_r1.adapters.openrlhf.processes import run_to_end
run_to_end([sys.executable, "-c", sys.argv[1], sys.argv[2]], {})
"""


def wait_for(path: Path) -> None:
    until = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < until, f"{path.name} was never written"
        time.sleep(0.02)


def test_the_exit_code_the_variables_and_the_messages_are_the_commands(tmp_path: Path) -> None:
    say = "import os, sys; print(os.environ['MARK'], flush=True); print('oh', file=sys.stderr); sys.exit(7)"
    with (tmp_path / "log.txt").open("wb") as log:
        assert run_to_end([sys.executable, "-c", say], {"MARK": "up"}, output=log) == 7
    assert (tmp_path / "log.txt").read_text().split() == ["up", "oh"]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not tell a process that its parent ended")
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
def test_a_trainer_is_told_to_end_when_its_command_is_killed(tmp_path: Path, end: signal.Signals) -> None:
    path = tmp_path / "pid"
    with subprocess.Popen([sys.executable, "-c", COMMAND, TRAINER, str(path)], cwd=ROOT) as command:
        wait_for(path)
        command.send_signal(end)
    wait_for(path.with_suffix(".ended"))
