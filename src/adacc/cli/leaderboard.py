"""The progress and the results of a comparison on the terminal."""

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
from rich.text import Text

from adacc.cli.interrupts import forget_interrupts, lost_interrupts_raised, raise_if_interrupted
from adacc.cli.terminal import printable
from adacc.comparison import Outcome
from adacc.comparison.leaderboard import Leaderboard
from adacc.evaluation.measures import FORMATS, shown, spread
from adacc.report import multiclass_text, text
from adacc.report.multiclass_text import confusions, has_several_classes
from adacc.report.text import about_data, counted, finished, is_like_best

SHOWN = (
    "balanced_accuracy", "gmean", "tpr", "tnr", "f1", "macro_f1", "auc", "average_precision", "opm", "brier", "seconds",
)  # fmt: skip

OMITTED_FIRST = (
    "opm", "gmean", "seconds", "brier", "average_precision", "f1", "macro_f1", "auc", "tnr", "tpr", "balanced_accuracy",
)  # fmt: skip
"""The order in which measures are omitted if the terminal is too narrow for all."""

CLASSES_MAX = 20
"""Rows of the table of recalls by class."""

PIPED_WIDTH = 160
"""Columns of the output if it is not a terminal."""

UNLIMITED_WIDTH = 10_000


class PipeConsole(Console):
    """A console that raises BrokenPipeError, as in `| head`; rich would exit."""

    def on_broken_pipe(self) -> None:
        raise  # called inside the except clause of rich


class Line(NamedTuple):
    """A table row: rank, label, mean and standard deviation of each measure, and the folds done if not all."""

    rank: str
    label: str
    values: Mapping[str, tuple[float, float | None]]
    folds_done: str = ""


def show_progress(outcomes: Iterable[Outcome], leaderboard: Leaderboard, quiet: bool) -> bool:
    """Add each outcome to the leaderboard and show it live; return False if interrupted by Ctrl-C."""
    console = Console(stderr=True, highlight=False)
    progress = Progress(
        TextColumn("comparing"), BarColumn(), TextColumn("{task.percentage:>3.0f}%"),
        TimeElapsedColumn(), TextColumn("elapsed,"), TimeRemainingColumn(), TextColumn("remaining"),
    )  # fmt: skip
    task = progress.add_task("", total=len(leaderboard.splits) * len(leaderboard.plan.methods))

    def screen() -> Group:
        lines = [_partial_line(leaderboard, rank, name) for rank, name in enumerate(leaderboard.ranking(), start=1)]
        room = max(console.height - 5, 3)  # a small screen shows the best methods
        table = _table(lines[:room], leaderboard.problem.measures, leaderboard.metric, console)
        return Group(table, progress)

    shown = not quiet and console.is_terminal
    live = Live(get_renderable=screen, console=console, transient=True, refresh_per_second=4) if shown else None
    try:
        with live or nullcontext(), lost_interrupts_raised():
            for outcome in outcomes:
                raise_if_interrupted()  # it may be lost in a method, which then fails
                leaderboard.add(outcome)
                progress.advance(task)
    except KeyboardInterrupt:
        forget_interrupts()
        return False
    return True


def _partial_line(leaderboard: Leaderboard, rank: int, name: str) -> Line:
    values = {measure: (mean, None) for measure, mean in leaderboard.means(name).items()}
    n_done, n_folds = len(leaderboard.measures[name]), len(leaderboard.splits)
    return Line(str(rank), leaderboard.methods[name].label, values, "" if n_done == n_folds else f"{n_done}/{n_folds}")


def show(result: dict[str, Any]) -> None:
    """Print the data, the table of results, the summary and the findings."""
    console = PipeConsole(highlight=False, soft_wrap=False)
    if not console.is_terminal:
        console = PipeConsole(highlight=False, width=PIPED_WIDTH)
    data, protocol = result["data"], result["protocol"]
    words = multiclass_text if has_several_classes(result) else text

    def echo(text: str = "", indent: str = "") -> None:
        shown = printable(text.replace("\xa0", " "))
        console.print(fill(shown, min(console.width, 100), subsequent_indent=indent), markup=False)

    echo(f"{data['source']}: {'; '.join(words.class_counts(data))}.")
    echo(" ".join(about_data(data)))
    folds = f"{protocol['n_folds']} folds" if protocol["n_folds_done"] == protocol["n_folds"] else _unfinished(protocol)
    echo(f"{folds}, {protocol['splits']}; {protocol['rounds']} rounds; mean ± standard deviation over the folds.")
    echo()
    lines = [_final_line(rank, each) for rank, each in enumerate(result["methods"], start=1) if each["metrics"]]
    console.print(_table(lines, lines[0].values, protocol["metric"], console))
    if any("≈" in line.rank for line in lines):
        echo("≈ not significantly different from the best (p >= 0.05).")
    if left_out := protocol.get("left_out"):
        echo(f"Left out, since they support two classes only: {', '.join(left_out)}.")
    echo()
    if has_several_classes(result):
        console.print(_table_of_classes(result))
        echo()
    for sentence in words.summary(result):
        echo(sentence)
    for method in result["methods"]:
        if method["failed"]:
            failed = f"{method['failed']['folds']} of {counted(protocol['n_folds'], 'fold')}"
            echo(f"{method['label']} failed in {failed}: {method['failed']['reason']}", "  ")
    for finding in data["findings"]:
        echo(f"{finding['level'].capitalize()}: {finding['title']}. {finding['text']}", "  ")


def _unfinished(protocol: Mapping[str, Any]) -> str:
    return f"interrupted: {protocol['n_folds_done']} of {protocol['n_folds']} folds are complete"


def _final_line(rank: int, method: Mapping[str, Any]) -> Line:
    mark = "≈" if is_like_best(dict(method)) else ""
    values = {name: (each["mean"], each["std"]) for name, each in method["metrics"].items()}
    return Line(f"{mark}{rank}", method["label"], values)


def _table(lines: Sequence[Line], known: Collection[str], metric: str, console: Console) -> Table:
    """The widest table that fits: all standard deviations, or only that of the metric, or fewer measures."""
    measures = [name for name in (SHOWN if metric in SHOWN else (metric, *SHOWN)) if name in known]
    table = _table_of(lines, measures, metric, measures)
    for omitted in (None, *OMITTED_FIRST):
        if Measurement.get(console, console.options.update(width=UNLIMITED_WIDTH), table).maximum <= console.width:
            break
        measures = [name for name in measures if name == metric or name != omitted]
        table = _table_of(lines, measures, metric, [metric])
    return table


def _table_of(lines: Sequence[Line], measures: Sequence[str], metric: str, with_std: Collection[str]) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), collapse_padding=True, pad_edge=False)
    table.add_column("", justify="right", no_wrap=True)
    table.add_column("Method", no_wrap=True, overflow="ellipsis", min_width=12, ratio=None)
    for name in measures:
        table.add_column(FORMATS[name].short, justify="right", no_wrap=True, style="bold" if name == metric else "")
    unfinished = any(line.folds_done for line in lines)
    if unfinished:
        table.add_column("Folds", justify="right", no_wrap=True)
    for i, line in enumerate(lines):
        cells = [_cell(name, *line.values[name], name in with_std) for name in measures]
        row = [line.rank, printable(line.label), *cells, *([line.folds_done] if unfinished else [])]
        table.add_row(*row, style="green" if i == 0 else "")
    return table


def _table_of_classes(result: Mapping[str, Any]) -> Table:
    """Recall of each class by the best method on the pooled test rows, and its most frequent confusion."""
    best = finished(dict(result))[0]
    classes, by_class = result["data"]["classes"], best["pooled"]["recall"]
    confused: dict[str, dict[str, Any]] = {}
    for each in confusions(best, classes):
        confused.setdefault(each["true"], each)
    hard = sorted(range(len(classes)), key=lambda k: by_class[classes[k]]["recall"] or 0.0)[:CLASSES_MAX]
    title = f"Recall of {best['label']} by class" + (
        f", the {CLASSES_MAX} lowest of {len(classes)}" if len(classes) > CLASSES_MAX else ""
    )
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, title=printable(title), title_justify="left")
    for head in ("Class", "Rows", "Recall", "95% interval", "Most often predicted as"):
        table.add_column(head, justify="left" if head in ("Class", "Most often predicted as") else "right")
    for k in sorted(hard):
        found, pair = by_class[classes[k]], confused.get(classes[k])
        low, high = shown("recall", found["low"]), shown("recall", found["high"])
        wrong = (
            "" if pair is None else f"{printable(pair['predicted'], 40)} ({shown('recall', pair['rows'] / pair['of'])})"
        )
        cells = [f"{found['rows']:,}", shown("recall", found["recall"]), f"{low.removesuffix('%')} to {high}", wrong]
        table.add_row(*map(Text, [printable(classes[k], 40), *cells]))
    return table


def _cell(name: str, mean: float, std: float | None, with_std: bool) -> str:
    text = shown(name, mean)
    return f"{text} {spread(name, std)}" if with_std and std is not None else text
