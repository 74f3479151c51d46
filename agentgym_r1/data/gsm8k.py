"""GSM8K as openai/grade-school-math publishes it: grade-school word problems with annotated solutions."""

import ast
import re
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from pathlib import Path

import msgspec

from agentgym_r1.data.gold import NumberGold
from agentgym_r1.data.loader import FileLoader
from agentgym_r1.data.passages import Passages
from agentgym_r1.data.reading import jsonl_rows
from agentgym_r1.errors import DataError
from agentgym_r1.types import Task

ANNOTATION = re.compile(r"<<(.*?)>>")
ANSWER_MARK = "####"
ARITHMETIC = (
    ast.Expression,
    ast.BinOp,
    ast.UnaryOp,
    ast.Constant,
    ast.operator,
    ast.UAdd,
    ast.USub,
)


class _Row(msgspec.Struct, frozen=True):
    question: str
    answer: str


def read(path: Path, passages: Passages) -> Iterator[Task]:
    """Yield the problems of a file; ids are the row numbers, from 0."""
    for number, row in enumerate(jsonl_rows(path, _Row)):
        gold = gold_of(row.answer)
        if gold is None:
            raise DataError(
                f"{path}, line {number + 1}: field answer: expected a last line '{ANSWER_MARK} number', "
                f"got {row.answer[-40:]!r}; is this GSM8K's file?"
            )
        yield Task(str(number), row.question, gold)


def gold_of(answer: str) -> NumberGold | None:
    """Return the gold of a published solution, or None when no number follows its last ``####``.

    The expressions are the left sides of the calculator annotations ``<<a=b>>``, made fit for a calculator; the number
    itself follows when the last annotation leads elsewhere (470 of the 8,792 published solutions end in prose).
    """
    _, mark, text = answer.rpartition(ANSWER_MARK)
    number = _number(text)
    if not mark or number is None:
        return None
    solution, result = [], None
    for annotation in ANNOTATION.findall(answer):
        left, _, right = annotation.partition("=")
        expression = _expression(left)
        if expression is not None:
            solution.append(expression)
            result = _number(right)
    plain = _plain(text)
    return NumberGold(plain, tuple(solution) if result == number else (*solution, plain))


def _plain(text: str) -> str:
    return text.replace(",", "").replace("$", "").strip()


def _number(text: str) -> Decimal | None:
    try:
        number = Decimal(_plain(text))
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def _expression(text: str) -> str | None:
    """Return ``text`` as an expression over + - * / // % ** ( ) and decimals, or None when it is not one."""
    plain = _plain(text)
    try:
        nodes = list(ast.walk(ast.parse(plain, mode="eval")))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    numbers = (node.value for node in nodes if isinstance(node, ast.Constant))
    if all(isinstance(node, ARITHMETIC) for node in nodes) and all(type(value) in {int, float} for value in numbers):
        return plain
    return None


LOADER = FileLoader(
    files={"test": ("test.jsonl",), "train": ("train.jsonl",)},
    read=read,
    gold=NumberGold,
    has_corpus=False,
    ids_are_rows=True,
)
