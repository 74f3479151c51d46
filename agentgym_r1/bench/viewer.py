"""A web viewer of a benchmark run: its table, its episodes, and each episode step by step as the policy saw it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from agentgym_r1.errors import DataError, require
from agentgym_r1.trajectories import decode
from agentgym_r1.types import Trajectory

PAGE_ROWS = 100


@dataclass(frozen=True, slots=True)
class EpisodeLine:
    """Where an episode stands in the file, and what its row in the list shows."""

    number: int
    offset: int
    length: int
    env: str
    policy: str
    task: str
    steps: int
    episode_return: float
    outcome: str


class RunFolder:
    """A run as ``agentgym-r1 bench`` writes it, indexed once; episodes are read when they are asked for.

    Raises:
        DataError: the folder holds no trajectories.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._journal = folder / "trajectories.jsonl"
        if not self._journal.is_file():
            raise DataError(f"{folder} holds no trajectories.jsonl: give a folder that `agentgym-r1 bench --out` wrote")
        results = folder / "results.json"
        self.results: Mapping[str, Any] = msgspec.json.decode(results.read_bytes()) if results.is_file() else {}
        self.episodes = tuple(self._index())

    def episode(self, number: int) -> Trajectory | None:
        """Return an episode by its number in the file, or None when there is none."""
        if not 0 <= number < len(self.episodes):
            return None
        line = self.episodes[number]
        with self._journal.open("rb") as file:
            file.seek(line.offset)
            return decode(file.read(line.length), where=f"{self._journal}:{number + 1}")

    def select(self, *, env: str = "", policy: str = "", outcome: str = "") -> list[EpisodeLine]:
        """Return the episodes of an environment and a policy (all when empty) that are won, lost or broken."""
        return [
            line
            for line in self.episodes
            if env in {"", line.env} and policy in {"", line.policy} and outcome in {"", line.outcome}
        ]

    def _index(self) -> list[EpisodeLine]:
        found, offset = [], 0
        with self._journal.open("rb") as file:
            for number, line in enumerate(file):
                if not line.endswith(b"\n"):
                    break
                trajectory = decode(line, where=f"{self._journal}:{number + 1}")
                found.append(_line(number, offset, len(line), trajectory))
                offset += len(line)
        return found


def create_app(folder: Path) -> Any:
    """Return the ASGI application that shows a run.

    Raises:
        DataError: see RunFolder.
        MissingExtra: starlette or jinja2 is not installed.
    """
    require("starlette", "viewer")
    require("jinja2", "viewer")
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import HTMLResponse
    from starlette.routing import Route

    run = RunFolder(folder)
    pages = Environment(
        loader=PackageLoader("agentgym_r1.bench", "pages"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )

    def render(page: str, *, status: int = 200, **values: Any) -> HTMLResponse:
        return HTMLResponse(pages.get_template(page).render(folder=folder.name, **values), status_code=status)

    async def overview(request: Request) -> HTMLResponse:
        chosen = {name: request.query_params.get(name, "") for name in ("env", "policy", "outcome")}
        episodes = run.select(**chosen)
        rows = run.results.get("rows", [])
        return render("overview.html", rows=rows, chosen=chosen, count=len(episodes), episodes=episodes[:PAGE_ROWS])

    async def episode(request: Request) -> HTMLResponse:
        number = int(request.path_params["number"])
        trajectory = run.episode(number)
        if trajectory is None:
            return render("missing.html", status=404, number=number, count=len(run.episodes))
        return render("episode.html", t=trajectory, number=number, last=len(run.episodes) - 1)

    return Starlette(routes=[Route("/", overview), Route("/episode/{number:int}", episode)])


def _line(number: int, offset: int, length: int, trajectory: Trajectory) -> EpisodeLine:
    return EpisodeLine(
        number=number,
        offset=offset,
        length=length,
        env=trajectory.env_id,
        policy=trajectory.policy,
        task=trajectory.task_id,
        steps=len(trajectory.transitions),
        episode_return=trajectory.episode_return,
        outcome="broken" if trajectory.error else "won" if trajectory.success else "lost",
    )
