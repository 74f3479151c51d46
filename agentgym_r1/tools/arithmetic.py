"""Arithmetic on untrusted text: exact, without eval, in bounded time and memory.

Decimals and integers are exact fractions; only roots and powers without an exact value are floats.
"""

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Context, Decimal, Inexact
from fractions import Fraction

from agentgym_r1.errors import ConfigError

Number = Fraction | float

MAX_LENGTH = 1_000
MAX_DEPTH = 64
MAX_BITS = 3_322
OPERATORS = "+ - * / // % ** ( )"


class ExpressionError(ConfigError):
    """An expression cannot be computed; the message says why, for the one who wrote it."""


def evaluate(expression: str) -> int | Fraction | float:
    """Compute an arithmetic expression.

    Python's operators + - * / // % ** and brackets, the functions abs, ceil, floor, max, min, round (halves away from
    zero) and sqrt, decimals, and thousands separators outside of a function's brackets (inside them a comma separates
    arguments). Also read: the school signs for times, divided and minus, ``x`` for *, ``^`` for **, currency signs, and
    a number's ``%`` as hundredths where it cannot be the operator, as in ``20% * 50`` and ``20% of 50``.

    Returns:
        An integer or a fraction when the value is exact, else a float.

    Raises:
        ExpressionError: it is longer than 1,000 characters, not such an expression, nested too deeply, without a real
            value, or has a value of more than about 1,000 digits on the way.
    """
    if len(expression) > MAX_LENGTH:
        raise ExpressionError(f"the expression has {len(expression)} characters, at most {MAX_LENGTH} are read")
    code, numbers = _translate(expression)
    try:
        tree = ast.parse(code, mode="eval").body
    except (SyntaxError, RecursionError, MemoryError) as err:
        raise ExpressionError("this is not an arithmetic expression") from err
    value = _evaluate(tree, numbers, MAX_DEPTH)
    return value.numerator if isinstance(value, Fraction) and value.denominator == 1 else value


def format_number(value: float | Fraction) -> str:
    """Write a number: integers and short decimals exactly, others rounded to 12 digits (behind the point, if exact)."""
    if value == 0:
        return "0"
    if isinstance(value, float):
        number, longest = Context(prec=12).create_decimal(repr(value)), 15
    else:
        number, longest = _decimal(Fraction(value)), MAX_BITS
    notation = "f" if -15 <= number.adjusted() < longest else "e"
    return format(number.normalize(Context(prec=MAX_BITS)), notation)


def _decimal(value: Fraction) -> Decimal:
    digits = len(str(abs(value.numerator) // value.denominator).removeprefix("0"))
    context = Context(prec=digits + 30)
    exact = context.divide(Decimal(value.numerator), Decimal(value.denominator))
    return exact if not context.flags[Inexact] else Context(prec=digits + 12).plus(exact)


# Text to Python's syntax.

_GROUPED = r"\d{1,3}(?:,\d{3})+(?![\d,])(?:\.\d*)?"
_NUMBER = r"(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,4}(?!\d))?"
_OTHERS = r"(?P<name>[A-Za-z]+)|(?P<operator>\*\*|//|[-+*/%(),^×·÷−–])|(?P<currency>[$€£])"
_TOKEN = re.compile(rf"\s*(?:(?P<number>{_GROUPED}|{_NUMBER})|{_OTHERS})\s*", re.ASCII)
_ARGUMENT_TOKEN = re.compile(rf"\s*(?:(?P<number>{_NUMBER})|{_OTHERS})\s*", re.ASCII)
_AS_OPERATOR = {"×": "*", "·": "*", "x": "*", "of": "*", "÷": "/", "^": "**", "−": "-", "–": "-"}
_AFTER_PERCENT = ("", "*", "/", ")", ",", "×", "·", "÷", "x", "o")


def _translate(expression: str) -> tuple[str, dict[str, Fraction]]:
    """Return the expression in Python's syntax with a name for each number, and the numbers."""
    words: list[str] = []
    numbers: dict[str, Fraction] = {}
    position, in_call = 0, [False]
    while position < len(expression):
        match = (_ARGUMENT_TOKEN if in_call[-1] else _TOKEN).match(expression, position)
        if match is None:
            raise ExpressionError(f"there is an unexpected {expression[position:].lstrip()[:1]!r}")
        text, kind, position = match.group().strip(), match.lastgroup, match.end()
        if kind == "number":
            value = Fraction(text.replace(",", ""))
            if _is_percent(expression, position):
                value, position = value / 100, position + 1
            words.append(f"_{len(numbers)}")
            numbers[words[-1]] = _checked_fraction(value)
        elif kind != "currency":
            word = text.lower()
            words.append(_AS_OPERATOR.get(word, word))
            _follow_brackets(words, in_call)
    return " ".join(words), numbers


def _follow_brackets(words: Sequence[str], in_call: list[bool]) -> None:
    """Keep on the stack, for each open bracket, whether it is a function's."""
    if words[-1] == "(":
        in_call.append(len(words) > 1 and words[-2] in _FUNCTIONS)
    elif words[-1] == ")" and len(in_call) > 1:
        in_call.pop()


def _is_percent(expression: str, position: int) -> bool:
    return expression.startswith("%", position) and expression[position + 1 :].lstrip()[:1].lower() in _AFTER_PERCENT


# Python's syntax to a value.


def _evaluate(node: ast.expr, numbers: Mapping[str, Fraction], depth: int) -> Number:
    if depth == 0:
        raise ExpressionError(f"the expression is nested more than {MAX_DEPTH} levels deep")
    steps: list[tuple[ast.operator, ast.expr]] = []
    while isinstance(node, ast.BinOp):
        steps.append((node.op, node.right))
        node = node.left
    value = _operand(node, numbers, depth)
    for symbol, right in reversed(steps):
        value = _apply(symbol, value, _evaluate(right, numbers, depth - 1))
    return value


def _operand(node: ast.expr, numbers: Mapping[str, Fraction], depth: int) -> Number:
    match node:
        case ast.Name(id=name) if name in numbers:
            return numbers[name]
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return -_evaluate(inner, numbers, depth - 1)
        case ast.UnaryOp(op=ast.UAdd(), operand=inner):
            return _evaluate(inner, numbers, depth - 1)
        case ast.Call(func=ast.Name(id=name), args=inner) if name in _FUNCTIONS:
            return _call(name, [_evaluate(argument, numbers, depth - 1) for argument in inner])
        case ast.Call():
            raise ExpressionError("an operator is missing before a bracket: write 2 * (3 + 4)")
        case ast.Name(id=name):
            raise ExpressionError(f"there is no {name!r}; the functions are {', '.join(_FUNCTIONS)}")
    raise ExpressionError(f"only {OPERATORS} and the functions {', '.join(_FUNCTIONS)} are computed")


def _apply(symbol: ast.operator, left: Number, right: Number) -> Number:
    compute = _OPERATIONS.get(type(symbol))
    if compute is None:
        raise ExpressionError(f"only {OPERATORS} are operators here")
    return _guarded(compute, left, right)


def _call(name: str, arguments: Sequence[Number]) -> Number:
    compute, least, most = _FUNCTIONS[name]
    if not least <= len(arguments) <= most:
        raise ExpressionError(f"{name} does not take {len(arguments)} arguments")
    return _guarded(compute, *arguments)


def _guarded(compute: Callable[..., Number], *arguments: Number) -> Number:
    try:
        value = compute(*arguments)
    except ZeroDivisionError as err:
        raise ExpressionError("division by zero") from err
    except OverflowError as err:
        raise _too_large() from err
    if isinstance(value, Fraction):
        return _checked_fraction(value)
    if not math.isfinite(value):
        raise _too_large()
    return value


def _checked_fraction(value: Fraction) -> Fraction:
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > MAX_BITS:
        raise _too_large()
    return value


def _too_large() -> ExpressionError:
    return ExpressionError("a number on the way is too large")


def _power(base: Number, exponent: Number) -> Number:
    if isinstance(base, Fraction) and isinstance(exponent, Fraction) and exponent.denominator == 1:
        size = max(abs(base.numerator), base.denominator).bit_length() - 1
        if size * abs(exponent.numerator) > MAX_BITS:
            raise _too_large()
        return Fraction(base**exponent.numerator)
    if base < 0:
        raise ExpressionError("a negative number has no real power with such an exponent")
    return float(float(base) ** float(exponent))


def _sqrt(value: Number) -> Number:
    if value < 0:
        raise ExpressionError("a negative number has no real square root")
    if isinstance(value, Fraction):
        root = Fraction(math.isqrt(value.numerator), math.isqrt(value.denominator))
        if root * root == value:
            return root
    return math.sqrt(value)


def _round(value: Number, digits: Number = 0) -> Number:
    places = int(digits)
    if places != digits or abs(places) > MAX_LENGTH:
        raise ExpressionError(f"round takes a whole number of digits, at most {MAX_LENGTH}")
    exact = value if isinstance(value, Fraction) else Fraction(repr(value))
    scale = Fraction(10) ** places
    rounded = Fraction(math.floor(abs(exact) * scale + Fraction(1, 2))) / scale
    return rounded if exact >= 0 else -rounded


def _floor(value: Number) -> Number:
    return Fraction(math.floor(value))


def _ceil(value: Number) -> Number:
    return Fraction(math.ceil(value))


_OPERATIONS: Mapping[type[ast.operator], Callable[..., Number]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: lambda left, right: _floor(left / right),
    ast.Mod: operator.mod,
    ast.Pow: _power,
}
_FUNCTIONS: Mapping[str, tuple[Callable[..., Number], int, int]] = {
    "abs": (abs, 1, 1),
    "ceil": (_ceil, 1, 1),
    "floor": (_floor, 1, 1),
    "max": (max, 1, MAX_LENGTH),
    "min": (min, 1, MAX_LENGTH),
    "round": (_round, 1, 2),
    "sqrt": (_sqrt, 1, 1),
}
