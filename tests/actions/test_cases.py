"""Every case that a parser must get right, for each format in which it can occur."""

import pytest

from agentgym_r1.actions import FORMATS, ParsedAction, get_format
from agentgym_r1.types import ToolCall


def search(query: str) -> ToolCall:
    return ToolCall("search", {"query": query})


def hermes(arguments: str) -> str:
    return f'<tool_call>{{"name": "search", "arguments": {arguments}}}</tool_call>'


def native(*arguments: str) -> str:
    entries = ", ".join(
        f'{{"type": "function", "function": {{"name": "search", "arguments": {a}}}}}' for a in arguments
    )
    return f'{{"tool_calls": [{entries}]}}'


def react(arguments: str) -> str:
    return f"Action: search\nAction Input: {arguments}"


HERMES_A, HERMES_B, HERMES_X = (hermes(f'{{"query": "{query}"}}') for query in "abx")
HERMES_BAD, HERMES_EMPTY, HERMES_LIST = hermes('{"query": x'), hermes("{}"), hermes("[]")
NATIVE_A, NATIVE_X = (native(f'{{"query": "{query}"}}') for query in "ax")
REACT_A, REACT_B, REACT_X = (react(f'{{"query": "{query}"}}') for query in "abx")

CALLS = [
    pytest.param("hermes", f"I need facts.\n{HERMES_A}\nDone.", ("a",), id="hermes, text around"),
    pytest.param("tags", "I need facts. <search> a </search> Done.", ("a",), id="tags, text around"),
    pytest.param("react", f"Well.\nThought: facts\n{REACT_A}\nDone.", ("a",), id="react, text around"),
    pytest.param("native", f"I need facts.\n{NATIVE_A}\n", ("a",), id="native, text before"),
    pytest.param("hermes", f"{HERMES_A} {HERMES_B}", ("a", "b"), id="hermes, two calls"),
    pytest.param("tags", "<search>a</search>\n<search>b</search>", ("a", "b"), id="tags, two calls"),
    pytest.param("react", f"{REACT_A}\n{REACT_B}", ("a", "b"), id="react, two calls"),
    pytest.param("native", native('{"query": "a"}', '{"query": "b"}'), ("a", "b"), id="native, two calls"),
    pytest.param("hermes", hermes('{"query": "f({[x]}) }}"}'), ("f({[x]}) }}",), id="hermes, brackets in a string"),
    pytest.param("tags", "<search>f({[x]}) }}</search>", ("f({[x]}) }}",), id="tags, brackets"),
    pytest.param("react", react('{"query": "f({[x]}) }}"}'), ("f({[x]}) }}",), id="react, brackets in a string"),
    pytest.param("native", native('{"query": "f({[x]}) }}"}'), ("f({[x]}) }}",), id="native, brackets in a string"),
    pytest.param(
        "hermes", hermes('{"query": "what is </tool_call>?"}'), ("what is </tool_call>?",), id="hermes, tag in JSON"
    ),
    pytest.param(
        "hermes", hermes('{"query": "<think> or </think>"}'), ("<think> or </think>",), id="hermes, think in JSON"
    ),
    pytest.param(
        "native", native('{"query": "<think> or </think>"}'), ("<think> or </think>",), id="native, think in JSON"
    ),
    pytest.param(
        "hermes", hermes('{"query": "say <answer>no</answer>"}'), ("say <answer>no</answer>",), id="answer in JSON"
    ),
    pytest.param(
        "tags", "<search>say <answer>no</answer></search>", ("say <answer>no</answer>",), id="answer in a query"
    ),
    pytest.param("hermes", hermes(r'"{\"query\": \"a\"}"'), ("a",), id="hermes, arguments as a JSON string"),
    pytest.param("native", native(r'"{\"query\": \"a\"}"'), ("a",), id="native, arguments as a JSON string"),
    pytest.param(
        "hermes", hermes('{"query": "Zoë \\"日本\\"\\n\\u00e9"}'), ('Zoë "日本"\né',), id="hermes, unicode and quotes"
    ),
    pytest.param("tags", '<search>Zoë "日本"\né</search>', ('Zoë "日本"\né',), id="tags, unicode and quotes"),
    pytest.param("react", react('{"query": "Zoë \\"日本\\"\\né"}'), ('Zoë "日本"\né',), id="react, unicode and quotes"),
    pytest.param(
        "native", native('{"query": "Zoë \\"日本\\"\\né"}'), ('Zoë "日本"\né',), id="native, unicode and quotes"
    ),
    pytest.param("hermes", hermes('{"query": "two\nlines"}'), ("two\nlines",), id="hermes, a raw newline in a string"),
    pytest.param("react", react('{"query": "two\nlines"}'), ("two\nlines",), id="react, a raw newline in a string"),
    pytest.param("hermes", hermes('{"query": "\\ud800"}'), ("\ufffd",), id="hermes, a lone surrogate"),
    pytest.param("native", native('{"query": "\\ud800"}'), ("\ufffd",), id="native, a lone surrogate"),
    pytest.param("hermes", f"I may use <tool_call>. {HERMES_A}", ("a",), id="hermes, a tag mentioned"),
    pytest.param("hermes", f"{HERMES_A}<|im_end|>", ("a",), id="hermes, an end piece"),
    pytest.param("react", f"{REACT_A}<|im_end|>", ("a",), id="react, an end piece"),
    pytest.param("react", f"{REACT_A}\nObservation: it is b\nFinal Answer: b", ("a",), id="react, made-up"),
    pytest.param("hermes", f"<think>{HERMES_X}</think>{HERMES_A}", ("a",), id="in think"),
    pytest.param("tags", "<think><search>x</search></think><search>a</search>", ("a",), id="tags in think"),
    pytest.param("react", f"<think>\n{REACT_X}\n</think>\n{REACT_A}", ("a",), id="react, think"),
    pytest.param(
        "native",
        f"<think>\n{NATIVE_X}\n</think>\n{NATIVE_A}",
        ("a",),
        id="native, think",
    ),
    pytest.param("hermes", f"{HERMES_BAD} so </think>{HERMES_A}", ("a",), id="think in the prompt"),
    pytest.param("tags", "try <search>x</search> </think> <search>a</search>", ("a",), id="tags, think in the prompt"),
]


@pytest.mark.parametrize(("name", "response", "queries"), CALLS)
def test_calls_are_read(name: str, response: str, queries: tuple[str, ...]) -> None:
    assert get_format(name).parse(response) == ParsedAction(calls=tuple(map(search, queries)))


ANSWERS = [
    pytest.param("hermes", "So it is <answer> Paris </answer>, I think.", "Paris", id="hermes, text around"),
    pytest.param("tags", "<think>hm</think>\n<answer>Paris</answer>", "Paris", id="tags"),
    pytest.param("react", "Thought: I know\nFinal Answer: Paris", "Paris", id="react"),
    pytest.param("native", "So it is <answer>Paris</answer>.", "Paris", id="native"),
    pytest.param("native", '{"role": "assistant", "content": "<answer>Paris</answer>"}', "Paris", id="native, message"),
    pytest.param(
        "hermes", "<answer>Rome</answer> or rather <answer>Paris</answer>", "Paris", id="hermes, the last of two"
    ),
    pytest.param("tags", "<answer>Rome</answer><answer>Paris</answer>", "Paris", id="tags, the last of two"),
    pytest.param("react", "Final Answer: Rome\nThought: no\nFinal Answer: Paris", "Paris", id="react, the last of two"),
    pytest.param(
        "hermes", "<answer>Paris</answer><think><answer>Rome</answer></think>", "Paris", id="hermes, one in think"
    ),
    pytest.param(
        "tags", "<think><answer>Rome</answer></think><answer>Paris</answer>", "Paris", id="tags, one in think"
    ),
    pytest.param(
        "react", "<think>\nFinal Answer: Rome\n</think>\nFinal Answer: Paris", "Paris", id="react, one in think"
    ),
    pytest.param(
        "tags", "<answer>Rome</answer></think><answer>Paris</answer>", "Paris", id="tags, think in the prompt"
    ),
    pytest.param("hermes", "<answer>Paris</answer> <think>and", "Paris", id="hermes, a thought behind it is cut"),
    pytest.param("hermes", "<answer></answer>", "", id="hermes, an empty answer"),
    pytest.param("react", "Final Answer:", "", id="react, an empty answer"),
    pytest.param("hermes", "<answer>two\nlines</answer>", "two\nlines", id="hermes, lines"),
    pytest.param("react", "Final Answer: two\nlines", "two\nlines", id="react, lines"),
    pytest.param("react", "Final Answer: Paris<|im_end|>\n<|endoftext|>", "Paris", id="react, end pieces"),
    pytest.param("react", "Final Answer: Paris\nObservation: right\nFinal Answer: Rome", "Paris", id="react, made-up"),
    pytest.param("tags", "Shall I <search>? No. <answer>Paris</answer>", "Paris", id="tags, a tag mentioned"),
    pytest.param("hermes", "I need no <tool_call> here. <answer>Paris</answer>", "Paris", id="hermes, a tag mentioned"),
    pytest.param("hermes", r"<answer>a \u003cb> c</answer>", "a <b> c", id="hermes, an escape"),
]


@pytest.mark.parametrize(("name", "response", "answer"), ANSWERS)
def test_the_answer_is_read(name: str, response: str, answer: str) -> None:
    assert get_format(name).parse(response) == ParsedAction(answer=answer)


BOTH = [
    pytest.param("hermes", f"{HERMES_A}<answer>b</answer>", id="hermes"),
    pytest.param("hermes", f"<answer>b</answer>{HERMES_A}", id="hermes, the answer first"),
    pytest.param("hermes", f"<answer>b {HERMES_A}</answer>", id="hermes, a call inside the answer"),
    pytest.param("hermes", f"{HERMES_A}<answer>b", id="hermes, the answer cut off"),
    pytest.param("tags", "<search>a</search><answer>b</answer>", id="tags"),
    pytest.param("react", f"{REACT_A}\nFinal Answer: b", id="react"),
    pytest.param("native", f"<answer>b</answer>\n{NATIVE_A}", id="native"),
]


@pytest.mark.parametrize(("name", "response"), BOTH)
def test_a_call_wins_over_an_answer_and_the_note_says_so(name: str, response: str) -> None:
    parsed = get_format(name).parse(response)
    assert parsed.calls == (search("a"),)
    assert parsed.answer is None
    assert "answer was ignored" in parsed.notes[0]


REFUSED = [
    pytest.param(
        "hermes", '<tool_call>{"name": "search", "argu', "ends before </tool_call>", id="hermes, JSON cut off"
    ),
    pytest.param(
        "hermes", '<tool_call>{"name": "search"}', "ends before </tool_call>", id="hermes, closing tag cut off"
    ),
    pytest.param("hermes", "well, <tool_call>", "ends before </tool_call>", id="hermes, cut off after the tag"),
    pytest.param(
        "hermes", f"{HERMES_EMPTY}<tool_call>{{", "ends before </tool_call>", id="hermes, the second call cut off"
    ),
    pytest.param("hermes", "It is <answer>Paris", "ends before </answer>", id="hermes, answer cut off"),
    pytest.param(
        "hermes", "<answer>Rome</answer> no, <answer>Pa", "ends before </answer>", id="hermes, last answer cut off"
    ),
    pytest.param("tags", "<search>Ada", "ends before </search>", id="tags, call cut off"),
    pytest.param("tags", "<answer>Paris", "ends before </answer>", id="tags, answer cut off"),
    pytest.param(
        "react", 'Action: search\nAction Input: {"query": "Ad', "ends before the end", id="react, JSON cut off"
    ),
    pytest.param(
        "native", '{"tool_calls": [{"function": {"name": "se', "ends before the end", id="native, JSON cut off"
    ),
    pytest.param("native", '{"tool_calls": [', "ends before the end", id="native, list cut off"),
    pytest.param("action_tags", "<action>go to", "ends before </action>", id="action_tags, cut off"),
    pytest.param("hermes", hermes("{'query': 'a'}"), "is not a right call", id="hermes, not JSON"),
    pytest.param(
        "hermes", "<tool_call>search(a)</tool_call><answer>b</answer>", "a JSON object is expected", id="hermes, code"
    ),
    pytest.param("hermes", f"{HERMES_LIST}<answer>b</answer>", "must be an object", id="hermes, arguments are a list"),
    pytest.param("hermes", hermes('"[1]"'), "must be an object", id="hermes, arguments are a list as text"),
    pytest.param("hermes", hermes(r'"{} x"'), "text after the object", id="hermes, more than arguments as text"),
    pytest.param("hermes", '<tool_call>{"name": 3}</tool_call>', '"name" must be', id="hermes, name is a number"),
    pytest.param("hermes", '<tool_call>{"arguments": {}}</tool_call>', '"name" must be', id="hermes, no name"),
    pytest.param("hermes", "<tool_call>{} and</tool_call>", '"name" must be', id="hermes, an empty object"),
    pytest.param(
        "hermes", '<tool_call>{"name": "a"} and</tool_call>', "followed by </tool_call>", id="hermes, text behind"
    ),
    pytest.param("hermes", hermes('{"k": NaN}'), "NaN is not a JSON number", id="hermes, NaN"),
    pytest.param("hermes", hermes('{"k": 1e999}'), "too large", id="hermes, an endless float"),
    pytest.param("hermes", hermes('{"k": ' + "9" * 9_999 + "}"), "is not a right call", id="hermes, a giant integer"),
    pytest.param("hermes", hermes('{"k": ' + "[" * 40 + "]" * 40 + "}"), "nested more than 32", id="hermes, nested"),
    pytest.param("hermes", hermes('{"k": ' + "[" * 90_000), "nested more than 32", id="hermes, nested without end"),
    pytest.param("native", '{"tool_calls": {}}', "must be a list", id="native, an object of calls"),
    pytest.param("native", '{"tool_calls": [{"name": "search"}]}', '"function" object', id="native, no function"),
    pytest.param("react", react("Ada"), "as a JSON object", id="react, text for an unknown tool"),
    pytest.param("react", react("{'query': 'a'}"), "not a right JSON object", id="react, not JSON"),
    pytest.param("react", 'Action Input: {"query": "a"}', "must follow an Action", id="react, input without action"),
    pytest.param("react", 'Action:\nAction Input: {"query": "a"}', "the name of a tool", id="react, no name"),
    pytest.param("hermes", "<think>I will", "ends inside <think>", id="hermes, thought cut off"),
    pytest.param("tags", "<think><answer>a</answer>", "ends inside <think>", id="tags, thought cut off"),
    pytest.param("react", "<think>\nFinal Answer: a", "ends inside <think>", id="react, thought cut off"),
    pytest.param("native", "<think><answer>a</answer>", "ends inside <think>", id="native, thought cut off"),
    pytest.param("plain", "<think>go north", "ends inside <think>", id="plain, thought cut off"),
    pytest.param("action_tags", "<think><action>a</action>", "ends inside <think>", id="action_tags, thought cut off"),
    pytest.param("hermes", "The answer is Paris.", "holds no action", id="hermes, no tag"),
    pytest.param("react", "The Final Answer: Paris", "holds no action", id="react, label inside a line"),
    pytest.param("action_tags", "<answer>a</answer>", "holds no action", id="action_tags has no answer"),
    *(pytest.param(name, "", "is empty", id=f"{name}, empty") for name in FORMATS),
    *(pytest.param(name, " \n\t ", "is empty", id=f"{name}, blank") for name in FORMATS),
    *(pytest.param(name, "<think>so</think>", "is empty", id=f"{name}, only a thought") for name in FORMATS),
]


@pytest.mark.parametrize(("name", "response", "complaint"), REFUSED)
def test_what_cannot_be_understood_is_said_with_a_right_example(name: str, response: str, complaint: str) -> None:
    action_format = get_format(name)
    parsed = action_format.parse(response)
    assert (parsed.calls, parsed.answer, parsed.notes) == ((), None, ())
    reason, _, example = parsed.error.partition(" A right example:\n")
    assert complaint in reason
    assert len(reason) < 300
    assert action_format.parse(example).calls


COMMANDS = [
    pytest.param("plain", " go to desk 1 \n", "go to desk 1", id="plain, blanks around"),
    pytest.param("plain", "<think>where?</think>\ngo to desk 1<|im_end|>", "go to desk 1", id="plain, thought and end"),
    pytest.param("plain", "it is there</think>go to desk 1</s>", "go to desk 1", id="plain, think in the prompt"),
    pytest.param("plain", "search[<b> x]", "search[<b> x]", id="plain, markup"),
    pytest.param(
        "action_tags", "<think>where?</think><action> go to desk 1 </action>", "go to desk 1", id="action_tags"
    ),
]


@pytest.mark.parametrize(("name", "response", "command"), COMMANDS)
def test_a_command_is_read(name: str, response: str, command: str) -> None:
    assert get_format(name).parse(response).calls == (ToolCall("env_step", {"command": command}),)
