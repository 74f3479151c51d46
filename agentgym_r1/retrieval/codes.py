"""Rows in 8 bits each number, whose products with queries bound the exact ones.

A processor multiplies bytes some four times as fast as float32, so that a batch of queries needs the exact product of
only the few rows that the bound leaves. What is found is what exact products alone would find.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from agentgym_r1.errors import require
from agentgym_r1.retrieval.devices import EXTRA
from agentgym_r1.retrieval.flat import Matrix
from agentgym_r1.retrieval.kernels import load_kernels

ROW_LEVELS, QUERY_LEVELS = 127, 64
"""The greatest code of a row and of a query: two products fit into 16 bits, where older processors add them."""
ZERO = 128
"""The code of 0 in a row: its bytes have no sign."""
OPSET, IR_VERSION = 17, 9


@dataclass(frozen=True, slots=True)
class Codes:
    """Vectors as whole numbers times a scale.

    Attributes:
        codes: (rows, dimension) uint8, ``ZERO`` more than the whole number; or (dimension, queries) int8.
        bounds: float32 (3, vectors): the scale; at least the distance of the vector from the scaled whole numbers,
            with room for the rounding of float32 sums; at least the length of these.
    """

    codes: npt.NDArray[Any]
    bounds: Matrix


def encode_rows(vectors: Matrix) -> Codes:
    """Encode float32 (count, dimension), which may be mapped and unaligned, in one byte a number.

    Raises:
        MissingExtra: what multiplies codes is not installed.
    """
    _session()  # loaded now, so that no search waits for it
    return Codes(*_encoded(vectors, ROW_LEVELS, ZERO))


def encode_queries(queries: Matrix) -> Codes:
    """Encode float32 (queries, dimension)."""
    codes, bounds = _encoded(queries, QUERY_LEVELS, 0)
    return Codes(np.ascontiguousarray(codes.T).view(np.int8), bounds)


def _encoded(vectors: Matrix, levels: int, zero: int) -> tuple[npt.NDArray[np.uint8], Matrix]:
    codes, bounds = np.empty(vectors.shape, np.uint8), np.empty((3, len(vectors)), np.float32)
    load_kernels("exact").encode(vectors, levels, zero, codes, bounds)
    return codes, bounds


def products(rows: npt.NDArray[np.uint8], queries: Codes) -> npt.NDArray[np.int32]:
    """Multiply the codes of rows with those of queries: int32 (rows, queries), exact."""
    found: npt.NDArray[np.int32] = _session().run(None, {"rows": rows, "queries": queries.codes})[0]
    return found


@cache
def _session() -> Any:
    """Return ONNX Runtime's product of bytes, on one thread; it may run in several threads at once."""
    onnx, runtime = require("onnx", EXTRA), require("onnxruntime", EXTRA)
    helper, kinds = onnx.helper, onnx.TensorProto
    graph = helper.make_graph(
        [helper.make_node("MatMulInteger", ["rows", "queries", "zero"], ["products"])],
        "products",
        [
            helper.make_tensor_value_info("rows", kinds.UINT8, ["count", "dimension"]),
            helper.make_tensor_value_info("queries", kinds.INT8, ["dimension", "asked"]),
        ],
        [helper.make_tensor_value_info("products", kinds.INT32, ["count", "asked"])],
        [onnx.numpy_helper.from_array(np.uint8(ZERO), "zero")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1
    return runtime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
