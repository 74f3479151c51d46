"""Run policies over environments on frozen panels, streamed to disk, resumable, the same for any number of workers.

A run folder holds ``config.json`` (what was asked, with the panels' hashes), ``trajectories.jsonl`` (appended as
episodes end, sorted when all have) and ``results.json`` (rows and comparisons). Where they are played: ``play``.
"""

import json
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import gymnasium as gym

from agentgym_r1.bench.panel import Panel, choose_panel
from agentgym_r1.bench.play import Cell, play
from agentgym_r1.bench.summary import Tally, compare, row
from agentgym_r1.envs.presets import DEFAULT_PROTOCOL, evaluation_split
from agentgym_r1.errors import ConfigError, DataError, unknown_name
from agentgym_r1.policies.registry import check_fits, default_policies, make_policy
from agentgym_r1.policies.scripted import text_env
from agentgym_r1.ray_pool import Pool
from agentgym_r1.registration import ENTRIES, Entry, make_env
from agentgym_r1.rollout import Episode, run_sync
from agentgym_r1.trajectories import TrajectoryWriter, read_trajectories
from agentgym_r1.types import Policy, Source, Trajectory

RESULTS_SCHEMA = 1
OnEpisode = Callable[[Trajectory], None]


@dataclass(frozen=True, slots=True)
class BenchConfig:
    """What to run.

    Attributes:
        envs: Gymnasium ids, or ``module:id`` of environments of your own.
        policies: policy specs (see policies.registry); none for the default ones of each environment.
        source: ``auto``, ``real`` or ``world``.
        split: a split of every environment, or None for each one's own evaluation split.
        protocol: a preset, or None for the default one.
        repeats: evaluations of each task.
        episodes: tasks of each panel, or None for the whole split.
        seed: chooses the panel's tasks and seeds the episodes.
        workers: processes or Ray actors, and episodes in flight for language models.
        max_tokens, temperature: how language models sample a response; temperature 0 is greedy.
        out: the run folder.
        resume: continue the run in ``out``.
        ray: address of a running Ray cluster whose actors hold the environments; empty for this machine alone.
        env_args: further keyword arguments of every environment.
    """

    envs: tuple[str, ...]
    policies: tuple[str, ...]
    out: Path
    source: Source = "auto"
    split: str | None = None
    protocol: str | None = None
    repeats: int = 1
    episodes: int | None = None
    seed: int = 0
    workers: int = 1
    max_tokens: int = 512
    temperature: float = 0.0
    resume: bool = False
    ray: str = ""
    env_args: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("repeats", "workers"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, got {getattr(self, name)}")
        if not self.envs:
            raise ConfigError("a benchmark needs at least one environment")
        for name in ("envs", "policies"):
            if len(set(getattr(self, name))) != len(getattr(self, name)):
                raise ConfigError(f"{name} are given twice: {', '.join(getattr(self, name))}")

    def policy(self, spec: str) -> Policy:
        """Return the policy of a spec; a language model is loaded once."""
        return _policy(spec, self.max_tokens, self.temperature)


@lru_cache(maxsize=32)
def _policy(spec: str, max_tokens: int, temperature: float) -> Policy:
    return make_policy(spec, max_tokens=max_tokens, temperature=temperature)


@dataclass(frozen=True, slots=True)
class CellPlan:
    """A cell with its panel, the labels of its row, and what the row calls the kinds of tasks."""

    cell: Cell
    panel: Panel
    labels: dict[str, Any]
    kind_names: Mapping[str, str]

    @property
    def names(self) -> tuple[str, str]:
        """The environment and the policy, as trajectories name them."""
        return self.labels["env"], self.labels["policy"]


Key = tuple[str, str, str, int]


def run(config: BenchConfig, *, on_plan: Callable[[int, int], None], on_episode: OnEpisode) -> dict[str, Any]:
    """Run the benchmark and return the results document.

    Args:
        config: what to run.
        on_plan: called once with the number of episodes in all and of those already done.
        on_episode: called after each finished episode.

    Raises:
        ConfigError: unknown names, or a resumed run was made with another configuration or other panels.
        DataError: the run folder cannot be used.
        MissingExtra: ``ray`` is given and Ray is not installed.
    """
    plans = plan(config)
    with Pool(config.ray, workers=config.workers) if config.ray else nullcontext() as pool:
        _open_folder(config, plans)
        journal = config.out / "trajectories.jsonl"
        finished = _finished(journal)
        total = sum(len(p.panel.task_ids) for p in plans) * config.repeats
        on_plan(total, len(finished))
        waiting = [(p, [e for e in _episodes(p, config) if _episode_key(p, e) not in finished]) for p in plans]
        work = [(p.cell, episodes) for p, episodes in waiting if episodes]
        with TrajectoryWriter(journal) as writer:
            for trajectory in play(work, config.policy, workers=config.workers, pool=pool):
                writer.write(trajectory)
                on_episode(trajectory)
    _sort_journal(journal, plans, config)
    results = summarise(config, plans, read_trajectories(journal))
    _write_json(config.out / "results.json", results)
    return results


def plan(config: BenchConfig) -> list[CellPlan]:
    """Resolve environments, policies and panels before anything is played, so that a wrong name fails at once."""
    plans = []
    entries = {env_id: _entry(env_id) for env_id in config.envs}
    specs = {env_id: config.policies or default_policies(entry) for env_id, entry in entries.items()}
    for spec in dict.fromkeys(spec for chosen in specs.values() for spec in chosen):
        if (engine := getattr(config.policy(spec), "engine", None)) is not None:
            run_sync(engine.check())
    for env_id, chosen in specs.items():
        panels: dict[tuple[str, str], Panel] = {}
        for spec in chosen:
            check_fits(spec, entries[env_id])
            policy = config.policy(spec)
            kwargs = _arguments(config, entries[env_id])
            kwargs |= {"action_format": policy.action_format} if hasattr(policy, "action_format") else {}
            kwargs |= config.env_args
            plans.append(_cell_plan(Cell(env_id, spec, tuple(sorted(kwargs.items()))), policy, config, panels))
    for (env_name, policy_name), count in Counter(part.names for part in plans).items():
        if count > 1:
            raise ConfigError(f"{policy_name} on {env_name} is asked for {count} times, under different names")
    return plans


def _entry(env_id: str) -> Entry | None:
    """Return the entry of an environment of the suite, None for one of your own."""
    known = {entry.id: entry for entry in ENTRIES}
    if env_id not in known and env_id not in gym.registry and ":" not in env_id:
        raise unknown_name("environment", env_id, known)
    return known.get(env_id)


def _arguments(config: BenchConfig, entry: Entry | None) -> dict[str, Any]:
    """Return what the options say of an environment; one of your own has its own defaults for what nobody asked."""
    protocol = {"protocol": config.protocol} if config.protocol else {}
    if entry is None:
        asked = {"source": "" if config.source == "auto" else config.source, "split": config.split}
        return {name: value for name, value in asked.items() if value} | protocol
    split = config.split or evaluation_split(entry.family, config.protocol or DEFAULT_PROTOCOL) or entry.split
    return {"source": config.source, "split": split} | protocol


def summarise(config: BenchConfig, plans: Sequence[CellPlan], trajectories: Iterator[Trajectory]) -> dict[str, Any]:
    """Return the results document of the trajectories of a run."""
    tallies = {p.names: Tally() for p in plans}
    for trajectory in trajectories:
        tallies[trajectory.env_id, trajectory.policy].add(trajectory)
    rows = [row(tallies[p.names], p.labels, kind_names=p.kind_names, seed=config.seed) for p in plans]
    comparisons = []
    for env_id in dict.fromkeys(p.labels["env"] for p in plans):
        own = {policy: tally for (env, policy), tally in tallies.items() if env == env_id}
        comparisons += compare(own, env_id, seed=config.seed)
    return {
        "schema": RESULTS_SCHEMA,
        "panel": {p.labels["env"]: p.panel.hash for p in plans},
        "rows": rows,
        "comparisons": comparisons,
    }


def _cell_plan(cell: Cell, policy: Policy, config: BenchConfig, panels: dict[tuple[str, str], Panel]) -> CellPlan:
    env = make_env(cell.env_id, **dict(cell.kwargs))
    try:
        kind_names, tasks = text_env(env).kind_names, text_env(env).tasks
        where = (tasks.split, tasks.source)
        if where not in panels:
            panels[where] = choose_panel(tasks, episodes=config.episodes, seed=config.seed)
        labels = {
            "env": env.spec.id if env.spec else cell.env_id,
            "policy": policy.name,
            "split": tasks.split,
            "source": tasks.source,
            "protocol": config.protocol or (DEFAULT_PROTOCOL if _entry(cell.env_id) else ""),
        }
    finally:
        env.close()
    return CellPlan(cell, panels[where], labels, kind_names)


def _episodes(part: CellPlan, config: BenchConfig) -> list[Episode]:
    return part.panel.episodes(seed=config.seed, repeats=config.repeats)


def _key(trajectory: Trajectory) -> Key:
    return trajectory.env_id, trajectory.policy, trajectory.task_id, trajectory.repeat


def _episode_key(part: CellPlan, episode: Episode) -> Key:
    return *part.names, episode.task_id, episode.repeat


def _finished(journal: Path) -> set[Key]:
    """Return what a run has played; broken episodes are taken out of its journal, to be played again."""
    if not journal.exists():
        return set()
    kept, broken = [], 0
    for trajectory in read_trajectories(journal, partial=True):
        kept.append((_key(trajectory), not trajectory.error))
        broken += bool(trajectory.error)
    if broken:
        lines = journal.read_bytes().splitlines(keepends=True)
        temporary = journal.with_suffix(".tmp")
        temporary.write_bytes(b"".join(line for line, (_, sound) in zip(lines, kept) if sound))
        temporary.replace(journal)
    return {key for key, sound in kept if sound}


def _open_folder(config: BenchConfig, plans: Sequence[CellPlan]) -> None:
    """Create the run folder, or check that the run in it is this one."""
    asked = json.loads(json.dumps(_identity(config, plans)))
    path = config.out / "config.json"
    try:
        config.out.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            if any(config.out.iterdir()):
                raise ConfigError(f"{config.out} is not empty and not a run: choose another --out")
            _write_json(path, asked)
            return
        if not config.resume:
            raise ConfigError(f"{config.out} already holds a run: add --resume to continue it, or choose another --out")
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as err:
        raise DataError(f"cannot use {config.out}: {err.strerror or err}") from err
    except json.JSONDecodeError as err:
        raise DataError(f"{path} is not JSON: {err}") from err
    differing = [key for key in {**asked, **found} if asked.get(key) != found.get(key)]
    if differing:
        key = differing[0]
        raise ConfigError(
            f"{config.out} was run with {key} {found.get(key)!r}, now {asked.get(key)!r}: choose another --out"
        )


def _identity(config: BenchConfig, plans: Sequence[CellPlan]) -> dict[str, Any]:
    """Return what two runs must share to be one."""
    chosen = asdict(replace(config, out=Path()))
    for key in ("out", "resume", "workers", "ray"):
        del chosen[key]
    chosen["policies"] = list(dict.fromkeys(p.cell.policy for p in plans))
    return {**chosen, "panel": {p.cell.env_id: p.panel.hash for p in plans}}


def _sort_journal(journal: Path, plans: Sequence[CellPlan], config: BenchConfig) -> None:
    """Rewrite the journal in the order of the plan, so that it does not depend on who finished first."""
    order = {
        _episode_key(part, episode): rank
        for rank, (part, episode) in enumerate((p, e) for p in plans for e in _episodes(p, config))
    }
    lines = []
    offset = 0
    with journal.open("rb") as file:
        for trajectory in read_trajectories(journal):
            length = len(file.readline())
            lines.append((order[_key(trajectory)], offset, length))
            offset += length
        target = journal.with_suffix(".sorted")
        with target.open("wb") as sorted_file:
            for _, start, length in sorted(lines):
                file.seek(start)
                sorted_file.write(file.read(length))
            sorted_file.flush()
            os.fsync(sorted_file.fileno())
    shutil.move(target, journal)


def _write_json(path: Path, document: Any) -> None:
    temporary = path.with_suffix(".tmp")
    temporary.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    temporary.replace(path)
