"""Index folders: whole or not there, built once, and refused with the reason when anything disagrees."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentgym_r1.corpus import Corpus, MemoryCorpus, open_corpus, write_corpus
from agentgym_r1.errors import RetrievalError
from agentgym_r1.retrieval.bm25 import ARRAYS, BM25Retriever, write_bm25
from agentgym_r1.retrieval.index import DOCUMENTS, FORMAT_VERSION, MANIFEST, create_index, read_manifest, verify_index
from agentgym_r1.retrieval.postings import Bm25Settings
from agentgym_r1.types import Document

ROOT = Path(__file__).resolve().parents[2]
ROWS = [Document(f"d{i}", f"Mill {i}", f"It has {i} wheels by the river.") for i in range(40)]


@pytest.fixture
def corpus() -> Corpus:
    return MemoryCorpus(ROWS)


@pytest.fixture
def index(corpus: Corpus, tmp_path: Path) -> Path:
    write_bm25(tmp_path / "index", corpus)
    return tmp_path / "index"


def edit_manifest(index: Path, change: Callable[[dict[str, Any]], None]) -> None:
    manifest = json.loads((index / MANIFEST).read_text(encoding="utf-8"))
    change(manifest)
    (index / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")


def test_the_manifest_says_what_the_index_depends_on(index: Path, corpus: Corpus) -> None:
    manifest = read_manifest(index)
    assert (manifest.format_version, manifest.kind, manifest.count) == (FORMAT_VERSION, "bm25", 40)
    assert manifest.corpus_sha256 == corpus.sha256
    assert manifest.settings == {"k1": 0.9, "b": 0.4, "analyzer": "english-porter-2"}
    assert set(manifest.files) == {f"{name}.npy" for name in ARRAYS} | {DOCUMENTS}
    assert {"numpy", "pyarrow", "numba"} <= set(manifest.versions)
    assert verify_index(index) == manifest


def test_an_index_in_memory_order_brings_its_own_documents(index: Path) -> None:
    assert BM25Retriever.open(index).search(["wheels 7"], k=1)[0][0].id == "d7"


def test_an_index_of_a_corpus_file_refers_to_it(tmp_path: Path) -> None:
    write_corpus(tmp_path / "c.arrow", ROWS)
    write_bm25(tmp_path / "index", open_corpus(tmp_path / "c.arrow"))
    assert not (tmp_path / "index" / DOCUMENTS).exists()
    assert BM25Retriever.open(tmp_path / "index").search(["wheels 7"], k=1)[0][0].id == "d7"
    verify_index(tmp_path / "index")
    (tmp_path / "c.arrow").rename(tmp_path / "moved.arrow")
    with pytest.raises(RetrievalError, match=r"corpus it was built from cannot be opened.*c\.arrow"):
        BM25Retriever.open(tmp_path / "index")
    moved = open_corpus(tmp_path / "moved.arrow")
    assert BM25Retriever.open(tmp_path / "index", corpus=moved).search(["wheels 7"], k=1)[0][0].id == "d7"


def test_a_corpus_file_that_was_replaced_is_refused(tmp_path: Path) -> None:
    write_corpus(tmp_path / "c.arrow", ROWS)
    write_bm25(tmp_path / "index", open_corpus(tmp_path / "c.arrow"))
    write_corpus(tmp_path / "c.arrow", ROWS[:-1])
    with pytest.raises(RetrievalError, match=r"another corpus \(other ids\): indexed 40 documents \w+, given 39"):
        BM25Retriever.open(tmp_path / "index")


def test_another_corpus_is_refused_and_the_difference_named(index: Path) -> None:
    changed = [*ROWS[:-1], Document("d39", "Mill 39", "Another text.")]
    with pytest.raises(RetrievalError, match="the ids agree, the texts differ"):
        BM25Retriever.open(index, corpus=MemoryCorpus(changed))
    with pytest.raises(RetrievalError, match="other ids"):
        BM25Retriever.open(index, corpus=MemoryCorpus(reversed(ROWS)))


@pytest.mark.parametrize("name", [*(f"{name}.npy" for name in ARRAYS), DOCUMENTS])
def test_a_truncated_or_missing_file_is_refused_at_opening(index: Path, name: str) -> None:
    data = (index / name).read_bytes()
    (index / name).write_bytes(data[:-1])
    with pytest.raises(RetrievalError, match=f"{name}: {len(data)} bytes expected, {len(data) - 1} found"):
        BM25Retriever.open(index)
    (index / name).unlink()
    with pytest.raises(RetrievalError, match=f"{name}: {len(data)} bytes expected, no file found"):
        BM25Retriever.open(index)


@pytest.mark.parametrize("name", [*(f"{name}.npy" for name in ARRAYS), DOCUMENTS])
def test_a_flipped_byte_is_found_by_verify(index: Path, name: str) -> None:
    data = bytearray((index / name).read_bytes())
    data[-1] ^= 1
    (index / name).write_bytes(data)
    with pytest.raises(RetrievalError, match=f"{name}: sha256 .* expected, .* found; build it again"):
        verify_index(index)


def test_verify_reads_the_corpus_that_an_index_refers_to(tmp_path: Path) -> None:
    write_corpus(tmp_path / "c.arrow", ROWS)
    write_bm25(tmp_path / "index", open_corpus(tmp_path / "c.arrow"))
    data = (tmp_path / "c.arrow").read_bytes()
    (tmp_path / "c.arrow").write_bytes(data.replace(b"7 wheels", b"9 wheels"))
    with pytest.raises(RetrievalError, match="its corpus reads differently now"):
        verify_index(tmp_path / "index")


def test_a_later_format_asks_for_an_upgrade(index: Path) -> None:
    edit_manifest(index, lambda manifest: manifest.update(format_version=FORMAT_VERSION + 1, novelty=1))
    with pytest.raises(RetrievalError, match="index format 2, this version reads up to 1: upgrade"):
        BM25Retriever.open(index)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m: m.pop("count"), "cannot be read.*build the index again"),
        (lambda m: m.pop("format_version"), "cannot be read.*build the index again"),
        (lambda m: m.update(kind="dense"), "an index of kind 'dense', expected 'bm25'"),
        (lambda m: m["settings"].update(analyzer="latin-1"), "built with analyzer 'latin-1'.*build it again"),
        (lambda m: m["settings"].update(k1="high"), "settings that are not BM25's"),
    ],
)
def test_a_manifest_that_disagrees_is_refused(index: Path, change: Callable[[Any], None], message: str) -> None:
    edit_manifest(index, change)
    with pytest.raises(RetrievalError, match=message):
        BM25Retriever.open(index)


@pytest.mark.parametrize("name", [f"{name}.npy" for name in ARRAYS])
def test_a_file_of_the_right_size_that_is_no_array_is_refused(index: Path, name: str) -> None:
    (index / name).write_bytes(b"x" * (index / name).stat().st_size)
    with pytest.raises(RetrievalError, match=f"{name}: not an array file"):
        BM25Retriever.open(index)


@pytest.mark.parametrize("text", ["", "[1]", "{", '{"format_version": "x"}'])
def test_a_damaged_manifest_is_refused(index: Path, text: str) -> None:
    (index / MANIFEST).write_text(text)
    with pytest.raises(RetrievalError, match=r"manifest\.json: cannot be read"):
        BM25Retriever.open(index)


def test_a_folder_without_an_index_is_refused(tmp_path: Path, corpus: Corpus) -> None:
    with pytest.raises(RetrievalError, match="no index there"):
        BM25Retriever.open(tmp_path)
    with pytest.raises(RetrievalError, match="exists and is not an index"):
        write_bm25(tmp_path, corpus)


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path, corpus: Corpus) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RetrievalError, match="cannot be written"):
        write_bm25(tmp_path / "file" / "index", corpus)


def test_a_build_that_fails_leaves_no_index_and_the_next_succeeds(tmp_path: Path, corpus: Corpus) -> None:
    def broken(target: Path) -> None:
        (target / "starts.npy").write_bytes(b"half")
        raise RuntimeError("disk fell off")

    with pytest.raises(RuntimeError, match="disk fell off"):
        create_index(tmp_path / "index", corpus, kind="bm25", settings={}, write=broken)
    assert not (tmp_path / "index").exists()
    write_bm25(tmp_path / "index", corpus, settings=Bm25Settings(b=0.5))
    assert read_manifest(tmp_path / "index").settings["b"] == 0.5
    assert verify_index(tmp_path / "index").count == 40


BUILD = """
import os, sys, time
from pathlib import Path
from agentgym_r1.corpus import MemoryCorpus
from agentgym_r1.retrieval import index
from agentgym_r1.types import Document

def write(target):
    (target / "half.bin").write_bytes(b"half")
    with open(sys.argv[2], "a") as log:
        log.write("built\\n")
    time.sleep(float(sys.argv[3]))

corpus = MemoryCorpus([Document("a", "t", "x")])
index.create_index(Path(sys.argv[1]), corpus, kind="bm25", settings={}, write=write)
"""


def start_build(folder: Path, log: Path, *, seconds: float) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", BUILD, str(folder), str(log), str(seconds)], cwd=ROOT)


def test_processes_that_start_together_build_once(tmp_path: Path) -> None:
    folder, log = tmp_path / "index", tmp_path / "log"
    builds = [start_build(folder, log, seconds=0.3) for _ in range(3)]
    assert [build.wait(60) for build in builds] == [0, 0, 0]
    assert log.read_text() == "built\n"
    assert read_manifest(folder).count == 1


def test_a_killed_build_leaves_nothing_half_made_and_no_lock(tmp_path: Path) -> None:
    folder, log = tmp_path / "index", tmp_path / "log"
    build = start_build(folder, log, seconds=600)
    for _ in range(600):
        if log.exists():
            break
        time.sleep(0.1)
    os.kill(build.pid, signal.SIGKILL)
    build.wait(60)
    assert not folder.exists()
    assert start_build(folder, log, seconds=0).wait(60) == 0
    assert set(read_manifest(folder).files) == {"half.bin", DOCUMENTS}
    assert sorted(path.name for path in tmp_path.iterdir()) == [".index.lock", "index", "log"]


BM25 = """
import sys, time
from pathlib import Path
from agentgym_r1.corpus import ArrowCorpus
from agentgym_r1.retrieval import postings, write_bm25
from agentgym_r1.retrieval.spool import Spool

class Watched(ArrowCorpus):
    def __iter__(self):
        for position in range(len(self)):
            if len(sys.argv) > 4 and position == 1500:
                Path(sys.argv[4]).touch()
                time.sleep(600)
            yield self[position]

def append(self, *arguments, **options):
    plain(self, *arguments, **options)
    with open(sys.argv[3], "a") as log:
        log.write(f"{len(self.runs())}\\n")

plain, Spool.append = Spool.append, append
postings.RUN_TERMS = 2000
write_bm25(sys.argv[1], Watched(sys.argv[2]))
"""


def start_bm25(*arguments: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", BM25, *map(str, arguments)], cwd=ROOT)


def test_a_killed_bm25_build_goes_on_and_ends_with_the_same_bytes(tmp_path: Path) -> None:
    rows = (Document(str(n), f"Mill {n}", f"It has {n} wheels and {n % 9} stones.") for n in range(3000))
    write_corpus(corpus := tmp_path / "c.arrow", rows)
    build = start_bm25(tmp_path / "killed", corpus, tmp_path / "log", tmp_path / "half")
    for _ in range(600):
        if (tmp_path / "half").exists():
            break
        time.sleep(0.1)
    os.kill(build.pid, signal.SIGKILL)
    build.wait(60)
    spooled = (tmp_path / "log").read_text().split()
    assert len(spooled) > 3
    assert not (tmp_path / "killed").exists()
    assert start_bm25(tmp_path / "killed", corpus, tmp_path / "log").wait(60) == 0
    assert start_bm25(tmp_path / "whole", corpus, tmp_path / "other").wait(60) == 0
    runs = (tmp_path / "other").read_text().split()
    assert (tmp_path / "log").read_text().split() == runs
    assert len(runs) > len(spooled)
    names = sorted(path.name for path in (tmp_path / "whole").iterdir())
    assert names == sorted([MANIFEST, *(f"{name}.npy" for name in ARRAYS)])
    for name in names:
        assert (tmp_path / "killed" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_leftovers_of_another_kind_do_not_enter_the_index(tmp_path: Path, corpus: Corpus) -> None:
    building = tmp_path / ".index.building"
    (building / "segments").mkdir(parents=True)
    (building / "vectors.faiss").write_bytes(b"old")
    write_bm25(tmp_path / "index", corpus)
    assert set(read_manifest(tmp_path / "index").files) == {f"{name}.npy" for name in ARRAYS} | {DOCUMENTS}
