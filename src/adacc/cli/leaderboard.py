"""A comparison on the terminal: while it runs, and when it is done."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import nullcontext
from textwrap import fill
from typing import Any, NamedTuple

from rich.console import Console, Group
from rich.live import Live
from rich.measure import Measurement
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from adacc.cli.show import plain
from adacc.compare import Outcome
from adacc.compare.leaderboard import Leaderboard
from adacc.evaluation.measures import MEASURES, shown, spread
from adacc.report.text import about_data, class_counts, counted, summary

SHOWN = ("balanced_accuracy", "gmean", "tpr", "tnr", "f1", "auc", "average_precision", "opm", "brier", "seconds")

LEFT_OUT = ("opm", "gmean", "seconds", "brier", "average_precision", "f1", "auc", "tnr", "tpr", "balanced_accuracy")
"""Which measures go first where a terminal is too narrow for all: a figure that is cut off is worse than none."""

PIPED = 160
"""Columns that are taken where there is no terminal: nothing is cut off."""

UNLIMITED = 10_000


class Screen(Console):
    """One that leaves a closed pipe, as of `| head`, to us: rich would end the program."""

    def on_broken_pipe(self) -> None:
        raise  # it is called where the error is handled


class Line(NamedTuple):
    """Of the table: a sign before the method, its label, and of each measure the mean and, if known, the spread."""

    sign: str
    label: str
    values: Mapping[str, tuple[float, float | None]]
    rest: str = ""


def followed(outcomes: Iterable[Outcome], standing: Leaderboard, quiet: bool) -> bool:
    """Tell the standing of each outcome, showing it as it fills; whether all came before Ctrl-C."""
    console = Console(stderr=True, highlight=False)
    progress = Progress(
        TextColumn("comparing"), BarColumn(), TextColumn("{task.percentage:>3.0f}%"),
        TimeElapsedColumn(), TextColumn("gone,"), TimeRemainingColumn(), TextColumn("to go"),
    )  # fmt: skip
    task = progress.add_task("", total=len(standing.splits) * len(standing.plan.methods))

    def screen() -> Group:
        lines = [_so_far(standing, rank, name) for rank, name in enumerate(standing.ranking(), start=1)]
        room = max(console.height - 5, 3)  # a screen that is too small shows the leaders
        return Group(_table(lines[:room], standing.metric, console), progress)

    shown = not quiet and console.is_terminal
    live = Live(get_renderable=screen, console=console, transient=True, refresh_per_second=4) if shown else None
    try:
        with live or nullcontext():
            for outcome in outcomes:
                standing.tell(outcome)
                progress.advance(task)
    except KeyboardInterrupt:
        return False
    return True


def _so_far(standing: Leaderboard, rank: int, name: str) -> Line:
    values = {measure: (mean, None) for measure, mean in standing.means(name).items()}
    n_done, n_parts = len(standing.measures[name]), len(standing.splits)
    return Line(str(rank), standing.contestants[name].label, values, "" if n_done == n_parts else f"{n_done}/{n_parts}")


def show(result: dict[str, Any]) -> None:
    """What was found: the data, the table, the verdict, what to look at, what to do next."""
    console = Screen(highlight=False, soft_wrap=False)
    if not console.is_terminal:
        console = Screen(highlight=False, width=PIPED)
    data, protocol = result["data"], result["protocol"]

    def say(text: str = "", indent: str = "") -> None:
        shown = plain(text.replace("\xa0", " "))
        console.print(fill(shown, min(console.width, 100), subsequent_indent=indent), markup=False)

    say(f"{data['source']}: {'; '.join(class_counts(data))}.")
    say(" ".join(about_data(data)))
    folds = f"{protocol['parts']} folds" if protocol["parts_done"] == protocol["parts"] else _unfinished(protocol)
    say(f"{folds}, {protocol['splits']}; {protocol['rounds']} rounds; mean ± standard deviation over the folds.")
    say()
    lines = [_final(rank, each) for rank, each in enumerate(result["methods"], start=1) if each["metrics"]]
    console.print(_table(lines, protocol["metric"], console))
    if any("≈" in line.sign for line in lines):
        say("≈ not significantly different from the best (p ≥ 0.05).")
    say()
    for sentence in summary(result):
        say(sentence)
    for method in result["methods"]:
        if method["failed"]:
            failed = f"{method['failed']['parts']} of {counted(protocol['parts'], 'fold')}"
            say(f"{method['label']} failed in {failed}: {method['failed']['reason']}", "  ")
    for finding in data["findings"]:
        say(f"{finding['level'].capitalize()}: {finding['title']}. {finding['text']}", "  ")


def _unfinished(protocol: Mapping[str, Any]) -> str:
    return f"stopped: {protocol['parts_done']} of {protocol['parts']} folds are complete"


def _final(rank: int, method: Mapping[str, Any]) -> Line:
    versus = method["versus_best"]
    sign = "≈" if versus and not versus["significant"] else ""
    values = {name: (each["mean"], each["std"]) for name, each in method["metrics"].items()}
    return Line(f"{sign}{rank}", method["label"], values)


def _table(lines: Sequence[Line], metric: str, console: Console) -> Table:
    """As much as there is room for: the spread of all measures, or only of the one that ranks, or fewer measures."""
    measures = list(SHOWN if metric in SHOWN else (metric, *SHOWN))
    table = _table_of(lines, measures, metric, measures)
    for leave_out in (None, *LEFT_OUT):
        if Measurement.get(console, console.options.update(width=UNLIMITED), table).maximum <= console.width:
            break
        measures = [name for name in measures if name == metric or name != leave_out]
        table = _table_of(lines, measures, metric, [metric])
    return table


def _table_of(lines: Sequence[Line], measures: Sequence[str], metric: str, with_spread: Collection[str]) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), collapse_padding=True, pad_edge=False)
    table.add_column("", justify="right", no_wrap=True)
    table.add_column("Method", no_wrap=True, overflow="ellipsis", min_width=12, ratio=None)
    for name in measures:
        table.add_column(MEASURES[name].short, justify="right", no_wrap=True, style="bold" if name == metric else "")
    unfinished = any(line.rest for line in lines)
    if unfinished:
        table.add_column("Folds", justify="right", no_wrap=True)
    for i, line in enumerate(lines):
        cells = [_cell(name, *line.values[name], name in with_spread) for name in measures]
        row = [line.sign, plain(line.label), *cells, *([line.rest] if unfinished else [])]
        table.add_row(*row, style="green" if i == 0 else "")
    return table


def _cell(name: str, mean: float, std: float | None, with_spread: bool) -> str:
    text = shown(name, mean)
    return f"{text} {spread(name, std)}" if with_spread and std is not None else text
