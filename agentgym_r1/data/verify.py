"""Check an installed data set: its files, its panels, and that nothing to evaluate on is among what to train on.

An overlap between train and a split for evaluation fails, by id or by content; content is the question with its answer,
without case, punctuation and extra blanks. Repeats inside a split and a question with two different answers are only
counted: published sets have some, and a frozen panel keeps what was published.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any

from agentgym_r1.data.arrow_tasks import ArrowTasks
from agentgym_r1.data.catalogue import data_set
from agentgym_r1.data.get import LOADERS, changed_files
from agentgym_r1.data.gold import GameGold, PaperGold, QAGold
from agentgym_r1.data.installed import folder_of, installed_manifest, open_corpus_of, open_tasks
from agentgym_r1.data.manifest import Manifest
from agentgym_r1.data.webshop import installed as shops
from agentgym_r1.types import Task, digest, panel_hash

TRAIN = "train"
NOT_A_WORD = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Report:
    """What the check of a data set found.

    Attributes:
        name: the data set.
        tasks: the number of tasks of each installed split.
        problems: what is wrong, one line each; the set is not fit for use when there is any.
        notes: what is worth knowing.
    """

    name: str
    tasks: Mapping[str, int]
    problems: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems


def verify(name: str, *, home: Path | None = None) -> Report:
    """Check an installed data set.

    Args:
        name: a data set of the catalogue.
        home: the library's folder; by default ``agentgym_r1.home.home()``.

    Raises:
        ConfigError: there is no such data set.
        DataError: it is not installed, or its manifest is damaged or of a later version.
    """
    if name in shops.SETS:
        return _verify_shop(name, home)
    manifest = installed_manifest(name, home=home)
    counts = {split: record.tasks for split, record in manifest.splits.items()}
    changed = changed_files(folder_of(name, home=home), manifest)
    if changed:
        again = f"agentgym-r1 data get {name}"
        return Report(name, counts, tuple(f"{file} is missing or was changed: {again}" for file in changed), ())
    splits = {split: open_tasks(name, split, home=home) for split in manifest.splits}
    problems = _wrong_panels(splits, manifest) + _overlaps(name, splits) + _lost_evidence(splits, manifest, home)
    return Report(name, counts, tuple(problems), tuple(_sizes(name, counts) + _repeats(splits)))


def _verify_shop(name: str, home: Path | None) -> Report:
    counts, _ = shops.installed_state(data_set(name), home=home)
    problems, notes = shops.catalogue_problems(shops.open_installed(name, home=home))
    return Report(name, counts, tuple(problems), tuple(notes))


def content_of(task: Task) -> str:
    """Return what makes two tasks the same to a learner: question and answer, normalised; or the whole game."""
    if isinstance(task.gold, GameGold):
        return digest([_normalised(task.prompt), task.gold.problem.partition("(:init")[2]])
    return f"{_normalised(task.prompt)}\n{_normalised(_answer(task.gold))}"


def _answer(gold: Any) -> str:
    if isinstance(gold, PaperGold):
        return "\n".join(sorted((*gold.titles, *gold.absent)))
    return str(gold.answers[0] if isinstance(gold, QAGold) else gold.answer)


def _evidence(gold: Any) -> tuple[str, ...]:
    """Return the ids in the corpus that the gold names."""
    named: tuple[str, ...] = gold.papers if isinstance(gold, PaperGold) else gold.supporting
    return named


def _question_of(task: Task) -> str:
    """Return what an answer belongs to; many games share a goal, so for a game it is all of it."""
    return content_of(task) if isinstance(task.gold, GameGold) else _normalised(task.prompt)


def _normalised(text: str) -> str:
    return NOT_A_WORD.sub(" ", text.casefold()).strip()


def _wrong_panels(splits: Mapping[str, ArrowTasks], manifest: Manifest) -> list[str]:
    return [
        f"{split}: the panel's hash is {actual}, the manifest says {manifest.splits[split].panel}"
        for split, tasks in splits.items()
        if (actual := panel_hash(tasks)) != manifest.splits[split].panel
    ]


def _overlaps(name: str, splits: Mapping[str, ArrowTasks]) -> list[str]:
    """Return a line for every split that shares ids or contents with train."""
    if TRAIN not in splits:
        return []
    keys: dict[str, Callable[[Task], str]] = {"question and answer": content_of}
    if not LOADERS[name].ids_are_rows:
        keys["id"] = attrgetter("id")
    problems = []
    for what, key in keys.items():
        trained = {key(task) for task in splits[TRAIN]}
        for split, tasks in splits.items():
            shared = [] if split == TRAIN else [task.id for task in tasks if key(task) in trained]
            if shared:
                problems.append(f"{split}: {len(shared)} tasks have the {what} of a train task: {_some(shared)}")
    return problems


def _lost_evidence(splits: Mapping[str, ArrowTasks], manifest: Manifest, home: Path | None) -> list[str]:
    """Return a line for every split whose gold names passages that the corpus does not hold."""
    if manifest.corpus is None:
        return []
    known = {document.id for document in open_corpus_of(manifest.name, home=home)}
    lost = {
        split: [task.id for task in tasks if not known.issuperset(_evidence(task.gold))]
        for split, tasks in splits.items()
    }
    return [
        f"{split}: the evidence of {len(ids)} tasks is not in the corpus: {_some(ids)}"
        for split, ids in lost.items()
        if ids
    ]


def _sizes(name: str, counts: Mapping[str, int]) -> list[str]:
    """Return a line for every split that is not the published one."""
    published = data_set(name).tasks
    return [
        f"{split}: {count} of the {published[split]} published tasks"
        for split, count in counts.items()
        if split in published and count != published[split]
    ]


def _repeats(splits: Mapping[str, ArrowTasks]) -> list[str]:
    """Return a line for every split in which tasks have the question of an earlier task."""
    notes = []
    for split, tasks in splits.items():
        contents = {content_of(task) for task in tasks}
        questions = {_question_of(task) for task in tasks}
        same, other = len(tasks) - len(contents), len(contents) - len(questions)
        if same:
            notes.append(f"{split}: {same} tasks repeat an earlier task's question and answer")
        if other:
            notes.append(f"{split}: {other} tasks repeat an earlier task's question with another answer")
    return notes


def _some(ids: Sequence[str]) -> str:
    return ", ".join(ids[:3]) + (", ..." if len(ids) > 3 else "")
