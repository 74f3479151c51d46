"""Lucene indexes as others make them: with Anserini's own command, which pyserini calls, and with bare Lucene."""

import json
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from agentgym_r1.retrieval.lucene_java import Java, find_jar


def run_anserini(java: Java, rows: Iterable[Mapping[str, str]], folder: Path, *flags: str) -> Path:
    """Index JSON rows as ``python -m pyserini.index.lucene --collection JsonCollection`` does."""
    source = folder.with_name(f"{folder.name}-rows")
    source.mkdir()
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (source / "rows.jsonl").write_text(lines, encoding="utf-8")
    command = [java.home / "bin" / "java", "-cp", find_jar(), "io.anserini.index.IndexCollection"]
    options = ["-collection", "JsonCollection", "-generator", "DefaultLuceneDocumentGenerator", "-threads", "1"]
    subprocess.run(
        [*map(str, command), *options, "-input", str(source), "-index", str(folder), *flags],
        check=True,
        capture_output=True,
    )
    return folder


BARE = """
import sys
import jnius_config
jnius_config.set_classpath(sys.argv[1])
from jnius import autoclass
lucene = lambda name: autoclass(f"org.apache.lucene.{name}")
keep = lucene("document.Field$Store").YES
for folder, texts in ((sys.argv[2], "contents"), (sys.argv[3], "body")):
    place = lucene("store.FSDirectory").open(autoclass("java.nio.file.Paths").get(folder))
    writer = lucene("index.IndexWriter")(place, lucene("index.IndexWriterConfig")())
    for number, text in enumerate(["one red boat", "two boat boat", "one old boat"]):
        document = lucene("document.Document")()
        document.add(lucene("document.StringField")("id", str(9 - number), keep))
        document.add(lucene("document.TextField")(texts, text, keep))
        writer.addDocument(document)
    writer.close()
"""


def write_bare(java: Java, with_contents: Path, with_body: Path) -> None:
    """Write two indexes with Lucene's own classes, which Anserini did not make."""
    arguments = [str(find_jar()), str(with_contents), str(with_body)]
    environment = {"JAVA_HOME": str(java.home), "PYTHONPATH": ":".join(sys.path)}
    subprocess.run([sys.executable, "-c", BARE, *arguments], check=True, capture_output=True, env=environment)
