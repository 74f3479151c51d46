"""Writes an export and its card, both whole or not at all."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentgym_r1.errors import ConfigError, DataError, unknown_name
from agentgym_r1.exports.card import Tally, card_path, make_card
from agentgym_r1.exports.filters import Filters, is_held_out
from agentgym_r1.exports.pairs import dpo_rows, kto_rows
from agentgym_r1.exports.parquet import write_parquet
from agentgym_r1.exports.rows import Encode, recorded_ids, sft_rows, tokenized, write_jsonl
from agentgym_r1.exports.sources import Harvest, find_files, sha256
from agentgym_r1.exports.tokens import load_tokenizer
from agentgym_r1.types import Trajectory

Write = Callable[..., int]
OnEpisode = Callable[[Trajectory], None]


@dataclass(frozen=True, slots=True)
class Format:
    """How episodes are written: ``write(path, episodes, encode, **options)`` returns the rows.

    Attributes:
        write: writes the file.
        trains: whether policies are trained on it, so that it must not hold evaluation tasks.
        options: the options of its own.
    """

    write: Write
    trains: bool = True
    options: tuple[str, ...] = ()


def _jsonl(rows: Callable[..., Iterator[Mapping[str, Any]]]) -> Write:
    def write(path: Path, episodes: Iterable[Trajectory], encode: Encode, **options: Any) -> int:
        return write_jsonl(path, rows(episodes, encode, **options))

    return write


FORMATS: Mapping[str, Format] = {
    "sft": Format(_jsonl(sft_rows)),
    "dpo": Format(_jsonl(dpo_rows), options=("pairs",)),
    "kto": Format(_jsonl(kto_rows), options=("threshold",)),
    "parquet": Format(write_parquet, trains=False),
}


def export(
    kind: str,
    runs: Sequence[Path],
    out: Path,
    *,
    filters: Filters | None = None,
    tokenizer: str = "",
    held_out: bool = False,
    options: Mapping[str, Any] | None = None,
    on_episode: OnEpisode = lambda trajectory: None,
) -> dict[str, Any]:
    """Write the episodes of runs in a format, with a data card beside the file, and return the card.

    Args:
        kind: one of FORMATS.
        runs: run folders or trajectory files.
        out: the file to write; one that is there is replaced.
        filters: which episodes are taken; by default the whole ones of the split ``train``.
        tokenizer: model whose token ids are written (a folder, a hub name, ``smollm2``); empty writes those that were
            recorded, and none where none were.
        held_out: allow training data from a held-out split.
        options: of the format: ``pairs`` of dpo (see pairs.dpo_rows), ``threshold`` of kto (see pairs.kto_rows).
        on_episode: called with each episode that is taken.

    Raises:
        ConfigError: an unknown format, or a held-out split without ``held_out``.
        DataError: nothing is left to write, a training task is a held-out one too, or a file cannot be read or written.
    """
    if kind not in FORMATS:
        raise unknown_name("export format", kind, FORMATS)
    options = _check_options(kind, options or {})
    filters = filters or Filters()
    guarded = FORMATS[kind].trains and not held_out
    if guarded:
        _check_split(filters)
    harvest, tally = Harvest(find_files(runs), filters), Tally()
    encode = tokenized(load_tokenizer(tokenizer)) if tokenizer else recorded_ids
    draft, card_draft = (out.with_name(out.name + end) for end in (".tmp", ".card.tmp"))
    try:
        rows = FORMATS[kind].write(draft, tally.watch(_told(harvest.episodes(), on_episode)), encode, **options)
        _check(harvest, rows, guarded=guarded)
        card = make_card(kind, tally, harvest, rows=rows, tokenizer=tokenizer, options=options, file_hash=sha256(draft))
        card_draft.write_text(json.dumps(card, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        card_draft.replace(card_path(out))
        draft.replace(out)
    except OSError as err:
        raise DataError(f"cannot write {out}: {err.strerror or err}") from err
    finally:
        for path in (draft, card_draft):
            path.unlink(missing_ok=True)
    return card


def _check_options(kind: str, options: Mapping[str, Any]) -> Mapping[str, Any]:
    for name in options:
        if name not in FORMATS[kind].options:
            owner = next((other for other, form in FORMATS.items() if name in form.options), "no format")
            raise ConfigError(f"--{name} belongs to export {owner}, got export {kind}")
    return options


def _told(episodes: Iterable[Trajectory], on_episode: OnEpisode) -> Iterator[Trajectory]:
    for episode in episodes:
        on_episode(episode)
        yield episode


def _check_split(filters: Filters) -> None:
    if filters.split is None or is_held_out(filters.split):
        asked = "every split" if filters.split is None else f"the split {filters.split!r}"
        raise ConfigError(f"{asked} holds evaluation tasks: leave --split out, or add --held-out to train on them")


def _check(harvest: Harvest, rows: int, *, guarded: bool) -> None:
    """Refuse an empty export, and training tasks that were also seen on a held-out split."""
    if not rows:
        seen = ", ".join(f"{count} of {split or 'no split'}" for split, count in harvest.splits.items()) or "none"
        why = ", ".join(f"{reason} {count}" for reason, count in harvest.left_out.items()) or "no row came of them"
        raise DataError(f"nothing to write: of the episodes seen ({seen}) all were left out ({why})")
    shared = [task for task, splits in harvest.digests.items() if len({is_held_out(split) for split in splits}) > 1]
    if guarded and shared:
        raise DataError(
            f"{len(shared)} tasks of these runs were played on a training split and on a held-out one "
            f"({shared[0][:12]}...): the splits leak; choose other splits, or add --held-out"
        )
