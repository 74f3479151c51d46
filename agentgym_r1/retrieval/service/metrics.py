"""Counters and histograms of the service, as Prometheus reads them."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
BATCHES = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0)


class Histogram:
    """Counts observations in buckets; ``bounds`` are their upper ends, ascending."""

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)
        self._total = 0.0

    def observe(self, value: float) -> None:
        """Count one observation."""
        self._counts[bisect_left(self._bounds, value)] += 1
        self._total += value

    def lines(self, name: str, labels: str) -> Iterable[str]:
        """Yield the samples of this histogram; its buckets are cumulative."""
        seen = 0
        for bound, count in zip((*self._bounds, "+Inf"), self._counts, strict=True):
            seen += count
            yield f'{name}_bucket{{{labels},le="{bound}"}} {seen}'
        yield f"{name}_sum{{{labels}}} {self._total}"
        yield f"{name}_count{{{labels}}} {seen}"


@dataclass(slots=True)
class Stats:
    """What happened to one index: queries in total and how each was settled, and the sizes of the micro-batches.

    Attributes:
        queries: admitted.
        searched: by the retriever; the others were cached, duplicates, or expired.
        cached: answered from the cache.
        duplicates: answered along with the same query in the same micro-batch.
        expired: dropped because nobody waited for them any more.
        refused: turned away because the queue was full.
        failed: the retriever raised.
        replies: requests by HTTP status.
        seconds: from the last byte of a request to its answer.
        batches: queries a micro-batch.
    """

    queries: int = 0
    searched: int = 0
    cached: int = 0
    duplicates: int = 0
    expired: int = 0
    refused: int = 0
    failed: int = 0
    replies: Counter[int] = field(default_factory=Counter)
    seconds: Histogram = field(default_factory=lambda: Histogram(SECONDS))
    batches: Histogram = field(default_factory=lambda: Histogram(BATCHES))


COUNTERS = ("queries", "searched", "cached", "duplicates", "expired", "refused", "failed")


def render(stats: Mapping[str, Stats], waiting: Mapping[str, int]) -> str:
    """Return the metrics of every index in Prometheus's text format.

    Args:
        stats: by the name of the index.
        waiting: queries in the queue now, by the name of the index.
    """
    lines = []
    for counter in COUNTERS:
        name = "retrieval_queries_total" if counter == "queries" else f"retrieval_queries_{counter}_total"
        lines.append(f"# TYPE {name} counter")
        lines += [f"{name}{{{_label(index)}}} {getattr(own, counter)}" for index, own in stats.items()]
    lines.append("# TYPE retrieval_requests_total counter")
    for index, own in stats.items():
        replies = sorted(own.replies.copy().items())
        lines += [f'retrieval_requests_total{{{_label(index)},code="{code}"}} {count}' for code, count in replies]
    lines.append("# TYPE retrieval_waiting_queries gauge")
    lines += [f"retrieval_waiting_queries{{{_label(index)}}} {count}" for index, count in waiting.items()]
    for name, field_name in (("retrieval_request_seconds", "seconds"), ("retrieval_batch_queries", "batches")):
        lines.append(f"# TYPE {name} histogram")
        for index, own in stats.items():
            lines += getattr(own, field_name).lines(name, _label(index))
    return "\n".join(lines) + "\n"


def _label(index: str) -> str:
    escaped = index.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'index="{escaped}"'
