"""What a step in the shop costs, against making the same page as HTML and reading it again, as WebShop does.

One core, without a model: an expert's walks through a generated shop of 1,000 products, then a large shop's size,
opening and search. The HTML side renders with jinja2 and reads with the standard library's parser, once a step; it is
checked to give the same text. Run ``python benchmarks/webshop.py``; ``--json`` prints one document.
"""

import argparse
import gc
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import jinja2
from rich.console import Console
from rich.table import Table

from agentgym_r1.data.webshop import Catalogue, Goal, Goals, ProductCorpus, ShopTasks, build_catalogue
from agentgym_r1.data.webshop.nouns import WordNouns
from agentgym_r1.data.worlds.shop import WorldShop
from agentgym_r1.envs.webshop.commands import Command
from agentgym_r1.envs.webshop.engine import PAGE_SIZE, Shop
from agentgym_r1.envs.webshop.env import WebShopEnv
from agentgym_r1.envs.webshop.expert import next_command
from agentgym_r1.envs.webshop.pages import SEPARATOR
from agentgym_r1.envs.webshop.search import BM25Search
from agentgym_r1.envs.webshop.session import Session
from agentgym_r1.retrieval.bm25 import BM25Retriever, write_bm25
from agentgym_r1.text_env import Options

WALKS = 300
QUERIES = 300
START = Session()

Walk = tuple[Goal, list[tuple[Session, Command]]]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--products", type=int, default=100_000, help="size of the large shop")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        steps = measure_steps(Path(folder) / "small")
        steps |= measure_environment(Catalogue(Path(folder) / "small"))
        large = measure_large(Path(folder), arguments.products)
    document = {
        "name": "webshop",
        "ratios": {
            "warm steps a second / HTML": steps["warm_steps_per_second"] / steps["html_steps_per_second"],
            "first visits a second / HTML": steps["first_visit_steps_per_second"] / steps["html_steps_per_second"],
        },
        "figures": steps | large,
    }
    print(json.dumps(document, indent=2)) if arguments.json else show(document)


def measure_steps(folder: Path) -> dict[str, float]:
    """Return steps a second of walks through 1,000 products: with HTML, at the first visit, and again."""
    catalogue = build_catalogue(WorldShop(1_000), folder, nouns=WordNouns())
    search = BM25Search.build(catalogue)
    walks = plan_walks(Shop(catalogue, search), Goals(catalogue))
    count = sum(len(steps) for _, steps in walks)
    shop = Shop(catalogue, search)
    shop.prefetch(command.argument for _, steps in walks for _, command in steps if command.verb == "search")
    html = HtmlShop(shop)
    check_equal(shop, html, walks[:20])
    fresh = Shop(catalogue, search)
    fresh.prefetch(command.argument for _, steps in walks for _, command in steps if command.verb == "search")
    first = timed(lambda: play(fresh, walks, fresh.observe))
    warm = min(timed(lambda: play(fresh, walks, fresh.observe)) for _ in range(3))
    slow = min(timed(lambda: play(shop, walks, html.observe)) for _ in range(2))
    sizes = [len(session.to_bytes()) for _, steps in walks for session, _ in steps]
    return {
        "warm_steps_per_second": count / warm,
        "first_visit_steps_per_second": count / first,
        "html_steps_per_second": count / slow,
        "session_bytes_mean": statistics.mean(sizes),
        "session_bytes_max": max(sizes),
    }


def measure_environment(catalogue: Catalogue) -> dict[str, float]:
    """Return what the whole environment takes: parsing, paying and writing the prompt on top of the shop's step."""
    tasks, shop = ShopTasks(Goals(catalogue), split="test"), Shop(catalogue, BM25Search.build(catalogue))
    env = WebShopEnv(tasks, shop, options=Options(max_steps=15))
    episodes = [expert_actions(env, index) for index in range(min(WALKS, len(tasks)))]
    steps = sum(map(len, episodes))
    resets = timed(lambda: [env.reset(options={"index": index}) for index in range(len(episodes))])
    everything = min(timed(lambda: play_episodes(env, episodes)) for _ in range(3))
    return {
        "environment_steps_per_second": steps / (everything - resets),
        "environment_resets_per_second": len(episodes) / resets,
        "snapshot_bytes": len(env.snapshot()),
    }


def expert_actions(env: WebShopEnv, index: int) -> list[str]:
    """Return the expert's actions for a goal."""
    actions = []
    env.reset(options={"index": index})
    while not env.over:
        actions.append(env.expert())
        env.step(actions[-1])
    return actions


def play_episodes(env: WebShopEnv, episodes: list[list[str]]) -> None:
    """Play recorded actions."""
    for index, actions in enumerate(episodes):
        env.reset(options={"index": index})
        for action in actions:
            env.step(action)


def plan_walks(shop: Shop, goals: Goals) -> list[Walk]:
    """Return an expert's walks that look at the features and at a second page of results on the way."""
    walks = []
    for position in range(0, len(goals), max(len(goals) // WALKS, 1)):
        goal, session, steps = goals[position], START, []
        detours = [Command("click", "features"), Command("click", "< prev"), Command("click", "next >")]
        while (command := next_command(shop, session, goal)) is not None:
            detour = next((one for one in detours if shop.accepts(session, one)), None)
            if detour is not None and session.page != "results":
                detours.remove(detour)
                command = detour
            steps.append((session, command))
            session = shop.step(session, command)
        walks.append((goal, steps))
    return walks


def play(shop: Shop, walks: list[Walk], observe: Callable[[Session, str], str]) -> None:
    """Take every step of the walks and read its page."""
    for goal, steps in walks:
        for session, command in steps:
            after = shop.step(session, command)
            observe(after, goal.instruction)
            shop.clickables(after)


def measure_large(folder: Path, products: int) -> dict[str, float]:
    """Return what a large shop takes to build, open, hold and search."""
    built = timed(lambda: build_catalogue(WorldShop(products), folder / "large", nouns=WordNouns()))
    gc.collect()
    before = resident()
    opened = timed(lambda: Catalogue(folder / "large"))
    catalogue = Catalogue(folder / "large")
    indexed = timed(lambda: write_bm25(folder / "index", ProductCorpus(catalogue)))
    opened_index = timed(lambda: BM25Retriever.open(folder / "index", corpus=ProductCorpus(catalogue)))
    retriever = BM25Retriever.open(folder / "index", corpus=ProductCorpus(catalogue))
    retriever.warm_up()
    search, goals = BM25Search(retriever, catalogue), Goals(catalogue)
    queries = [goals[place].instruction for place in range(0, len(goals), max(len(goals) // QUERIES, 1))]
    search(queries[:1])
    times = [timed(lambda query=query: search([query])) for query in queries]
    return {
        "products": products,
        "build_s": built,
        "index_build_s": indexed,
        "disk_mb": sum(path.stat().st_size for path in (folder / "large").iterdir()) / 1e6,
        "open_ms": opened * 1000,
        "open_index_ms": opened_index * 1000,
        "search_ms_median": statistics.median(times) * 1000,
        "search_ms_p95": sorted(times)[int(len(times) * 0.95)] * 1000,
        "private_memory_mb": (resident() - before) / 1e6,
    }


def resident() -> int:
    """Return the bytes of memory that this process shares with nobody (Linux), else 0."""
    status = Path("/proc/self/status")
    if not status.is_file():
        return 0
    lines = status.read_text(encoding="ascii").splitlines()
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("RssAnon")), 0)


def timed(work: Callable[[], Any]) -> float:
    """Return the seconds that a call takes."""
    start = time.process_time()
    work()
    return time.process_time() - start


LAYOUT = """<!DOCTYPE html><html><head><title>Shop</title><style>h4 { margin: 0 }</style></head><body><div class="page">
{% if start %}<h2>WebShop</h2>{% endif %}
{% if header %}<div id="goal"><h4>{{ header }}<br>{{ goal }}</h4></div>{% endif %}
{% for button in top %}<form method="post" action="{{ url }}"><button class="btn">{{ button }}</button></form>
{% endfor %}
{% if heading %}<div><h3>{{ heading }}</h3></div>{% endif %}
{% for button in pager %}<form method="post" action="{{ url }}"><button class="btn">{{ button }}</button></form>
{% endfor %}
{% for asin, title, price in products %}<div class="row"><img src="{{ url }}/{{ asin }}.jpg">
<h4><a class="product-link" href="{{ url }}/{{ asin }}">{{ asin }}</a></h4>
<h4>{{ title }}</h4><h5>{{ price }}</h5></div>
{% endfor %}
{% for name, values in options %}<div class="row"><h4>{{ name }}</h4><div>
{% for value in values %}<input type="radio" id="{{ name }}{{ loop.index0 }}" name="{{ name }}" value="{{ value }}">
<label for="{{ name }}{{ loop.index0 }}">{{ value }}</label>
{% endfor %}</div></div>
{% endfor %}
{% for text in texts %}<p>{{ text }}</p>
{% endfor %}
{% for button in bottom %}<form method="post" action="{{ url }}"><button class="btn">{{ button }}</button></form>
{% endfor %}
</div></body></html>"""


class HtmlShop:
    """The shop's pages by way of HTML: a template is filled, and its texts and clickables are read out again."""

    def __init__(self, shop: Shop) -> None:
        self._shop = shop
        self._template = jinja2.Environment(autoescape=True).from_string(LAYOUT)

    def observe(self, session: Session, instruction: str) -> str:
        """Return the page in text mode, as ``Shop.observe`` does."""
        if session.page == "end":
            return self._shop.observe(session, instruction)
        reader = Reader()
        reader.feed(self._template.render(self._values(session, instruction)))
        return SEPARATOR.join(reader.texts)

    def _values(self, session: Session, instruction: str) -> dict[str, Any]:
        shop, start = self._shop, session.page == "start"
        values: dict[str, Any] = {"url": shop.url(session, name="0"), "goal": instruction, "header": "Instruction:"}
        if start:
            return values | {"start": True, "bottom": ["Search"]}
        values["top"] = ["Back to Search"] if session.page == "results" else ["Back to Search", "< Prev"]
        if session.page == "results":
            rows = shop.results(session.query)
            shown = rows[(session.number - 1) * PAGE_SIZE : session.number * PAGE_SIZE]
            values["heading"] = f"Page {session.number} (Total results: {len(rows)})"
            values["pager"] = ["< Prev", "Next >"] if session.number > 1 else ["Next >"]
            return values | {"products": [shop.catalogue.headline(row) for row in shown]}
        product = shop.product(session.row)
        if session.page == "sub":
            texts = {"features": product.bullets, "description": [product.description]}
            return values | {"texts": texts.get(session.sub, [])}
        texts = [product.title, f"Price: {product.price_tag}", "Rating: N.A."]
        bottom = ["Description", "Features", "Reviews", "Buy Now"]
        return values | {"options": product.options, "texts": texts, "bottom": bottom}


class Reader(HTMLParser):
    """Collects the visible texts of a page, and what can be clicked."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.clickables: dict[str, None] = {}
        self._hidden = self._link = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._hidden = self._hidden or tag == "head"
        self._link = tag in ("button", "a")
        if tag == "input":
            self.clickables[dict(attrs)["value"] or ""] = None

    def handle_endtag(self, tag: str) -> None:
        self._hidden = self._hidden and tag != "head"

    def handle_data(self, data: str) -> None:
        text = data.strip()
        if text and not self._hidden:
            self.texts.append(text)
            if self._link:
                self.clickables[text.lower()] = None


def check_equal(shop: Shop, html: HtmlShop, walks: list[Walk]) -> None:
    """Stop where the two sides do not show the same."""
    for goal, steps in walks:
        for session, _ in steps:
            ours, theirs = shop.observe(session, goal.instruction), html.observe(session, goal.instruction)
            if ours != theirs:
                sys.exit(f"the pages differ:\n{ours}\n{theirs}")


def show(document: dict[str, Any]) -> None:
    """Print the ratios and figures as tables."""
    console = Console()
    for title in ("ratios", "figures"):
        table = Table("", title, title=f"webshop: {title}")
        for name, value in document[title].items():
            table.add_row(name, f"{value:,.1f}" if value < 1_000 else f"{value:,.0f}")
        console.print(table)


if __name__ == "__main__":
    main()
