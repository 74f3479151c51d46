"""DenseRetriever: exact scores, honest manifests, and builds that a kill cannot spoil."""

import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hashing_encoder import HashingEncoder

from agentgym_r1.corpus import Corpus, MemoryCorpus, contents, open_corpus, write_corpus
from agentgym_r1.errors import ConfigError, RetrievalError
from agentgym_r1.retrieval import BM25Retriever, Retriever, open_retriever, training, verify_index
from agentgym_r1.retrieval.dense import DenseRetriever
from agentgym_r1.retrieval.dense_index import INDEX, PROGRESS, VECTORS, adopt_flat, write_dense
from agentgym_r1.retrieval.devices import Positions
from agentgym_r1.retrieval.flat import Matrix, append_rows, map_flat
from agentgym_r1.retrieval.index import DOCUMENTS, FORMAT_VERSION, MANIFEST, read_manifest
from agentgym_r1.types import Document

ROOT = Path(__file__).resolve().parents[2]
PLACES = ("river", "mill", "bridge", "harbour", "orchard", "quarry", "chapel")
ROWS = [
    Document(f"d{i}", f"{PLACES[i % 7]} {i}", f"The {PLACES[i % 7]} of {PLACES[i % 5]} has {i} stones.")
    for i in range(60)
]
ENCODER = HashingEncoder()


@pytest.fixture
def corpus() -> Corpus:
    return MemoryCorpus(ROWS)


@pytest.fixture
def index(corpus: Corpus, tmp_path: Path) -> Path:
    write_dense(tmp_path / "index", corpus, encoder=ENCODER)
    return tmp_path / "index"


@pytest.fixture
def faiss() -> Any:
    return pytest.importorskip("faiss", reason="needs the dense extra: pip install 'agentgym-r1[dense]'")


class Exact:
    """Finds the nearest rows with numpy, in no particular order, and pads with -1."""

    device = "cpu"

    def __init__(self, vectors: Matrix, *, missing: int = 0) -> None:
        self._vectors = vectors
        self._missing = missing

    def search(self, queries: Matrix, k: int) -> Positions:
        found = np.argsort(-(queries @ self._vectors.T), axis=1, kind="stable")[:, :k][:, ::-1].copy()
        found[:, : self._missing] = -1
        return found


def retriever(documents: list[Document], *, missing: int = 0) -> DenseRetriever:
    vectors = ENCODER.encode_passages([contents(document) for document in documents])
    return DenseRetriever(MemoryCorpus(documents), ENCODER, vectors, Exact(vectors, missing=missing))


def edit_manifest(index: Path, change: Callable[[dict[str, Any]], None]) -> None:
    manifest = json.loads((index / MANIFEST).read_text(encoding="utf-8"))
    change(manifest)
    (index / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")


def test_scores_are_inner_products_best_first() -> None:
    (found,) = retriever(ROWS).search(["river 7"], k=5)
    (query,) = ENCODER.encode_queries(["river 7"])
    scores = ENCODER.encode_passages([contents(row) for row in ROWS]) @ query
    assert [passage.score for passage in found] == pytest.approx(sorted(scores, reverse=True)[:5], abs=1e-6)
    assert [passage.id for passage in found] == [ROWS[position].id for position in np.argsort(-scores)[:5]]


def test_equal_scores_stand_in_corpus_order_at_the_end_of_the_list_too() -> None:
    twins = [Document(f"t{i}", "Mill", "It grinds grain.") for i in range(9)]
    for k in (1, 3, 9, 20):
        assert [passage.id for passage in retriever(twins).search(["mill"], k=k)[0]] == [
            f"t{i}" for i in range(min(k, 9))
        ]


def test_no_candidate_is_not_the_last_document() -> None:
    (found,) = retriever(ROWS[:4], missing=3).search(["river"], k=4)
    assert len(found) == 1
    assert [len(hits) for hits in retriever(ROWS[:4], missing=4).search(["river"], k=4)] == [0]


def test_two_queries_are_answered_as_one_by_one() -> None:
    dense = retriever(ROWS)
    queries = ["river stones", "the mill of orchard", "river stones"]
    assert dense.search(queries, k=3) == [dense.search([query], k=3)[0] for query in queries]


def test_nothing_asked_nothing_there_and_k_is_checked() -> None:
    assert retriever(ROWS).search([], k=1) == []
    assert retriever([]).search(["a", "b"], k=1) == [[], []]
    with pytest.raises(ConfigError, match="k must be at least 1, got 0"):
        retriever(ROWS).search(["a"], k=0)
    assert isinstance(retriever([]), Retriever)


def test_an_index_in_memory_says_why_it_cannot_be_sent() -> None:
    with pytest.raises(TypeError, match="write it with write_dense"):
        pickle.dumps(retriever(ROWS))


def test_an_encoder_that_answers_wrongly_is_named(tmp_path: Path, corpus: Corpus) -> None:
    class Broken(HashingEncoder):
        def encode_passages(self, texts: Any) -> Matrix:
            return np.full((len(texts), 32), np.nan, np.float32)

    with pytest.raises(RetrievalError, match="hashing: gave vectors of shape"):
        write_dense(tmp_path / "index", corpus, encoder=Broken())


def test_the_manifest_says_what_the_index_depends_on(index: Path, corpus: Corpus) -> None:
    manifest = read_manifest(index)
    assert (manifest.format_version, manifest.kind, manifest.count) == (FORMAT_VERSION, "dense", 60)
    assert manifest.settings == {
        "encoder": {
            "source": "hashing",
            "weights_sha256": "0" * 64,
            "dimension": 32,
            "settings": {
                "pooling": "mean",
                "normalise": True,
                "max_length": 512,
                "query_prefix": "",
                "passage_prefix": "",
            },
        },
        "metric": "inner_product",
        "plan": {"kind": "flat", "factory": "Flat", "effort": 0, "refine": 1},
        "vectors": VECTORS,
    }
    assert set(manifest.files) == {VECTORS, PROGRESS, DOCUMENTS}
    assert verify_index(index) == manifest
    assert np.array_equal(map_flat(index / VECTORS), ENCODER.encode_passages([contents(row) for row in ROWS]))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m: m.update(format_version=99), "upgrade agentgym-r1"),
        (lambda m: m.update(kind="bm25"), "an index of kind 'bm25', expected 'dense'"),
        (lambda m: m["settings"].pop("plan"), "settings that are not a dense index's"),
        (lambda m: m["settings"].update(metric="l2"), "metric 'l2', expected 'inner_product'"),
        (lambda m: m["settings"]["encoder"].update(weights_sha256="f" * 64), "another encoder .*weights_sha256 'ffff"),
        (
            lambda m: m["settings"]["encoder"]["settings"].update(query_prefix="query: "),
            "query_prefix 'query: ', given ''",
        ),
    ],
)
def test_a_manifest_that_disagrees_is_refused(index: Path, change: Callable[[Any], None], message: str) -> None:
    edit_manifest(index, change)
    with pytest.raises(RetrievalError, match=message):
        DenseRetriever.open(index, encoder=ENCODER)


def test_another_corpus_is_refused(index: Path) -> None:
    with pytest.raises(RetrievalError, match="another corpus"):
        DenseRetriever.open(index, corpus=MemoryCorpus(ROWS[:-1]), encoder=ENCODER)


def test_another_encoder_is_refused(index: Path) -> None:
    with pytest.raises(RetrievalError, match=r"another encoder \(hashing: weights_sha256"):
        DenseRetriever.open(index, encoder=HashingEncoder(weights="1" * 64))
    with pytest.raises(RetrievalError, match="dimension 32, given 16"):
        DenseRetriever.open(index, encoder=HashingEncoder(dimension=16))


def test_an_encoder_whose_hash_lies_is_found_out_by_its_vectors(index: Path) -> None:
    liar = HashingEncoder(weights="1" * 64)
    liar_spec = replace(liar.spec, weights_sha256="0" * 64)

    class Liar(HashingEncoder):
        def encode_passages(self, texts: Any) -> Matrix:
            return liar.encode_passages(texts)

    assert Liar().spec == liar_spec
    with pytest.raises(RetrievalError, match=r"the vector of document 0 .*\(cosine -?0\.\d+, at least 0.99 expected\)"):
        DenseRetriever.open(index, encoder=Liar())


def test_a_truncated_file_is_refused(index: Path) -> None:
    (index / VECTORS).write_bytes((index / VECTORS).read_bytes()[:-4])
    with pytest.raises(RetrievalError, match=r"vectors\.faiss: 7725 bytes expected, 7721 found"):
        DenseRetriever.open(index, encoder=ENCODER)


def test_a_flipped_byte_is_found_by_verify(index: Path) -> None:
    data = bytearray((index / VECTORS).read_bytes())
    data[500] ^= 1
    (index / VECTORS).write_bytes(data)
    with pytest.raises(RetrievalError, match=r"vectors\.faiss: sha256"):
        verify_index(index)


def test_a_dense_index_is_no_bm25_index(index: Path) -> None:
    with pytest.raises(RetrievalError, match="an index of kind 'dense', expected 'bm25'"):
        BM25Retriever.open(index)


def test_a_kind_of_the_future_is_refused(index: Path) -> None:
    edit_manifest(index, lambda m: m.update(kind="sparse"))
    with pytest.raises(RetrievalError, match="an index of kind 'sparse'"):
        open_retriever(index)


def test_progress_is_told_and_a_build_that_is_there_is_kept(tmp_path: Path) -> None:
    documents = MemoryCorpus(Document(str(i), "", f"stone {i}") for i in range(2500))
    told: list[tuple[int, int]] = []
    write_dense(tmp_path / "i", documents, encoder=ENCODER, progress=lambda done, count: told.append((done, count)))
    write_dense(tmp_path / "i", documents, encoder=ENCODER, progress=lambda done, count: told.append((done, count)))
    assert told == [(1024, 2500), (2048, 2500), (2500, 2500)]


def test_an_approximate_build_tells_when_it_learns_and_how_far_it_is(
    tmp_path: Path, faiss: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agentgym_r1.retrieval.training.ADD_ROWS", 6000)
    documents = MemoryCorpus(Document(str(i), "", f"stone {i}") for i in range(10_000))
    told: list[tuple[int, int | None]] = []
    write_dense(
        tmp_path / "i",
        documents,
        encoder=ENCODER,
        kind="hnsw",
        index_progress=lambda done, total: told.append((done, total)),
    )
    assert told == [(0, None), (6000, 10_000), (10_000, 10_000)]


STONES = MemoryCorpus(Document(str(i), "", f"stone {i} of {i % 9}") for i in range(10_000))
DEADLY_BUILD = """
import os, sys
sys.path.insert(0, "tests")
from agentgym_r1.retrieval import training
from agentgym_r1.retrieval.dense_index import write_dense
from tests.retrieval.test_dense import ENCODER, STONES

def progress(done, total):
    if done == int(sys.argv[3]) + 2000:
        os.kill(os.getpid(), 9)

training.ADD_ROWS, training.SAVE_S = 2000, -1.0  # after every chunk
write_dense(sys.argv[1], STONES, encoder=ENCODER, kind=sys.argv[2], index_progress=progress)
"""


@pytest.mark.parametrize("kind", ["ivf", "ivfpq"])
@pytest.mark.parametrize("added", [0, 6000])
def test_a_killed_approximate_build_goes_on_from_what_it_learned_and_ends_with_the_same_bytes(
    kind: str, added: int, tmp_path: Path, faiss: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed = subprocess.run([sys.executable, "-c", DEADLY_BUILD, tmp_path / "killed", kind, str(added)], cwd=ROOT)
    assert killed.returncode == -signal.SIGKILL
    assert not (tmp_path / "killed").exists()
    told: list[tuple[int, int | None]] = []
    monkeypatch.setattr(training, "ADD_ROWS", 2000)
    monkeypatch.setattr(training, "_trained", None)  # what was learned is not learned again
    write_dense(
        tmp_path / "killed",
        STONES,
        encoder=ENCODER,
        kind=kind,
        index_progress=lambda done, total: told.append((done, total)),
    )
    assert told[1] == (added + 2000, 10_000)
    monkeypatch.undo()
    write_dense(tmp_path / "whole", STONES, encoder=ENCODER, kind=kind)
    files = {path.name: path.read_bytes() for path in (tmp_path / "whole").iterdir()}
    assert {path.name: path.read_bytes() for path in (tmp_path / "killed").iterdir()} == files
    assert set(files) == {VECTORS, PROGRESS, DOCUMENTS, INDEX, MANIFEST}


def test_what_a_build_of_other_documents_or_a_damaged_one_learned_is_not_used(tmp_path: Path, faiss: Any) -> None:
    def documents(word: str) -> MemoryCorpus:
        return MemoryCorpus(Document(str(i), "", f"{word} {i}") for i in range(10_000))

    def stop(done: int, total: int | None) -> None:
        if done:
            raise KeyboardInterrupt

    for name in ("other", "damaged"):
        with pytest.raises(KeyboardInterrupt):
            write_dense(tmp_path / name, documents("stone"), encoder=ENCODER, kind="ivf", index_progress=stop)
    (partial,) = (tmp_path / ".damaged.building").glob("*.partial")
    partial.write_bytes(partial.read_bytes()[:1000])
    write_dense(tmp_path / "damaged", documents("stone"), encoder=ENCODER, kind="ivf")
    for name in ("other", "fresh"):
        write_dense(tmp_path / name, documents("mill"), encoder=ENCODER, kind="ivf")
    assert (tmp_path / "other" / INDEX).read_bytes() == (tmp_path / "fresh" / INDEX).read_bytes()
    for name in ("other", "damaged", "fresh"):
        assert {path.name for path in (tmp_path / name).iterdir()} == {VECTORS, PROGRESS, DOCUMENTS, INDEX, MANIFEST}


def test_an_empty_corpus_has_an_index(tmp_path: Path) -> None:
    write_dense(tmp_path / "i", MemoryCorpus([]), encoder=ENCODER)
    assert map_flat(tmp_path / "i" / VECTORS).shape == (0, 32)


BUILD = """
import sys, time
sys.path.insert(0, "tests")
from hashing_encoder import HashingEncoder
from agentgym_r1.corpus import open_corpus
from agentgym_r1.retrieval.dense_index import write_dense

def progress(done, count):
    with open(sys.argv[3], "a") as log:
        log.write(f"{done}\\n")
    if len(sys.argv) > 4:
        time.sleep(600 if done > 1024 else 0)

write_dense(sys.argv[1], open_corpus(sys.argv[2]), encoder=HashingEncoder(), progress=progress)
"""


def start_build(*arguments: str | Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", BUILD, *map(str, arguments)], cwd=ROOT)


def kill_after_two_chunks(folder: Path, corpus: Path, log: Path) -> None:
    build = start_build(folder, corpus, log, "wait")
    for _ in range(600):
        if log.exists() and "2048" in log.read_text():
            break
        time.sleep(0.1)
    os.kill(build.pid, signal.SIGKILL)
    build.wait(60)


def test_a_killed_build_goes_on_and_ends_with_the_same_bytes(tmp_path: Path) -> None:
    write_corpus(tmp_path / "c.arrow", (Document(str(i), "", f"stone {i} of {i % 9}") for i in range(3500)))
    log = tmp_path / "log"
    kill_after_two_chunks(tmp_path / "killed", tmp_path / "c.arrow", log)
    assert not (tmp_path / "killed").exists()
    assert start_build(tmp_path / "killed", tmp_path / "c.arrow", log).wait(60) == 0
    assert log.read_text().split() == ["1024", "2048", "3072", "3500"]
    assert start_build(tmp_path / "whole", tmp_path / "c.arrow", log).wait(60) == 0
    names = sorted(path.name for path in (tmp_path / "whole").iterdir())
    assert names == sorted(path.name for path in (tmp_path / "killed").iterdir())
    for name in names:
        assert (tmp_path / "killed" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_a_half_made_build_of_another_encoder_is_not_continued(tmp_path: Path) -> None:
    write_corpus(tmp_path / "c.arrow", (Document(str(i), "", f"stone {i}") for i in range(2500)))
    kill_after_two_chunks(tmp_path / "index", tmp_path / "c.arrow", tmp_path / "log")
    other = HashingEncoder(weights="1" * 64)
    corpus = open_corpus(tmp_path / "c.arrow")
    write_dense(tmp_path / "index", corpus, encoder=other)
    expected = other.encode_passages([contents(document) for document in corpus])
    assert np.array_equal(map_flat(tmp_path / "index" / VECTORS), expected)


def test_leftovers_of_another_kind_do_not_enter_the_index(tmp_path: Path, corpus: Corpus) -> None:
    building = tmp_path / ".index.building"
    building.mkdir()
    for name in (INDEX, ".documents.arrow-0.tmp"):
        (building / name).write_bytes(b"old")
    write_dense(tmp_path / "index", corpus, encoder=ENCODER)
    assert set(read_manifest(tmp_path / "index").files) == {VECTORS, PROGRESS, DOCUMENTS}


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    """A flat index made elsewhere."""
    rows = ENCODER.encode_passages([contents(row) for row in ROWS])
    append_rows(tmp_path / "e5_Flat.index", rows, done=0, count=len(rows))
    return tmp_path / "e5_Flat.index"


def test_a_flat_index_is_adopted_without_a_copy(tmp_path: Path, theirs: Path) -> None:
    write_corpus(tmp_path / "c.arrow", ROWS)
    adopt_flat(tmp_path / "index", open_corpus(tmp_path / "c.arrow"), theirs, encoder=ENCODER)
    assert [path.name for path in (tmp_path / "index").iterdir()] == [MANIFEST]
    assert set(verify_index(tmp_path / "index").files) == {str(theirs)}
    data = theirs.read_bytes()
    theirs.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    with pytest.raises(RetrievalError, match=r"e5_Flat\.index: sha256"):
        verify_index(tmp_path / "index")
    theirs.unlink()
    with pytest.raises(RetrievalError, match=r"e5_Flat\.index: 7725 bytes expected, no file found"):
        DenseRetriever.open(tmp_path / "index", encoder=ENCODER)


def test_a_flat_index_of_something_else_is_not_adopted(tmp_path: Path, theirs: Path, corpus: Corpus) -> None:
    with pytest.raises(RetrievalError, match="60 vectors of 32 numbers, expected 59 of 32"):
        adopt_flat(tmp_path / "index", MemoryCorpus(ROWS[1:]), theirs, encoder=ENCODER)
    with pytest.raises(RetrievalError, match="another encoder, prefix, pooling or corpus"):
        adopt_flat(tmp_path / "index", MemoryCorpus([*ROWS[1:], ROWS[0]]), theirs, encoder=ENCODER)
    with pytest.raises(RetrievalError, match="cosine"):
        adopt_flat(tmp_path / "index", corpus, theirs, encoder=HashingEncoder(weights="1" * 64))
    assert not (tmp_path / "index").exists()


@pytest.mark.dense
def test_a_folder_opens_and_answers_as_the_index_in_memory(faiss: Any, index: Path, corpus: Corpus) -> None:
    opened = DenseRetriever.open(index, encoder=ENCODER)
    built = DenseRetriever.build(corpus, ENCODER)
    queries = ["the river", "stones of the mill", "harbour 3"]
    assert opened.search(queries, k=5) == built.search(queries, k=5) == retriever(ROWS).search(queries, k=5)
    assert (opened.device, opened.encoder.device) == ("cpu", "cpu")


@pytest.mark.dense
def test_an_adopted_index_answers(faiss: Any, tmp_path: Path, theirs: Path, corpus: Corpus) -> None:
    adopt_flat(tmp_path / "index", corpus, theirs, encoder=ENCODER)
    assert DenseRetriever.open(tmp_path / "index", encoder=ENCODER).search(["mill 8"], k=3) == retriever(ROWS).search(
        ["mill 8"], k=3
    )


@pytest.mark.dense
def test_an_opened_index_is_pickled_by_its_folder(faiss: Any, index: Path) -> None:
    opened = DenseRetriever.open(index, encoder=ENCODER)
    data = pickle.dumps(opened)
    assert len(data) < 2000
    assert pickle.loads(data).search(["quarry"], k=3) == opened.search(["quarry"], k=3)


@pytest.mark.dense
def test_threads_get_the_answers_of_one(faiss: Any, index: Path) -> None:
    opened = DenseRetriever.open(index, encoder=ENCODER)
    queries = [f"{place} {i}" for i in range(10) for place in PLACES]
    expected = [opened.search([query], k=4)[0] for query in queries]
    answers: dict[int, Any] = {}

    def ask(number: int) -> None:
        answers[number] = opened.search([queries[number]], k=4)[0]

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(len(queries))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [answers[number] for number in range(len(queries))] == expected


@pytest.mark.dense
@pytest.mark.parametrize("device", ["tpu", "cuda:x", "cuda:0,0", "cuda:,", "gpu:0"])
def test_a_device_that_is_not_one_is_refused(faiss: Any, index: Path, device: str) -> None:
    with pytest.raises(ConfigError, match="expected 'cpu', 'cuda', 'cuda:N' or 'cuda:N,M'"):
        DenseRetriever.open(index, encoder=ENCODER, device=device)


@pytest.mark.dense
def test_a_gpu_that_is_not_there_is_an_error_and_not_the_cpu(faiss: Any, index: Path) -> None:
    if hasattr(faiss, "StandardGpuResources"):
        pytest.skip("this faiss is built for GPUs")
    with pytest.raises(ConfigError, match=r"built for the CPU: pip uninstall faiss-cpu"):
        DenseRetriever.open(index, encoder=ENCODER, device="cuda:1")


@pytest.mark.dense
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["hnsw", "ivf", "ivfpq"])
def test_approximate_kinds_find_what_exact_search_finds(faiss: Any, tmp_path: Path, kind: str) -> None:
    documents = MemoryCorpus(
        Document(str(i), "", f"{PLACES[i % 7]} {i // 3} {PLACES[i % 5]} {i % 100}") for i in range(10_000)
    )
    write_dense(tmp_path / "index", documents, encoder=ENCODER, kind=kind)
    approximate = DenseRetriever.open(tmp_path / "index", encoder=ENCODER)
    exact = retriever(list(documents))
    queries = [f"{PLACES[i % 7]} {i}" for i in range(50)]
    pairs = list(zip(approximate.rank(queries, k=10), exact.rank(queries, k=10)))
    shared = [len({hit for hit, _ in mine} & {hit for hit, _ in best}) for mine, best in pairs]
    assert np.mean(shared) >= 9
    scores = dict(exact.rank(queries[:1], k=100)[0])
    assert all(scores[hit] == score for hit, score in approximate.rank(queries[:1], k=10)[0])
    lazy = DenseRetriever.open(tmp_path / "index", encoder=ENCODER, effort=1)
    assert lazy.rank(queries, k=10) != approximate.rank(queries, k=10)


@pytest.mark.dense
def test_an_approximate_index_that_faiss_cannot_read_is_refused(faiss: Any, tmp_path: Path) -> None:
    documents = MemoryCorpus(Document(str(i), "", f"stone {i}") for i in range(9984))
    write_dense(tmp_path / "index", documents, encoder=HashingEncoder(dimension=4), kind="ivf")
    path = tmp_path / "index" / INDEX
    path.write_bytes(b"x" * path.stat().st_size)
    with pytest.raises(RetrievalError, match=r"index\.faiss: faiss cannot read it"):
        DenseRetriever.open(tmp_path / "index", encoder=HashingEncoder(dimension=4))
