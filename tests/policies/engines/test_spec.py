"""One line describes an engine; a line that does not is answered with the forms that do."""

import importlib.util
import sys
from pathlib import Path

import pytest

from agentgym_r1.errors import ConfigError, MissingExtra
from agentgym_r1.policies.engines import engine_from_spec
from agentgym_r1.policies.engines.http import HttpEngine

HAS_LM = all(importlib.util.find_spec(name) for name in ("torch", "transformers"))


@pytest.mark.parametrize(
    ("spec", "shown"),
    [
        ("http://127.0.0.1:8000/v1#m", "HttpEngine('http://127.0.0.1:8000/v1', 'm', api='chat')"),
        ("https://host/v1/#org/name", "HttpEngine('https://host/v1', 'org/name', api='chat')"),
        ("http://host/v1/chat/completions#m", "HttpEngine('http://host/v1', 'm', api='chat')"),
        ("http://host/v1/completions#m", "HttpEngine('http://host/v1', 'm', api='completions')"),
    ],
)
def test_a_url_and_a_model_make_an_http_engine(spec: str, shown: str) -> None:
    engine = engine_from_spec(spec)
    assert isinstance(engine, HttpEngine)
    assert repr(engine) == shown


@pytest.mark.parametrize(
    "spec", ["", "gpt-4", "hf:", "http://host/v1", "http://host/v1#", "ftp://host/v1#m", "smollm2"]
)
def test_anything_else_is_answered_with_the_known_forms(spec: str) -> None:
    with pytest.raises(ConfigError, match="http://HOST:PORT/v1#MODEL.*hf:smollm2") as caught:
        engine_from_spec(spec)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("module", ["torch", "transformers"])
def test_an_in_process_model_without_the_extra_names_the_install_line(
    module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra, match=r"pip install 'agentgym-r1\[lm\]'"):
        engine_from_spec("hf:smollm2")


@pytest.mark.lm
@pytest.mark.skipif(not HAS_LM, reason="needs the lm extra: pip install 'agentgym-r1[lm]'")
def test_hf_makes_an_in_process_engine_on_the_asked_device(tmp_path: Path) -> None:
    engine = engine_from_spec(f"hf:{tmp_path}", device="cpu")
    assert repr(engine) == f"TransformersEngine('{tmp_path}', device='cpu', dtype='float32')"
