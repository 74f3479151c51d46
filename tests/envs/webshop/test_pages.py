"""The pages."""

from dataclasses import replace

import pytest

from agentgym_r1.data.webshop import Product
from agentgym_r1.envs.webshop.pages import (
    as_rich_text,
    as_text,
    end_page,
    item_page,
    results_page,
    start_page,
    sub_page,
)

PRODUCT = Product(
    asin="W1",
    title="  Tin Whistle ",
    category="music",
    query="whistles",
    product_category="Music › Winds",
    description="",
    bullets=("Six holes. ", "", "\n", " \t"),
    options=(("color", ("red", "pale blue")), ("size", ("7", "red"))),
    prices=(9.5,),
    price_tag="$9.5",
    attributes=(),
    nouns=(),
)
BUTTONS = ["back to search", "< prev", "description", "features", "reviews", "buy now"]


def test_the_start_page_has_a_search_button() -> None:
    page = start_page()
    assert (
        as_text(page, ["WebShop", "Instruction: ", "Get tea"])
        == "WebShop [SEP] Instruction: [SEP] Get tea [SEP] Search"
    )
    assert list(page.clickables) == ["search"]


def test_the_first_page_of_results_has_no_way_back() -> None:
    page = results_page([("W1", "Tin Whistle", "$9.5")], number=1, total=11)
    assert (
        page.text
        == "Back to Search [SEP] Page 1 (Total results: 11) [SEP] Next > [SEP] W1 [SEP] Tin Whistle [SEP] $9.5"
    )
    assert list(page.clickables) == ["back to search", "next >", "w1"]


def test_a_later_page_of_results_has_one() -> None:
    page = results_page([], number=3, total=11)
    assert page.text == "Back to Search [SEP] Page 3 (Total results: 11) [SEP] < Prev [SEP] Next >"
    assert list(page.clickables) == ["back to search", "< prev", "next >"]


def test_a_product_shows_its_options_title_and_price() -> None:
    page = item_page(PRODUCT)
    middle = "color [SEP] red [SEP] pale blue [SEP] size [SEP] 7 [SEP] red [SEP] Tin Whistle [SEP] Price: $9.5"
    assert middle in page.text
    assert page.text.endswith("Rating: N.A. [SEP] Description [SEP] Features [SEP] Reviews [SEP] Buy Now")


def test_a_value_of_two_options_chooses_the_last_one() -> None:
    clickables = item_page(PRODUCT).clickables
    assert list(clickables) == [*BUTTONS, "red", "pale blue", "7"]
    assert (clickables["red"], clickables["7"], clickables["buy now"]) == ("size", "size", None)


def test_texts_of_white_space_are_kept_or_dropped_as_an_html_parser_does() -> None:
    assert sub_page(PRODUCT, "features").text == "Back to Search [SEP] < Prev [SEP] Six holes. [SEP]  [SEP] "
    assert sub_page(PRODUCT, "description").text == "Back to Search [SEP] < Prev"
    assert sub_page(replace(PRODUCT, description="\x0b"), "description").text.endswith("< Prev [SEP] ")


def test_reviews_are_empty() -> None:
    assert sub_page(PRODUCT, "reviews").text == "Back to Search [SEP] < Prev"


def test_the_last_page_names_product_options_and_score() -> None:
    page = end_page("W1", {"size": "7", "color": "<b>'&"}, 0.5)
    assert 'options [SEP] {"color": "\\u003cb\\u003e\\u0027\\u0026", "size": "7"} [SEP]' in page.text
    assert "Your score (min 0.0, max 1.0) [SEP] 0.5" in page.text
    assert not page.clickables


def test_rich_text_marks_buttons_options_and_what_was_clicked() -> None:
    text = as_rich_text(item_page(PRODUCT), ["Instruction:", "Get tea"], url='.../{"size": "red"}', seen=())
    assert text.startswith(
        "You have clicked red.\nYou have clicked red.\nInstruction:\nGet tea\n[button] Back to Search"
    )
    assert "\n  [clicked button] red [clicked button_]\n  [button] pale blue [button_]\n" in text


def test_rich_text_marks_products_that_were_opened() -> None:
    page = results_page([("W1", "One", "$1"), ("W2", "Two", "$2")], number=1, total=2)
    text = as_rich_text(page, [], url="", seen={"W2"})
    assert "\n\n[button] W1 [button_]\nOne\n$1\n\n[clicked button] W2 [clicked button_]\nTwo\n" in text


@pytest.mark.parametrize("instruction", ["", "\n", "  "])
def test_an_empty_instruction_is_no_text(instruction: str) -> None:
    shown = as_text(start_page(), ["WebShop", "Instruction: ", instruction])
    assert shown == "WebShop [SEP] Instruction: [SEP] " + ("" if instruction != "  " else " [SEP] ") + "Search"
