"""Lets the unmodified OpenRLHF 0.11.2 run without a GPU, by patching modules right after they are imported.

Everything is float32 (bfloat16 products are some fifty times slower on a CPU without AMX). What each patch answers is
said beside it; the numbers are lines of OpenRLHF 0.11.2. Nothing heavy is imported here: this file runs in every
Python process of a run. It is a top-level module, not a part of the package, so that it needs nothing but itself.
"""

import importlib.abc
import importlib.machinery
import importlib.util
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any

Module = types.ModuleType


class _Device(str):
    """The current device: "cpu" where a device is asked for, "0" inside f"cuda:{device}" (replay_buffer.py:40)."""

    __slots__ = ()

    def __format__(self, spec: str) -> str:
        return "0"


def _torch(torch: Any) -> None:
    """Answer the calls that OpenRLHF makes without asking torch.cuda.is_available()."""
    torch.cuda.current_device = lambda: _Device("cpu")
    for name in ("set_device", "synchronize", "empty_cache", "current_stream"):  # one object each: dynamo asserts it
        setattr(torch.cuda, name, lambda *args, **kwargs: None)


def _device_mesh(module: Any) -> None:
    """deepspeed.py:105 asks for a mesh of "cuda" devices."""
    original = module.init_device_mesh
    module.init_device_mesh = lambda device_type, *args, **kwargs: original("cpu", *args, **kwargs)


def _deepspeed_comm(module: Any) -> None:
    """The shared-memory collectives would be compiled by a C++ compiler at run time."""
    module.build_shm_op = lambda: None


def _deepspeed_config(module: Any) -> None:
    """Take torch's AdamW instead of one compiled at run time, and float32."""
    for name in ("get_train_ds_config", "get_eval_ds_config"):
        setattr(module, name, _plain_config(getattr(module, name)))


def _plain_config(original: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    def config(*args: Any, **kwargs: Any) -> dict[str, Any]:
        made = original(*args, **kwargs)
        made["bf16"]["enabled"] = False
        if "optimizer" in made:
            made["optimizer"]["params"]["torch_adam"] = True
        return made

    return config


def _dtype(module: Any) -> None:
    """Every model is loaded in float32, whatever --ds.param_dtype says."""
    module.convert_to_torch_dtype = lambda param_dtype: sys.modules["torch"].float32


def _vllm_arguments(module: Any) -> None:
    """vllm_engine.py:273 asks for bfloat16."""
    original = module.AsyncEngineArgs.__init__

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807 - it replaces __init__
        original(self, *args, **{**kwargs, "dtype": "float32"})

    module.AsyncEngineArgs.__init__ = __init__


class GlooSync:
    """The channel of the weights from the trainer to vLLM: gloo instead of NCCL, called the same way."""

    def __init__(self, host: str, port: int, rank: int, world_size: int) -> None:
        from vllm.distributed.utils import stateless_init_torch_distributed_process_group

        self._group = stateless_init_torch_distributed_process_group(host, port, rank, world_size, "gloo")

    def broadcast(self, tensor: Any, src: int, stream: Any = None) -> None:
        """Send (rank ``src``) or receive a tensor, as bytes: gloo does not know every dtype."""
        import torch

        options = torch.distributed.BroadcastOptions()
        options.rootRank, options.rootTensor = src, 0
        self._group.broadcast([tensor.view(torch.uint8) if tensor.dim() else tensor], options).wait()


def _weight_channel(module: Any) -> None:
    module.stateless_init_process_group = lambda host, port, rank, world_size, device: GlooSync(
        host, port, rank, world_size
    )


def _weight_receiver(module: Any) -> None:
    """vllm_worker_wrap.py:40 receives into memory of a GPU."""

    def update_weight(self: Any, name: str, dtype: Any, shape: Any, empty_cache: bool = False) -> None:
        import torch

        if dtype != self.model_config.dtype:
            raise TypeError(f"the trainer sends {name} as {dtype}, vLLM holds {self.model_config.dtype}")
        weight = torch.empty(shape, dtype=dtype)
        self._model_update_group.broadcast(weight, src=0)
        self.model_runner.model.load_weights(weights=[(name, weight)])

    module.WorkerWrap.update_weight = update_weight


def _vllm_linear(module: Any) -> None:
    """On a CPU, vLLM's layers keep repacked copies of their weights, which later broadcasts would not reach."""

    def plain(layer: Any, remove_weight: bool) -> None:
        import torch

        layer.cpu_linear = torch.nn.functional.linear

    module.dispatch_cpu_unquantized_gemm = plain


_PATCHES: dict[str, Callable[[Any], None]] = {
    "torch": _torch,
    "torch.distributed.device_mesh": _device_mesh,
    "deepspeed.comm.torch": _deepspeed_comm,
    "openrlhf.utils.deepspeed.deepspeed_utils": _deepspeed_config,
    "openrlhf.utils.utils": _dtype,
    "openrlhf.utils.distributed_util": _weight_channel,
    "openrlhf.trainer.ray.vllm_worker_wrap": _weight_receiver,
    "vllm.engine.arg_utils": _vllm_arguments,
    "vllm.model_executor.layers.utils": _vllm_linear,
}


class _Loader(importlib.abc.Loader):
    """Loads a module as its own loader does, then patches it."""

    def __init__(self, loader: Any, patch: Callable[[Any], None]) -> None:
        self._loader = loader
        self._patch = patch

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> Module | None:
        made: Module | None = self._loader.create_module(spec)
        return made

    def exec_module(self, module: Module) -> None:
        self._loader.exec_module(module)
        self._patch(module)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)


class _Finder(importlib.abc.MetaPathFinder):
    """Stands before the other finders and steps in once for each module that has a patch."""

    def __init__(self) -> None:
        self._waiting = dict(_PATCHES)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: Module | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        patch = self._waiting.pop(fullname, None)
        spec = importlib.util.find_spec(fullname) if patch is not None else None
        if patch is not None and spec is not None:
            spec.loader = _Loader(spec.loader, patch)
        return spec


def _stub_flash_attention() -> None:
    """ring_attn_utils.py imports flash_attn at its top and uses it for packed sequences only."""

    def missing(*args: Any, **kwargs: Any) -> None:
        raise RuntimeError("flash_attn is not there on a CPU: run without --ds.packing_samples")

    functions = {
        "flash_attn": (),
        "flash_attn.utils": (),
        "flash_attn.utils.distributed": ("all_gather",),
        "flash_attn.bert_padding": ("index_first_axis", "pad_input", "rearrange", "unpad_input"),
    }
    for name, members in functions.items():
        stub = types.ModuleType(name)
        stub.__spec__ = importlib.machinery.ModuleSpec(name, None)
        stub.__path__ = []
        stub.__dict__.update(dict.fromkeys(members, missing))
        sys.modules[name] = stub


def install() -> None:
    """Stub flash_attn and patch the other modules when they are imported."""
    _stub_flash_attention()
    sys.meta_path.insert(0, _Finder())
