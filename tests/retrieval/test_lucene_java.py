"""Which Java Lucene runs on, and what is said when there is none; no Java is started here."""

import sys
from pathlib import Path

import pytest

from agentgym_r1.errors import MissingExtra
from agentgym_r1.retrieval.lucene_java import find_jar, find_java, read_java


def install(folder: Path, version: str, *, modules: str = "java.base") -> Path:
    folder.mkdir(parents=True)
    text = f'IMPLEMENTOR="Mill"\nJAVA_VERSION="{version}"\nMODULES="{modules}"\n'
    (folder / "release").write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize(("version", "number"), [("21.0.3", 21), ("25", 25), ("17.0.15", 17), ("1.8.0_292", 1)])
def test_a_java_is_known_by_its_release_file(tmp_path: Path, version: str, number: int) -> None:
    java = read_java(install(tmp_path / "jdk", version))
    assert java is not None
    assert (java.home, java.version) == (tmp_path / "jdk", number)


def test_a_folder_without_java_is_none(tmp_path: Path) -> None:
    (tmp_path / "release").write_bytes(b"\xff\xfe")
    assert read_java(tmp_path) is None
    assert read_java(tmp_path / "nowhere") is None


def test_the_first_java_that_is_new_enough_is_taken(tmp_path: Path) -> None:
    homes = [install(tmp_path / name, version) for name, version in [("a", "17.0.1"), ("b", "21.0.1"), ("c", "25")]]
    assert find_java(homes).home == tmp_path / "b"


def test_the_error_names_every_java_that_was_found_and_what_to_do(tmp_path: Path) -> None:
    homes = [install(tmp_path / name, version) for name, version in [("old", "17.0.1"), ("older", "11")]]
    with pytest.raises(MissingExtra) as caught:
        find_java([*homes, tmp_path / "nothing"])
    assert str(caught.value) == (
        f"Lucene needs Java 21 or later, found Java 17 at {homes[0]}, Java 11 at {homes[1]}:"
        " pip install 'agentgym-r1[lucene]', which brings one, or set JAVA_HOME"
    )
    with pytest.raises(MissingExtra, match="found no Java: pip install"):
        find_java([])


def test_java_home_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(install(tmp_path / "mine", "99.1")))
    assert find_java().home == tmp_path / "mine"


def test_vector_instructions_are_asked_for_only_where_java_has_them(tmp_path: Path) -> None:
    small, full = (
        read_java(install(tmp_path / name, "25", modules=modules))
        for name, modules in [("small", "java.base"), ("full", "java.base jdk.incubator.vector")]
    )
    assert small is not None
    assert full is not None
    assert full.options == (*small.options, "--add-modules=jdk.incubator.vector")


def test_without_pyserini_the_install_line_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("pyserini", "jnius"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra) as caught:
        find_jar()
    assert str(caught.value) == (
        "Lucene needs pyserini and pyjnius: pip install 'agentgym-r1[lucene]' && pip install --no-deps pyserini==1.6.0"
    )
