"""Lucene in a process of its own: indexes of ours and of pyserini, and everything that can happen to the process."""

import json
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from agentgym_r1.corpus import MemoryCorpus, contents, write_corpus
from agentgym_r1.errors import ConfigError, RetrievalError
from agentgym_r1.retrieval import (
    BM25Retriever,
    Bm25Settings,
    LuceneRetriever,
    RemoteRetriever,
    Retriever,
    adopt_lucene,
    lucene_folder,
    open_retriever,
    read_manifest,
    verify_index,
    write_lucene,
)
from agentgym_r1.retrieval.lucene_java import Java
from agentgym_r1.retrieval.service import RunningService
from agentgym_r1.types import Document
from tests.retrieval.lucene_folders import run_anserini, write_bare

pytestmark = [pytest.mark.java, pytest.mark.xdist_group("java")]

ROOT = Path(__file__).resolve().parents[2]
PLACES = ["river", "hill", "harbour", "village", "forest"]
ROWS = [
    Document(f"d{n}", f"Mill {n}", f"It has {n} wheels near the {PLACES[n % 5]}.\nGrain comes by {PLACES[n % 3]}.")
    for n in range(40)
]
COMMIT_ROWS = 2000
QUERIES = ["wheels by the river", "mills in the forest", "harbour grain", "7 wheels", "nothing like it", "Mill 3"]


@pytest.fixture(scope="module")
def index(java: Java, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lucene") / "index"
    write_lucene(folder, MemoryCorpus(ROWS))
    return folder


@pytest.fixture(scope="module")
def lucene(index: Path) -> Iterator[LuceneRetriever]:
    retriever = LuceneRetriever.open(index)
    yield retriever
    retriever.close()


@pytest.fixture(scope="module")
def theirs(java: Java, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index by WebShop's own command, ``--storePositions --storeDocvectors --storeRaw``."""
    rows = [{"id": row.id, "contents": contents(row)} for row in ROWS]
    folder = tmp_path_factory.mktemp("theirs") / "indexes"
    return run_anserini(java, rows, folder, "-storePositions", "-storeDocvectors", "-storeRaw")


@pytest.fixture(scope="module")
def textless(java: Java, tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = [{"id": row.id, "contents": contents(row)} for row in ROWS]
    return run_anserini(java, rows, tmp_path_factory.mktemp("textless") / "indexes")


def gone(process_id: int) -> bool:
    """Wait until a process has ended; a zombie has."""
    for _ in range(300):
        try:
            if Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.1)
    return False


def test_the_passages_are_those_of_our_bm25(lucene: LuceneRetriever) -> None:
    assert isinstance(lucene, Retriever)
    ours = BM25Retriever.build(MemoryCorpus(ROWS))
    for mine, its in zip(ours.search(QUERIES, k=40), lucene.search(QUERIES, k=40), strict=True):
        assert {passage.id for passage in mine} == {passage.id for passage in its}
        assert [passage.score for passage in mine] == pytest.approx([passage.score for passage in its], abs=1e-3)
        assert all((passage.title, passage.text) == _texts(passage.id) for passage in its)


def _texts(document_id: str) -> tuple[str, str]:
    row = ROWS[int(document_id[1:])]
    return row.title, row.text


def test_a_batch_answers_each_query_as_if_it_were_alone(lucene: LuceneRetriever) -> None:
    alone = [lucene.search([query], k=5)[0] for query in QUERIES]
    assert lucene.search(QUERIES, k=5) == alone
    assert lucene.search(QUERIES[::-1], k=5) == alone[::-1]
    assert lucene.search(QUERIES * 400, k=5) == alone * 400
    assert lucene.search([], k=5) == []


def test_equal_scores_stand_in_the_order_of_the_ids_as_text(lucene: LuceneRetriever) -> None:
    (found,) = lucene.rank(["mill"], k=40)
    assert [document_id for document_id, _ in found] == sorted(row.id for row in ROWS)


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("", None),
        (" \n", None),
        ("the of and", None),
        ("\x00", None),
        ("*:*", None),
        ("wheels AND (", "d0"),
        ('title:"wheels" OR [7 TO 9', "d7"),
        ("7 wheels\udfff", "d7"),
        ("7 wheels ☃ 咖啡 \U0001f600", "d7"),
        ("7 wheels " + "zebra " * 5000, "d7"),
    ],
)
def test_any_text_is_a_query_of_words(lucene: LuceneRetriever, query: str, first: str | None) -> None:
    (found,) = lucene.search([query], k=1)
    assert [passage.id for passage in found] == ([first] if first else [])


def test_k_is_checked_and_may_exceed_the_corpus(lucene: LuceneRetriever) -> None:
    with pytest.raises(ConfigError, match="k must be at least 1, got 0"):
        lucene.search(["mill"], k=0)
    assert len(lucene.search(["mill"], k=10_000)[0]) == 40


def test_threads_may_share_a_retriever(lucene: LuceneRetriever) -> None:
    alone = {query: lucene.search([query], k=5) for query in QUERIES}
    with ThreadPoolExecutor(8) as pool:
        asked = QUERIES * 20
        assert list(pool.map(lambda query: lucene.search([query], k=5), asked)) == [alone[query] for query in asked]


def test_the_manifest_says_what_the_index_depends_on_and_no_text_is_stored_twice(index: Path) -> None:
    manifest = verify_index(index)
    assert (manifest.kind, manifest.count) == ("lucene", 40)
    assert manifest.settings == {"k1": 0.9, "b": 0.4, "index": "."}
    assert {"documents.arrow", "segments_1"} <= set(manifest.files)
    assert "write.lock" not in manifest.files
    assert not any(b"wheels near" in path.read_bytes() for path in index.glob("_*"))


def test_an_index_is_opened_by_its_path_with_its_own_settings(java: Java, tmp_path: Path) -> None:
    write_corpus(tmp_path / "c.arrow", ROWS)
    write_lucene(tmp_path / "index", MemoryCorpus(ROWS), k1=1.5, b=0.75)
    retriever = open_retriever(str(tmp_path / "index"), corpus=MemoryCorpus(ROWS))
    ours = BM25Retriever.build(MemoryCorpus(ROWS), settings=Bm25Settings(k1=1.5, b=0.75))
    scores = [
        [passage.score for passage in found[0]] for found in (r.search(["river"], k=9) for r in (retriever, ours))
    ]
    assert scores[0] == pytest.approx(scores[1], abs=1e-3)
    with pytest.raises(RetrievalError, match="another corpus"):
        open_retriever(tmp_path / "index", corpus=MemoryCorpus(ROWS[:-1]))


def test_settings_out_of_range_are_refused_before_any_work(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="k1 must be greater than 0 and b between 0 and 1, got 0 and 0.4"):
        write_lucene(tmp_path / "index", MemoryCorpus(ROWS), k1=0)
    assert not list(tmp_path.iterdir())


def test_blank_documents_are_kept_in_the_corpus_and_not_in_the_index(java: Java, tmp_path: Path) -> None:
    rows = [Document("a", "", ""), Document("b", "", " \x00\n"), Document("c", "", "\u3000"), Document("d", "", "oats")]
    write_lucene(tmp_path / "index", MemoryCorpus(rows))
    assert read_manifest(tmp_path / "index").count == 4
    assert [passage.id for passage in open_retriever(tmp_path / "index").search(["oats"], k=9)[0]] == ["d"]


def test_an_index_of_nothing_finds_nothing(java: Java, tmp_path: Path) -> None:
    write_lucene(tmp_path / "index", MemoryCorpus([]))
    assert open_retriever(tmp_path / "index").search(["oats", ""], k=3) == [[], []]


def test_an_index_of_pyserini_opens_as_it_is_with_the_texts_it_stores(theirs: Path, lucene: LuceneRetriever) -> None:
    retriever = open_retriever(theirs)
    assert isinstance(retriever, LuceneRetriever)
    assert retriever.search(QUERIES, k=7) == lucene.search(QUERIES, k=7)
    assert list(retriever.corpus) == ROWS
    assert retriever.corpus.sha256 == MemoryCorpus(ROWS).sha256
    assert retriever.corpus[retriever.corpus.index_of("d5")] == ROWS[5]


def test_an_index_of_pyserini_is_adopted_without_a_copy(theirs: Path, tmp_path: Path) -> None:
    before = {path.name: path.stat().st_mtime_ns for path in theirs.iterdir()}
    adopt_lucene(tmp_path / "index", theirs)
    assert [path.name for path in (tmp_path / "index").iterdir()] == ["manifest.json"]
    assert {path.name: path.stat().st_mtime_ns for path in theirs.iterdir()} == before
    manifest = verify_index(tmp_path / "index")
    assert (manifest.corpus, manifest.corpus_sha256) == (str(theirs), MemoryCorpus(ROWS).sha256)
    retriever = pickle.loads(pickle.dumps(open_retriever(tmp_path / "index")))
    assert retriever.search(["7 wheels"], k=1)[0][0].text == ROWS[7].text


def test_an_adopted_index_that_changed_is_refused(theirs: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    for path in theirs.iterdir():
        (copy / path.name).write_bytes(path.read_bytes())
    adopt_lucene(tmp_path / "index", copy)
    (file,) = copy.glob("*.fdt")
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(RetrievalError, match=r"fdt: \d+ bytes expected, \d+ found"):
        open_retriever(tmp_path / "index")


def test_an_index_without_texts_needs_its_corpus(textless: Path, tmp_path: Path) -> None:
    with pytest.raises(RetrievalError, match=r"stores no texts \(no field raw or contents\); give the corpus file"):
        open_retriever(textless)
    retriever = open_retriever(textless, corpus=MemoryCorpus(ROWS))
    assert retriever.search(["7 wheels"], k=1)[0][0].title == "Mill 7"
    adopt_lucene(tmp_path / "index", textless, corpus=MemoryCorpus(ROWS))
    assert open_retriever(tmp_path / "index").search(["7 wheels"], k=1)[0][0].title == "Mill 7"


def test_an_index_of_another_corpus_is_refused(textless: Path) -> None:
    others = [Document(f"e{n}", "", "oats") for n in range(40)]
    with pytest.raises(RetrievalError, match="40 documents, 3 expected; it was built from another corpus"):
        open_retriever(textless, corpus=MemoryCorpus(ROWS[:3]))
    with pytest.raises(RetrievalError, match="document 'd0' is not in the corpus of 40 documents"):
        open_retriever(textless, corpus=MemoryCorpus(others))
    mixed = open_retriever(textless, corpus=MemoryCorpus([row for row in ROWS if row.id != "d7"] + others[:1]))
    with pytest.raises(RetrievalError, match="found document 'd7', which is not in the corpus of 40 documents"):
        mixed.search(["7 wheels"], k=1)


def test_bare_lucene_indexes_are_searched_by_the_field_contents_or_refused(java: Java, tmp_path: Path) -> None:
    write_bare(java, tmp_path / "contents", tmp_path / "body")
    found = open_retriever(tmp_path / "contents").search(["boats", "old"], k=3)
    assert [[passage.id for passage in passages] for passages in found] == [["8", "9", "7"], ["7"]]
    assert found[1][0].text == "one old boat"
    with pytest.raises(RetrievalError, match=r"needs the fields 'contents'.*indexed: \['body', 'id'\]"):
        open_retriever(tmp_path / "body")


def test_a_folder_that_is_no_index_is_refused(java: Java, tmp_path: Path) -> None:
    with pytest.raises(RetrievalError, match="no Lucene index there"):
        LuceneRetriever.open(tmp_path)
    with pytest.raises(RetrievalError, match="no Lucene index there"):
        adopt_lucene(tmp_path / "index", tmp_path)
    (tmp_path / "segments_1").write_bytes(b"not Lucene")
    with pytest.raises(RetrievalError, match="no index that Lucene can open: .*segments_1"):
        LuceneRetriever.open(tmp_path)


def test_java_never_enters_this_process(lucene: LuceneRetriever) -> None:
    lucene.search(["mill"], k=1)
    assert not {"jnius", "jnius_config", "pyserini"} & set(sys.modules)


def test_a_forked_child_starts_a_process_of_its_own(lucene: LuceneRetriever) -> None:
    expected = lucene.search(QUERIES, k=5)
    before = lucene.process_id
    context = multiprocessing.get_context("fork")
    answers = context.SimpleQueue()

    def ask() -> None:
        answers.put((lucene.search(QUERIES, k=5), lucene.process_id))
        lucene.close()

    child = context.Process(target=ask)
    child.start()
    found, process_id = answers.get()
    child.join(60)
    assert found == expected
    assert process_id != before
    assert gone(process_id)
    assert lucene.search(QUERIES, k=5) == expected
    assert lucene.process_id == before


def test_a_killed_process_is_started_again(lucene: LuceneRetriever, caplog: pytest.LogCaptureFixture) -> None:
    expected = lucene.search(QUERIES, k=5)
    assert lucene.process_id is not None
    os.kill(lucene.process_id, signal.SIGKILL)
    assert lucene.search(QUERIES, k=5) == expected
    assert "the Java process ended with code -9" in caplog.text


def test_java_that_cannot_start_is_an_error_that_says_why(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-Xmx1k")
    with pytest.raises(RetrievalError, match=r"Java \d+ at .* does not start: .*"):
        open_retriever(index).search(["mill"], k=1)


def test_a_service_that_starts_finds_out_at_once_whether_java_does(
    index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    retriever = LuceneRetriever.open(index)
    assert retriever.process_id is None
    retriever.warm_up()
    assert retriever.process_id is not None
    retriever.close()
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-Xmx1k")
    with pytest.raises(RetrievalError, match="does not start"):
        RunningService({"mills": retriever})


def test_closing_ends_the_process_and_a_later_search_starts_another(index: Path) -> None:
    retriever = LuceneRetriever.open(index)
    retriever.close()
    assert retriever.process_id is None
    first = retriever.search(["mill"], k=1)
    process_id = retriever.process_id
    assert process_id is not None
    retriever.close()
    retriever.close()
    assert gone(process_id)
    assert retriever.search(["mill"], k=1) == first
    process_id = retriever.process_id
    assert process_id is not None
    del retriever
    assert gone(process_id)


def test_the_process_ends_with_its_parent_even_when_that_is_killed(index: Path) -> None:
    code = (
        "import os, sys\n"
        "from agentgym_r1.retrieval import open_retriever\n"
        "retriever = open_retriever(sys.argv[1])\n"
        "retriever.search(['mill'], k=1)\n"
        "print(retriever.process_id, flush=True)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    found = subprocess.run([sys.executable, "-c", code, str(index)], stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert found.returncode == -signal.SIGKILL
    assert gone(int(found.stdout))


OATS = [Document(str(n), "", f"oats {n % 7} {n % 11}" if n % 5 else " ") for n in range(6000)]


def build_and_be_killed(folder: Path, *, after: int) -> None:
    """Build an index of 4,800 documents that are not blank in a process that kills itself when it has sent so many."""
    code = (
        "import os, sys\n"
        "from agentgym_r1.corpus import MemoryCorpus\n"
        "from agentgym_r1.retrieval import lucene_folder, write_lucene\n"
        "from tests.retrieval.test_lucene import COMMIT_ROWS, OATS\n"
        "add, sent = lucene_folder._add, []\n"
        "def deadly(java, rows):\n"
        "    add(java, rows)\n"
        "    sent.extend(rows)\n"
        "    if len(sent) >= int(sys.argv[2]):\n"
        "        os.kill(os.getpid(), 9)\n"
        "lucene_folder._add, lucene_folder.COMMIT_ROWS = deadly, COMMIT_ROWS\n"
        "write_lucene(sys.argv[1], MemoryCorpus(OATS))\n"
    )
    killed = subprocess.run([sys.executable, "-c", code, str(folder), str(after)], cwd=ROOT)
    assert killed.returncode == -signal.SIGKILL


def test_a_killed_build_leaves_nothing_half_made(java: Java, tmp_path: Path) -> None:
    build_and_be_killed(tmp_path / "index", after=3000)
    assert not (tmp_path / "index").exists()
    write_lucene(tmp_path / "index", MemoryCorpus(ROWS))
    assert verify_index(tmp_path / "index").count == 40
    assert {path.name for path in tmp_path.iterdir()} == {"index", ".index.lock"}


@pytest.mark.parametrize(("after", "kept"), [(1000, 0), (3000, 2000), (4800, 4000)])
def test_a_killed_build_goes_on_after_its_last_commit_and_ranks_as_one_that_was_not(
    java: Java, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: int, kept: int
) -> None:
    build_and_be_killed(tmp_path / "index", after=after)
    add, sent = lucene_folder._add, []
    monkeypatch.setattr(lucene_folder, "_add", lambda java, rows: (sent.extend(rows), add(java, rows)))
    write_lucene(tmp_path / "index", MemoryCorpus(OATS))
    assert len(sent) == 4800 - kept
    write_lucene(tmp_path / "whole", MemoryCorpus(OATS))
    resumed, whole = (
        LuceneRetriever.open(tmp_path / name).rank(QUERIES + ["oats 3"], k=6000) for name in ("index", "whole")
    )
    assert resumed == whole
    assert len(whole[-1]) == 4800
    assert {path.suffix for path in (tmp_path / "index").iterdir()} == {
        p.suffix for p in (tmp_path / "whole").iterdir()
    }


def test_the_service_answers_from_a_lucene_index(index: Path, lucene: LuceneRetriever) -> None:
    with RunningService({"mills": index}) as service:
        remote = RemoteRetriever(service.address())
        assert remote.search(QUERIES, k=5) == lucene.search(QUERIES, k=5)
        told = {"kind": "lucene", "count": 40, "corpus_sha256": MemoryCorpus(ROWS).sha256}
        assert remote.info() == told


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "agentgym_r1.cli", "index", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=120)


def test_the_command_line_builds_describes_and_searches(java: Java, tmp_path: Path) -> None:
    write_corpus(tmp_path / "c.arrow", ROWS)
    built = run("build", "--corpus", tmp_path / "c.arrow", "--kind", "lucene", "--out", tmp_path / "index")
    assert built.returncode == 0, built.stderr
    assert built.stdout.startswith(f"{tmp_path / 'index'}: lucene, 40 documents, corpus ")
    manifest = json.loads(run("info", tmp_path / "index", "--verify").stdout)
    assert (manifest["kind"], manifest["corpus"]) == ("lucene", str(tmp_path / "c.arrow"))
    assert "Mill 7" in run("search", tmp_path / "index", "7 wheels", "-k", 1).stdout


def test_the_command_line_adopts_pyserinis_folders(theirs: Path, textless: Path, tmp_path: Path) -> None:
    adopted = run("build", "--corpus", theirs, "--kind", "lucene", "--out", tmp_path / "with-texts")
    assert adopted.returncode == 0, adopted.stderr
    write_corpus(tmp_path / "c.arrow", ROWS)
    arguments = ("--corpus", tmp_path / "c.arrow", "--index", textless)
    assert run("build", *arguments, "--kind", "lucene", "--out", tmp_path / "without").returncode == 0
    refused = run("build", *arguments, "--out", tmp_path / "bm25")
    assert (refused.returncode, "--index belongs to --kind lucene" in refused.stderr) == (2, True)
    for folder in ("with-texts", "without"):
        assert [path.name for path in (tmp_path / folder).iterdir()] == ["manifest.json"]
        assert json.loads(run("search", tmp_path / folder, "7 wheels", "-k", 1, "--json").stdout)[0]["id"] == "d7"
