"""`adacc study`: run an evaluation, see how far it is, make its tables."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

from adacc.cli.show import say, table


def add_to(commands: Any) -> None:
    top: ArgumentParser = commands.add_parser("study", help="the evaluation of the AdaCC paper, or your own")
    actions = top.add_subparsers(dest="action", required=True, metavar="ACTION")
    _add_run(actions.add_parser("run", help="compute what is not computed yet; stop it whenever you like"))
    status = actions.add_parser("status", help="how far a study is")
    status.add_argument("folder", metavar="DIR")
    status.set_defaults(run=show_status)
    tables = actions.add_parser("tables", help="the tables of the paper, and more, from the results")
    tables.add_argument("folder", metavar="DIR", help="of a study, or of the CSV files that --out wrote")
    tables.add_argument("--format", choices=("text", "csv", "markdown", "latex"), default="text")
    tables.add_argument("--only", type=_names, metavar="A,B", help="these tables; see --list")
    tables.add_argument("--list", action="store_true", help="the names of the tables")
    tables.add_argument("--out", metavar="FOLDER", help="write each table to a file, and the means of every set as CSV")
    tables.set_defaults(run=show_tables)


def _add_run(run: ArgumentParser) -> None:
    run.add_argument("protocol", metavar="STUDY", help="'paper', or a TOML file like it")
    run.add_argument("--out", required=True, metavar="DIR", help="where results are kept")
    run.add_argument("--data-dir", metavar="DIR", help="a folder with the data sets (default: ADACC_DATA)")
    run.add_argument("--jobs", type=_count, default=1, metavar="N", help="parts computed at a time (1)")
    run.add_argument("--executor", choices=("process", "local", "dask"), default="process", help="who works (process)")
    run.add_argument("--scheduler", metavar="ADDRESS", help="of a Dask cluster (default: one on this machine)")
    run.add_argument("--datasets", type=_names, metavar="A,B", help="these sets only")
    run.add_argument(
        "--data", action="append", default=[], metavar="FILE[:TARGET]", help="your own data, CSV or Parquet"
    )
    run.add_argument("--methods", type=_names, metavar="A,B", help="these methods only")
    run.add_argument("--repeats", type=_count, metavar="N")
    run.add_argument("--folds", type=_count, metavar="N")
    run.add_argument("--rounds", type=_numbers, metavar="T,T", help="numbers of rounds, such as 25,50")
    run.add_argument(
        "--dialect", choices=("paper", "authors", "both"), help="formulas as printed, or of the authors' code"
    )
    run.add_argument("--tuned-on", choices=("training", "validation"), help="where the best costs are found")
    run.add_argument("--max-bins", type=_bins, metavar="N", help="of a feature's values; 'exact' for all of them")
    run.add_argument("--quiet", action="store_true", help="no progress bar")
    run.set_defaults(run=run_study)


def run_study(options: Namespace) -> int:
    from tqdm import tqdm

    from adacc.study.run import connected, pending, run, work
    from adacc.study.store import Store

    protocol, store = _protocol(options), Store(options.out)
    store.adopt(protocol)
    tasks = pending(protocol, store)
    failed: Counter[str] = Counter()
    total = sum(work(task) for task in protocol.tasks())
    bar = tqdm(
        total=total, initial=total - sum(map(work, tasks)), disable=options.quiet, smoothing=0.05, file=sys.stderr,
        bar_format="{percentage:3.0f}% |{bar}| {elapsed} gone, {remaining} to go, {postfix}",
    )  # fmt: skip
    n_done = len(protocol.tasks()) - len(tasks)
    try:
        with bar, connected(options.executor, options.scheduler):
            for done in run(protocol, store, tasks, options.data_dir, options.jobs, options.executor):
                n_done += 1
                failed.update(done.failed)
                bar.set_postfix_str(f"{n_done} of {len(protocol.tasks())} parts", refresh=False)
                bar.update(work(done.task))
    except KeyboardInterrupt:
        sys.stderr.write(f"\nadacc: stopped at {n_done} of {len(protocol.tasks())} parts; the same command goes on\n")
        return 130
    for method, count in failed.most_common():
        sys.stderr.write(f"adacc: {method} failed in {count} parts; its errors are recorded with the results\n")
    say(f"{n_done} of {len(protocol.tasks())} parts are done. Next: adacc study tables {options.out}")
    return 0


def _protocol(options: Namespace) -> Any:
    """The study with what the options change in it."""
    from adacc.study.plan import check, choose_methods, read_protocol

    protocol = read_protocol(options.protocol)
    if options.methods is not None:
        protocol = choose_methods(protocol, options.methods)
    simple = {name: getattr(options, name) for name in ("repeats", "folds", "rounds", "tuned_on")}
    changes: dict[str, Any] = {name: value for name, value in simple.items() if value is not None}
    if options.max_bins is not None:
        changes["max_bins"] = None if options.max_bins == "exact" else options.max_bins
    if options.dialect is not None:
        changes["dialects"] = ("paper", "authors") if options.dialect == "both" else (options.dialect,)
    files = dict(map(_own_file, options.data))
    if files or options.datasets is not None:
        changes["datasets"] = (*(options.datasets or ()), *files)
    return check(replace(protocol, **changes, files=files))


def _own_file(given: str) -> tuple[str, tuple[str, str | None]]:
    """Name, path and target column of FILE[:TARGET]."""
    path, _, target = given.rpartition(":") if not Path(given).exists() else (given, "", "")
    file = Path(path or given).resolve()
    return file.name.split(".")[0], (str(file), target or None)


def show_status(options: Namespace) -> None:
    from adacc.study.run import work
    from adacc.study.store import Store

    store = Store(options.folder)
    protocol, rows = store.protocol(), []
    done: Counter[str] = Counter()
    failed: dict[str, Counter[str]] = {name: Counter() for name in protocol.datasets}
    seconds: Counter[str] = Counter()
    for task, record in store.records():
        done[task.dataset] += 1
        seconds[task.dataset] += record["seconds"]
        failed[task.dataset].update({each["method"] for each in record["series"] if each["error"]})
    each = protocol.repeats * protocol.folds
    for name in protocol.datasets:
        mean = f"{seconds[name] / done[name]:.1f} s" if done[name] else ""
        faults = ", ".join(f"{method} ({count})" for method, count in failed[name].items())
        rows.append([name, f"{done[name]} of {each}", mean, faults])
    say(table(["set", "parts", "each takes", "methods that failed"], rows, left=(0, 3)))
    weight = {task: work(task) for task in protocol.tasks()}
    share = sum(weight[task] for task in weight if store.path(task).exists()) / sum(weight.values())
    so_far = f"{sum(done.values())} of {len(weight)} parts are done, about {share:.0%} of the work"
    say(f"\n{so_far}, in {_hours(sum(seconds.values()))} of one core.")


def _hours(seconds: float) -> str:
    return f"{seconds / 3600:.1f} hours" if seconds >= 3600 else f"{seconds / 60:.1f} minutes"


def show_tables(options: Namespace) -> None:
    from adacc.study.tables import all_tables, read_summary, render, write_all

    summary = read_summary(options.folder)
    tables = all_tables(summary)
    if options.list:
        say("\n".join(f"{each.name}: {each.title}" for each in tables))
        return
    if options.only is not None:
        known = {each.name: each for each in tables}
        unknown = [name for name in options.only if name not in known]
        if unknown:
            raise ValueError(f"there is no table {unknown[0]!r}; there are {', '.join(known)}")
        tables = [known[name] for name in options.only]
    if options.out is None:
        say("\n\n".join(render(each, options.format) for each in tables))
        return
    for path in write_all(tables, summary, options.format, Path(options.out)):
        say(str(path))


def _names(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise ArgumentTypeError(f"names with commas between are expected, got {text!r}")
    return names


def _numbers(text: str) -> tuple[int, ...]:
    try:
        return tuple(sorted({int(part) for part in _names(text)}))
    except ValueError:
        raise ArgumentTypeError(f"whole numbers with commas between are expected, got {text!r}") from None


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"a whole number of at least 1 is expected, got {text!r}")
    return int(text)


def _bins(text: str) -> int | str:
    return text if text == "exact" else _count(text)
