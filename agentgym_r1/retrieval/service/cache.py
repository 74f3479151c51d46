"""The answers given last, within a budget of bytes."""

from collections import OrderedDict
from collections.abc import Hashable

ENTRY_BYTES = 300


class AnswerCache:
    """Keeps the answers that were used last; the oldest go when the budget is spent. Not safe to use from two threads.

    Args:
        budget: bytes of all answers, with an allowance for each entry's key; 0 keeps nothing.
    """

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self._used = 0
        self._answers: OrderedDict[Hashable, bytes] = OrderedDict()

    def __len__(self) -> int:
        return len(self._answers)

    def get(self, key: Hashable) -> bytes | None:
        """Return the answer kept under ``key``, or None."""
        answer = self._answers.get(key)
        if answer is not None:
            self._answers.move_to_end(key)
        return answer

    def put(self, key: Hashable, answer: bytes) -> None:
        """Keep an answer that is not kept yet, unless it alone is over the budget."""
        size = len(answer) + ENTRY_BYTES
        if size > self._budget or key in self._answers:
            return
        self._answers[key] = answer
        self._used += size
        while self._used > self._budget:
            _, oldest = self._answers.popitem(last=False)
            self._used -= len(oldest) + ENTRY_BYTES
