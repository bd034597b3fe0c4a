"""`adacc compare`: cross-validate all methods on a table and rank them."""

from __future__ import annotations

import shlex
from argparse import ArgumentParser, Namespace
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path
from typing import Any

from adacc.cli.assessment import add_comparison_columns, train_and_predict_commands
from adacc.cli.assessment_tables import format_recommendation
from adacc.cli.compilation import compiled_kernels
from adacc.cli.files import check_outputs, check_report_libraries
from adacc.cli.flags import with_flags
from adacc.cli.json_output import write_json
from adacc.cli.metrics import add_metric, check_metric
from adacc.cli.options import (
    QUOTING_HELP,
    add_categorical,
    add_duplicates,
    add_text_format,
    command_line,
    count,
    names,
    open_input,
    option,
    path,
    rounds,
    seed,
    text_format,
)
from adacc.cli.terminal import echo, echo_note, printable
from adacc.files import whole_file

EXAMPLES = (
    """\
examples:
  adacc compare                                          the built-in digits, 8 against the rest
  adacc compare claims.csv --target fraud                your own table; the rarer label is the positive class
  adacc compare claims.csv --target fraud --report claims.html
  adacc compare cars.csv --target rating                 more than two labels: a comparison on all classes
  adacc compare visits.parquet --target ill --group patient --methods adacc1,adacc2,lightgbm
  zcat big.csv.gz | adacc compare - --target churn --positive yes --rounds 200 --repeats 3

"""
    + QUOTING_HELP
    + """
The table shows means over the folds ± standard deviations: shares of rows in per cent, other measures as numbers. ≈
marks methods that are not significantly different from the best (corrected resampled t-test, Holm, p >= 0.05).
"""
)

MAX_ROWS = 100_000


def add_parser_to(commands: Any) -> None:
    top: ArgumentParser = commands.add_parser(
        "compare",
        help="Compare all methods on a table by cross-validation.",
        description="Cross-validate the methods of adacc and the installed baselines on the same\nsplits of a table.",
        epilog=EXAMPLES,
    )
    top.add_argument(
        "data", nargs="?", metavar="DATA",
        help="A .csv, .tsv (also .gz), .parquet or .arrow file, or - for standard input (default: built-in digits).",
    )  # fmt: skip
    _add_table(top.add_argument_group("table"))
    _add_comparison(top.add_argument_group("comparison"))
    out = top.add_argument_group("output")
    out.add_argument("--report", type=path, metavar="FILE.html", help="Write an HTML report that works offline.")
    out.add_argument("--json", type=path, metavar="FILE", help="Write all results as JSON.")
    out.add_argument(
        "--script", type=path, metavar="FILE.py", help="If a baseline wins, write a Python script that trains it."
    )
    out.add_argument("--quiet", action="store_true", help="Do not show progress.")
    top.set_defaults(run=compare)


def _add_table(group: Any) -> None:
    group.add_argument("--target", metavar="COL", help="Target column.")
    group.add_argument(
        "--positive", metavar="LABEL",
        help="Label of the positive class (default: the rarer of two). With more than two labels, compare this class "
        "against the rest; without it, compare on all classes.",
    )  # fmt: skip
    group.add_argument(
        "--drop", type=names, default=[], metavar="A,B", help="Columns to drop; see below for names with commas."
    )
    add_categorical(group)
    group.add_argument("--id", metavar="COL", help="Column that identifies the rows; it is not used as a feature.")
    group.add_argument(
        "--group", metavar="COL", help="Column of groups, such as patients; a group is never split between folds."
    )
    group.add_argument(
        "--time", metavar="COL", help="Column of times; each fold is trained on earlier rows and tested on later rows."
    )
    add_duplicates(group)
    add_comparison_columns(group)
    add_text_format(group)
    group.add_argument(
        "--max-rows", type=count, default=MAX_ROWS, metavar="N",
        help=f"Draw a random sample of N rows from a larger table (default: {MAX_ROWS:,}).",
    )  # fmt: skip


def _add_comparison(group: Any) -> None:
    group.add_argument(
        "--methods", type=names, default=["default"], metavar="A,B",
        help="Methods listed by `adacc methods`, or 'family', 'baselines', 'default' (the family and the fast "
        "baselines), 'all'.",
    )  # fmt: skip
    group.add_argument(
        "--rounds", type=rounds, default=100, metavar="N",
        help="Number of boosting rounds; adacc-forest keeps its own size (default: 100).",
    )  # fmt: skip
    group.add_argument(
        "--folds", type=count, default=5, metavar="N", help="Number of cross-validation folds (default: 5)."
    )
    group.add_argument(
        "--repeats", type=count, default=1, metavar="N", help="Number of cross-validation repeats (default: 1)."
    )
    add_metric(group, "balanced_accuracy", "Rank the methods by {} (default: balanced_accuracy).")
    group.add_argument("--jobs", type=count, metavar="N", help="Number of worker processes (default: number of cores).")
    group.add_argument("--seed", type=seed, default=0, metavar="N", help="Random seed (default: 0).")


def compare(options: Namespace) -> None:
    check_outputs(options, ("report", "json", "script"), options.data or "-")
    if options.report is not None:
        check_report_libraries()
    if options.folds < 2:
        raise ValueError(f"--folds must be at least 2, got {options.folds}")
    with compiled_kernels("stumps", "frames", "sparse", "samplers", "trees", "explanations"):
        from adacc.comparison import Plan, available_methods, make_splits
        from adacc.comparison.cross_validation import expand_methods, missing_libraries
        from adacc.report.vega import bundled_in_background

        available = available_methods()
        chosen = expand_methods(options.methods, available)
        missing = missing_libraries()
        if missing and not options.quiet and {"default", "family", "baselines", "all"} & {*options.methods}:
            echo_note(f'methods of {", ".join(missing)} are skipped; to include them: pip install "adacc[compare]"')
        problem = _problem(options)
        if options.report is not None:
            import_module("adacc.report.charts")  # takes time, while another process compiles
    left_out = _left_out(chosen, problem)
    check_metric(
        options.metric, problem.measures, len(problem.labels), "--positive compares one class against the rest"
    )
    methods = tuple(name for name in chosen if name not in left_out)
    plan = Plan(methods, options.rounds, options.seed, tuple(left_out))
    splits = make_splits(problem, options.folds, options.repeats, options.seed)
    with nullcontext() if options.report is None else bundled_in_background() as vega:
        _run(options, problem, splits, plan, available, vega)


def _run(options: Namespace, problem: Any, splits: Any, plan: Any, available: dict[str, Any], vega: Any) -> None:
    """Run the comparison, write and show its results."""
    from joblib import cpu_count

    from adacc.cli.leaderboard import show, show_progress
    from adacc.comparison import run_comparison
    from adacc.comparison.leaderboard import Leaderboard, report

    leaderboard = Leaderboard(problem, splits, plan, options.metric, available)
    outcomes = run_comparison(problem, splits, plan, options.jobs or cpu_count())
    is_complete = show_progress(outcomes, leaderboard, options.quiet)
    if not leaderboard.ranking():
        if is_complete:
            raise ValueError(f"no method completed all folds: {leaderboard.failure_reasons()}")
        raise KeyboardInterrupt("before the first result")
    result = report(leaderboard, command_line(options, "data"), options.folds, options.repeats, not is_complete)
    for finding in result["data"]["findings"]:
        finding["text"] = with_flags(finding["text"], options)
    if result["model"] is not None:
        method = result["model"]["method"]
        command = _train_command(options, method, plan.rounds_of(method))
        result["model"]["train_command"] = None if command is None else printable(command)
        if "decision" in result:
            result["decision"]["commands"] = train_and_predict_commands(
                options, command, result["decision"], _stem(options)
            )
    result["winner_script"] = _winner_script(options, result, problem, plan)
    _write(options, result, vega)
    show(result)
    if "decision" in result and (options.baseline_column is not None or options.subgroup):
        echo(f"\n{format_recommendation(result['decision'])}")
    _echo_next_steps(options, result)
    if not is_complete:
        raise KeyboardInterrupt("before the end; the results are incomplete")


def _problem(options: Namespace) -> Any:
    from adacc.comparison import digits, read_problem

    if options.data is None:
        if options.target not in (None, "digit"):
            raise ValueError(f"--target {options.target} needs a table: give a file, or - for standard input")
        for name in ("drop", "categorical", "id", "group", "time", "baseline_column", "subgroup", "sep", "decimal"):
            if getattr(options, name):
                raise ValueError(f"--{name.replace('_', '-')} needs a table: give a file, or - for standard input")
        problem: Any = digits(options.positive)
    elif options.target is None:
        raise ValueError(f"--target COL is required: the column of {options.data} to predict")
    else:
        opened = open_input(options)
        problem = read_problem(
            opened, options.target, options.positive, options.drop, options.id, options.group, options.time,
            options.baseline_column, options.subgroup, options.categorical, options.duplicates,
        )  # fmt: skip
        if options.baseline_column is not None:
            echo_note(
                f"column {options.baseline_column!r} is not used as a feature: today's decision can contain the answer"
            )
    used = problem.sample(options.max_rows, options.seed)
    if used is not problem and not options.quiet:
        echo_note(f"using a stratified random sample of {len(used.y):,} of {len(problem.y):,} rows (--max-rows)")
    return used


def _left_out(chosen: tuple[str, ...], problem: Any) -> list[str]:
    """The chosen methods that do not support the classes of the problem."""
    from adacc.comparison.cross_validation import unsupported

    left_out = unsupported(chosen, problem)
    if len(left_out) == len(chosen):
        raise ValueError(
            f"--methods must name a method for {len(problem.labels)} classes, but two classes only are supported by "
            f"{', '.join(left_out)}; name others, or one class with --positive"
        )
    return left_out


def _train_command(options: Namespace, method: str, rounds: int | None) -> str | None:
    """The command that trains a method on the same classes."""
    if options.data is None:
        return None
    arguments = ["adacc", "train", options.data, *option("--target", options.target), "--method", method]
    given = {
        "--positive": options.positive, "--drop": _not_features(options), "--categorical": options.categorical,
        "--id": options.id, "--group": options.group, "--time": options.time,
        "--duplicates": None if options.duplicates == "auto" else options.duplicates,
    }  # fmt: skip
    for name, value in given.items():
        arguments += option(name, value) if value else []
    arguments += text_format(options)
    arguments += ["--rounds", str(rounds)] if rounds not in (None, 100) else []
    arguments += ["--seed", str(options.seed)] if options.seed else []
    return shlex.join([*arguments, "--model", f"{_stem(options)}.adacc"])


def _not_features(options: Namespace) -> list[str]:
    """The columns of --drop, and today's decision."""
    baseline = [] if options.baseline_column is None else [options.baseline_column]
    return list(dict.fromkeys([*options.drop, *baseline]))


def _winner_script(options: Namespace, result: dict[str, Any], problem: Any, plan: Any) -> str | None:
    """The script that trains the best method, if it is a baseline."""
    from adacc.comparison.winner_script import winner_script

    reading = {
        "target": options.target, "positive": options.positive, "drop": _not_features(options), "ids": options.id,
        "group": options.group, "time": options.time, "categorical": options.categorical,
        "duplicates": None if options.duplicates == "auto" else options.duplicates,
    }  # fmt: skip
    shown = {**result, "command": printable(result["command"])}
    text_format = (options.sep, options.decimal)
    return winner_script(shown, problem, plan, options.data, text_format, reading, f"{_stem(options)}.joblib")


def _stem(options: Namespace) -> str:
    """Name of a model file without its ending."""
    if options.data is None:
        return "digits"
    return "model" if options.data == "-" else Path(options.data).name.partition(".")[0]


def _echo_script(options: Namespace, result: dict[str, Any]) -> None:
    """Say where the script that trains the best method is."""
    best = next(method["label"] for method in result["methods"] if method["metrics"])
    if result["winner_script"] is None:
        if options.script is not None:
            echo_note(f"--script: no file is written, since {best} is a method of adacc, which `adacc train` trains")
        return
    where = "--script FILE.py writes it"
    if options.script is not None:
        where = printable(options.script)
    elif options.report is not None:
        where = f"in the settings of {printable(options.report)}"
    elif options.json is not None:
        where = f"winner_script of {printable(options.json)}"
    echo(f"Python script that trains {best}:\n  {where}")


def _echo_next_steps(options: Namespace, result: dict[str, Any]) -> None:
    echo("")
    if options.report is not None:
        echo(f"Report: {printable(options.report)}")
    if options.json is not None:
        echo(f"Results: {printable(options.json)}")
    _echo_script(options, result)
    command = (result["model"] or {}).get("train_command")
    if command is not None:
        echo(f"Next: {command}")


def _write(options: Namespace, result: dict[str, Any], vega: Any) -> None:
    if options.json is not None:
        write_json(options.json, result)
    if options.script is not None and result["winner_script"] is not None:
        with whole_file(options.script) as file:
            file.write_text(result["winner_script"], encoding="utf-8")
    if options.report is not None:
        from adacc.report import write

        write(result, options.report, vega)
