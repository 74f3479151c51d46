"""The calculator: exact arithmetic for an agent."""

from typing import Annotated, ClassVar

from pydantic import Field

from agentgym_r1.tools.arithmetic import OPERATORS, ExpressionError, evaluate, format_number
from agentgym_r1.types import ToolResult

_EXAMPLE = "(3 + 4) * 2.5"


class Calculator:
    """Computes one expression a call; ``data`` of the result is the number (int, Fraction or float)."""

    name: ClassVar[str] = "calculator"
    description: ClassVar[str] = (
        f"Compute an arithmetic expression of numbers, {OPERATORS} "
        "and the functions abs, ceil, floor, max, min, round and sqrt."
    )
    example: ClassVar[dict[str, str]] = {"expression": _EXAMPLE}

    def __call__(self, expression: Annotated[str, Field(description="what to compute, on one line")]) -> ToolResult:
        """Return the value as text, or why there is none and a right example."""
        if not expression.strip():
            return ToolResult(f"The expression is empty. A right example: {_EXAMPLE}", ok=False)
        try:
            value = evaluate(expression)
        except ExpressionError as err:
            return ToolResult(f"Not computed: {err}. A right example: {_EXAMPLE}", ok=False)
        return ToolResult(format_number(value), data=value)
