"""The decorator of the functions that kernels are made of."""

from collections.abc import Callable
from typing import TypeVar

import numba as nb

Function = TypeVar("Function", bound=Callable[..., object])


def jit(function: Function) -> Function:
    """Compile a function into those that call it; only a kernel, which has them all inside, is cached on disk."""
    jitted: Function = nb.njit(function)
    return jitted
