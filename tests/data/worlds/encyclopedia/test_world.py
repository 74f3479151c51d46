"""The encyclopedia world: every answer is found again in the facts and in the passages, by other means."""

import collections
import pickle
import re
from collections.abc import Sequence

import pytest

from agentgym_r1.data.worlds.encyclopedia import corpus, tasks
from agentgym_r1.data.worlds.encyclopedia.build import Setting, graph
from agentgym_r1.data.worlds.encyclopedia.forms import Chain, Choice, Crossing, Path, Sameness
from agentgym_r1.data.worlds.encyclopedia.graph import Graph
from agentgym_r1.data.worlds.encyclopedia.world import MIXES, PLENTY
from agentgym_r1.data.worlds.seeded import SPLITS, SeededTasks
from agentgym_r1.errors import ConfigError
from agentgym_r1.types import Task, panel_hash

FLAVOURS = tuple(MIXES)
PANELS = {
    "hotpotqa": "1be8c2cb6fa6e4e5f4cf5021c79e033de211639e746841bc3d8d5c8f997512f3",
    "2wiki": "b34e80d63bf2c59b3e0c3a627a45839e6e9bad798fe8db9883369c8be1d79f9a",
    "musique": "b9d9a5665505f6337f14bf3fab31d2a1f2e9756deca900d23bc5381c5f84b34e",
}


def read(some: SeededTasks) -> list[Task]:
    return [some[index] for index in range(len(some))]


@pytest.fixture(scope="module")
def facts() -> Graph:
    return graph(Setting("dev"))


@pytest.fixture(scope="module", params=FLAVOURS)
def flavour(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module")
def dev(flavour: str) -> SeededTasks:
    return tasks(flavour, "dev", size=600)


def triples(facts: Graph) -> set[tuple[str, str, str]]:
    return {(subject, relation, thing) for (subject, relation), thing in facts.facts.items()}


@pytest.fixture(scope="module")
def index(facts: Graph) -> dict[tuple[str, str, bool], set[str]]:
    """Objects by (subject, relation, False) and subjects by (object, relation, True), built from the bare triples."""
    found: dict[tuple[str, str, bool], set[str]] = collections.defaultdict(set)
    for subject, relation, thing in triples(facts):
        found[subject, relation, False].add(thing)
        found[thing, relation, True].add(subject)
    return found


def reach(index: dict[tuple[str, str, bool], set[str]], path: Path) -> set[str]:
    """Everything that the path's relations lead to, however many there are on the way."""
    reached = {path.start}
    for hop in path.hops:
        reached = set().union(*(index[node, hop.relation, hop.backward] for node in reached))
    return reached


def test_the_facts_give_every_answer_and_no_other(
    dev: SeededTasks, facts: Graph, index: dict[tuple[str, str, bool], set[str]]
):
    for position in range(len(dev)):
        _, form = dev.generate.form(position)
        match form:
            case Chain(path):
                answers = reach(index, path)
            case Crossing(_, relations, paths):
                ends = [next(iter(reach(index, path))) for path in paths if len(reach(index, path)) == 1]
                answers = index[ends[0], relations[0], True] & index[ends[1], relations[1], True]
            case Choice(relation, larger, paths):
                ranked = sorted((ranking(facts, index, path, relation), path.start) for path in paths)
                assert ranked[0][0] < ranked[1][0]
                answers = {ranked[1 if larger else 0][1]}
            case Sameness((first, second)):
                answers = {"yes" if reach(index, first) == reach(index, second) else "no"}
        names = {facts.entities[title].name if title in facts.entities else title for title in answers}
        assert names == {dev[position].gold.answers[0]}, dev[position]


def ranking(facts: Graph, index: dict[tuple[str, str, bool], set[str]], path: Path, relation: str) -> tuple[int, ...]:
    """A value to compare by, read from the text of the fact: a date as (year, month, day), a number as it is."""
    (end,) = reach(index, path)
    (text,) = index[end, relation, False]
    if not text[-1].isdigit() or " " not in text:
        return (int(text.replace(",", "")),)
    day, month, year = text.split()
    months = [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ]
    return int(year), months.index(month), int(day)


def test_the_supporting_passages_are_in_the_corpus_and_state_the_hops(dev: SeededTasks, facts: Graph):
    passages = {document.id: document for document in corpus("dev")}
    for position in range(len(dev)):
        task, (_, form) = dev[position], dev.generate.form(position)
        support = [passages[passage_id] for passage_id in task.gold.supporting]
        assert tuple(passage.title for passage in support) == task.gold.supporting_titles
        assert len(set(task.gold.supporting)) == len(task.gold.supporting) >= 2
        texts = {passage.title: passage.text for passage in support}
        paths = (form.path,) if isinstance(form, Chain) else form.paths
        for path in paths:
            nodes = path.nodes(facts)
            for title, before, after in zip(path.passages(facts), nodes, nodes[1:]):
                assert facts.name(before) in texts.get(title, "") or isinstance(form, Choice | Sameness), task
                assert facts.name(after) in texts[title], task
        if isinstance(form, Chain | Crossing):
            assert task.gold.answers[0] in support[-1].text, task
        if isinstance(form, Choice):
            assert any(task.gold.answers[0] in passage.text for passage in support)
            ends = [path.end(facts) for path in paths]
            assert all(facts.facts[end, form.relation] in texts[end] for end in ends)


def test_the_question_names_its_starts_and_not_its_answer(dev: SeededTasks, facts: Graph):
    for position in range(len(dev)):
        task, (_, form) = dev[position], dev.generate.form(position)
        paths = (form.path,) if isinstance(form, Chain) else form.paths
        assert all(facts.entities[path.start].name in task.prompt for path in paths), task
        if isinstance(form, Chain | Crossing):
            assert task.gold.answers[0].casefold() not in task.prompt.casefold(), task


def test_no_constant_answer_pays(flavour: str):
    given = collections.Counter(task.gold.answers[0].casefold() for task in read(tasks(flavour, "dev", size=500)))
    assert given.most_common(1)[0][1] <= 0.05 * 500
    assert abs(given["yes"] - given["no"]) <= 3


def test_a_relation_betrays_neither_yes_nor_no():
    answers: dict[tuple[str, ...], collections.Counter[str]] = collections.defaultdict(collections.Counter)
    some = tasks("2wiki", "dev", size=4000, kinds=("comparison",))
    for position in range(len(some)):
        _, form = some.generate.form(position)
        if isinstance(form, Sameness):
            answers[tuple(hop.relation for hop in form.paths[0].hops)][some[position].gold.answers[0]] += 1
    often = [given for given in answers.values() if given.total() >= 40]
    assert len(often) >= 5
    assert all(0.3 < given["yes"] / given.total() < 0.7 for given in often)


def test_the_first_named_is_not_the_better_guess():
    some = read(tasks("hotpotqa", "dev", size=1000, kinds=("comparison",)))
    choices = [task for task in some if task.gold.answers[0] not in {"yes", "no"}]
    first = sum(task.prompt.rfind(task.gold.answers[0]) < task.prompt.rfind(" or ") for task in choices)
    assert 0.44 < first / len(choices) < 0.56


def test_kinds_follow_the_mix(flavour: str):
    some = tasks(flavour, "dev", size=1000)
    total = sum(count for _, _, count in MIXES[flavour])
    shares: collections.Counter[str] = collections.Counter()
    for kind, _, count in MIXES[flavour]:
        shares[kind] += count
    kinds = collections.Counter(task.kind for task in read(some))
    assert all(abs(kinds[kind] - 1000 * share / total) < 20 for kind, share in shares.items())


def test_hops_of_musique_are_as_many_as_the_kind_says():
    for task in read(tasks("musique", "dev", size=200)):
        assert len(task.gold.supporting) == int(task.kind[0]), task


@pytest.mark.parametrize("kind", ["inference", "bridge_comparison"])
def test_kinds_can_be_selected(kind: str):
    assert {task.kind for task in read(tasks("2wiki", "dev", size=80, kinds=(kind,)))} == {kind}


def test_only_the_sets_with_aliases_give_aliases():
    assert {len(task.gold.answers) for task in read(tasks("hotpotqa", "dev", size=100))} == {1}
    assert max(len(task.gold.answers) for task in read(tasks("musique", "dev", size=100))) == 2


def test_prompts_differ(flavour: str):
    some = read(tasks(flavour, "train", size=PLENTY))
    assert len({task.prompt for task in some}) == PLENTY


def test_prompts_are_clean_english(dev: SeededTasks):
    for task in read(dev):
        assert re.fullmatch(r"[A-Z][^{}]*\?", task.prompt), task.prompt
        assert not re.search(r"\b[Aa] [AEIOaeio]|\b[Aa]n [^AEIOaeio]|  |\bthe the\b|\bthe The\b", task.prompt), (
            task.prompt
        )


@pytest.mark.parametrize("seeds", [(0, 0, 0), (5, 0, 1)])
def test_splits_share_no_id_title_name_or_prompt(seeds: Sequence[int], flavour: str):
    seen: list[set[str]] = []
    for split, seed in zip(SPLITS, seeds):
        entities = graph(Setting(split, seed)).entities.values()
        some = read(tasks(flavour, split, seed=seed, size=300))
        seen.append(
            {task.id for task in some}
            | {task.prompt for task in some}
            | {document.id for document in corpus(split, seed=seed)}
            | {name for entity in entities for name in (entity.title, entity.name, *entity.aliases)}
            | {part for entity in entities if entity.kind == "person" for part in entity.aliases[0].split()}
        )
    assert not seen[0] & seen[1]
    assert not seen[0] & seen[2]
    assert not seen[1] & seen[2]


def test_a_smaller_set_is_a_prefix_of_a_larger_one(flavour: str):
    assert read(tasks(flavour, "dev", size=40)) == read(tasks(flavour, "dev", size=700))[:40]


def test_seeds_give_different_worlds(flavour: str):
    assert tasks(flavour, "dev", seed=0)[0].prompt != tasks(flavour, "dev", seed=1)[0].prompt
    assert corpus("dev", scale=0.2)[0].title != corpus("dev", seed=1, scale=0.2)[0].title


def test_task_sets_survive_pickling(flavour: str):
    original = tasks(flavour, "test", size=10)
    data = pickle.dumps(original)
    assert len(data) < 2000
    assert pickle.loads(data)[7] == original[7]


def test_the_panel_is_the_same_on_every_platform(flavour: str):
    assert panel_hash(read(tasks(flavour, "dev", size=100))) == PANELS[flavour]


def test_every_world_of_full_size_holds_plenty_of_tasks(flavour: str):
    for split, seed, lookalikes in (("train", 0, 0.5), ("dev", 3, 0.0), ("test", 4, 0.9)):
        some = tasks(flavour, split, seed=seed, lookalikes=lookalikes, size=1)
        assert some.generate.capacity() >= PLENTY


def test_more_tasks_than_the_world_holds_are_refused():
    with pytest.raises(ConfigError, match=r"this world of 2wiki/dev holds \d+ such tasks, got size=90000; raise scale"):
        tasks("2wiki", "dev", size=90_000)


@pytest.mark.parametrize(
    ("knobs", "message"),
    [
        ({"lookalikes": 0.95}, "lookalikes must be from 0 to 0.9, got 0.95"),
        ({"scale": 0.1}, "scale must be from 0.2 to 20, got 0.1"),
        ({"kinds": ("bridges",)}, "did you mean 'bridge'"),
        ({"size": 0}, "size must be at least 1"),
    ],
)
def test_wrong_knobs_are_refused(knobs: dict[str, object], message: str):
    with pytest.raises(ConfigError, match=message):
        tasks("hotpotqa", "dev", **knobs)


def test_unknown_flavours_and_splits_are_refused():
    with pytest.raises(ConfigError, match="flavour 'hotpot'"):
        tasks("hotpot", "dev")
    with pytest.raises(ConfigError, match="split of encyclopedia 'validation'"):
        corpus("validation")
