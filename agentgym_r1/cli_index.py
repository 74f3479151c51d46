"""The ``index`` commands of the command line: build, describe, serve and search an index."""

import json
import signal
import threading
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Annotated

import typer

from agentgym_r1.corpus import Corpus
from agentgym_r1.data.download import Progress
from agentgym_r1.errors import ConfigError, RetrievalError, unknown_name
from agentgym_r1.retrieval import (
    BGE_EN,
    E5,
    Encoder,
    adopt_flat,
    adopt_lucene,
    open_encoder,
    open_retriever,
    read_manifest,
    verify_index,
    write_bm25,
    write_dense,
    write_lucene,
)
from agentgym_r1.retrieval.ingest import CountedCorpus, opened_corpus
from agentgym_r1.retrieval.lucene_folder import is_lucene
from agentgym_r1.retrieval.onnx_model import MINILM
from agentgym_r1.retrieval.plan import KINDS as STRUCTURES
from agentgym_r1.retrieval.service import Limits
from agentgym_r1.serving import LOCAL

app = typer.Typer(no_args_is_help=True, help="Retrieval: build, describe, serve and search an index.")

KINDS = ("bm25", "dense", "lucene")
FAMILIES = {"e5": E5, "bge-en": BGE_EN}
"""How encoders of a family pool and which prefixes they want; hub names of these families are known by themselves."""

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="An index folder.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


@app.command()
def build(
    *,
    corpus: Annotated[
        Path, typer.Option(help="Documents: .arrow, .json, .jsonl, .jsonl.gz, pyserini's folder or a shop's catalogue.")
    ],
    out: Annotated[Path, typer.Option(help="The folder to make.")],
    kind: Annotated[str, typer.Option(help=f"One of: {', '.join(KINDS)}.")] = "bm25",
    encoder: Annotated[str | None, typer.Option(help="dense: a model folder or hub name. Default: MiniLM.")] = None,
    family: Annotated[
        str | None, typer.Option(help=f"dense: of a model folder, one of: {', '.join(FAMILIES)}.")
    ] = None,
    device: Annotated[str, typer.Option(help="dense: cpu, cuda or cuda:N, for the encoder.")] = "cpu",
    vectors: Annotated[Path | None, typer.Option(help="dense: a flat faiss file to use, e5_Flat.index say.")] = None,
    structure: Annotated[
        str | None, typer.Option(help=f"dense: {', '.join(STRUCTURES)}. Default: by corpus and memory.")
    ] = None,
    memory_gb: Annotated[
        float | None,
        typer.Option(min=0.0, help="dense: what it may take when searched. Default: half of the machine's."),
    ] = None,
    index: Annotated[Path | None, typer.Option(help="lucene: pyserini's index of the corpus, to use as it is.")] = None,
) -> None:
    """Build an index folder; it appears whole or not at all. The same command again goes on where one was killed."""
    from agentgym_r1.data.progress import bars

    if kind not in KINDS:
        raise unknown_name("kind of index", kind, KINDS)
    dense_only = (encoder, family, vectors, structure, memory_gb, None if device == "cpu" else device)
    if kind != "dense" and any(option is not None for option in dense_only):
        raise ConfigError(
            "--encoder, --family, --device, --vectors, --structure and --memory-gb belong to --kind dense,"
            f" got --kind {kind}"
        )
    if vectors is not None and (structure is not None or memory_gb is not None):
        raise ConfigError("--vectors is searched as it is: leave out --structure and --memory-gb")
    if family is not None and family not in FAMILIES:
        raise unknown_name("family of encoders", family, FAMILIES)
    if kind != "lucene" and index:
        raise ConfigError(f"--index belongs to --kind lucene, got --kind {kind}")
    with bars() as progress, _documents(corpus, out, progress) as documents:
        if kind == "bm25":
            write_bm25(out, documents, progress=lambda done, total: progress("join", done, total))
        elif kind == "lucene":
            _build_lucene(out, documents, index or (corpus if is_lucene(corpus) else None))
        else:
            used = open_encoder(encoder or MINILM, settings=FAMILIES.get(family or ""), device=device)
            memory = None if memory_gb is None else int(memory_gb * 1e9)
            _build_dense(out, documents, used, vectors, structure=structure, memory=memory, progress=progress)
        manifest = read_manifest(out)
        if (manifest.kind, manifest.corpus_sha256) != (kind, documents.sha256):
            raise RetrievalError(f"{out}: holds an index of another kind or corpus; choose another folder")
    typer.echo(f"{out}: {manifest.kind}, {manifest.count:,} documents, corpus {manifest.corpus_sha256[:12]}")


def _documents(path: Path, out: Path, progress: Progress) -> AbstractContextManager[Corpus]:
    """Open a corpus file, or the texts of a catalogue folder, of which the index then keeps a copy."""
    if not path.is_dir() or is_lucene(path):
        return opened_corpus(path, beside=out, progress=progress)
    from agentgym_r1.data.webshop import Catalogue, ProductCorpus

    return nullcontext(CountedCorpus(ProductCorpus(Catalogue(path)), progress, path=None))


def _build_lucene(out: Path, documents: Corpus, index: Path | None) -> None:
    if index is not None:
        adopt_lucene(out, index, corpus=documents)
    else:
        write_lucene(out, documents)


def _build_dense(
    out: Path,
    documents: Corpus,
    encoder: Encoder,
    vectors: Path | None,
    *,
    structure: str | None,
    memory: int | None,
    progress: Progress,
) -> None:
    if vectors is not None:
        adopt_flat(out, documents, vectors, encoder=encoder)
        return
    write_dense(
        out,
        documents,
        encoder=encoder,
        kind=structure,
        memory=memory,
        progress=lambda done, total: progress("encode", done, total),
        index_progress=lambda done, total: progress("index", done, total),
    )


@app.command()
def info(
    folder: Folder,
    *,
    verify: Annotated[bool, typer.Option("--verify", help="Read every byte and compare its hash.")] = False,
) -> None:
    """Print the manifest of an index as JSON."""
    import msgspec

    manifest = verify_index(folder) if verify else read_manifest(folder)
    typer.echo(msgspec.json.format(msgspec.json.encode(manifest), indent=2).decode())


@app.command()
def search(
    index: Annotated[str, typer.Argument(metavar="DIR", help="An index folder, or the URL of a service.")],
    query: Annotated[str, typer.Argument(help="What to look for.")],
    *,
    k: Annotated[int, typer.Option("-k", min=1, help="The most passages.")] = 3,
    as_json: Json = False,
) -> None:
    """Print the best passages for one query."""
    (passages,) = open_retriever(index).search([query], k=k)
    if as_json:
        rows = [{"id": p.id, "title": p.title, "text": p.text, "score": p.score} for p in passages]
        typer.echo(json.dumps(rows, indent=2, ensure_ascii=False))
        return
    for rank, passage in enumerate(passages, 1):
        typer.echo(f"[{rank}] {passage.score:.3f}  {passage.id}  {passage.title}\n{passage.text}\n")
    if not passages:
        typer.echo("No passage matches.")


@app.command()
def serve(
    folders: Annotated[list[str], typer.Argument(metavar="[NAME=]DIR...", help="Index folders; the first is default.")],
    *,
    host: Annotated[str, typer.Option(help="Where to listen. There is no authentication.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 8765,
    batch: Annotated[int, typer.Option(min=1, help="Most queries searched at once.")] = 64,
    queue: Annotated[int, typer.Option(min=1, help="Most queries that wait.")] = 4096,
    deadline: Annotated[float, typer.Option(min=0.001, help="Seconds a request may take.")] = 30.0,
    cache_mb: Annotated[float, typer.Option(min=0.0, help="Megabytes of answers kept.")] = 64.0,
    verify: Annotated[bool, typer.Option("--verify", help="Read every byte first and compare its hash.")] = False,
    ray: Annotated[str | None, typer.Option(help="Address of a Ray cluster: a service on each node, for it.")] = None,
) -> None:
    """Serve indexes over HTTP until it is stopped: POST /retrieve, GET /health, /info, /metrics."""
    from agentgym_r1.retrieval.service import serve as run

    limits, named = Limits(batch=batch, queue=queue, deadline=deadline, cache_mb=cache_mb), _by_name(folders)
    for folder in named.values() if verify else ():
        verify_index(folder)
    if ray is not None:
        _serve_on_nodes(ray, named, port=port, limits=limits)
        return
    retrievers = {name: open_retriever(folder) for name, folder in named.items()}

    def ready(url: str) -> None:
        typer.echo(f"{', '.join(retrievers)} at {url}/retrieve")
        if host not in LOCAL:
            typer.echo(f"{host} can be reached from other machines, and there is no authentication", err=True)

    run(retrievers, host=host, port=port, limits=limits, on_ready=ready)


def _serve_on_nodes(address: str, folders: dict[str, Path], *, port: int, limits: Limits) -> None:
    from agentgym_r1.ray_services import NodeServices

    ended = threading.Event()
    with NodeServices(address, folders, port=port, limits=limits) as services:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: ended.set())
        for node, url in services.addresses.items():
            typer.echo(f"{', '.join(folders)} on node {node[:8]} at {url}/retrieve")
        ended.wait()


def _by_name(arguments: list[str]) -> dict[str, Path]:
    folders: dict[str, Path] = {}
    for argument in arguments:
        name, folder = _named(argument)
        if name in folders:
            raise ConfigError(f"two indexes are called {name!r}: name one of them, NAME={folder}")
        folders[name] = folder
    return folders


def _named(argument: str) -> tuple[str, Path]:
    """Return name and folder of ``NAME=DIR`` or ``DIR``, whose name is the folder's own."""
    name, separator, folder = argument.partition("=")
    if separator and name and "/" not in name:
        return name, Path(folder)
    return Path(argument).resolve().name, Path(argument)
