"""Fixtures shared by all tests: the folder of real samples and an isolated home."""

import os
from pathlib import Path

import hypothesis
import pytest

from agentgym_r1.retrieval.lucene_java import Java

DEFAULT_SAMPLES = Path(__file__).resolve().parents[1].parent / "shared"


hypothesis.settings.register_profile("suite", deadline=None)  # a busy machine is not a failure
hypothesis.settings.load_profile("suite")


@pytest.fixture(scope="session")
def samples() -> Path:
    """The folder that holds data/ and golden/ with real samples."""
    folder = Path(os.environ.get("AGENTGYM_R1_SAMPLES", DEFAULT_SAMPLES))
    if not (folder / "data").is_dir():
        pytest.skip(f"no real samples in {folder}: set AGENTGYM_R1_SAMPLES to a folder with data/ and golden/")
    return folder


@pytest.fixture(scope="session")
def java() -> Java:
    """The Java that Lucene runs on; tests marked ``java`` skip without one."""
    from agentgym_r1.errors import MissingExtra
    from agentgym_r1.retrieval.lucene_java import find_jar, find_java

    try:
        find_jar()
        return find_java()
    except MissingExtra as err:
        pytest.skip(str(err))


@pytest.fixture(autouse=True)
def isolated_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep data and caches of the machine out of the tests; the folder is shared within a test run."""
    home = tmp_path_factory.getbasetemp() / "agentgym_r1_home"
    home.mkdir(exist_ok=True)
    monkeypatch.setenv("AGENTGYM_R1_HOME", str(home))
