"""Read the PDDL problem of an ALFWorld game into facts and a goal."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from agentgym_r1.errors import DataError

GoalKind: TypeAlias = Literal["place", "look", "clean", "heat", "cool", "two"]
Expression: TypeAlias = "str | list[Expression]"
Fact: TypeAlias = tuple[str, ...]

_WORD: Final = re.compile(r"[()]|[^\s()]+")
_COMMENT: Final = re.compile(r";[^\n]*")
_CONNECTIVES: Final = frozenset({"and", "exists", "not"})

_PLACED: Final = "(inreceptacle ?o ?r) (objecttype ?o _) (receptacletype ?r _)"
_GOAL_FORMS: Final[Mapping[GoalKind, str]] = {
    "place": _PLACED,
    "clean": f"{_PLACED} (cleanable ?o) (isclean ?o)",
    "heat": f"{_PLACED} (heatable ?o) (ishot ?o)",
    "cool": f"{_PLACED} (coolable ?o) (iscool ?o)",
    "two": (
        "(objecttype ?o1 _) (receptacletype ?r _) (inreceptacle ?o1 ?r)"
        " (= ?o1 ?o2) (objecttype ?o2 _) (receptacletype ?r _) (inreceptacle ?o2 ?r)"
    ),
    "look": (
        "(objecttype ?ot _) (toggleable ?ot) (istoggled ?ot) (receptacleatlocation ?r ?l) (atlocation ?a ?l)"
        " (inreceptacle ?ot ?r) (objecttype ?o _) (holds ?a ?o)"
    ),
}


@dataclass(frozen=True, slots=True)
class Goal:
    """What counts as success.

    Attributes:
        kind: one of the six forms ALFWorld has.
        object_type: the type of the object to place, or to look at.
        target_type: the type of the receptacle to place it in, or of the lamp to look at it with.
    """

    kind: GoalKind
    object_type: str
    target_type: str


@dataclass(frozen=True, slots=True)
class Problem:
    """A PDDL problem, all names in lower case.

    Attributes:
        facts: the initial facts, as argument tuples by predicate, in the order of the file.
        goal: the goal.
    """

    facts: Mapping[str, tuple[Fact, ...]]
    goal: Goal


def parse_problem(text: str, *, name: str) -> Problem:
    """Parse a PDDL problem.

    Args:
        text: the ``pddl_problem`` of a game file.
        name: the file or task, for errors.

    Raises:
        DataError: the text is truncated, is not a PDDL problem, or its goal is none of ALFWorld's six forms.
    """
    expressions = _read(text, name=name)
    if len(expressions) != 1 or not isinstance(expressions[0], list) or expressions[0][:1] != ["define"]:
        raise DataError(f"{name} is not a PDDL problem: expected one (define (problem ...) ...), got {text[:40]!r}")
    sections = {part[0]: part[1:] for part in expressions[0][1:] if isinstance(part, list) and isinstance(part[0], str)}
    for needed in (":init", ":goal"):
        if not sections.get(needed):
            raise DataError(f"{name} is not a complete PDDL problem: it has no {needed} section")
    return Problem(_facts(sections[":init"], name=name), _goal(sections[":goal"], name=name))


def _read(text: str, *, name: str) -> list[Expression]:
    """Return the bracketed expressions of a text, comments dropped, in lower case."""
    stack: list[list[Expression]] = [[]]
    for word in _WORD.findall(_COMMENT.sub("", text).lower()):
        if word == "(":
            stack.append([])
        elif word != ")":
            stack[-1].append(word)
        elif len(stack) == 1 or not stack[-1]:
            raise DataError(f"{name} is not PDDL: an empty or unopened bracket is closed")
        else:
            closed = stack.pop()
            stack[-1].append(closed)
    if len(stack) != 1:
        raise DataError(f"{name} is truncated: {len(stack) - 1} brackets are never closed")
    return stack[0]


def _atom(expression: Expression) -> Fact | None:
    if isinstance(expression, list):
        words = tuple(word for word in expression if isinstance(word, str))
        return words if len(words) == len(expression) else None
    return None


def _facts(init: list[Expression], *, name: str) -> dict[str, tuple[Fact, ...]]:
    facts: dict[str, list[Fact]] = {}
    for expression in init:
        if isinstance(expression, list) and expression[0] == "=":
            continue  # costs and distances, which no text game reads
        atom = _atom(expression)
        if atom is None:
            raise DataError(f"{name} has an initial fact that is not (predicate name ...): {expression}")
        facts.setdefault(atom[0], []).append(atom[1:])
    return {predicate: tuple(arguments) for predicate, arguments in facts.items()}


def _goal_atoms(section: list[Expression], *, name: str) -> list[Fact]:
    """Return the atoms below the connectives of a goal; the variable lists of ``exists`` are no atoms."""
    atoms: list[Fact] = []
    todo = list(reversed(section))
    while todo:
        expression = todo.pop()
        atom = _atom(expression)
        if atom is not None:
            atoms.append(atom)
        elif isinstance(expression, list) and expression[0] in _CONNECTIVES:
            todo += reversed(expression[2 if expression[0] == "exists" else 1 :])
        else:
            raise DataError(f"{name} has an unknown goal form: {str(expression)[:200]}")
    return atoms


def _untyped(atom: Fact) -> Fact:
    return (*atom[:-1], "_") if atom[0] in ("objecttype", "receptacletype") else atom


_SIGNATURES: Final = {
    tuple(sorted(tuple(atom.split()) for atom in form[1:-1].split(") ("))): kind for kind, form in _GOAL_FORMS.items()
}


def _goal(section: list[Expression], *, name: str) -> Goal:
    atoms = _goal_atoms(section, name=name)
    kind = _SIGNATURES.get(tuple(sorted(map(_untyped, atoms))))
    objects = {atom[1]: atom[2] for atom in atoms if atom[0] == "objecttype"}
    if kind == "look":
        return Goal(kind, objects["?o"], objects["?ot"])
    object_types = set(objects.values())
    target_types = {atom[2] for atom in atoms if atom[0] == "receptacletype"}
    if kind is None or len(object_types) != 1 or len(target_types) != 1:
        raise DataError(f"{name} has an unknown goal form: {' '.join(map(' '.join, atoms))[:200]}")
    return Goal(kind, object_types.pop(), target_types.pop())
