"""Progress bars on stderr for what takes more than a second: downloads and the reading of large sets."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from agentgym_r1.data.download import Progress as Report


@contextmanager
def bars(console: Console | None = None) -> Iterator[Report]:
    """Yield a callback that draws one bar a label; the bars vanish at the end, and nothing is drawn off a terminal.

    Args:
        console: where to draw; by default stderr.
    """
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f}%"))
    console = console or Console(stderr=True)
    hidden = not console.is_terminal
    with Progress(*columns, TimeRemainingColumn(), console=console, transient=True, disable=hidden) as progress:
        tasks = {}

        def report(label: str, done: int, total: int | None) -> None:
            if label not in tasks:
                tasks[label] = progress.add_task(label, total=total)
            progress.update(tasks[label], completed=done, total=total)

        yield report
