"""ResidentIndex: chunks, shards and replicas, the same class on CPU and GPU."""

from typing import Any

import numpy as np
import pytest

from agentgym_r1.errors import ConfigError, RetrievalError
from agentgym_r1.retrieval.devices import (
    CpuGraphResource,
    CpuIndex,
    CpuResource,
    GpuGraphResource,
    GpuResource,
    Layout,
    ResidentIndex,
    _filled,
    resources,
)
from agentgym_r1.retrieval.plan import IndexPlan

pytestmark = pytest.mark.dense
faiss = pytest.importorskip("faiss", reason="needs the dense extra: pip install 'agentgym-r1[dense]'")

VECTORS = np.random.default_rng(1).standard_normal((1000, 24)).astype(np.float32)
QUERIES = np.random.default_rng(2).standard_normal((40, 24)).astype(np.float32)
BEST = np.argsort(-(QUERIES @ VECTORS.T), axis=1)[:, :10]


def agreement(found: Any) -> float:
    return float(np.mean([len(set(mine) & set(best)) / 10 for mine, best in zip(found, BEST)]))


@pytest.mark.parametrize("layout", ["shards", "replicas"])
@pytest.mark.parametrize("parts", [1, 2, 3])
def test_vectors_in_parts_are_searched_as_one(parts: int, layout: Layout) -> None:
    index = ResidentIndex(VECTORS, [CpuResource() for _ in range(parts)], layout=layout, chunk_rows=130)
    assert agreement(index.search(QUERIES, 10)) >= 0.99
    assert index.device == "+".join(["cpu"] * parts)


def test_a_graph_is_searched_by_the_same_class() -> None:
    index = ResidentIndex(VECTORS, [CpuGraphResource()], layout="graph", chunk_rows=130)
    assert agreement(index.search(QUERIES, 10)) >= 0.95
    assert index.search(QUERIES[:1], 10).shape == (1, 10)
    assert index.device == "cpu"


def test_a_device_gets_one_chunk_at_a_time() -> None:
    sizes: list[int] = []

    class Index:
        def add(self, rows: Any) -> None:
            sizes.append(len(rows))

    class Watched:
        device = "cpu"

        def hold(self, vectors: Any, *, rows: int) -> Any:
            return _filled(Index(), vectors, rows)

    ResidentIndex(VECTORS, [Watched()], chunk_rows=300)
    assert sizes == [300, 300, 300, 100]


def test_a_device_that_is_full_says_how_much_was_needed() -> None:
    class Full:
        device = "cuda:7"

        def hold(self, vectors: Any, *, rows: int) -> Any:
            raise RuntimeError("Error in somewhere:\nout of memory")

    with pytest.raises(RetrievalError, match=r"cuda:7: cannot hold 0\.0 GB of fp16 vectors \(out of memory\)"):
        ResidentIndex(VECTORS, [Full()])


def test_a_graph_over_several_gpus_is_refused() -> None:
    with pytest.raises(ConfigError, match="layout 'graph' takes one GPU, got 'cuda:0,1'"):
        resources("cuda:0,1", "graph")


@pytest.mark.parametrize("count", [1, 3, 4, 40])
def test_batches_of_every_size_find_the_same(count: int) -> None:
    index = faiss.IndexFlatIP(24)
    index.add(VECTORS)
    found = CpuIndex(index, IndexPlan("flat", "Flat")).search(QUERIES[:count], 10)
    assert np.array_equal(np.sort(found), np.sort(BEST[:count]))
    assert faiss.cvar.distance_compute_blas_threshold == 4 * 24


@pytest.mark.gpu
@pytest.mark.parametrize("layout", ["shards", "replicas"])
def test_every_gpu_finds_what_the_cpu_finds(layout: Layout) -> None:
    gpus = getattr(faiss, "get_num_gpus", lambda: 0)() if hasattr(faiss, "StandardGpuResources") else 0
    if not gpus:
        pytest.skip("needs a CUDA device and the gpu extra")
    index = ResidentIndex(VECTORS, [GpuResource(number) for number in range(gpus)], layout=layout, chunk_rows=130)
    assert agreement(index.search(QUERIES, 10)) >= 0.99
    assert index.device.startswith("cuda:0")


@pytest.mark.gpu
def test_a_cagra_graph_finds_what_exact_search_finds() -> None:
    if "CUVS" not in faiss.get_compile_options() or not faiss.get_num_gpus():
        pytest.skip("needs a CUDA device and the gpu-cuvs extra")
    index = ResidentIndex(VECTORS, [GpuGraphResource(0)], layout="graph", chunk_rows=130)
    assert agreement(index.search(QUERIES, 10)) >= 0.95
    assert index.device == "cuda:0"
