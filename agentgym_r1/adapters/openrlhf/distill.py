"""The expert as a teacher: a distribution over tokens that follows its action, for on-policy distillation.

As long as a response says what the expert says, the expert's next token has probability 1 - epsilon and the others
share the rest. Behind the first token that differs it has no opinion, and that part of the response gets no reward.
"""

import math
from collections.abc import Sequence

EXPERT = "expert"
EPSILON = 0.01


def expert_logprobs(
    sampled: Sequence[int], expert: Sequence[int], *, vocabulary: int, epsilon: float = EPSILON
) -> tuple[float, ...]:
    """Return the expert's log-probability of each sampled token; NaN where it has no opinion.

    Args:
        sampled: the response's ids.
        expert: ids of the expert's action in the same state, with its end token.
        vocabulary: how many tokens there are.
        epsilon: probability of everything that the expert would not say.
    """
    agreed = next((k for k, (one, other) in enumerate(zip(sampled, expert)) if one != other), None)
    if agreed is None:
        agreed = min(len(sampled), len(expert))
    differs = agreed < min(len(sampled), len(expert))
    verdicts = [math.log(1 - epsilon)] * agreed + [math.log(epsilon / (vocabulary - 1))] * differs
    return (*verdicts, *[math.nan] * (len(sampled) - len(verdicts)))
