"""The README's quickstart runs as it stands."""

import re
from pathlib import Path

README = Path(__file__).resolve().parents[1] / "README.md"


def test_the_quickstart_runs(capsys: object) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert 10 <= len([line for line in code.splitlines() if line.strip()]) <= 20
    scope: dict[str, object] = {}
    exec(compile(code, str(README), "exec"), scope)
    trajectory = scope["trajectory"]
    assert trajectory.success  # type: ignore[attr-defined]
    assert len(scope["rewards"]) == 64  # type: ignore[arg-type]
