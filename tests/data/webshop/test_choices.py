"""Which values can be chosen, and which are."""

from agentgym_r1.data.webshop.choices import can_meet, choosable, choose, offered

OPTIONS = (("size", ("small", "large", "one")), ("color", ("deep teal", "teal", "one", "buy now", "", "a[b]")))


def test_a_shared_value_chooses_the_last_option_and_buttons_choose_nothing() -> None:
    assert offered(OPTIONS) == {"small": "size", "large": "size", "one": "color", "deep teal": "color", "teal": "color"}


def test_the_wanted_values_are_chosen() -> None:
    assert choose(OPTIONS, [("color", "teal"), ("size", "large")]) == {"color": "teal", "size": "large"}


def test_a_persons_words_are_met_by_the_nearest_value() -> None:
    assert choose(OPTIONS, ["bright teal", "large size"]) == {"color": "deep teal", "size": "large"}


def test_what_is_not_offered_is_left_out() -> None:
    assert choose(OPTIONS, ["velvet"]) == {}
    assert not can_meet(OPTIONS, ["velvet"])
    assert not can_meet(OPTIONS, ["small", "large"])
    assert can_meet(OPTIONS, [])


def test_values_that_do_not_count_as_themselves_are_not_choosable() -> None:
    assert choosable(OPTIONS) == [("deep teal", "teal", "one"), ("small", "large")]
    assert choosable(()) == []


def test_a_value_that_stands_twice_is_one_choice() -> None:
    assert choosable((("size", ("7", "8", "7")),)) == [("7", "8")]
