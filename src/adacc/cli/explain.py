"""`adacc explain`: what a model has learnt, and why it says what it says of a row."""

from __future__ import annotations

import platform
from argparse import ArgumentParser, Namespace
from datetime import UTC, datetime
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from adacc.cli.curves import shape_lines
from adacc.cli.files import check_output
from adacc.cli.options import add_model, add_text_format, count, path, spelled
from adacc.cli.saved import Saved, read_saved
from adacc.cli.show import bar, number, plain, say, share, width

if TYPE_CHECKING:
    import pandas as pd

EXAMPLES = """\
examples:
  adacc explain fraud.adacc                         what the model uses, and how
  adacc explain fraud.adacc claims.csv --top 5      what moves the scores of these rows
  adacc explain fraud.adacc new.csv --row 17        why row 17 is said to be fraud, or not
  adacc explain fraud.adacc --report fraud.html
"""

FEWEST = 12
"""Signs that a bar has room for, however long names are."""


def add_to(commands: Any) -> None:
    top: ArgumentParser = commands.add_parser(
        "explain", help="what a model has learnt, or why it says what it says of a row", epilog=EXAMPLES,
        description="A model of stumps is a sum of one curve for each feature: what it has learnt can be\n"
        "told exactly. Of a model of trees the share of each feature in the votes is told.",
    )  # fmt: skip
    add_model(top)
    top.add_argument(
        "data", nargs="?", metavar="DATA",
        help="rows to explain and to compare with: features then count by how far they move the scores of these rows "
        "from their mean, not by their share in the votes; '-' is standard input. It must fit in memory",
    )  # fmt: skip
    top.add_argument("--row", type=count, metavar="N", help="explain this row of DATA, the first being 1")
    top.add_argument("--top", type=count, default=10, metavar="K", help="features to show (default: 10)")
    top.add_argument("--report", type=path, metavar="FILE", help="write an HTML page with charts, too")
    add_text_format(top)
    top.set_defaults(run=explain)


def explain(options: Namespace) -> None:
    if options.row is not None and options.data is None:
        raise ValueError("--row is a row of DATA; name the table")
    if options.report is not None:
        read = [options.model] if options.data is None else [options.model, options.data]
        check_output(options.report, *read)
    saved = read_saved(options.model)
    if options.report is not None:
        saved.check_two_classes("--report")
    if options.data is not None:
        _check_rows_have_parts(saved, options.data)
    X = None if options.data is None else _rows(saved, options)
    row = None
    if X is not None and options.row is not None:
        row = _row(saved, X, options)
        say(_text_of_row(saved, row, len(X), options))
    else:
        say(_text_of_model(saved, X, options))
    if options.report is not None:
        _write_report(saved, row, options)
        say(f"\n{options.report}: the same with charts")


def _check_rows_have_parts(saved: Saved, data: str) -> None:
    from adacc.compare.model import has_curves

    if not has_curves(saved.model):
        raise ValueError(
            f"{saved.path} is made of trees, which combine features: none has a part of a row's score to itself; "
            f"leave out {data} to see the share of each in the votes"
        )


def _rows(saved: Saved, options: Namespace) -> pd.DataFrame:
    import pandas as pd

    from adacc.tables.errors import TableError, called

    frames = [X for X, _ in saved.open(options)]
    n_rows = sum(map(len, frames))
    if n_rows == 0:
        raise TableError(f"{called(options.data)} has no rows to explain, only the names of its columns")
    if options.row is not None and options.row > n_rows:
        raise TableError(f"--row {options.row}: {called(options.data)} has {n_rows:,} rows")
    return pd.concat(frames)


def _row(saved: Saved, X: pd.DataFrame, options: Namespace) -> dict[str, Any]:
    """The row for the class to be found; of more than two classes for the one that it is said to have."""
    from adacc.compare.model import describe_row

    at = saved.positive
    if at is None:
        at = int(saved.class_index(X.iloc[[options.row - 1]], None)[0])
    return describe_row(saved.model, X, options.row, saved.labels[at])


def _text_of_row(saved: Saved, row: dict[str, Any], n_rows: int, options: Namespace) -> str:
    label = plain(row["prediction"] if saved.positive is None else saved.labels[saved.positive], 40)
    parts = [(f"mean of the {n_rows:,} rows", row["intercept"])]
    added = [(_named(each), each["contribution"]) for each in row["contributions"]]
    parts += added[: options.top]
    if rest := added[options.top :]:
        parts.append((f"{len(rest)} more features", sum(value for _, value in rest)))
    return "\n".join(
        [
            f"Row {row['number']:,}: {plain(row['prediction'], 40)}. The probability of {label} is "
            f"{share(row['probability'])}.",
            f"What each value adds to the score for {label}:",
            "",
            *_waterfall(parts, row["score"]),
        ]
    )


def _named(each: dict[str, Any]) -> str:
    value = each["value"]
    shown = "missing" if value is None else number(value) if isinstance(value, float) else plain(value, 30)
    return f"{plain(each['feature'], 40)} = {shown}"


def _waterfall(parts: list[tuple[str, float]], score: float) -> list[str]:
    """A line for each part, its bar from where the one before ended; the sum at last."""
    levels = [0.0]
    for _, value in parts:
        levels.append(levels[-1] + value)
    names = [plain(name, max(width() // 2 - 10, 20)) for name, _ in parts]
    total = "score, the sum of these"
    longest = max(map(len, [total, *names]))
    room = max(width() - longest - 12, FEWEST)
    low, high = min(levels), max(levels)
    scale = (room - 1) / (high - low or 1.0)
    lines = []
    for name, (_, value), begin, end in zip(names, parts, levels[:-1], levels[1:], strict=True):
        left, right = (round((level - low) * scale) for level in (min(begin, end), max(begin, end)))
        drawn = " " * left + ("+" if value > 0 else "-") * max(right - left, 1 if value else 0)
        lines.append(f"{name:<{longest}}  {value:+8.3f}  {drawn}".rstrip())
    return [*lines, f"{total:<{longest}}  {score:+8.3f}"]


def _text_of_model(saved: Saved, X: pd.DataFrame | None, options: Namespace) -> str:
    names = saved.model._column_names
    if X is None:
        sizes, what = saved.model.feature_importances_.tolist(), "Share of each feature in the votes:"
        shown = [share(size) for size in sizes]
    else:
        sizes = saved.model.explain(X, background=X).importance().tolist()
        what = f"How far each feature moves the scores of these {len(X):,} rows, on average:"
        shown = [f"{size:.3f}" for size in sizes]
    used = sorted((j for j, size in enumerate(sizes) if size > 0.0), key=lambda j: -sizes[j])
    lines = [_about(saved), "", what]
    top = used[: options.top]
    longest = max((len(plain(names[j], 40)) for j in top), default=0)
    room = max(width() - longest - 10, FEWEST)
    lines += [f"{plain(names[j], 40):<{longest}}  {shown[j]:>6}  {bar(sizes[j], sizes[top[0]], room)}" for j in top]
    more = " more" if top else ""
    rest = [(len(used) - len(top), "used less"), (len(names) - len(used), "not used")]
    lines += [f"({n:,}{more} {'is' if n == 1 else 'are'} {words})" for n, words in rest if n]
    return "\n".join([*lines, *(["", *_curves(saved, top)] if top else [])])


def _curves(saved: Saved, features: list[int]) -> list[str]:
    from adacc.compare.model import has_curves

    if not has_curves(saved.model):
        return ["Trees combine features: none has a curve of its own."]
    curves = saved.model.shape_functions()
    return shape_lines(saved, [curves[j] for j in features])


def _about(saved: Saved) -> str:
    from adacc.compare.model import n_bags
    from adacc.report.text import size

    labels = [plain(label, 40) for label in saved.labels]
    if saved.positive is None:
        task = f"tells {len(labels)} classes apart"
    else:
        task = f"finds {labels[saved.positive]} among {labels[1 - saved.positive]}"
    return f"{saved.path}: {saved.method}, {size(saved.model.n_iter_, n_bags(saved.model))}, {task}."


def _write_report(saved: Saved, row: dict[str, Any] | None, options: Namespace) -> None:
    import adacc
    from adacc.compare.model import describe
    from adacc.report import write
    from adacc.study.plan import label_of

    positive = saved.labels[saved.positive or 0]
    result = {
        "format": 1,
        "adacc": adacc.__version__,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": spelled(options, "model", "data"),
        "versions": {
            "python": platform.python_version(),
            **{name: version(name) for name in ("numpy", "scikit-learn", "numba")},
        },
        "data": {"positive": positive},
        "model": {
            "method": saved.method,
            "label": label_of(saved.method),
            **describe(saved.model, positive),
            "row": row,
        },
    }
    write(result, options.report)
