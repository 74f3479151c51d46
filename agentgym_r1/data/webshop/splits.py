"""Which goals are for training and which for testing: by the instruction's hash, or by the original's positions."""

import hashlib
import re

from agentgym_r1.data.tasks import unknown_split

SPLITS = ("train", "dev", "test")
RANGES = {"test": slice(0, 500), "dev": slice(500, 1500), "train": slice(1500, None)}
_TENTHS = ("test", "test", "dev", "train", "train", "train", "train", "train", "train", "train")
_WORDS = re.compile(r"\w+")


def split_of(instruction: str) -> str:
    """Return the split of an instruction without options and price: two tenths are test, one dev, the rest train.

    Only the words count, whatever their case, so that goals that ask for the same thing never stand in two splits: all
    option choices of a product are in one split, and so is every other product with the same instruction.
    """
    hashed = hashlib.sha256(request_of(instruction).encode()).digest()
    return _TENTHS[int.from_bytes(hashed[:8], "big") % len(_TENTHS)]


def request_of(instruction: str) -> str:
    """Return the words of an instruction, lower case, without punctuation."""
    return " ".join(_WORDS.findall(instruction.casefold()))


def check_split(split: str) -> None:
    """Raise ConfigError when the shop has no such split."""
    if split not in SPLITS:
        raise unknown_split(split, name="webshop", known=SPLITS)
