"""`adacc explain`: effects of the features and shape functions of a model, and explanations of rows."""

from __future__ import annotations

import platform
from argparse import ArgumentParser, Namespace
from datetime import UTC, datetime
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from adacc.cli.decisions import other_columns, rule_columns
from adacc.cli.files import check_output, check_report_libraries
from adacc.cli.model_file import ModelFile, open_model_file
from adacc.cli.options import add_model, add_text_format, command_line, count, path
from adacc.cli.shape_functions import shape_lines
from adacc.cli.terminal import draw_bar, echo, format_number, format_percent, printable, terminal_width

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

EXAMPLES = """\
examples:
  adacc explain fraud.adacc                         effects of the features, shape functions
  adacc explain fraud.adacc claims.csv --top 5      importances on these rows
  adacc explain fraud.adacc new.csv --row 17        explain the prediction of row 17
  adacc explain fraud.adacc new.csv --row 17 --background usual.csv
  adacc explain fraud.adacc --report fraud.html
"""

N_PAIRS = 5
"""Number of pairs of features that are shown for trees."""

MIN_BAR_WIDTH = 12
"""Characters reserved for bars, however long names are."""


def add_parser_to(commands: Any) -> None:
    top: ArgumentParser = commands.add_parser(
        "explain", help="Explain a model, or its prediction of a row.", epilog=EXAMPLES,
        description="Show the importance of each feature of a model and its shape function. The\n"
        "score of stumps is exactly the sum of these functions; trees have joint effects of\n"
        "features as well. The prediction of a row is explained exactly for both (Shapley values).",
    )  # fmt: skip
    add_model(top)
    top.add_argument(
        "data", nargs="?", metavar="DATA",
        help="Background rows: importance is then the mean absolute contribution to the scores of these rows instead "
        "of the standard deviation of the shape functions. - is standard input. The table must fit in memory.",
    )  # fmt: skip
    top.add_argument(
        "--background", metavar="FILE",
        help="Rows that contributions are relative to: interventional Shapley values (default: DATA for stumps; for "
        "trees the rows of training, from the rows of each branch). A few hundred rows suffice.",
    )  # fmt: skip
    top.add_argument("--row", type=count, metavar="N", help="Explain row N of DATA, counted from 1.")
    top.add_argument("--top", type=count, default=10, metavar="K", help="Number of features to show (default: 10).")
    top.add_argument("--report", type=path, metavar="FILE", help="Write an HTML report with charts.")
    add_text_format(top)
    top.set_defaults(run=explain)


def explain(options: Namespace) -> None:
    if options.row is not None and options.data is None:
        raise ValueError("--row needs DATA: give the table")
    if options.background is not None and options.data is None:
        raise ValueError("--background needs DATA: give the rows to explain")
    if options.background == "-" == options.data:
        raise ValueError("DATA and --background cannot both be standard input (-); give a file for one of them")
    if options.report is not None:
        inputs = [each for each in (options.model, options.data, options.background) if each is not None]
        check_output(options.report, *inputs)
        check_report_libraries()
    model_file = open_model_file(options.model)
    if options.report is not None:
        model_file.check_two_classes("--report")
    X = None
    columns: dict[str, NDArray[Any]] = {}
    if options.data is not None:
        X, columns = _rows(model_file, options, with_columns=options.row is not None)
    background = None
    if options.background is not None:
        background, _ = _rows(model_file, Namespace(**{**vars(options), "data": options.background, "row": None}))
    row = None
    if X is not None and options.row is not None:
        row = _describe_row(model_file, X, background, columns, options)
        echo(_format_row(model_file, row, _reference(model_file, X, background), options))
    else:
        echo(_format_model(model_file, X, background, options))
    if options.report is not None:
        _write_report(model_file, row, options)
        echo(f"\nReport: {options.report}")


def _rows(
    model_file: ModelFile, options: Namespace, with_columns: bool = False
) -> tuple[pd.DataFrame, dict[str, NDArray[Any]]]:
    """The rows of the table and, if asked for, the columns that the decision rule names."""
    import numpy as np
    import pandas as pd

    from adacc.tables.errors import TableError, source_name

    spec = None if model_file.decision is None or not with_columns else model_file.decision.spec
    batches, columns = [], []
    for X, kept in model_file.open(options, [] if spec is None else other_columns(spec, model_file.kinds)):
        batches.append(X)
        columns.append({} if spec is None else rule_columns(spec, X, kept, options.decimal))
    n_rows = sum(map(len, batches))
    if n_rows == 0:
        raise TableError(f"{source_name(options.data)} has no rows, only column names")
    if options.row is not None and options.row > n_rows:
        raise TableError(
            f"--row must be at most {n_rows:,}, the number of rows of {source_name(options.data)}, got {options.row}"
        )
    return pd.concat(batches), {name: np.concatenate([each[name] for each in columns]) for name in columns[0]}


def _reference(model_file: ModelFile, X: pd.DataFrame, background: pd.DataFrame | None) -> str:
    """What contributions are relative to."""
    if background is not None:
        return f"mean of {len(background):,} background rows"
    if model_file.model.fitted_model_.is_additive:
        return f"mean of the {len(X):,} rows"
    return "mean of the training rows"


def _describe_row(
    model_file: ModelFile,
    X: pd.DataFrame,
    background: pd.DataFrame | None,
    columns: dict[str, NDArray[Any]],
    options: Namespace,
) -> dict[str, Any]:
    """The explanation for the positive class, or for the predicted class of a multi-class model, and the decision."""
    from adacc.comparison.explained_rows import describe_row
    from adacc.evaluation.row_decision import decide_row

    row, decided = X.iloc[[options.row - 1]], decide_row(model_file.model, X, options.row - 1, columns)
    label = decided.prediction if model_file.positive is None else model_file.labels[model_file.positive]
    described = describe_row(model_file.model, row, X, options.row, label, decided.prediction, background)
    return {**described, "decision": decided.reason}


def _format_row(model_file: ModelFile, row: dict[str, Any], reference: str, options: Namespace) -> str:
    label = printable(row["prediction"] if model_file.positive is None else model_file.labels[model_file.positive], 40)
    against = "" if row["against"] is None else f" against {printable(row['against'], 40)}"
    contributions = [(reference, row["intercept"])]
    of_features = [(_format_value(each), each["contribution"]) for each in row["contributions"]]
    contributions += of_features[: options.top]
    if rest := of_features[options.top :]:
        contributions.append((f"{len(rest)} more features", sum(value for _, value in rest)))
    return "\n".join(
        [
            f"Row {row['number']:,}: {printable(row['prediction'], 40)}. The probability of {label} is "
            f"{format_percent(row['probability'])}.",
            printable(row["decision"], 400),
            f"Contribution of each feature to the score for {label}{against}:",
            "",
            *_waterfall(contributions, row["score"]),
        ]
    )


def _format_value(each: dict[str, Any]) -> str:
    value = each["value"]
    shown = "missing" if value is None else format_number(value) if isinstance(value, float) else printable(value, 30)
    return f"{printable(each['feature'], 40)} = {shown}"


def _waterfall(contributions: list[tuple[str, float]], score: float) -> list[str]:
    """A waterfall chart: each bar begins where the previous one ends; the last line is the sum."""
    levels = [0.0]
    for _, value in contributions:
        levels.append(levels[-1] + value)
    names = [printable(name, max(terminal_width() // 2 - 10, 20)) for name, _ in contributions]
    total = "score (sum)"
    longest = max(map(len, [total, *names]))
    max_length = max(terminal_width() - longest - 12, MIN_BAR_WIDTH)
    low, high = min(levels), max(levels)
    scale = (max_length - 1) / (high - low or 1.0)
    lines = []
    for name, (_, value), begin, end in zip(names, contributions, levels[:-1], levels[1:], strict=True):
        left, right = (round((level - low) * scale) for level in (min(begin, end), max(begin, end)))
        chart = " " * left + ("+" if value > 0 else "-") * max(right - left, 1 if value else 0)
        lines.append(f"{name:<{longest}}  {value:+8.3f}  {chart}".rstrip())
    return [*lines, f"{total:<{longest}}  {score:+8.3f}"]


def _format_model(
    model_file: ModelFile, X: pd.DataFrame | None, background: pd.DataFrame | None, options: Namespace
) -> str:
    from adacc.evaluation.explanations import explain

    names = list(model_file.model.fitted_model_.column_names)
    if X is None:
        sizes = model_file.model.fitted_model_.effect_shares().tolist()
        title = "Effect of each feature on the score (standard deviation of its shape function, share of the sum):"
        shown = [format_percent(size) for size in sizes]
    else:
        sizes = explain(model_file.model, X, X, background).importance().tolist()
        title = f"Mean absolute contribution of each feature to the scores of these {len(X):,} rows:"
        shown = [f"{size:.3f}" for size in sizes]
    used = sorted((j for j, size in enumerate(sizes) if size > 0.0), key=lambda j: -sizes[j])
    lines = [_headline(model_file), "", title]
    top = used[: options.top]
    longest = max((len(printable(names[j], 40)) for j in top), default=0)
    max_length = max(terminal_width() - longest - 10, MIN_BAR_WIDTH)
    lines += [
        f"{printable(names[j], 40):<{longest}}  {shown[j]:>6}  {draw_bar(sizes[j], sizes[top[0]], max_length)}"
        for j in top
    ]
    more = " more" if top else ""
    rest = [(len(used) - len(top), "less important"), (len(names) - len(used), "not used")]
    lines += [f"({n:,}{more} {'is' if n == 1 else 'are'} {words})" for n, words in rest if n]
    return "\n".join([*lines, *(["", *_curves(model_file, top)] if top else [])])


def _curves(model_file: ModelFile, features: list[int]) -> list[str]:
    curves = model_file.model.shape_functions(n_pairs=N_PAIRS)
    lines = shape_lines(model_file, [curves[j] for j in features])
    if curves.pairs:
        lines += ["", "Strongest pairs of features (standard deviation of their joint effect):"]
        lines += [
            f"  {printable(pair.names[0], 30)} and {printable(pair.names[1], 30)}  {pair.strength:.3f}"
            for pair in curves.pairs
        ]
    return lines


def _headline(model_file: ModelFile) -> str:
    from adacc.estimators.forest import n_bags
    from adacc.report.text import size

    labels = [printable(label, 40) for label in model_file.labels]
    if model_file.positive is None:
        task = f"{len(labels)} classes"
    else:
        task = f"positive class {labels[model_file.positive]}, negative class {labels[1 - model_file.positive]}"
    return (
        f"{model_file.path}: {model_file.method}, {size(model_file.model.n_iter_, n_bags(model_file.model))}, {task}."
    )


def _write_report(model_file: ModelFile, row: dict[str, Any] | None, options: Namespace) -> None:
    import adacc
    from adacc.evaluation.baselines import label_of
    from adacc.evaluation.model_description import describe_model
    from adacc.report import write

    positive = model_file.labels[model_file.positive or 0]
    result = {
        "adacc": adacc.__version__,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": command_line(options, "model", "data"),
        "versions": {
            "python": platform.python_version(),
            **{name: version(name) for name in ("numpy", "scikit-learn", "numba")},
        },
        "data": {"positive": positive},
        "model": {
            "method": model_file.method,
            "label": label_of(model_file.method),
            **describe_model(model_file.model, positive),
            "row": row,
        },
    }
    write(result, options.report)
