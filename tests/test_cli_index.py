"""The ``index`` commands: a corpus file becomes an index that is described, searched and served."""

import gzip
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from agentgym_r1.corpus import MemoryCorpus, open_corpus, write_corpus
from agentgym_r1.errors import DataError
from agentgym_r1.retrieval import read_manifest, verify_index
from agentgym_r1.retrieval.ingest import opened_corpus
from agentgym_r1.types import Document

ROOT = Path(__file__).resolve().parents[1]
ROWS = [Document(str(n), f"Mill {n}", f"It has {n} wheels.\nThe river is near.") for n in range(20)]
JSONL = "".join(json.dumps({"id": row.id, "contents": f'"{row.title}"\n{row.text}'}) + "\n" for row in ROWS)


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "agentgym_r1.cli", "index", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=120)


@pytest.fixture
def index(tmp_path: Path) -> Path:
    (tmp_path / "wiki.jsonl").write_text(JSONL, encoding="utf-8")
    built = run("build", "--corpus", tmp_path / "wiki.jsonl", "--kind", "bm25", "--out", tmp_path / "mills")
    assert built.returncode == 0, built.stderr
    assert built.stdout.startswith(f"{tmp_path / 'mills'}: bm25, 20 documents, corpus ")
    return tmp_path / "mills"


def test_an_index_is_built_described_and_searched(index: Path) -> None:
    manifest = json.loads(run("info", index, "--verify").stdout)
    assert (manifest["kind"], manifest["count"]) == ("bm25", 20)
    assert manifest["corpus"] == str(index.parent / "wiki.jsonl")
    found = run("search", index, "7 wheels", "-k", 2)
    assert found.stdout.startswith("[1] ")
    assert "Mill 7" in found.stdout.splitlines()[0]
    rows = json.loads(run("search", index, "7 wheels", "-k", 2, "--json").stdout)
    assert [set(row) for row in rows] == [{"id", "title", "text", "score"}] * 2
    assert run("search", index, "zebra").stdout == "No passage matches.\n"


def test_the_same_build_again_is_at_peace_and_another_is_refused(index: Path) -> None:
    corpus = index.parent / "wiki.jsonl"
    made = (index / "manifest.json").stat().st_mtime_ns
    assert run("build", "--corpus", corpus, "--out", index).returncode == 0
    assert (index / "manifest.json").stat().st_mtime_ns == made
    write_corpus(index.parent / "other.arrow", ROWS[:5])
    other = run("build", "--corpus", index.parent / "other.arrow", "--out", index)
    assert other.returncode == 1
    assert "holds an index of another kind or corpus" in other.stderr


def test_search_r1s_packed_corpus_is_unpacked_into_the_index(tmp_path: Path) -> None:
    packed = tmp_path / "wiki-18.jsonl.gz"
    packed.write_bytes(gzip.compress(JSONL.encode()))
    built = run("build", "--corpus", packed, "--out", tmp_path / "mills")
    assert built.returncode == 0, built.stderr
    packed.unlink()
    assert verify_index(tmp_path / "mills").corpus_sha256 == MemoryCorpus(ROWS).sha256
    assert "Mill 7" in run("search", tmp_path / "mills", "7 wheels").stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == [".mills.lock", "mills"]


@pytest.mark.parametrize("damage", [lambda data: data[:-20], lambda data: data[:40] + b"xxxx" + data[44:]])
def test_a_damaged_packed_corpus_leaves_nothing(tmp_path: Path, damage: object) -> None:
    assert callable(damage)
    packed = tmp_path / "wiki-18.jsonl.gz"
    packed.write_bytes(damage(gzip.compress(JSONL.encode())))
    opening = opened_corpus(packed, beside=tmp_path / "mills", progress=lambda *_: None)
    with pytest.raises(DataError, match="wiki-18.jsonl.gz: not whole"), opening:
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["wiki-18.jsonl.gz"]


def test_progress_tells_how_far_each_pass_is(tmp_path: Path) -> None:
    write_corpus(tmp_path / "c.arrow", [Document(str(n), "", "x") for n in range(2500)])
    told: list[tuple[str, int, int | None]] = []
    with opened_corpus(tmp_path / "c.arrow", beside=tmp_path / "i", progress=lambda *step: told.append(step)) as corpus:
        assert list(corpus) == list(open_corpus(tmp_path / "c.arrow"))
        assert (corpus.index_of("7"), corpus[7].id, corpus.path) == (7, "7", tmp_path / "c.arrow")
        list(corpus)
    steps = [(1000, 2500), (2000, 2500), (2500, 2500)]
    passes = [(f"pass {number}", done, total) for number in (1, 2) for done, total in steps]
    assert told == [("hash", 0, None), ("hash", 2500, 2500), *passes]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("build", "--corpus", "none.jsonl", "--out", "{tmp}/x"), 1, "none.jsonl: cannot be read"),
        (("build", "--corpus", "{tmp}/c.arrow", "--out", "{tmp}/x", "--kind", "bm52"), 2, "Known: bm25, dense"),
        (("build", "--corpus", "{tmp}/c.arrow", "--out", "{tmp}/x", "--encoder", "e5"), 2, "belong to --kind dense"),
        (("build", "--corpus", "{tmp}/c.arrow", "--out", "{tmp}/x", "--memory-gb", "0"), 2, "belong to --kind dense"),
        (
            ("build", "--corpus", "{tmp}/c.arrow", "--out", "{tmp}/x", "--kind", "dense")
            + ("--vectors", "{tmp}/v", "--structure", "flat"),
            2,
            "--vectors is searched as it is",
        ),
        (("build", "--corpus", "{tmp}/c.arrow", "--out", "{tmp}"), 1, "is not an index"),
        (("info", "{tmp}"), 1, "no index there"),
        (("search", "{tmp}", "x"), 2, "unknown retriever (no index folder either)"),
        (("serve", "{tmp}"), 2, "unknown retriever (no index folder either)"),
        (("serve", "--port", "70000", "{tmp}"), 2, "--port"),
    ],
)
def test_an_error_is_one_line_with_its_exit_code(
    arguments: tuple[str, ...], code: int, message: str, tmp_path: Path
) -> None:
    write_corpus(tmp_path / "c.arrow", ROWS)
    found = run(*(argument.replace("{tmp}", str(tmp_path)) for argument in arguments))
    assert found.returncode == code, found.stderr
    assert message in found.stderr
    assert "Traceback" not in found.stderr


@contextmanager
def serving(*arguments: object) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run ``index serve`` and yield it with its URL once it says that it is ready."""
    command = [sys.executable, "-m", "agentgym_r1.cli", "index", "serve", *map(str, arguments), "--port", "0"]
    service = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert service.stdout is not None
        yield service, service.stdout.readline().strip().rpartition(" at ")[2].removesuffix("/retrieve")
    finally:
        service.kill()
        service.communicate()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_indexes_are_served_by_name_until_a_signal_ends_it_cleanly(index: Path, number: signal.Signals) -> None:
    with serving(index, f"again={index}") as (service, url):
        assert url.startswith("http://127.0.0.1:")
        info = httpx.get(f"{url}/info").json()
        manifest = read_manifest(index)
        assert info["default"] == "mills"
        assert info["indexes"]["again"] == {"kind": "bm25", "count": 20, "corpus_sha256": manifest.corpus_sha256}
        reply = httpx.post(f"{url}/retrieve?index=again", json={"queries": ["7 wheels"], "topk": 1})
        assert reply.json()["result"][0][0]["id"] == "7"
        assert "Mill 7" in run("search", url, "7 wheels").stdout
        service.send_signal(number)
        assert service.communicate(timeout=60)[1] == ""
        assert service.returncode == 0


def test_an_address_beyond_this_machine_is_warned_about(index: Path) -> None:
    with serving(index, "--host", "0.0.0.0") as (service, _):
        service.terminate()
        complaint = service.communicate(timeout=60)[1]
    assert "0.0.0.0 can be reached from other machines, and there is no authentication" in complaint
    assert service.returncode == 0


def test_a_flipped_byte_is_not_served_when_all_are_read_first(index: Path) -> None:
    data = bytearray((index / "scores.npy").read_bytes())
    data[-1] ^= 1
    (index / "scores.npy").write_bytes(data)
    found = run("serve", index, "--verify")
    assert (found.returncode, found.stderr.count("\n")) == (1, 1)
    assert "scores.npy: sha256" in found.stderr


def test_two_indexes_of_one_name_are_refused(index: Path) -> None:
    found = run("serve", index, index)
    assert (found.returncode, found.stderr.count("\n")) == (2, 1)
    assert f"two indexes are called 'mills': name one of them, NAME={index}" in found.stderr
