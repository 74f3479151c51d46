"""What the site adds: the options of every command, the results, and a check that it loads nothing from elsewhere."""

import re
from pathlib import Path
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints

MARK = "<!-- every command -->"
RESULTS = "results"
ROOT = Path(__file__).resolve().parents[1]
VALUES = {bool: "", int: "number", float: "number", Path: "path"}
_INCLUDE = re.compile(r"^(?:# |<!-- )include: (\S+)(?: -->)?$", re.MULTILINE)
_OUTSIDE = re.compile(r'<(?:script|img|iframe|link)\b[^>]*\b(?:src|href)="(https?:)?//[^"]*"[^>]*>')


def on_config(config: Any) -> Any:
    """List the pages of docs/results, which runs write, without naming each in mkdocs.yml."""
    folder = Path(config["docs_dir"])
    pages = [str(page.relative_to(folder)) for page in sorted((folder / RESULTS).glob("**/*.md"))]
    if pages:
        config["nav"].insert(-1, {"Results": pages})
    return config


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put files of the repository and the reference of the command line where a page asks for them."""
    markdown = _INCLUDE.sub(lambda found: (ROOT / found.group(1)).read_text(encoding="utf-8").strip(), markdown)
    return markdown.replace(MARK, commands()) if MARK in markdown else markdown


def on_post_build(config: Any) -> None:
    """Raise when a page of the site would load a script, a style or an image from another place."""
    for page in Path(config["site_dir"]).glob("**/*.html"):
        if found := _OUTSIDE.search(page.read_text(encoding="utf-8")):
            raise ValueError(f"{page} loads something from outside: {found.group()}")


def commands() -> str:
    """Return a section for each command with its arguments and options, as the program itself knows them."""
    import typer

    from agentgym_r1.cli import app

    return "\n\n".join(_sections(typer.main.get_command(app), "agentgym-r1"))


def _sections(command: Any, name: str) -> list[str]:
    subcommands = getattr(command, "commands", None)
    if subcommands:
        return [section for each in subcommands.values() for section in _sections(each, f"{name} {each.name}")]
    kinds = get_type_hints(command.callback)
    rows = [_row(parameter, kinds[parameter.name]) for parameter in command.params if parameter.name in kinds]
    table = ["| option | value | default | |", "|---|---|---|---|", *rows] if rows else []
    return [f"## {name}", _text(command.help or ""), "\n".join(table)]


def _row(parameter: Any, kind: Any) -> str:
    """Return the table row of a parameter, an argument by its name in the usage line."""
    kinds = [each for each in get_args(kind) if each is not NoneType] if NoneType in get_args(kind) else [kind]
    repeats = get_origin(kinds[0]) is list
    value = VALUES.get(get_args(kinds[0])[0] if repeats else kinds[0], "text")
    names = [*parameter.opts, *parameter.secondary_opts]
    if parameter.param_type_name == "argument":
        names = [parameter.metavar or parameter.name]
    text = parameter.help or ""
    told = parameter.required or "Default:" in text or not value or parameter.default in (None, "")
    default = "required" if parameter.required else "" if told else f"`{parameter.default}`"
    spelled = ", ".join(f"`{name}`" for name in names)
    return f"| {spelled} | {value}{', repeatable' if repeats else ''} | {default} | {_text(text)} |"


def _text(text: str) -> str:
    """Return a help text as Markdown, in which brackets and angles stand for themselves."""
    return re.sub(r"([\[\]<>|*_])", r"\\\1", text)
