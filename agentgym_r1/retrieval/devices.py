"""Where vectors are searched: in a mapped file on the CPU, or resident on one or several devices."""

import threading
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from agentgym_r1.errors import ConfigError, RetrievalError, require
from agentgym_r1.retrieval.flat import Matrix, chunks
from agentgym_r1.retrieval.plan import IndexPlan

EXTRA = "dense"
CHUNK_ROWS = 65_536
BLAS_FACTOR = 4
"""Batches of this many queries go through BLAS; one by one it is slower than faiss's own loop."""

Positions = npt.NDArray[np.int64]
Layout = Literal["shards", "replicas", "graph"]

GRAPH_LINKS = 32
GRAPH_EFFORT = 128
"""Candidates that a search over a graph keeps at least; more when more are wanted."""


class VectorIndex(Protocol):
    """Anything that finds the rows with the greatest inner product."""

    @property
    def device(self) -> str:
        """Where it is, for example ``cpu`` or ``cuda:0,1``."""
        ...

    def search(self, queries: Matrix, k: int) -> Positions:
        """Return int64 (queries, k) row numbers, best first, -1 where there are fewer."""
        ...

    def warm_up(self) -> None:
        """Load what searches need, if anything."""
        ...


class CpuIndex:
    """A faiss index on the CPU, mapped from its file; safe to search from several threads.

    Args:
        index: of faiss.
        plan: its kind and the effort of a search.
    """

    device = "cpu"

    def __init__(self, index: Any, plan: IndexPlan) -> None:
        self._faiss = require("faiss", EXTRA)
        self._index = index
        self._parameters = _parameters(self._faiss, plan)

    @classmethod
    def open(cls, path: Path, plan: IndexPlan) -> "CpuIndex":
        """Map an index file.

        Raises:
            RetrievalError: faiss cannot read it.
        """
        faiss = require("faiss", EXTRA)
        try:
            return cls(faiss.read_index(str(path), faiss.IO_FLAG_MMAP_IFC), plan)
        except RuntimeError as err:
            raise RetrievalError(f"{path}: faiss cannot read it ({_last_line(err)}); build the index again") from err

    def search(self, queries: Matrix, k: int) -> Positions:
        """Return the rows found; see ``VectorIndex.search``."""
        _set_blas_threshold(self._faiss, queries.shape[1])
        _, positions = self._index.search(queries, k, params=self._parameters)
        return np.asarray(positions, np.int64)

    def warm_up(self) -> None:
        """See ``VectorIndex.warm_up``: faiss is loaded."""


def _set_blas_threshold(faiss: Any, dimension: int) -> None:
    """Let batches use BLAS: faiss waits for 128,000 numbers (queries x dimension), which 64 queries rarely reach.

    The threshold is one variable of the library; a search of another dimension at the same time changes speed only.
    """
    faiss.cvar.distance_compute_blas_threshold = BLAS_FACTOR * dimension


def _parameters(faiss: Any, plan: IndexPlan) -> Any:
    match plan.kind:
        case "flat":
            return None
        case "hnsw":
            return faiss.SearchParametersHNSW(efSearch=plan.effort)
        case "ivf" | "ivfpq":
            return faiss.SearchParametersIVF(nprobe=plan.effort)


class Resource(Protocol):
    """A device that can hold vectors in half precision."""

    @property
    def device(self) -> str:
        """Its name."""
        ...

    def hold(self, vectors: Matrix, *, rows: int) -> Any:
        """Return an index over the vectors, of which so many rows are copied at a time, with faiss's ``search``.

        Raises:
            RuntimeError: the device has not enough memory.
        """
        ...


class CpuResource:
    """Half-precision vectors in this machine's memory: half of the space, and slower than the mapped file."""

    device = "cpu"

    def hold(self, vectors: Matrix, *, rows: int) -> Any:
        """Return an exact index; see ``Resource.hold``."""
        faiss = require("faiss", EXTRA)
        index = faiss.IndexScalarQuantizer(vectors.shape[1], faiss.ScalarQuantizer.QT_fp16, faiss.METRIC_INNER_PRODUCT)
        return _filled(index, vectors, rows)


class CpuGraphResource:
    """A graph over half-precision vectors in this machine's memory; what ``GpuGraphResource`` is on a GPU."""

    device = "cpu"

    def hold(self, vectors: Matrix, *, rows: int) -> Any:
        """Return an approximate index; see ``Resource.hold``."""
        faiss = require("faiss", EXTRA)
        half = faiss.ScalarQuantizer.QT_fp16
        index = faiss.IndexHNSWSQ(vectors.shape[1], half, GRAPH_LINKS, faiss.METRIC_INNER_PRODUCT)
        index.hnsw.efSearch = GRAPH_EFFORT
        index.train(np.array(vectors[:1], np.float32))  # half precision has nothing to learn, but faiss asks for it
        return _filled(index, vectors, rows)


class GpuResource:
    """Half-precision vectors in the memory of one GPU.

    Args:
        number: of the CUDA device.

    Raises:
        ConfigError: this faiss has no GPU support, or there is no such device.
    """

    def __init__(self, number: int) -> None:
        faiss = require("faiss", "gpu")
        if not hasattr(faiss, "StandardGpuResources"):
            raise ConfigError(
                f"device 'cuda:{number}': the installed faiss is built for the CPU:"
                " pip uninstall faiss-cpu, then pip install 'agentgym-r1[gpu]'"
            )
        if number >= faiss.get_num_gpus():
            raise ConfigError(
                f"device 'cuda:{number}': faiss sees {faiss.get_num_gpus()} GPUs; check CUDA_VISIBLE_DEVICES"
            )
        self.device = f"cuda:{number}"
        self._number = number
        self._resources = faiss.StandardGpuResources()

    def hold(self, vectors: Matrix, *, rows: int) -> Any:
        """Return an exact index; see ``Resource.hold``."""
        faiss = require("faiss", "gpu")
        config = faiss.GpuIndexFlatConfig()
        config.useFloat16 = True
        config.device = self._number
        return _filled(faiss.GpuIndexFlatIP(self._resources, vectors.shape[1], config), vectors, rows)


class GpuGraphResource(GpuResource):
    """A CAGRA graph over half-precision vectors in the memory of one GPU (cuVS; extra ``gpu-cuvs``).

    CAGRA is built in one call, so that the half-precision vectors also pass through this machine's memory, whole.

    Raises:
        ConfigError: this faiss has no cuVS, or there is no such device.
    """

    def __init__(self, number: int) -> None:
        super().__init__(number)
        if "CUVS" not in require("faiss", "gpu-cuvs").get_compile_options():
            raise ConfigError(
                "layout 'graph': the installed faiss is built without cuVS:"
                " pip uninstall faiss-gpu, then pip install 'agentgym-r1[gpu-cuvs]'"
            )

    def hold(self, vectors: Matrix, *, rows: int) -> Any:
        """Return an approximate index; see ``Resource.hold``."""
        faiss = require("faiss", "gpu-cuvs")
        config = faiss.GpuIndexCagraConfig()
        config.device = self._number
        index = faiss.GpuIndexCagra(self._resources, vectors.shape[1], faiss.METRIC_INNER_PRODUCT, config)
        half = np.empty(vectors.shape, np.float16)
        for start in range(0, len(vectors), rows):
            half[start : start + rows] = vectors[start : start + rows]
        index.train(half, numeric_type=faiss.Float16)
        return _HalfPrecision(index)


class _HalfPrecision:
    """A CAGRA index that was trained on half precision and wants its queries so."""

    def __init__(self, index: Any) -> None:
        self._faiss = require("faiss", "gpu-cuvs")
        self._index = index

    def search(self, queries: Matrix, k: int) -> Any:
        effort = self._faiss.SearchParametersCagra()
        effort.itopk_size = max(GRAPH_EFFORT, k)
        half = np.asarray(queries, np.float16)
        return self._index.search(half, k, params=effort, numeric_type=self._faiss.Float16)


def _filled(index: Any, vectors: Matrix, rows: int) -> Any:
    for chunk in chunks(vectors, rows=rows):
        index.add(chunk)
    return index


class ResidentIndex:
    """Search over fp16 vectors copied to devices, chunk by chunk from the mapped file.

    One search runs at a time: faiss on a GPU is not safe for concurrent readers.

    Args:
        vectors: float32 (count, dimension), usually mapped.
        resources: one for each device.
        layout: ``shards`` splits the vectors over the devices, for capacity; ``replicas`` puts all on each, and splits
            the queries, for throughput. One device needs neither.
        chunk_rows: copied at a time; what the copy takes of this machine's memory.

    Raises:
        RetrievalError: a device has not enough memory.
    """

    def __init__(
        self, vectors: Matrix, resources: Sequence[Resource], *, layout: Layout = "shards", chunk_rows: int = CHUNK_ROWS
    ) -> None:
        self._faiss = require("faiss", EXTRA)
        self._lock = threading.Lock()
        self._resources = list(resources)
        self.device = "+".join(resource.device for resource in resources)
        ranges = _ranges(len(vectors), len(resources), layout)
        self._parts = [
            _held(resource, vectors[start:stop], rows=chunk_rows, device=self.device)
            for resource, (start, stop) in zip(resources, ranges)
        ]
        self._index = self._join(vectors.shape[1], layout)

    def search(self, queries: Matrix, k: int) -> Positions:
        """Return the rows found; see ``VectorIndex.search``."""
        with self._lock:
            _set_blas_threshold(self._faiss, queries.shape[1])
            _, positions = self._index.search(queries, k)
        return np.asarray(positions, np.int64)

    def warm_up(self) -> None:
        """See ``VectorIndex.warm_up``: the vectors are in place."""

    def _join(self, dimension: int, layout: Layout) -> Any:
        if len(self._parts) == 1:
            return self._parts[0]
        if layout == "replicas":
            joined = self._faiss.IndexReplicas(dimension, True)
            for part in self._parts:
                joined.add_replica(part)
        else:
            joined = self._faiss.IndexShards(dimension, True, True)
            for part in self._parts:
                joined.add_shard(part)
        return joined


def resources(device: str, layout: Layout) -> list[Resource]:
    """Return the GPUs that ``cuda``, ``cuda:1`` or ``cuda:0,1`` names, to hold vectors or, for ``graph``, a graph.

    Raises:
        ConfigError: another name, a device that cannot be used, or a graph over several.
    """
    name, _, numbers = device.partition(":")
    listed = (numbers or "0").split(",")
    if name != "cuda" or not all(number.isdecimal() for number in listed) or len(set(listed)) < len(listed):
        raise ConfigError(f"device {device!r} of an index: expected 'cpu', 'cuda', 'cuda:N' or 'cuda:N,M'")
    if layout != "graph":
        return [GpuResource(int(number)) for number in listed]
    if len(listed) > 1:
        raise ConfigError(f"layout 'graph' takes one GPU, got {device!r}; use 'shards' or 'replicas'")
    return [GpuGraphResource(int(listed[0]))]


def _ranges(count: int, parts: int, layout: Layout) -> list[tuple[int, int]]:
    if layout == "replicas":
        return [(0, count)] * parts
    edges = [count * part // parts for part in range(parts + 1)]
    return list(pairwise(edges))


def _held(resource: Resource, vectors: Matrix, *, rows: int, device: str) -> Any:
    try:
        return resource.hold(vectors, rows=rows)
    except RuntimeError as err:
        need = vectors.shape[0] * vectors.shape[1] * 2 / 1e9
        raise RetrievalError(
            f"{device}: cannot hold {need:.1f} GB of fp16 vectors ({_last_line(err)}); use more devices in shards"
        ) from err


def _last_line(err: Exception) -> str:
    return str(err).strip().splitlines()[-1]
