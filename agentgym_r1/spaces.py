"""FreeText: a Gymnasium space for any Unicode text, safe in every vector environment.

Gymnasium's Text accepts only its charset and not the empty string, and its shared-memory functions pad with tabs.
Model output is none of that, so this space checks type and length only and registers its own vector functions. In
shared memory a text is its length in bytes (8 bytes, little endian) and then its UTF-8 bytes (surrogates pass).
"""

from collections.abc import Iterable, Sequence
from copy import deepcopy
from typing import Any, overload

import numpy as np
from gymnasium.spaces import Space, Tuple
from gymnasium.vector.utils import (
    batch_space,
    concatenate,
    create_empty_array,
    create_shared_memory,
    read_from_shared_memory,
    write_to_shared_memory,
)

from agentgym_r1.errors import ConfigError

MAX_LENGTH = 2**18
_HEADER = 8
_BYTES_PER_CHARACTER = 4
_SAMPLE_ALPHABET = "abcdefghijklmnopqrstuvwxyz ABC 0123456789 \n<>/{}[]\"':,.?! äßñ語🙂"
_SAMPLE_LENGTH = 64


class FreeText(Space[str]):
    """All strings of at most ``max_length`` characters, the empty one included.

    ``sample`` draws a short text over a mixed alphabet; it shows that anything may come, not what a policy would say.
    """

    def __init__(self, max_length: int = MAX_LENGTH, *, seed: int | np.random.Generator | None = None) -> None:
        if max_length < 1:
            raise ConfigError(f"max_length must be at least 1, got {max_length}")
        self.max_length = max_length
        super().__init__(dtype=None, seed=seed)

    @property
    def is_np_flattenable(self) -> bool:
        """Text does not flatten to an array."""
        return False

    def sample(self, mask: None = None, probability: None = None) -> str:
        """Return a random text of up to 64 characters; masks are not supported."""
        if mask is not None or probability is not None:
            raise ConfigError("FreeText.sample takes neither mask nor probability")
        length = int(self.np_random.integers(0, min(_SAMPLE_LENGTH, self.max_length) + 1))
        return "".join(_SAMPLE_ALPHABET[i] for i in self.np_random.integers(0, len(_SAMPLE_ALPHABET), length))

    def contains(self, x: Any) -> bool:
        """Return whether ``x`` is a string that is not too long."""
        return isinstance(x, str) and len(x) <= self.max_length

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FreeText) and other.max_length == self.max_length

    def __hash__(self) -> int:
        return hash((FreeText, self.max_length))

    def __repr__(self) -> str:
        return f"FreeText({self.max_length})"

    @property
    def slot_bytes(self) -> int:
        """Bytes of shared memory that one text of this space needs at most."""
        return _HEADER + _BYTES_PER_CHARACTER * self.max_length


@batch_space.register(FreeText)
def _batch_space(space: FreeText, n: int = 1) -> Tuple[Any]:
    batched = Tuple(tuple(deepcopy(space) for _ in range(n)), seed=deepcopy(space.np_random))
    batched.seed([int(s) for s in deepcopy(space.np_random).integers(0, 2**31, n)])
    return batched


@create_empty_array.register(FreeText)
def _create_empty_array(space: FreeText, n: int = 1, fn: Any = None) -> tuple[str, ...]:
    return ("",) * n


@concatenate.register(FreeText)
def _concatenate(space: FreeText, items: Iterable[str], out: Any) -> tuple[str, ...]:
    return tuple(items)


@create_shared_memory.register(FreeText)
def _create_shared_memory(space: FreeText, n: int = 1, ctx: Any = None) -> Any:
    if ctx is None:
        import multiprocessing as ctx
    return ctx.Array("B", n * space.slot_bytes)


@write_to_shared_memory.register(FreeText)
def _write_to_shared_memory(space: FreeText, index: int, value: str, shared_memory: Any) -> None:
    if not space.contains(value):
        raise ConfigError(f"the observation has {len(value)} characters and the space holds {space.max_length}")
    encoded = value.encode("utf-8", "surrogatepass")
    start = index * space.slot_bytes
    view = memoryview(shared_memory.get_obj()).cast("B")
    view[start : start + _HEADER] = len(encoded).to_bytes(_HEADER, "little")
    view[start + _HEADER : start + _HEADER + len(encoded)] = encoded


class SharedTexts(Sequence[str]):
    """The texts in shared memory, read anew at every access; a copy is a tuple of what stands there now.

    AsyncVectorEnv reads its shared memory once, at the start, and hands out copies of that object ever after: a tuple
    made then would stay empty.
    """

    def __init__(self, space: FreeText, shared_memory: Any, n: int) -> None:
        self._view = memoryview(shared_memory.get_obj()).cast("B")
        self._slot_bytes = space.slot_bytes
        self._n = n

    def __len__(self) -> int:
        return self._n

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...
    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        if isinstance(index, slice):
            return tuple(self[i] for i in range(*index.indices(self._n)))
        start = range(self._n)[index] * self._slot_bytes
        length = int.from_bytes(self._view[start : start + _HEADER], "little")
        return bytes(self._view[start + _HEADER : start + _HEADER + length]).decode("utf-8", "surrogatepass")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __deepcopy__(self, memo: dict[int, Any]) -> tuple[str, ...]:
        return tuple(self)


@read_from_shared_memory.register(FreeText)
def _read_from_shared_memory(space: FreeText, shared_memory: Any, n: int = 1) -> SharedTexts:
    return SharedTexts(space, shared_memory, n)
