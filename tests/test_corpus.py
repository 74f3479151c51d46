"""Corpora: the same documents and the same hash whatever the storage, and clear refusals of broken files."""

import json
import os
import pickle
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentgym_r1.corpus import (
    ArrowCorpus,
    Corpus,
    JsonlCorpus,
    MemoryCorpus,
    contents,
    corpus_sha256,
    get,
    open_corpus,
    split_contents,
    write_corpus,
)
from agentgym_r1.corpus.arrow import FORMAT
from agentgym_r1.errors import ConfigError, DataError
from agentgym_r1.types import Document

DOCUMENTS = [
    Document("a", "Ostrava Bridge", "It spans a river.\nTwice."),
    Document("b", "", "No title here."),
    Document("ü", 'A "quoted" title', "東京 🎲"),
    Document("d", "Empty", ""),
]

text = st.text(st.characters(exclude_categories=["Cs"]))
documents = st.lists(st.builds(Document, text, text, text), unique_by=lambda document: document.id, max_size=20)


def write_jsonl(path: Path, rows: list[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture(params=["memory", "arrow", "jsonl-contents", "jsonl-fields"])
def corpus(request: pytest.FixtureRequest, tmp_path: Path) -> Corpus:
    if request.param == "memory":
        return MemoryCorpus(DOCUMENTS)
    if request.param == "arrow":
        write_corpus(tmp_path / "c.arrow", DOCUMENTS)
        return open_corpus(tmp_path / "c.arrow")
    rows = [{"id": d.id, "contents": contents(d)} for d in DOCUMENTS]
    if request.param == "jsonl-fields":
        rows = [{"id": d.id, "title": d.title, "text": d.text} for d in DOCUMENTS]
    return open_corpus(write_jsonl(tmp_path / "c.jsonl", rows))


def test_every_storage_gives_the_same_documents_and_hash(corpus: Corpus) -> None:
    assert isinstance(corpus, Corpus)
    assert len(corpus) == len(DOCUMENTS)
    assert list(corpus) == DOCUMENTS
    assert corpus[2] == DOCUMENTS[2]
    assert corpus.sha256 == corpus_sha256(DOCUMENTS)


def test_a_document_is_found_by_its_id(corpus: Corpus) -> None:
    assert [corpus.index_of(document.id) for document in DOCUMENTS] == [0, 1, 2, 3]
    assert get(corpus, "ü") == DOCUMENTS[2]
    with pytest.raises(KeyError):
        corpus.index_of("c")
    with pytest.raises(ConfigError, match="no document 'c'"):
        get(corpus, "c")


@pytest.mark.parametrize("index", [-1, 4, 10**9])
def test_an_index_outside_the_corpus_is_an_error_and_not_the_last_document(corpus: Corpus, index: int) -> None:
    with pytest.raises(IndexError):
        corpus[index]


def test_a_pickled_corpus_is_the_same_corpus(corpus: Corpus) -> None:
    copy = pickle.loads(pickle.dumps(corpus))
    assert list(copy) == DOCUMENTS
    assert copy.sha256 == corpus.sha256


def test_a_pickled_arrow_corpus_is_as_small_as_its_path(tmp_path: Path) -> None:
    write_corpus(tmp_path / "c.arrow", (Document(str(i), "t", "x" * 1000) for i in range(1000)))
    assert len(pickle.dumps(open_corpus(tmp_path / "c.arrow"))) < 500


@given(documents)
def test_any_documents_survive_an_arrow_file(tmp_path_factory: pytest.TempPathFactory, rows: list[Document]) -> None:
    path = tmp_path_factory.mktemp("corpus") / "c.arrow"
    sha256 = write_corpus(path, rows)
    assert list(open_corpus(path)) == rows
    assert sha256 == ArrowCorpus(path).sha256 == MemoryCorpus(rows).sha256


def test_documents_that_cross_batches_keep_their_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentgym_r1.corpus.arrow.BATCH_ROWS", 3)
    monkeypatch.setattr("agentgym_r1.corpus.arrow.BATCH_CHARACTERS", 40)
    rows = [Document(str(i), f"t{i}", "x" * (i % 5) * 10) for i in range(50)]
    write_corpus(tmp_path / "c.arrow", iter(rows))
    assert [open_corpus(tmp_path / "c.arrow")[i] for i in range(50)] == rows


def test_the_hash_separates_moved_field_borders() -> None:
    assert corpus_sha256([Document("a", "b", "c")]) != corpus_sha256([Document("a", "bc", "")])
    assert corpus_sha256(DOCUMENTS) != corpus_sha256(DOCUMENTS[::-1])


@given(text, text)
def test_contents_of_a_title_and_text_split_again(title: str, body: str) -> None:
    title = title.replace("\n", " ")
    assert contents(Document("x", *split_contents(contents(Document("x", title, body))))) == contents(
        Document("x", title, body)
    )


def test_the_same_id_twice_is_refused_everywhere(tmp_path: Path) -> None:
    twice = [*DOCUMENTS, Document("b", "Other", "text")]
    with pytest.raises(DataError, match="documents 1 and 4 share the id 'b'"):
        MemoryCorpus(twice)
    with pytest.raises(DataError, match="share the id 'b'"):
        write_corpus(tmp_path / "c.arrow", twice)
    path = write_jsonl(tmp_path / "c.jsonl", [{"id": "b", "contents": "x"}, {"id": "b", "contents": "y"}])
    with pytest.raises(DataError, match="share the id 'b'"):
        _ = open_corpus(path).sha256


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    write_corpus(tmp_path / "c.arrow", DOCUMENTS)

    def broken() -> Iterator[Document]:
        yield DOCUMENTS[0]
        raise RuntimeError("source broke")

    with pytest.raises(RuntimeError, match="source broke"):
        write_corpus(tmp_path / "c.arrow", broken())
    assert [path.name for path in tmp_path.iterdir()] == ["c.arrow"]
    assert list(open_corpus(tmp_path / "c.arrow")) == DOCUMENTS


def test_text_that_is_not_unicode_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="not valid Unicode"):
        write_corpus(tmp_path / "c.arrow", [Document("a", "", "lone \ud800 surrogate")])


def test_a_truncated_arrow_file_says_so(tmp_path: Path) -> None:
    path = tmp_path / "c.arrow"
    write_corpus(path, DOCUMENTS)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(DataError, match="not a whole Arrow file"):
        open_corpus(path)


def test_an_arrow_file_of_another_program_says_so(tmp_path: Path) -> None:
    import pyarrow as pa

    path = tmp_path / "c.arrow"
    batch = pa.record_batch({"id": ["1"]})
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, batch.schema) as writer:
        writer.write_batch(batch)
    with pytest.raises(DataError, match="not a corpus of this library"):
        open_corpus(path)


def test_a_file_of_a_later_format_version_asks_for_an_upgrade(tmp_path: Path) -> None:
    path = tmp_path / "c.arrow"
    write_corpus(path, DOCUMENTS)
    import pyarrow as pa

    old = pa.ipc.open_file(path.read_bytes())
    schema = old.schema.with_metadata({FORMAT: "99"})
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, schema) as writer:
        writer.write_batch(pa.record_batch(old.get_batch(0).columns, schema=schema))
    with pytest.raises(DataError, match="format 99.*upgrade"):
        open_corpus(path)


def test_search_r1_rows_are_adopted_unchanged(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "wiki.jsonl", [{"id": 7, "contents": '"Lake Ohrid"\nA deep lake.'}])
    before = path.read_bytes()
    assert list(open_corpus(path)) == [Document("7", "Lake Ohrid", "A deep lake.")]
    assert path.read_bytes() == before


def test_blank_lines_and_a_missing_last_newline_do_not_matter(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_text('{"id": "x", "text": "one"}\n\n  \n{"text": "two"}', encoding="utf-8")
    assert list(open_corpus(path)) == [Document("x", "", "one"), Document("1", "", "two")]


def test_a_changed_jsonl_file_is_read_anew(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "c.jsonl", [{"id": "x", "contents": "one"}])
    first = open_corpus(path).sha256
    write_jsonl(path, [{"id": "x", "contents": "one"}, {"id": "y", "contents": "two"}])
    assert len(open_corpus(path)) == 2
    assert open_corpus(path).sha256 != first


def test_an_empty_corpus_opens(tmp_path: Path) -> None:
    write_corpus(tmp_path / "c.arrow", [])
    (tmp_path / "c.jsonl").write_text("")
    assert list(open_corpus(tmp_path / "c.arrow")) == list(JsonlCorpus(tmp_path / "c.jsonl")) == []


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("c.jsonl", b'{"id": "a", "contents": "x"}\n{"id": "b", "cont', "row 1 is not a document"),
        ("c.jsonl", b'{"question": "x"}\n', 'expected "contents"'),
        ("c.json", b'[{"title": "a", "text": "b"}', "not a corpus"),
        ("c.json", b'{"title": "a"}', "expected a list"),
        ("c.jsonl.gz", b"\x1f\x8b\x08\x00", "gunzip"),
        ("c.bin", b"\x00\x01", "neither Arrow, JSONL nor JSON"),
        ("c.arrow", b"hello", "not a whole Arrow file"),
    ],
)
def test_a_foreign_or_broken_file_is_refused_with_the_reason(
    tmp_path: Path, name: str, data: bytes, message: str
) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(DataError, match=message):
        open_corpus(tmp_path / name)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"nowhere\.arrow: no such corpus file"):
        open_corpus(tmp_path / "nowhere.arrow")


def test_a_file_without_a_suffix_is_recognised_by_its_content(tmp_path: Path) -> None:
    write_corpus(tmp_path / "corpus", DOCUMENTS)
    assert isinstance(open_corpus(tmp_path / "corpus"), ArrowCorpus)


@pytest.mark.real
def test_the_sample_corpora_open_with_positions_as_ids(samples: Path) -> None:
    corpus = open_corpus(samples / "data" / "hotpotqa" / "hotpot_sample_corpus.json")
    assert len(corpus) == 8820
    assert corpus[8819].id == "8819"
    assert corpus.index_of("8819") == 8819


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="file: cannot be made"):
        write_corpus(tmp_path / "file" / "c.arrow", DOCUMENTS)


def test_a_damaged_text_is_an_error_and_not_a_wrong_text(tmp_path: Path) -> None:
    path = tmp_path / "c.arrow"
    write_corpus(path, DOCUMENTS)
    path.write_bytes(path.read_bytes().replace("東京".encode(), b"\xff\xff\xff\xff\xff\xff"))
    corpus = open_corpus(path)
    with pytest.raises(DataError, match="document 2 is damaged"):
        corpus[2]


@pytest.mark.skipif(os.name != "posix", reason="file modes are POSIX")
def test_a_corpus_file_can_be_read_by_whom_the_umask_lets(tmp_path: Path) -> None:
    write_corpus(tmp_path / "c.arrow", DOCUMENTS)
    (tmp_path / "plain").write_text("")
    assert (tmp_path / "c.arrow").stat().st_mode == (tmp_path / "plain").stat().st_mode
