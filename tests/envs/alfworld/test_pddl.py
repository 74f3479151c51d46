import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentgym_r1.envs.alfworld.pddl import Goal, parse_problem
from agentgym_r1.errors import DataError


def test_facts_come_in_lower_case_by_predicate_in_file_order(problem, goals):
    facts = parse_problem(problem(goals["place"]), name="kitchen").facts
    assert facts["atlocation"] == (("agent1", "loc_bar_9"),)
    assert facts["receptacletype"][:2] == (
        ("countertop_bar_1", "countertoptype"),
        ("sink_bar_1_bar_sinkbasin", "sinkbasintype"),
    )


def test_comments_and_costs_are_no_facts(problem, goals):
    text = problem(goals["place"], "(= (total-cost) 0)", "; (opened Fridge_bar_1)")
    facts = parse_problem(text, name="kitchen").facts
    assert "=" not in facts
    assert "opened" not in facts


@pytest.mark.parametrize(
    ("form", "goal"),
    [
        ("place", Goal("place", "appletype", "drawertype")),
        ("clean", Goal("clean", "appletype", "fridgetype")),
        ("heat", Goal("heat", "appletype", "countertoptype")),
        ("cool", Goal("cool", "bowltype", "microwavetype")),
        ("two", Goal("two", "appletype", "drawertype")),
        ("look", Goal("look", "knifetype", "desklamptype")),
    ],
)
def test_every_goal_form_is_recognised(problem, goals, form, goal):
    assert parse_problem(problem(goals[form]), name="kitchen").goal == goal


@pytest.mark.parametrize(
    "goal",
    [
        "(and (holds agent1 Apple_bar_1))",
        "(forall (?o - object) (inReceptacle ?o ?r))",
        "(and (exists (?r - receptacle) (inReceptacle ?o ?r)))",
        "(or (isClean ?o) (isHot ?o))",
    ],
)
def test_an_unknown_goal_form_is_named_with_its_file(problem, goal):
    with pytest.raises(DataError, match=r"kitchen.tw-pddl has an unknown goal form"):
        parse_problem(problem(goal), name="kitchen.tw-pddl")


def test_a_goal_for_two_kinds_of_object_is_unknown(problem, goals):
    goal = goals["two"].replace("?o2 AppleType", "?o2 BowlType")
    with pytest.raises(DataError, match="unknown goal form"):
        parse_problem(problem(goal), name="kitchen")


@given(cut=st.floats(0, 1, exclude_max=True))
def test_a_truncated_file_is_an_error_that_names_it(problem, goals, cut):
    text = problem(goals["heat"])
    with pytest.raises(DataError, match=r"^kitchen\.tw-pddl"):
        parse_problem(text[: int(cut * len(text))], name="kitchen.tw-pddl")


@given(st.text())
def test_noise_is_refused(text):
    with pytest.raises(DataError, match="^noise"):
        parse_problem(text, name="noise")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{}", "not a PDDL problem"),
        ("", "not a PDDL problem"),
        ("(define (problem p))", "no :init section"),
        ("(define (problem p) (:init (a b)))", "no :goal section"),
        ("(define (problem p) (:init (a (b c))) (:goal (and x)))", r"not \(predicate name ...\)"),
        ("(define (problem p) (:init a) (:goal (and x)))", r"not \(predicate name ...\)"),
        ("define)", "bracket"),
        ("(define ())", "bracket"),
        ("(" * 100_000, "truncated: 100000 brackets are never closed"),
        (f"(define (:init (a b)) (:goal {'(and (not x) ' * 50_000}(x y){')' * 50_000}))", "unknown goal form"),
    ],
)
def test_what_is_not_a_problem_is_refused_with_the_reason(text, reason):
    with pytest.raises(DataError, match=reason):
        parse_problem(text, name="file")
