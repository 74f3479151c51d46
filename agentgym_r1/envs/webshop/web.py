"""The shop as a web page: a person clicks, and sees beside it what an agent would read.

It needs the extra ``viewer``. Pictures are left out, so that the page reads nothing from the network.
"""

from importlib.resources import files
from typing import Any
from urllib.parse import parse_qs

import jinja2
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from agentgym_r1.envs.webshop.env import WebShopEnv

LOOPBACK = ("127.0.0.1", "localhost")


class Visit:
    """A person in the shop: an environment, and what it said last.

    Args:
        env: takes plain commands.
        seed: draws the first goal; later ones follow in the environment's own order.
        task: the first goal's id instead.
    """

    def __init__(self, env: WebShopEnv, *, seed: int = 0, task: str | None = None) -> None:
        self.env = env
        self.observation, self.info = env.reset(seed=seed, options={"task": task} if task else None)
        self.reward = 0.0

    def act(self, command: str) -> None:
        """Carry out a command; after the end nothing happens any more."""
        if not self.env.over:
            self.observation, reward, _, _, self.info = self.env.step(command)
            self.reward += float(reward)

    def start_again(self) -> None:
        """Draw another goal."""
        self.observation, self.info = self.env.reset()
        self.reward = 0.0

    def shown(self) -> dict[str, Any]:
        """Return what the template needs."""
        env, session = self.env, self.env.session
        shop = env.shop
        on_product = session.page in ("item", "sub", "end")
        return {
            "instruction": env.task.prompt,
            "session": session,
            "products": [shop.product(row) for row in shop.shown(session)],
            "total": len(shop.results(session.query)) if session.page == "results" else 0,
            "product": shop.product(session.row) if on_product else None,
            "chosen": dict(session.options),
            "step": env.steps,
            "max_steps": env.max_steps,
            "over": env.over,
            "reward": self.reward,
            "info": self.info,
            "observation": self.observation,
        }


def make_app(visit: Visit) -> Starlette:
    """Return the web application of one visit; it answers requests to this machine's own addresses only."""
    template = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True).from_string(
        files("agentgym_r1.envs.webshop").joinpath("web.html").read_text(encoding="utf-8")
    )

    async def show(request: Request) -> Response:
        return HTMLResponse(template.render(visit.shown()))

    async def act(request: Request) -> Response:
        form = parse_qs((await request.body()).decode("utf-8", "replace"), keep_blank_values=True)
        if "words" in form:
            visit.act(f"search[{form['words'][0]}]")
        else:
            visit.act(form.get("command", [""])[0])
        return RedirectResponse("/", status_code=303)

    async def start_again(request: Request) -> Response:
        visit.start_again()
        return RedirectResponse("/", status_code=303)

    return Starlette(
        routes=[Route("/", show), Route("/act", act, methods=["POST"]), Route("/new", start_again, methods=["POST"])],
        middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=list(LOOPBACK))],
    )
