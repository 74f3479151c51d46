"""The arithmetic world, checked by an evaluator that knows nothing of the generator."""

import ast
import collections
import math
import operator
import pickle
import re
from fractions import Fraction

import pytest

from agentgym_r1.data.worlds.arithmetic import tasks
from agentgym_r1.data.worlds.arithmetic.story import Story
from agentgym_r1.data.worlds.arithmetic.term import Unusable
from agentgym_r1.data.worlds.arithmetic.vocabulary import PEOPLE
from agentgym_r1.data.worlds.arithmetic.world import KINDS, LONGEST_TAIL, SCHEMAS
from agentgym_r1.data.worlds.seeded import SPLITS, seeded
from agentgym_r1.errors import ConfigError
from agentgym_r1.tools.calculator import Calculator
from agentgym_r1.types import Task, panel_hash

BINARY = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: lambda left, right: Fraction(left) / right,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
FUNCTIONS = {"ceil": math.ceil, "min": min, "max": max}
# What the words of a prompt contribute to its numbers.
WORDS = {
    "half": (1, 2), "third": (3,), "thirds": (3,), "quarter": (4,), "quarters": (4,), "fifth": (5,), "fifths": (5,),
    "sixth": (6,), "eighth": (8,), "eighths": (8,), "twice": (2,), "two": (2,), "three": (3,), "four": (4,),
    "five": (5,), "doubles": (2,), "triples": (3,), "year": (12,), "rectangular": (2,), "there": (2,), "back": (2,),
    "hours": (60,), "minutes": (60,), "cents": (100,), "meters": (100,), "between": (1,), "average": (1,), "one": (1,),
}  # fmt: skip

UNCLEAN = re.compile(r"\ba (?!euro|one)[aeio]|\ban (?!hour)[^aeiou]|  |\(s\)|\b1 \w+s\b|[{}]|\.\.")


def evaluate(expression: str) -> Fraction:
    def value(node: ast.expr) -> Fraction:
        if isinstance(node, ast.Constant):
            return Fraction(str(node.value))
        if isinstance(node, ast.BinOp):
            return Fraction(BINARY[type(node.op)](value(node.left), value(node.right)))
        assert isinstance(node, ast.Call)
        assert isinstance(node.func, ast.Name)
        return Fraction(FUNCTIONS[node.func.id](*map(value, node.args)))

    return value(ast.parse(expression, mode="eval").body)


def literals(expression: str) -> list[Fraction]:
    return [Fraction(number) for number in re.findall(r"\d+(?:\.\d+)?", expression)]


def stated(prompt: str) -> list[Fraction]:
    return [Fraction(number.replace(",", "")) for number in re.findall(r"\d+(?:,\d{3})*(?:\.\d+)?", prompt)]


@pytest.fixture(scope="module")
def panel() -> list[Task]:
    dev = tasks("dev", size=2000)
    return [dev[index] for index in range(len(dev))]


def test_the_last_step_of_every_solution_gives_the_answer(panel: list[Task]):
    for task in panel:
        assert [evaluate(step) for step in task.gold.solution][-1] == Fraction(task.gold.answer), task


def test_the_calculator_tool_computes_every_solution(panel: list[Task]):
    calculator = Calculator()
    for task in panel[:500]:
        results = [calculator(step) for step in task.gold.solution]
        assert all(result.ok for result in results)
        assert results[-1].text == task.gold.answer, task


def test_every_number_of_a_solution_comes_from_the_prompt_or_from_an_earlier_step(panel: list[Task]):
    for task in panel:
        known = set(stated(task.prompt))
        for word in re.findall(r"[a-z]+", task.prompt.lower()):
            known.update(map(Fraction, WORDS.get(word, ())))
        if "%" in task.prompt or "100 kilometers" in task.prompt:
            known.add(Fraction(100))
        if "one and a half times" in task.prompt:
            known.add(Fraction(3, 2))
        for step in task.gold.solution:
            assert known.issuperset(literals(step)), (step, task)
            known.add(evaluate(step))


def test_every_step_is_used_later(panel: list[Task]):
    for task in panel:
        *steps, _ = task.gold.solution
        later = collections.Counter(number for step in task.gold.solution for number in literals(step))
        assert all(later[evaluate(step)] for step in steps), task


def test_the_answer_does_not_stand_among_the_numbers_of_the_prompt(panel: list[Task]):
    for task in panel:
        assert Fraction(task.gold.answer) not in stated(task.prompt), task


def test_answers_are_positive_short_decimals(panel: list[Task]):
    assert all(re.fullmatch(r"\d+(\.\d{1,2})?", task.gold.answer) for task in panel)
    assert all(Fraction(task.gold.answer) > 0 for task in panel)


def test_no_constant_answer_wins_more_than_two_percent(panel: list[Task]):
    (_, most), *_ = collections.Counter(task.gold.answer for task in panel).most_common(1)
    assert most <= 0.02 * len(panel)


def test_prompts_are_clean_english(panel: list[Task]):
    for task in panel:
        assert not UNCLEAN.search(task.prompt), task.prompt
        assert task.prompt.endswith("?")
        assert all(sentence[0].isupper() or sentence[0].isdigit() for sentence in re.split(r"(?<=[.?]) ", task.prompt))


def test_all_schemas_and_lengths_occur(panel: list[Task]):
    assert {task.kind for task in panel} == {schema.name for schema in SCHEMAS}
    assert len(SCHEMAS) >= 24
    assert {len(task.gold.solution) for task in panel} == set(range(2, 9))


def test_prompts_differ(panel: list[Task]):
    assert len({task.prompt for task in panel}) == len(panel)


@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda schema: schema.name)
def test_a_schema_takes_exactly_the_steps_it_promises(schema):
    rng = seeded("schemas", schema.name)
    for steps in schema.steps:
        kinds: list[str] = []
        while len(kinds) < 12:
            story = Story(rng, "dev")
            try:
                kinds.append(schema.write(story, steps).kind)
            except Unusable:
                continue
            assert len(story.solution) == steps
        assert (set(kinds) == {"final"}) == (steps in schema.ends)


def test_step_bounds_are_kept():
    few = tasks("dev", size=200, min_steps=4, max_steps=5)
    assert {len(few[index].gold.solution) for index in range(200)} == {4, 5}


def test_kinds_choose_the_schemas_and_leave_the_other_tasks_as_they_are():
    some = tasks("dev", size=100, kinds=["wages", "ages"])
    assert {some[index].kind for index in range(100)} == {"wages", "ages"}
    assert [some[index] for index in range(100)] == [
        tasks("dev", size=100, kinds=["ages", "wages"])[index] for index in range(100)
    ]
    assert tasks("dev", kinds=KINDS)[7] == tasks("dev")[7]


@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda schema: schema.name)
def test_one_kind_alone_makes_every_length_that_it_can_have(schema):
    for steps in range(2, 9):
        if schema.lengths(steps, longest_tail=LONGEST_TAIL):
            task = tasks("train", kinds=schema.name, min_steps=steps, max_steps=steps)[3]
            assert (task.kind, len(task.gold.solution)) == (schema.name, steps)
        else:
            with pytest.raises(ConfigError, match=f"no solution of {steps} to {steps} steps starts from {schema.name}"):
                tasks("train", kinds=schema.name, min_steps=steps, max_steps=steps)


@pytest.mark.parametrize(
    ("kinds", "message"), [(["wage"], "did you mean 'wages'"), ([], "kinds must name at least one of")]
)
def test_a_wrong_kind_says_which_there_are(kinds, message):
    with pytest.raises(ConfigError, match=message):
        tasks("dev", kinds=kinds)


def test_distractors_add_numbers_that_no_step_uses():
    def unused(count: int) -> int:
        some = tasks("dev", size=200, distractors=count)
        return sum(
            len(set(stated(task.prompt)) - {number for step in task.gold.solution for number in literals(step)})
            for task in map(some.__getitem__, range(200))
        )

    assert unused(0) < 60 < 200 < unused(3)


def test_splits_share_neither_names_nor_prompts_nor_ids():
    seen: dict[str, set[str]] = {}
    for split in SPLITS:
        some = tasks(split, size=300)
        chosen = [some[index] for index in range(300)]
        seen[split] = {task.prompt for task in chosen} | {task.id for task in chosen}
        names = {person.name for person in PEOPLE[split]}
        assert all(names.intersection(re.findall(r"[A-Z][a-z]+", task.prompt)) for task in chosen)
    assert not (seen["train"] & seen["dev"] or seen["train"] & seen["test"] or seen["dev"] & seen["test"])
    assert len({person.name for split in SPLITS for person in PEOPLE[split]}) == sum(map(len, PEOPLE.values()))


def test_a_smaller_set_is_a_prefix_of_a_larger_one():
    small, large = tasks("dev", size=20), tasks("dev", size=4000)
    assert [small[index] for index in range(20)] == [large[index] for index in range(20)]


def test_seeds_give_different_tasks():
    assert tasks("dev", seed=0)[0] != tasks("dev", seed=1)[0]


def test_task_sets_survive_pickling():
    original = tasks("test")
    assert pickle.loads(pickle.dumps(original))[7] == original[7]


def test_the_panel_is_the_same_on_every_platform():
    dev = tasks("dev")
    assert (
        panel_hash([dev[index] for index in range(100)])
        == "7d4f14291962ed875ca1d1cae02bd2f63d2c9bb925fe0aa33949063bc79d8066"
    )


@pytest.mark.parametrize(
    ("knobs", "message"),
    [
        ({"min_steps": 1}, "min_steps"),
        ({"max_steps": 9}, "max_steps"),
        ({"min_steps": 5, "max_steps": 4}, "got 5 and 4"),
        ({"distractors": -1}, "distractors must be from 0 to 3, got -1"),
        ({"size": 0}, "size must be at least 1"),
    ],
)
def test_wrong_knobs_are_refused(knobs: dict[str, int], message: str):
    with pytest.raises(ConfigError, match=message):
        tasks("dev", **knobs)


def test_an_unknown_split_is_refused():
    with pytest.raises(ConfigError, match="split of arithmetic 'valid'"):
        tasks("valid")
