import json

import msgspec
import pytest

from agentgym_r1.corpus import open_corpus
from agentgym_r1.data.gold import GameGold, NumberGold, PaperGold, QAGold
from agentgym_r1.data.make import WORLDS, make
from agentgym_r1.data.webshop import Goals, ShopTasks
from agentgym_r1.data.webshop.installed import open_world
from agentgym_r1.errors import ConfigError, DataError
from agentgym_r1.types import Task, panel_hash

COUNTED = [name for name in WORLDS if not name.startswith("shop")]
GOLD = {"arithmetic": NumberGold, "household": GameGold, "library": PaperGold}
SPLIT = {"household": "valid_unseen"}
QA_WORLDS = [name for name in WORLDS if name.startswith("encyclopedia-")]


def read(made, gold):
    """The tasks of a file that was made."""
    rows = [json.loads(line) for line in made.tasks.read_text(encoding="utf-8").splitlines()]
    return [Task(row["id"], row["prompt"], msgspec.convert(row["gold"], gold), row["kind"]) for row in rows]


@pytest.mark.parametrize("world", COUNTED)
def test_a_world_is_written_as_its_generator_makes_it(tmp_path, world):
    split = SPLIT.get(world, "dev")
    made = make(world, split=split, size=7, seed=3, out=tmp_path / "new")
    tasks = read(made, GOLD.get(world, QAGold))
    generated = WORLDS[world].tasks(split, size=7, seed=3)
    assert tasks == [generated[index] for index in range(7)]
    assert (made.count, made.panel) == (7, panel_hash(tasks))
    expected = {f"tasks-{split}.jsonl"} | ({f"corpus-{split}.jsonl"} if made.corpus else set())
    assert {path.name for path in (tmp_path / "new").iterdir()} == expected


@pytest.mark.parametrize(("world", "kind"), [("shop", "synthetic"), ("shop-human", "human")])
def test_a_shop_is_written_with_the_goals_of_a_split_and_all_products(tmp_path, world, kind):
    seen = []
    progress = lambda label, done, total: seen.append(label)  # noqa: E731
    made = make(world, split="train", size=400, seed=2, out=tmp_path, progress=progress)
    goals = ShopTasks(Goals(open_world(products=400, seed=2), kind=kind), split="train")
    rows = [json.loads(line) for line in made.tasks.read_text(encoding="utf-8").splitlines()]
    assert [(row["id"], row["prompt"]) for row in rows] == [
        (t.id, t.prompt) for t in map(goals.__getitem__, range(made.count))
    ]
    assert (made.count, made.panel) == (len(goals), panel_hash(goals[index] for index in range(len(goals))))
    corpus = open_corpus(made.corpus)
    assert len(corpus) == 400
    assert all(corpus.index_of(row["gold"]["asin"]) >= 0 for row in rows)
    if kind == "synthetic":
        assert "products" in seen


def test_the_same_arguments_give_the_same_bytes_and_another_seed_others(tmp_path):
    first, again, other = (
        make("arithmetic", split="train", size=20, seed=seed, out=tmp_path / name).tasks.read_bytes()
        for name, seed in (("a", 0), ("b", 0), ("c", 1))
    )
    assert first == again != other


@pytest.mark.parametrize("world", QA_WORLDS)
def test_the_corpus_of_a_question_world_holds_all_evidence(tmp_path, world):
    made = make(world, split="dev", size=20, out=tmp_path)
    corpus = open_corpus(made.corpus)
    for task in read(made, QAGold):
        titles = tuple(corpus[corpus.index_of(passage)].title for passage in task.gold.supporting)
        assert titles == task.gold.supporting_titles


def test_progress_tells_the_rows_done_and_their_total(tmp_path):
    seen = []
    make("arithmetic", split="dev", size=1000, out=tmp_path, progress=lambda *report: seen.append(report))
    assert seen == [("arithmetic dev, tasks", 500, 1000), ("arithmetic dev, tasks", 1000, 1000)]


@pytest.mark.parametrize(
    ("world", "change", "message"),
    [
        ("arithmetics", {}, "did you mean 'arithmetic'"),
        ("arithmetic", {"split": "valid"}, "unknown split of arithmetic 'valid'"),
        ("arithmetic", {"size": 0}, "size must be at least 1, got 0"),
    ],
)
def test_wrong_names_and_sizes_are_config_errors_and_write_nothing(tmp_path, world, change, message):
    with pytest.raises(ConfigError, match=message):
        make(world, **{"split": "dev", "size": 3, "out": tmp_path / "new", **change})
    assert not (tmp_path / "new").exists()


def test_a_folder_that_cannot_be_written_is_told(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(DataError, match="cannot write to .*; make it writable, or choose another folder"):
        make("arithmetic", split="dev", size=3, out=tmp_path / "file")


def test_a_run_that_is_stopped_leaves_no_half_file(tmp_path):
    def stop(label: str, done: int, total: int | None) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make("arithmetic", split="dev", size=600, out=tmp_path, progress=stop)
    assert list(tmp_path.iterdir()) == []
