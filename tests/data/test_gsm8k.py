import ast
import json
import operator
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentgym_r1.data import gsm8k
from agentgym_r1.data.gold import NumberGold
from agentgym_r1.data.gsm8k import gold_of
from agentgym_r1.data.passages import Passages
from agentgym_r1.errors import DataError

OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
}


def value(expression: str) -> Fraction:
    """The exact value of an expression over the operators that the published solutions use."""

    def walk(node):
        if isinstance(node, ast.BinOp):
            return OPERATORS[type(node.op)](walk(node.left), walk(node.right))
        if isinstance(node, ast.UnaryOp):
            return -walk(node.operand)
        return Fraction(str(node.value))

    return walk(ast.parse(expression, mode="eval").body)


def test_tasks_are_the_lines_with_their_row_numbers(gsm8k_folder):
    tasks = list(gsm8k.LOADER.read(gsm8k_folder / "train.jsonl", Passages()))
    assert [task.id for task in tasks] == ["0", "1", "2"]
    assert tasks[1].prompt == "Hen number 1 lays 3 eggs a day. How many in a week?"
    assert tasks[1].gold == NumberGold("21", ("3*7",))


@pytest.mark.parametrize(
    ("answer", "gold"),
    [
        ("<<2+3=5>>5\n#### 5", NumberGold("5", ("2+3",))),
        ("<<2+3=5>>5, and <<5*4=20>>20\n#### 20", NumberGold("20", ("2+3", "5*4"))),
        ("<<100*.25=25.0>>25\n#### 25", NumberGold("25", ("100*.25",))),
        ("<<$1,200/4=$300>>\n#### 300", NumberGold("300", ("1200/4",))),
        ("<<3-5=-2>>\n#### -2", NumberGold("-2", ("3-5",))),
        ("<<(7//2)**2%5=4>>\n#### 4", NumberGold("4", ("(7//2)**2%5",))),
        ("<<1/2=.5>>\n#### 0.5", NumberGold("0.5", ("1/2",))),
        ("<<1000*1200=1200000>>\n#### 1,200,000", NumberGold("1200000", ("1000*1200",))),
        ("Nothing to work out.\n#### 7", NumberGold("7", ("7",))),
        ("<<2+3=5>>5, and twice that.\n#### 10", NumberGold("10", ("2+3", "10"))),
        ("<<two+2=4>><<2+2=4>>\n#### 4", NumberGold("4", ("2+2",))),
        ("<<2+2=4>><<4 apples=4>>\n#### 4", NumberGold("4", ("2+2",))),
        ("<<__import__('os')=4>><<'a'*2=4>><<x=4>><<[1][0]=4>><<True+1=2>>\n#### 4", NumberGold("4", ("4",))),
        ("<<=4>><<((((=4>>\n#### 4", NumberGold("4", ("4",))),
    ],
)
def test_the_gold_is_the_number_and_the_annotations_that_a_calculator_can_read(answer, gold):
    assert gold_of(answer) == gold


@pytest.mark.parametrize("answer", ["", "five", "####", "#### five", "#### nan", "#### Infinity", "#### 1 2", "5\n##"])
def test_a_solution_without_a_number_has_no_gold(answer):
    assert gold_of(answer) is None


@given(st.text(), st.text())
def test_any_annotation_gives_gold_whose_solution_parses(before, annotation):
    gold = gold_of(f"{before}<<{annotation}>>\n#### 3")
    assert gold is not None
    assert gold.answer == "3"
    for expression in gold.solution:
        ast.parse(expression, mode="eval")


def test_a_line_without_a_gold_number_names_line_and_field(tmp_path):
    path = tmp_path / "train.jsonl"
    rows = [{"question": "How many?", "answer": "#### 1"}, {"question": "How many?", "answer": "Who knows."}]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    with pytest.raises(DataError, match=r"train\.jsonl, line 2: field answer: expected .*#### number.*'Who knows\.'"):
        list(gsm8k.LOADER.read(path, Passages()))


@pytest.mark.real
@pytest.mark.parametrize(("split", "count"), [("train", 7473), ("test", 1319)])
def test_every_published_solution_parses_and_leads_to_its_answer(samples, split, count):
    tasks = list(gsm8k.LOADER.read(samples / "data" / "gsm8k" / f"{split}.jsonl", Passages()))
    assert len(tasks) == count
    for task in tasks:
        values = [value(expression) for expression in task.gold.solution]
        assert values[-1] == Fraction(task.gold.answer), task.id
