"""Progress bars on the terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn


@contextmanager
def progress_bar() -> Iterator[Callable[[str, int, int], None] | None]:
    """A callback that shows progress bars on the terminal; None if there is no terminal."""
    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:
        yield None
        return
    progress = Progress(
        TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f}%"),
        TimeElapsedColumn(), TextColumn("elapsed,"), TimeRemainingColumn(), TextColumn("remaining"),
        console=console, transient=True,
    )  # fmt: skip
    stages: dict[str, Any] = {}

    def update(stage: str, done: int, total: int) -> None:
        if stage not in stages:
            for task in stages.values():
                progress.update(task, visible=False)
            stages[stage] = progress.add_task(stage)
        progress.update(stages[stage], completed=done, total=total)

    with progress:
        yield update
