"""The shop: which page follows a command. Sessions are values, so one shop serves any number of shoppers."""

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Literal, TypeVar

from agentgym_r1.data.webshop import Catalogue, Product
from agentgym_r1.data.webshop.choices import BACK, BUY, NEXT, PREVIOUS, SUB_PAGES
from agentgym_r1.envs.webshop.commands import Command
from agentgym_r1.envs.webshop.pages import (
    Page,
    as_rich_text,
    as_text,
    end_page,
    item_page,
    results_page,
    start_page,
    sub_page,
)
from agentgym_r1.envs.webshop.search import Search, rows_by_field
from agentgym_r1.envs.webshop.session import Session
from agentgym_r1.errors import unknown_name

PAGE_SIZE = 10
BASE_URL = "http://127.0.0.1:3000"
CACHED = 2048

Mode = Literal["text", "text_rich", "url"]
MODES: tuple[Mode, ...] = ("text", "text_rich", "url")
K = TypeVar("K")
V = TypeVar("V")


class Shop:
    """A catalogue, a search and the rules of the pages; pickling drops what it remembers of pages and searches.

    Args:
        catalogue: the products.
        search: finds rows for queries of words.
    """

    def __init__(self, catalogue: Catalogue, search: Search) -> None:
        self.catalogue, self._search = catalogue, search
        self._results: dict[str, tuple[int, ...]] = {}
        self._result_pages: dict[tuple[str, int], Page] = {}
        self._products: dict[int, Product] = {}
        self._item_pages: dict[int, Page] = {}
        self._start = start_page()

    def __reduce__(self) -> tuple[type["Shop"], tuple[Catalogue, Search]]:
        return type(self), (self.catalogue, self._search)

    def step(self, session: Session, command: Command) -> Session:
        """Return the session after a command; the same object where the command does nothing there.

        Any text may be searched for, from any page but the last. A click must name something on the page; no command
        leaves the last page.
        """
        argument = command.argument.lower()
        if not self.accepts(session, command):
            return session
        if command.verb == "search":
            return Session(page="results", query=argument, seen=session.seen)
        if argument == BACK:
            return Session()
        if session.page == "results":
            return self._from_results(session, argument)
        if session.page == "sub":
            return replace(session, page="item", sub="")
        return self._from_item(session, argument)

    def accepts(self, session: Session, command: Command) -> bool:
        """Return whether a command does something on the session's page."""
        if session.page == "end":
            return False
        if command.verb == "search":
            return bool(command.argument)
        argument = command.argument.lower()
        return argument != "search" and argument in self._page(session).clickables

    def clickables(self, session: Session) -> tuple[str, ...]:
        """Return what can be clicked, in the original's order; the start page lists its search button too."""
        return () if session.page == "end" else tuple(self._page(session).clickables)

    def results(self, query: str) -> tuple[int, ...]:
        """Return the catalogue rows that a search finds, best first; case does not matter."""
        query = query.lower()
        if query not in self._results:
            self.prefetch([query])
        return self._results[query]

    def shown(self, session: Session) -> tuple[int, ...]:
        """Return the rows of the products that a page of results lists; none on other pages."""
        return self._shown(session.query, session.number) if session.page == "results" else ()

    def prefetch(self, queries: Iterable[str]) -> None:
        """Search for many queries at once, so that the steps that need them do not search one by one."""
        words = []
        for query in dict.fromkeys(query.lower() for query in queries):
            if query not in self._results:
                rows = rows_by_field(self.catalogue, query)
                if rows is None:
                    words.append(query)
                else:
                    _remember(self._results, query, tuple(rows))
        for query, found in zip(words, self._search(words) if words else (), strict=True):
            _remember(self._results, query, tuple(found))

    def product(self, row: int) -> Product:
        """Return the product of a catalogue row."""
        if row not in self._products:
            _remember(self._products, row, self.catalogue.product(row))
        return self._products[row]

    def observe(
        self, session: Session, instruction: str, *, mode: Mode = "text", name: str = "0", reward: float | None = None
    ) -> str:
        """Return the page that a session shows.

        Args:
            session: the state.
            instruction: the goal, which stands on every page but the last.
            mode: "text", "text_rich" (which marks buttons and what was clicked) or "url".
            name: the shopper's name in addresses.
            reward: what the last page states as the score; without it that page only says what was bought.

        Raises:
            ConfigError: an unknown mode.
        """
        if mode not in MODES:
            raise unknown_name("observation mode", mode, MODES)
        if mode == "url":
            return self.url(session, name=name)
        page = self._end(session, reward) if session.page == "end" else self._page(session)
        header = [] if session.page == "end" else ["Instruction:", instruction]
        if session.page == "start":
            header = ["WebShop", "Instruction: ", instruction]
        if mode == "text":
            return as_text(page, header)
        seen = {self.product(row).asin for row in session.seen}
        return as_rich_text(page, header, url=self.url(session, name=name), seen=seen)

    def url(self, session: Session, *, name: str) -> str:
        """Return the address of the session's page, as the original would write it."""
        if session.page == "start":
            return f"{BASE_URL}/{name}"
        words = session.query.replace(" ", "+")
        if session.page == "results":
            return f"{BASE_URL}/search_results/{name}/{words}/{session.number}"
        asin, options = self.product(session.row).asin, dict(session.options)
        if session.page == "item":
            return f"{BASE_URL}/item_page/{name}/{asin}/{words}/{session.number}/{json.dumps(options)}"
        if session.page == "sub":
            sub = session.sub.capitalize()
            return f"{BASE_URL}/item_sub_page/{name}/{asin}/{words}/{session.number}/{sub}/{options}"
        return f"{BASE_URL}/done/{name}/{asin}/{options}"

    def _from_results(self, session: Session, argument: str) -> Session:
        if argument in (NEXT, PREVIOUS):
            return replace(session, number=session.number + (1 if argument == NEXT else -1))
        rows = self._shown(session.query, session.number)
        row = next(row for row in rows if self.catalogue.headline(row)[0].lower() == argument)
        seen = session.seen if row in session.seen else (*session.seen, row)
        return replace(session, page="item", row=row, seen=seen)

    def _from_item(self, session: Session, argument: str) -> Session:
        if argument == BUY:
            return replace(session, page="end")
        if argument == PREVIOUS:
            return Session(page="results", query=session.query, number=session.number, seen=session.seen)
        if argument in SUB_PAGES:
            return replace(session, page="sub", sub=argument)
        name = self._item_page(session.row).clickables[argument] or ""
        return replace(session, options=tuple((dict(session.options) | {name: argument}).items()))

    def _shown(self, query: str, number: int) -> tuple[int, ...]:
        return self.results(query)[(number - 1) * PAGE_SIZE : number * PAGE_SIZE]

    def _page(self, session: Session) -> Page:
        """Return any page but the last."""
        if session.page == "start":
            return self._start
        if session.page == "results":
            return self._result_page(session.query, session.number)
        if session.page == "sub":
            return sub_page(self.product(session.row), session.sub)
        return self._item_page(session.row)

    def _item_page(self, row: int) -> Page:
        if row not in self._item_pages:
            _remember(self._item_pages, row, item_page(self.product(row)))
        return self._item_pages[row]

    def _result_page(self, query: str, number: int) -> Page:
        key = query, number
        if key not in self._result_pages:
            products = [self.catalogue.headline(row) for row in self._shown(query, number)]
            page = results_page(products, number=number, total=len(self.results(query)))
            _remember(self._result_pages, key, page)
        return self._result_pages[key]

    def _end(self, session: Session, reward: float | None) -> Page:
        return end_page(self.product(session.row).asin, dict(session.options), reward)


def _remember(cache: dict[K, V], key: K, value: V) -> None:
    """Store a value; the oldest one goes when the cache is full."""
    if len(cache) >= CACHED:
        del cache[next(iter(cache))]
    cache[key] = value
