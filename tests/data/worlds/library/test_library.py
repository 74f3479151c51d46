"""The library world: gold sets are found again from titles and years alone, by other means than the generator's."""

import pickle
import re
import statistics
from collections import Counter

import pytest

from agentgym_r1.corpus import MemoryPapers, Paper
from agentgym_r1.data.worlds.library import KINDS, corpus, tasks
from agentgym_r1.data.worlds.library.vocabulary import METHODS, OBJECTS, PROCESSES, Concept
from agentgym_r1.data.worlds.seeded import SPLITS
from agentgym_r1.errors import ConfigError
from agentgym_r1.types import digest, panel_hash

PANEL = "982930c14611fa1ca4277deddd5c05f24d9ba7ff25e5f934428e1a58f5c8e862"
PAPERS = "6ed50507a3d21cecda384b7db39b62fbbb3b600c84dcfa9ad0a8c3c1e8ea231e"
YEARS = {
    r"published in (\d+)": lambda a: (a, a),
    r"published up to (\d+)": lambda a: (0, a),
    r"published before (\d+)": lambda a: (0, a - 1),
    r"published since (\d+)": lambda a: (a, 9999),
    r"published after (\d+)": lambda a: (a + 1, 9999),
    r"published (?:between|from) (\d+) (?:and|to) (\d+)": lambda a, b: (a, b),
}


def concept_in(text: str, concepts: tuple[Concept, ...]) -> str | None:
    """Return the concept with the longest wording that stands in a text."""
    forms = [(len(form), concept.name, form.casefold()) for concept in concepts for form in concept.forms]
    found = [(length, name) for length, name, form in forms if re.search(rf"\b{re.escape(form)}\b", text.casefold())]
    return max(found)[1] if found else None


def meaning(text: str) -> tuple[str | None, str | None, str | None]:
    """Read process, object and method off a text."""
    return concept_in(text, PROCESSES), concept_in(text, OBJECTS), concept_in(text, METHODS)


def span(prompt: str) -> tuple[int, int]:
    for pattern, years in YEARS.items():
        found = re.search(pattern, prompt)
        if found:
            return years(*map(int, found.groups()))
    return 0, 9999


@pytest.fixture(scope="module")
def papers() -> list[Paper]:
    return list(corpus("dev"))


def test_no_wording_stands_for_two_concepts_of_a_kind() -> None:
    for concepts in (PROCESSES, OBJECTS, METHODS):
        forms = [form.casefold() for concept in concepts for form in concept.forms]
        assert len(set(forms)) == len(forms)
        assert {len(concept.forms) for concept in concepts} == {3}


def test_gold_is_every_paper_that_says_what_the_query_asks_for(papers: list[Paper]) -> None:
    read = {paper.id: (*meaning(paper.title), paper.year) for paper in papers}
    generated = tasks("dev", size=200)
    for index in range(200):
        task = generated[index]
        process, thing, method = meaning(task.prompt)
        first, last = span(task.prompt)
        expected = {
            paper_id
            for paper_id, (p, t, m, year) in read.items()
            if (p, t) == (process, thing) and method in {None, m} and first <= year <= last
        }
        assert set(task.gold.papers) == expected, task.prompt
        assert 2 <= len(expected) <= 10
        assert ("method" in task.kind, "years" in task.kind) == (method is not None, (first, last) != (0, 9999))


def test_titles_of_the_gold_are_those_of_the_papers(papers: list[Paper]) -> None:
    titles = {paper.id: paper.title for paper in papers}
    for task in (tasks("dev")[index] for index in range(50)):
        assert task.gold.titles == tuple(titles[paper] for paper in task.gold.papers)
        assert task.gold.absent == ()


def test_citations_point_backwards_and_have_a_long_tail(papers: list[Paper]) -> None:
    library = MemoryPapers(papers)
    references = [library.references(index) for index in range(len(library))]
    for index, targets in enumerate(references):
        assert all(target < index for target in targets)
        assert all(papers[target].year <= papers[index].year for target in targets)
    cited = sorted((len(library.citations(index)) for index in range(len(library))), reverse=True)
    assert 5 < statistics.mean(map(len, references)) < 10
    assert max(map(len, references)) > 20
    assert 0.2 < cited.count(0) / len(cited) < 0.45
    assert statistics.median(cited) <= 3
    assert cited[0] > 80
    assert 0.08 < sum(cited[: len(cited) // 100]) / sum(cited) < 0.3


def test_most_citations_stay_in_the_topic(papers: list[Paper]) -> None:
    topic = {paper.id: meaning(paper.title)[:2] for paper in papers[::7]}
    pairs = [(topic[p.id], topic[r]) for p in papers[::7] for r in p.references if r in topic]
    assert 0.6 < sum(one == other for one, other in pairs) / len(pairs) < 0.8


def test_splits_share_no_topic_and_no_author() -> None:
    seen: dict[object, str] = {}
    for split in SPLITS:
        for paper in corpus(split, papers=1000):
            for entity in (meaning(paper.title)[:2], *(author.split()[1] for author in paper.authors)):
                assert seen.setdefault(entity, split) == split


def test_one_wording_makes_every_gold_paper_share_the_querys_words() -> None:
    for paper in corpus("dev", papers=400, wordings=1):
        process, thing, _ = meaning(paper.title)
        assert process.casefold() in paper.title.casefold()
        assert thing.casefold() in paper.title.casefold()


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_can_be_chosen(kind: str) -> None:
    chosen = tasks("dev", size=30, kinds=[kind], most=3)
    assert {chosen[index].kind for index in range(30)} == {kind}
    assert max(len(chosen[index].gold.papers) for index in range(30)) <= 3


def test_a_task_depends_on_its_index_and_the_arguments_only() -> None:
    small, large = tasks("dev", size=5), pickle.loads(pickle.dumps(tasks("dev", size=50)))
    assert [small[index] for index in range(5)] == [large[index] for index in range(5)]
    assert tasks("dev", seed=1)[0] != small[0]
    assert [paper.title for paper in corpus("dev", seed=1, papers=300)] != [
        paper.title for paper in corpus("dev", papers=300)
    ]


def test_a_library_is_the_same_on_every_platform() -> None:
    generated = tasks("dev", size=40)
    assert panel_hash(generated[index] for index in range(40)) == PANEL
    read = [[p.id, p.title, p.abstract, p.authors, p.year, p.venue, p.references] for p in corpus("dev", papers=300)]
    assert digest(read) == PAPERS


def test_ten_thousand_queries_hardly_repeat() -> None:
    generated = tasks("train")
    prompts = Counter(generated[index].prompt for index in range(10_000))
    assert len(prompts) > 9_500


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"split": "validation"}, "unknown split of library"),
        ({"papers": 100}, "papers must be at least 200, got 100"),
        ({"wordings": 4}, "wordings must be from 1 to 3, got 4"),
        ({"kinds": ["year"]}, "did you mean 'years'"),
        ({"kinds": []}, "unknown kind"),
        ({"most": 1}, "most must be at least 2, got 1"),
        ({"size": 0}, "size must be at least 1, got 0"),
    ],
)
def test_a_wrong_knob_says_what_is_right(arguments: dict, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        tasks(**{"split": "dev", **arguments})
