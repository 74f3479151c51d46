"""Runs a pipeline: phase after phase, each in a folder of its own, each policy evaluated on the held-out split.

A phase that is done has a ``done.json`` and is not run again; one that was killed starts again from nothing. A
policy is evaluated once it is trained, by the benchmark's rollout loop, panel and row.
"""

import csv
import itertools
import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import msgspec

import agentgym_r1
from agentgym_r1.adapters.openrlhf.awr import weigh_file
from agentgym_r1.adapters.openrlhf.doctor import PINS
from agentgym_r1.adapters.openrlhf.flags import resolve_flags
from agentgym_r1.adapters.openrlhf.launch import Launch, check, prepare
from agentgym_r1.adapters.openrlhf.offline import OfflineLaunch, offline_launch
from agentgym_r1.adapters.openrlhf.offline import check as check_offline
from agentgym_r1.adapters.openrlhf.pipeline_plan import (
    MODEL_POLICY,
    START,
    Offline,
    Online,
    Phase,
    Pipeline,
    Play,
    Sft,
)
from agentgym_r1.adapters.openrlhf.processes import run_to_end
from agentgym_r1.adapters.openrlhf.recipes import build_launch
from agentgym_r1.bench.evaluate import maker, play_panel, summarise_file
from agentgym_r1.data.download import Progress as Report
from agentgym_r1.errors import AgentGymError, ConfigError, DataError
from agentgym_r1.exports import Filters, export
from agentgym_r1.policies.engines.base import Sampling
from agentgym_r1.policies.engines.transformers import TransformersEngine
from agentgym_r1.policies.lm import ToolCallingPolicy
from agentgym_r1.policies.registry import make_policy
from agentgym_r1.rollout import run_sync
from agentgym_r1.types import Policy

Say = Callable[[str], None]
JOURNAL = "trajectories.jsonl"
_TAIL = 15


class Run:
    """A pipeline in its run folder.

    Args:
        pipeline: what to run.
        out: the folder; one that holds this pipeline already is continued.
        say: told what begins and what was found.
        report: told how many episodes of a panel were played, and of how many where that is known.

    Raises:
        ConfigError: the folder holds another pipeline, or something else.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        out: Path,
        *,
        say: Say = lambda line: None,
        report: Report = lambda label, done, total: None,
    ) -> None:
        self._pipeline = pipeline
        self._out = out.absolute()
        self._say = say
        self._report = report
        _open(self._out, pipeline)

    def run(self) -> list[dict[str, Any]]:
        """Run what is not done yet, and return the table: a row for each policy.

        Raises:
            ConfigError: a phase cannot be run as it is described.
            AgentGymError: a phase failed.
        """
        rows = [self._evaluated(START)]
        for number, phase in enumerate(self._pipeline.phases, 1):
            done = self._out / phase.name / "done.json"
            if done.exists():
                self._say(f"{phase.name}: done before")
            else:
                self._say(f"{phase.name}: phase {number} of {len(self._pipeline.phases)}")
                self._start_over(phase)
            if not isinstance(phase, Play):
                rows.append({**self._evaluated(phase.name), "train_seconds": _read(done)["seconds"]})
        _write(self._out / "results.json", {"rows": rows, "versions": versions()})
        write_curves(self._out, [phase.name for phase in self._pipeline.phases])
        return rows

    def _start_over(self, phase: Phase) -> None:
        """Run a phase in a folder of this process, so that nothing of a killed one can get into it, and rename that."""
        for old in (self._out / phase.name, *self._out.glob(f"{phase.name}.*")):
            shutil.rmtree(old, ignore_errors=True)
        folder, started = self._out / f"{phase.name}.{os.getpid()}", time.monotonic()
        folder.mkdir()
        if isinstance(phase, Play):
            self._play(phase, folder)
        elif isinstance(phase, Online):
            self._online(phase, folder)
        else:
            self._offline(phase, folder)
        _write(folder / "done.json", {"seconds": time.monotonic() - started})
        folder.rename(self._out / phase.name)

    def _model(self, name: str) -> str:
        return self._pipeline.model if name == START else str(self._out / name / "model")

    def _policy(self, model: str, temperature: float) -> Policy:
        own = self._pipeline
        where = {"device": "cuda", "dtype": "bfloat16"} if own.device == "gpu" else {}
        engine = TransformersEngine(model, max_batch=own.concurrency, **where)
        return ToolCallingPolicy(engine, sampling=Sampling(max_tokens=own.max_tokens, temperature=temperature))

    def _play(self, phase: Play, folder: Path) -> None:
        model = phase.policy == MODEL_POLICY
        policy = self._policy(self._model(phase.start), phase.temperature) if model else make_policy(phase.policy)
        self._play_panel(policy, folder / JOURNAL, held_out=False, tasks=phase.tasks, repeats=phase.repeats)

    def _play_panel(self, policy: Policy, out: Path, *, held_out: bool, tasks: int | None, repeats: int = 1) -> str:
        make_env = maker(self._pipeline.env, self._pipeline.kwargs(held_out=held_out))
        own, count, total = self._pipeline, itertools.count(1), tasks * repeats if tasks else None
        try:
            return play_panel(
                make_env,
                policy,
                out,
                tasks=tasks,
                repeats=repeats,
                seed=own.seed,
                concurrency=own.concurrency,
                on_episode=lambda trajectory: self._report(out.parent.name.split(".")[0], next(count), total),
            ).hash
        finally:
            if (engine := getattr(policy, "engine", None)) is not None:
                run_sync(engine.aclose())
                engine.unload()  # a phase that trains needs the memory

    def _evaluated(self, name: str) -> dict[str, Any]:
        """Return a policy's row, evaluating it now unless that was done."""
        folder = self._out / "evaluation"
        done = folder / f"{name}.json"
        if not done.exists():
            self._say(f"{name}: evaluation on {self._pipeline.eval_tasks} held-out tasks")
            folder.mkdir(exist_ok=True)
            journal = folder / f"{name}.jsonl"
            policy = self._policy(self._model(name), 0.0)
            panel = self._play_panel(policy, journal, held_out=True, tasks=self._pipeline.eval_tasks)
            _write(done, {"phase": name, **summarise_file(journal, panel=panel, seed=self._pipeline.seed)})
        row = _read(done)
        self._say(f"{name}: success {row['success']:.3f}, score {row['score']:.3f}")
        return row

    def _offline(self, phase: Sft | Offline, folder: Path) -> None:
        pairs = isinstance(phase, Offline) and phase.method == "dpo"
        data = folder / ("dpo.jsonl" if pairs else "sft.jsonl")
        export(
            "dpo" if pairs else "sft",
            [self._out / name / JOURNAL for name in phase.data or ()],
            data,
            filters=_filters(phase, self._pipeline.split),
            tokenizer=self._model(phase.start),
            options={"pairs": phase.pairs} if isinstance(phase, Offline) and pairs else {},
        )
        launch = offline_plan(self._pipeline, phase, self._model(phase.start), data, folder)
        check_offline(launch, resolve_flags(launch.openrlhf_flags(), command=launch.command), rows_in=data)
        if isinstance(phase, Offline) and phase.method == "awr":
            weigh_file(data, launch.data, phase.weighting())
        _execute([*launch.start(), *launch.openrlhf_flags()], launch.variables(), folder / "log.txt")

    def _online(self, phase: Online, folder: Path) -> None:
        launch = online_plan(self._pipeline, phase, self._model(phase.start), folder)
        check(launch, resolve_flags(launch.openrlhf_flags()))
        prepare(launch)
        _execute(launch.command(), launch.variables(), folder / "log.txt")


def versions() -> dict[str, str]:
    """Return the versions that a run was made with."""
    return {
        "agentgym-r1": agentgym_r1.__version__,
        **{name: found for name in PINS for found in (_version(name),) if found},
    }


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def check_flags(pipeline: Pipeline) -> None:
    """Check the flags of every phase with OpenRLHF's own parsers, before anything runs.

    Raises:
        ConfigError: a flag is wrong.
        MissingExtra: OpenRLHF is not installed.
    """
    for phase in pipeline.phases:
        try:
            if isinstance(phase, Online):
                launch = online_plan(pipeline, phase, pipeline.model, Path(phase.name))
                check(launch, resolve_flags(launch.openrlhf_flags()))
            elif isinstance(phase, Sft | Offline):
                plan = offline_plan(pipeline, phase, pipeline.model, Path("data"), Path(phase.name))
                resolve_flags(plan.openrlhf_flags(), command=plan.command)
        except ConfigError as err:
            raise ConfigError(f"phase {phase.name!r}: {err}") from err


def online_plan(pipeline: Pipeline, phase: Online, model: str, folder: Path) -> Launch:
    """Return the launch of a phase with rollouts."""
    given = {
        **phase.options,
        "env": pipeline.env,
        "model": model,
        "device": pipeline.device,
        "seed": pipeline.seed,
        "out": folder,
        "split": pipeline.split,
        "eval_split": pipeline.kwargs(held_out=True)["split"],
    }
    given.setdefault("eval_tasks", 0)
    return build_launch(None, given, env_args=pipeline.env_args)


def offline_plan(pipeline: Pipeline, phase: Sft | Offline, model: str, data: Path, folder: Path) -> OfflineLaunch:
    """Return the launch of a phase without rollouts."""
    shared: dict[str, Any] = {
        "device": pipeline.device,
        "processes": pipeline.processes,
        "seed": pipeline.seed,
        "flags": phase.openrlhf,
    }
    if isinstance(phase, Sft):
        return OfflineLaunch("train_sft", model, data, folder, **shared)
    return offline_launch(phase.method, model, data, folder, **shared)


def write_curves(out: Path, phases: Sequence[str]) -> None:
    """Write what the phases logged for TensorBoard as ``curves.csv``: phase, figure, step, value."""
    draft = out / "curves.csv.tmp"
    with draft.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["phase", "figure", "step", "value"])
        for phase in phases:
            writer.writerows([phase, *point] for point in _scalars(out / phase / "tensorboard"))
    draft.replace(out / "curves.csv")


def _scalars(folder: Path) -> Iterator[tuple[str, int, float]]:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    for run in sorted(folder.glob("*")):
        events = EventAccumulator(str(run), size_guidance={"scalars": 0}).Reload()
        for tag in events.Tags()["scalars"]:
            yield from ((tag, event.step, event.value) for event in events.Scalars(tag))


def _filters(phase: Sft | Offline, split: str) -> Filters:
    if isinstance(phase, Sft):
        return Filters(split=split, success=phase.success, min_score=phase.min_score)
    return Filters(split=split)


def _execute(command: Sequence[str], variables: Mapping[str, str], log: Path) -> None:
    """Run a command to its end, its messages in a file.

    Raises:
        AgentGymError: it failed; the last lines of the log are shown on stderr.
    """
    with log.open("wb") as file:
        code = run_to_end(command, variables, output=file)
    if code:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()[-_TAIL:]
        sys.stderr.write("\n".join(lines) + "\n")
        raise AgentGymError(f"the phase failed with exit code {code}: see {log}; the same command goes on from there")


def _open(out: Path, pipeline: Pipeline) -> None:
    """Create the run folder, or check that the pipeline in it is this one."""
    asked, path = msgspec.to_builtins(pipeline), out / "config.json"
    try:
        out.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            if any(out.iterdir()):
                raise ConfigError(f"{out} is not empty and holds no pipeline: choose another --out")
            _write(path, asked)
            return
        found = _read(path)
    except OSError as err:
        raise DataError(f"cannot use {out}: {err.strerror or err}") from err
    for key in {**found, **asked}:
        if found.get(key) != asked.get(key):
            raise ConfigError(
                f"{out} holds a pipeline with another {key}: choose another --out, or go back to that one"
            )


def _read(path: Path) -> dict[str, Any]:
    try:
        document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, json.JSONDecodeError) as err:
        raise DataError(f"cannot read {path}: {err}") from err
    return document


def _write(path: Path, document: Any) -> None:
    draft = path.with_name(path.name + ".tmp")
    draft.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    draft.replace(path)
