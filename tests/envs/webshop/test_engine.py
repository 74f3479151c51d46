"""Walking through the shop."""

import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentgym_r1.data.webshop import Catalogue
from agentgym_r1.envs.webshop.commands import Command, parse_command
from agentgym_r1.envs.webshop.engine import MODES, Shop
from agentgym_r1.envs.webshop.session import Session
from agentgym_r1.errors import ConfigError

START = Session()


def walk(shop: Shop, *commands: str, session: Session = START) -> Session:
    for text in commands:
        command = parse_command(text)
        assert command is not None, text
        after = shop.step(session, command)
        assert after is not session, text
        session = after
    return session


def first_with_options(shop: Shop) -> int:
    return next(row for row in range(len(shop.catalogue)) if len(shop.product(row).options) >= 2)


def test_a_search_shows_ten_results_a_page_and_at_most_fifty(shop: Shop) -> None:
    session = walk(shop, "search[Hand]")
    assert (session.page, session.query, session.number) == ("results", "hand", 1)
    assert len(shop.results("hand")) == 50
    assert len(shop.clickables(session)) == 2 + 10
    last = walk(shop, *["click[next >]"] * 4, session=session)
    assert len(shop.clickables(last)) == 3 + 10
    beyond = walk(shop, "click[next >]", session=last)
    assert shop.clickables(beyond) == ("back to search", "< prev", "next >")
    assert walk(shop, "click[< prev]", session=beyond) == last


def test_a_product_is_opened_chosen_and_bought(shop: Shop) -> None:
    row = first_with_options(shop)
    product = shop.product(row)
    (color, values), (size, sizes) = product.options[:2]
    session = walk(shop, f"search[{product.title}]", f"click[{product.asin}]")
    assert (session.page, session.row, session.options) == ("item", row, ())
    session = walk(shop, f"click[{values[0]}]", f"click[{sizes[-1]}]", f"click[{values[1].upper()}]", session=session)
    assert session.options == ((color, values[1]), (size, sizes[-1]))
    for name in ("description", "features", "reviews"):
        below = walk(shop, f"click[{name}]", session=session)
        assert (below.page, below.sub, shop.clickables(below)) == ("sub", name, ("back to search", "< prev"))
        assert walk(shop, "click[< prev]", session=below) == session
    bought = walk(shop, "click[Buy Now]", session=session)
    assert (bought.page, bought.row, bought.options) == ("end", row, session.options)
    assert shop.clickables(bought) == ()


def test_going_back_forgets_the_choice_but_not_what_was_seen(shop: Shop) -> None:
    product = shop.product(first_with_options(shop))
    value = product.options[0][1][0]
    session = walk(shop, f"search[{product.title}]", f"click[{product.asin}]", f"click[{value}]", "click[< prev]")
    assert (session.page, session.options, session.row) == ("results", (), -1)
    assert len(session.seen) == 1
    assert walk(shop, "search[tea]", session=session).seen == session.seen
    assert walk(shop, "click[back to search]", session=session) == Session()


def test_a_search_works_from_every_page_but_the_last(shop: Shop) -> None:
    product = shop.product(0)
    item = walk(shop, f"search[{product.title}]", f"click[{product.asin}]")
    for session in (Session(), item, walk(shop, "click[reviews]", session=item)):
        assert walk(shop, "search[tea]", session=session).query == "tea"
    bought = walk(shop, "click[buy now]", session=item)
    for text in ("search[tea]", "click[buy now]", "click[back to search]", "click[< prev]"):
        command = parse_command(text)
        assert command is not None
        assert shop.step(bought, command) is bought
        assert not shop.accepts(bought, command)


@pytest.mark.parametrize("element", ["search", "next >", "w000000001", "nothing", "", " ", "[", "b" * 10_000])
def test_a_click_on_what_is_not_there_does_nothing(shop: Shop, element: str) -> None:
    session = Session()
    assert shop.step(session, Command("click", element)) is session


def test_searches_by_field_need_no_index(world: Catalogue) -> None:
    def no_search(queries: object) -> list[list[int]]:
        raise AssertionError(queries)

    shop = Shop(world, no_search)
    product = world.product(0)
    assert set(shop.results(f"<c> {product.category} more")) == set(world.rows_where("category", product.category))
    assert shop.results(f"<q> {product.query}") == tuple(world.rows_where("query", product.query))
    assert shop.results("<a> leak proof") == tuple(world.rows_where("attributes", "leak proof"))
    assert len(set(shop.results("<r>"))) == 50
    assert shop.results("<r>") == Shop(world, no_search).results("<r>")
    for query in ("<a>", "<c>", "<q>", "<a> ", "<c> x"):
        assert shop.results(query) == ()


def test_many_searches_are_asked_in_one_call(world: Catalogue) -> None:
    calls: list[list[str]] = []

    def search(queries: list[str]) -> list[list[int]]:
        calls.append(list(queries))
        return [[1] for _ in queries]

    shop = Shop(world, search)
    shop.prefetch(["Tea", "tea", "<c> pets", "soap"])
    assert calls == [["tea", "soap"]]
    assert shop.results("soap") == shop.results("SOAP") == (1,)
    shop.prefetch(["tea"])
    assert len(calls) == 1


def test_only_the_latest_searches_are_remembered(world: Catalogue) -> None:
    calls: list[list[str]] = []
    shop = Shop(world, lambda queries: calls.append(list(queries)) or [[1]])
    for number in range(2_500):
        shop.results(f"query {number}")
    assert len(calls) == 2_500
    assert shop.results("query 2499") == (1,)
    assert len(calls) == 2_500
    assert shop.results("query 0") == (1,)
    assert calls[2_500:] == [["query 0"]]


def test_addresses_are_those_of_the_original(shop: Shop) -> None:
    product = shop.product(first_with_options(shop))
    name, values = product.options[0]
    session = walk(shop, f"search[{product.title}]", f"click[{product.asin}]", f"click[{values[0]}]")
    words = product.title.lower().replace(" ", "+")
    base = "http://127.0.0.1:3000"
    pages = {
        f"{base}/7": Session(),
        f"{base}/search_results/7/a++b/1": walk(shop, "search[a  B]"),
        f'{base}/item_page/7/{product.asin}/{words}/1/{{"{name}": "{values[0]}"}}': session,
        f"{base}/item_sub_page/7/{product.asin}/{words}/1/Features/{{'{name}': '{values[0]}'}}": walk(
            shop, "click[features]", session=session
        ),
        f"{base}/done/7/{product.asin}/{{'{name}': '{values[0]}'}}": walk(shop, "click[buy now]", session=session),
    }
    for url, where in pages.items():
        assert shop.observe(where, "Get tea", mode="url", name="7") == url


def test_an_unknown_mode_is_named(shop: Shop) -> None:
    with pytest.raises(ConfigError, match="unknown observation mode 'html'"):
        shop.observe(Session(), "Get tea", mode="html")


def test_a_shop_pickles_without_what_it_remembers(world: Catalogue) -> None:
    shop = Shop(world, len)
    shop.product(3)
    assert pickle.loads(pickle.dumps(shop)).product(3) == shop.product(3)
    assert len(pickle.dumps(shop)) < 1_000


WORDS = st.sampled_from(
    ["<a> x", "<c>", "<q> teas", "<r>", "", " ", "[", "]", "[[x]]", "tea", "hand soap", "İ", "\n", "the"]
)
CLICKS = st.sampled_from(
    ["< prev", "next >", "back to search", "description", "features", "reviews", "search", "", "?"]
)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_no_input_breaks_the_shop_and_a_snapshot_is_the_whole_state(shop: Shop, data: st.DataObject) -> None:
    session = Session()
    for _ in range(data.draw(st.integers(1, 12))):
        on_page = shop.clickables(session)
        argument = data.draw(WORDS | CLICKS | st.text(max_size=8) | (st.sampled_from(on_page) if on_page else WORDS))
        verb = data.draw(st.sampled_from(["search", "click", "click", "click"]))
        session = shop.step(session, Command(verb, argument))
        again = Session.from_bytes(session.to_bytes())
        for mode in MODES:
            assert shop.observe(again, "Get tea", mode=mode) == shop.observe(session, "Get tea", mode=mode)
        assert shop.clickables(again) == shop.clickables(session)


def test_a_query_of_ten_thousand_characters_is_searched(shop: Shop) -> None:
    session = walk(shop, f"search[{'soap tea] ' * 1_000}tea]")
    assert (session.page, len(session.query)) == ("results", 10_003)
