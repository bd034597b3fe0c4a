"""`adacc compare`: which method for this table, what it catches, what it misses."""

from __future__ import annotations

import json
import shlex
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

from adacc.cli.files import check_output
from adacc.cli.options import (
    LISTS,
    add_text_format,
    count,
    names,
    open_given,
    option,
    path,
    rounds,
    seed,
    spelled,
    text_format,
)
from adacc.cli.show import note, plain, say
from adacc.files import whole_file

EXAMPLES = (
    """\
examples:
  adacc compare                                          the built-in digits, the 8 against the rest
  adacc compare claims.csv --target fraud                your own table; the rarest label is to be found
  adacc compare claims.csv --target fraud --report claims.html
  adacc compare visits.parquet --target ill --group patient --methods adacc1,adacc2,lightgbm
  zcat big.csv.gz | adacc compare - --target churn --positive yes --rounds 200 --repeats 3

"""
    + LISTS
    + """
The table shows means over the folds ± standard deviations: shares of rows in per cent, other measures as numbers. ≈
marks methods that are not significantly different from the best (corrected resampled t-test, Holm, p >= 0.05).
"""
)

MEASURES = ("balanced_accuracy", "gmean", "tpr", "tnr", "precision", "f1", "auc", "average_precision", "opm", "brier")

MAX_ROWS = 100_000


def add_to(commands: Any) -> None:
    top: ArgumentParser = commands.add_parser(
        "compare",
        help="try all methods on a table, and say which is best and whether that is real",
        description="Cross-validate all methods of adacc, and honest baselines of the libraries\n"
        "that are installed, on the same splits of a table.",
        epilog=EXAMPLES,
    )
    top.add_argument(
        "data", nargs="?", metavar="DATA",
        help="a .csv, .tsv, .parquet, .arrow file (.gz too), or - for standard input (default: built-in digits)",
    )  # fmt: skip
    _add_table(top.add_argument_group("the table"))
    _add_contest(top.add_argument_group("the contest"))
    out = top.add_argument_group("what comes out, beside the table on the screen")
    out.add_argument("--report", type=path, metavar="FILE.html", help="a page to show others; it needs no network")
    out.add_argument("--json", type=path, metavar="FILE", help="all figures")
    out.add_argument("--quiet", action="store_true", help="no progress, only the result")
    top.set_defaults(run=compare)


def _add_table(group: Any) -> None:
    group.add_argument("--target", metavar="COL", help="the column to predict")
    group.add_argument("--positive", metavar="LABEL", help="the label to be found (default: the rarest)")
    group.add_argument(
        "--drop", type=names, default=[], metavar="A,B", help="columns to leave out; see below for names with commas"
    )
    group.add_argument("--id", metavar="COL", help="a column that only names the rows; it is left out")
    group.add_argument("--group", metavar="COL", help="rows of one value of it are never split, such as a patient's")
    group.add_argument("--time", metavar="COL", help="train on what comes before, score what comes after")
    add_text_format(group)
    group.add_argument(
        "--max-rows", type=count, default=MAX_ROWS, metavar="N",
        help=f"of a larger table take so many, drawn at random (default: {MAX_ROWS:,})",
    )  # fmt: skip


def _add_contest(group: Any) -> None:
    group.add_argument(
        "--methods", type=names, default=["default"], metavar="A,B",
        help="names of `adacc methods`, or 'family', 'baselines', 'default' (the family and the quicker half of the "
        "baselines), 'all'",
    )  # fmt: skip
    group.add_argument(
        "--rounds", type=rounds, default=100, metavar="N",
        help="of boosting; adacc-forest has a size of its own (default: 100)",
    )  # fmt: skip
    group.add_argument("--folds", type=count, default=5, metavar="N", help="parts, each scored once (default: 5)")
    group.add_argument("--repeats", type=count, default=1, metavar="N", help="split anew so often (default: 1)")
    group.add_argument(
        "--metric", choices=MEASURES, default="balanced_accuracy", metavar="MEASURE",
        help=f"rank by: {', '.join(MEASURES)} (default: balanced_accuracy)",
    )  # fmt: skip
    group.add_argument("--jobs", type=count, metavar="N", help="worker processes (default: as many as cores)")
    group.add_argument("--seed", type=seed, default=0, metavar="N", help="of all that is random (default: 0)")


def compare(options: Namespace) -> None:
    for file in (options.report, options.json):
        if file is not None:
            check_output(file, options.data or "-")
    if options.report is not None and options.report == options.json:
        raise ValueError(f"{options.report} cannot be both the report and the figures; name another file for one")
    if options.folds < 2:
        raise ValueError(f"--folds must be at least 2, got {options.folds}")
    from joblib import cpu_count

    from adacc.cli.leaderboard import followed, show
    from adacc.compare import Plan, contest, contestants, make_splits
    from adacc.compare.leaderboard import Leaderboard, report

    everyone = contestants()
    plan = Plan(_chosen(options.methods, everyone), options.rounds, options.seed)
    problem = _problem(options)
    splits = make_splits(problem, options.folds, options.repeats, options.seed)
    standing = Leaderboard(problem, splits, plan, options.metric, everyone)
    is_whole = followed(contest(problem, splits, plan, options.jobs or cpu_count()), standing, options.quiet)
    if not standing.ranking():
        if is_whole:
            raise ValueError(f"no method finished all folds: {standing.why_none()}")
        raise KeyboardInterrupt("before anything was done")
    result = report(standing, spelled(options, "data"), options.folds, options.repeats, not is_whole)
    if result["model"] is not None:
        method = result["model"]["method"]
        command = _train_command(options, problem, method, plan.rounds_of(method))
        result["model"]["train_command"] = None if command is None else plain(command)
    _write(options, result)
    show(result)
    _say_what_next(options, result)
    if not is_whole:
        raise KeyboardInterrupt("before the end; the figures are of what was done")


def _problem(options: Namespace) -> Any:
    from adacc.compare import digits, read_problem

    if options.data is None:
        if options.target not in (None, "digit"):
            raise ValueError(f"--target {options.target} is of which table? Name a file, or - for standard input")
        for name in ("drop", "id", "group", "time", "sep", "decimal"):
            if getattr(options, name):
                raise ValueError(f"--{name} is for a table of your own: name a file, or - for standard input")
        problem = digits(options.positive)
    elif options.target is None:
        raise ValueError(f"which column of {options.data} is to be predicted? Say it with --target COL")
    else:
        opened = open_given(options)
        problem = read_problem(
            opened, options.target, options.positive, options.drop, options.id, options.group, options.time
        )
    used = problem.sample(options.max_rows, options.seed)
    if used is not problem and not options.quiet:
        note(f"{len(problem.y):,} rows are more than --max-rows: {len(used.y):,} of them are drawn, by class")
    return used


def _chosen(given: list[str], everyone: dict[str, Any]) -> tuple[str, ...]:
    """Names of methods, groups of them written out."""
    from adacc.compare.comparison import QUICK, find_method

    groups = {
        "family": [name for name, each in everyone.items() if each.is_own],
        "baselines": [name for name, each in everyone.items() if not each.is_own],
        "default": [name for name, each in everyone.items() if each.is_own or name in QUICK],
        "all": list(everyone),
    }
    chosen = [name for each in given for name in groups.get(each) or [find_method(each, everyone)]]
    return tuple(dict.fromkeys(chosen))


def _train_command(options: Namespace, problem: Any, method: str, rounds: int) -> str | None:
    """How to train the method on what was judged: of several labels one against the rest."""
    if options.data is None:
        return None
    positive = options.positive or (str(problem.positive) if problem.n_labels > 2 else None)
    stem = "model" if options.data == "-" else Path(options.data).name.partition(".")[0]
    parts = ["adacc", "train", options.data, *option("--target", options.target), "--method", method]
    given = {"--positive": positive, "--drop": options.drop, "--id": options.id, "--group": options.group}
    for name, value in {**given, "--time": options.time}.items():
        parts += option(name, value) if value else []
    parts += text_format(options)
    parts += ["--rounds", str(rounds)] if rounds != 100 else []
    return shlex.join([*parts, "--model", f"{stem}.adacc"])


def _say_what_next(options: Namespace, result: dict[str, Any]) -> None:
    say("")
    if options.report is not None:
        say(f"Report: {plain(options.report)}")
    if options.json is not None:
        say(f"Figures: {plain(options.json)}")
    command = (result["model"] or {}).get("train_command")
    if command is not None:
        say(f"Next: {command}")


def _write(options: Namespace, result: dict[str, Any]) -> None:
    if options.json is not None:
        with whole_file(options.json) as file:
            file.write_text(json.dumps(result, indent=1, allow_nan=False, ensure_ascii=False) + "\n", encoding="utf-8")
    if options.report is not None:
        from adacc.report import write

        write(result, options.report)
