"""The process in which Java lives: it reads one JSON request a line and answers each with one JSON line.

It is run as a file, under the interpreter of its parent, and imports nothing of this library, so that it starts fast.
The first request starts Java; a Java exception is the answer to the request that raised it.
"""

import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import IO, Any

import msgspec

MEMORY_BUFFER_MB = 256.0
LOCK_SECONDS = 60


class Worker:
    """Carries out requests with Anserini's searcher and indexer."""

    def __init__(self) -> None:
        self._autoclass: Callable[[str], Any] = _no_java
        self._searcher: Any = None
        self._indexer: Any = None

    def start(self, jar: str, options: list[str]) -> dict[str, Any]:
        """Start Java."""
        import jnius_config

        jnius_config.set_classpath(jar)
        jnius_config.add_options(*options)
        from jnius import autoclass

        self._autoclass = autoclass
        return {"java": autoclass("java.lang.System").getProperty("java.version")}

    def open(self, folder: str) -> dict[str, Any]:
        """Open an index and say what is in it."""
        searcher = self._autoclass("io.anserini.search.SimpleSearcher")(folder)
        infos = self._autoclass("org.apache.lucene.index.FieldInfos").getMergedFieldInfos(searcher.reader)
        ids = infos.fieldInfo("id")
        if ids is not None and ids.getDocValuesType().name() != "BINARY":
            searcher.backwardsCompatibilityLucene8 = True  # its name for: leave ties in the order of the index
        self._searcher = searcher
        count = searcher.get_total_num_docs()
        stored = [field.name() for field in searcher.doc(0).getFields().toArray()] if count else []
        indexed = self._autoclass("org.apache.lucene.index.FieldInfos").getIndexedFields(searcher.reader)
        return {"count": count, "stored": stored, "indexed": [str(name) for name in indexed.toArray()]}

    def search(self, queries: list[str], k: int, bm25: list[float], threads: int, texts: str | None) -> dict[str, Any]:
        """Return for each query its hits: (id, score, the stored field ``texts``)."""
        self._searcher.set_bm25(*bm25)
        names = [str(number) for number in range(len(queries))]
        found = self._searcher.batch_search(self._list(queries), self._list(names), k, threads)
        return {"hits": [[_hit(document, texts) for document in found.get(name)] for name in names]}

    def documents(self, first: int, count: int, texts: str | None) -> dict[str, Any]:
        """Return (id, stored field) of documents in the order of the index."""
        rows = []
        for number in range(first, first + count):
            document = self._searcher.doc(number)
            rows.append((document.get("id"), document.get(texts) if texts else None))
        return {"rows": rows}

    def create(self, folder: str) -> dict[str, Any]:
        """Begin an index, or go on after its last commit; return how many documents are in it.

        It has one thread, so that equal corpora give equal rankings. The process of a build that was killed may take a
        moment to let go of the folder.
        """
        appends, threads = True, 1
        end = time.monotonic() + LOCK_SECONDS
        while self._indexer is None:
            try:
                self._indexer = self._autoclass("io.anserini.index.SimpleIndexer")(folder, appends, threads)
            except Exception as err:
                if "Lock held" not in str(err) or time.monotonic() > end:
                    raise
                time.sleep(0.1)
        self._indexer.writer.getConfig().setRAMBufferSizeMB(MEMORY_BUFFER_MB)
        return {"count": self._indexer.writer.getDocStats().numDocs}

    def add(self, rows: list[str]) -> dict[str, Any]:
        """Index documents, each as JSON; return how many were taken."""
        return {"added": self._indexer.addRawDocuments(rows)}

    def commit(self) -> dict[str, Any]:
        """Keep what was added, whatever happens from here on."""
        self._indexer.writer.commit()
        return {}

    def finish(self) -> dict[str, Any]:
        """Write what was added, as one segment."""
        self._indexer.close(True)
        return {}

    def _list(self, texts: list[str]) -> Any:
        """Return a Java list, made in one call."""
        return self._autoclass("java.util.Arrays").asList(*texts)


def _hit(document: Any, texts: str | None) -> tuple[str, float, str | None]:
    return document.docid, document.score, document.lucene_document.get(texts) if texts else None


def _no_java(_: str) -> Any:
    raise RuntimeError("the first request must be 'start'")


def answer(worker: Worker, request: dict[str, Any]) -> dict[str, Any]:
    """Carry out one request; anything that goes wrong becomes its answer."""
    method = request.pop("do")
    try:
        result: dict[str, Any] = getattr(worker, method)(**request)
    except Exception as err:  # whatever Java throws is the parent's to report
        text = getattr(err, "innermessage", None) or str(err) or type(err).__name__
        return {"error": " ".join(text.split())[:500]}
    return result


def serve(requests: Iterator[bytes], replies: IO[bytes]) -> None:
    """Answer until the parent closes its end."""
    worker = Worker()
    for line in requests:
        replies.write(msgspec.json.encode(answer(worker, msgspec.json.decode(line))) + b"\n")
        replies.flush()


if __name__ == "__main__":
    with os.fdopen(os.dup(1), "wb") as out:
        os.dup2(2, 1)  # what Java prints must not get between the answers
        serve(iter(sys.stdin.buffer), out)
