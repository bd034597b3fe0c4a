"""`adacc study`: run an evaluation, show its progress, print its tables."""

from __future__ import annotations

import shlex
import sys
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from adacc.cli.options import bins, count, names, numbers
from adacc.cli.terminal import echo, format_table

if TYPE_CHECKING:
    from adacc.study.protocol import Task
    from adacc.study.run import Done


def add_parser_to(commands: Any) -> None:
    top: ArgumentParser = commands.add_parser("study", help="Run the evaluation of the AdaCC paper, or your own.")
    actions = top.add_subparsers(dest="action", required=True, metavar="ACTION")
    _add_run(actions.add_parser("run", help="Run a study; an interrupted run continues where it stopped."))
    status = actions.add_parser("status", help="Show the progress of a study.")
    status.add_argument("folder", metavar="DIR", help="Results directory of a study.")
    status.set_defaults(run=show_status)
    tables = actions.add_parser("tables", help="Print the result tables of a study.")
    tables.add_argument("folder", metavar="DIR", help="Results directory of a study, or of CSV files written by --out.")
    tables.add_argument(
        "--format", choices=("text", "csv", "markdown", "latex"), default="text", help="Output format (default: text)."
    )
    tables.add_argument("--only", type=names, metavar="A,B", help="Names of the tables to print; see --list.")
    tables.add_argument("--list", action="store_true", help="List the names of the tables.")
    tables.add_argument(
        "--out", metavar="DIR", help="Write each table to a file, and the means of each data set as CSV."
    )
    tables.set_defaults(run=show_tables)


def _add_run(run: ArgumentParser) -> None:
    run.add_argument(
        "protocol", metavar="STUDY", help="'paper', 'forest', 'classes', or a TOML file of the same format."
    )
    run.add_argument("--out", required=True, metavar="DIR", help="Results directory.")
    where = run.add_argument_group("execution")
    where.add_argument(
        "--data-dir", metavar="DIR",
        help="Directory with the data sets (default: ADACC_DATA); for 'classes' a directory of CSV or Parquet files, "
        "each with a target column 'target'.",
    )  # fmt: skip
    where.add_argument(
        "--jobs", type=count, default=1, metavar="N", help="Number of folds computed in parallel (default: 1)."
    )
    where.add_argument(
        "--executor", choices=("process", "local", "dask"), default="process",
        help="Compute in worker processes, in this process, or on a Dask cluster (default: process).",
    )  # fmt: skip
    where.add_argument(
        "--scheduler", metavar="ADDRESS", help="Scheduler address of a Dask cluster (default: start a local cluster)."
    )
    where.add_argument("--quiet", action="store_true", help="Disable the progress bar.")
    what = run.add_argument_group("overrides of the study")
    what.add_argument("--datasets", type=names, metavar="A,B", help="Names of the data sets.")
    what.add_argument(
        "--data", action="append", default=[], metavar="FILE[:TARGET]",
        help="Your own CSV or Parquet file and its target column (default: target); can be repeated.",
    )  # fmt: skip
    what.add_argument("--methods", type=names, metavar="A,B", help="Names of the methods.")
    what.add_argument("--repeats", type=count, metavar="N", help="Number of cross-validation repeats.")
    what.add_argument("--folds", type=count, metavar="N", help="Number of cross-validation folds.")
    what.add_argument("--rounds", type=numbers, metavar="T,T", help="Numbers of boosting rounds, such as 25,50.")
    what.add_argument(
        "--dialect",
        choices=("paper", "authors", "both"),
        help="Formulas as printed in the papers, or as in the authors' code.",
    )
    what.add_argument("--tuned-on", choices=("training", "validation"), help="Rows on which the costs are tuned.")
    what.add_argument(
        "--max-bins", type=bins, metavar="N", help="Maximum number of bins per feature, or 'exact' for no binning."
    )
    run.set_defaults(run=run_study)


class Prepared(NamedTuple):
    """A study that can be run."""

    tasks: list[Task]  # all tasks
    left: list[Task]  # those that are not stored yet
    work: Callable[[Task], float]  # estimated work of a task
    run: Callable[[], Iterator[Done]]  # computes the tasks that are left


def run_study(options: Namespace) -> None:
    from tqdm import tqdm

    from adacc.evaluation.workers import connected
    from adacc.study.multiclass_protocol import is_multiclass
    from adacc.study.protocol import read_entries

    study = (_prepare_classes if is_multiclass(read_entries(options.protocol)) else _prepare)(options)
    failed: Counter[str] = Counter()
    total, n_tasks = sum(map(study.work, study.tasks)), len(study.tasks)
    bar = tqdm(
        total=total, initial=total - sum(map(study.work, study.left)), disable=options.quiet, smoothing=0.05,
        file=sys.stderr, bar_format="{percentage:3.0f}% |{bar}| {elapsed} elapsed, {remaining} remaining{postfix}",
    )  # fmt: skip
    n_done = n_tasks - len(study.left)
    try:
        with bar, connected(options.executor, options.scheduler, options.jobs):
            for done in study.run():
                n_done += 1
                failed.update(done.failed)
                bar.set_postfix_str(f"{n_done} of {n_tasks} folds", refresh=False)
                bar.update(study.work(done.task))
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"at {n_done} of {n_tasks} folds; run the same command to continue") from None
    for method, n_folds in failed.most_common():
        sys.stderr.write(f"adacc: {method} failed in {n_folds} folds; the errors are stored with the results\n")
    echo(f"{n_done} of {n_tasks} folds are done. Next: adacc study tables {shlex.quote(options.out)}")


def _prepare(options: Namespace) -> Prepared:
    from adacc.study.run import begin, run, work
    from adacc.study.store import Store

    # Workers may have another working directory.
    store = Store(Path(options.out).absolute())
    data_dir = None if options.data_dir is None else str(Path(options.data_dir).absolute())
    protocol = _protocol(options)
    left = begin(protocol, store)
    start = partial(run, protocol, store, left, data_dir, options.jobs, options.executor)
    return Prepared(protocol.tasks(), left, work, start)


def _prepare_classes(options: Namespace) -> Prepared:
    """The same for a study on more than two classes."""
    from adacc.study.multiclass_protocol import check, read_multiclass_protocol
    from adacc.study.multiclass_run import DataFile, MulticlassStore, begin, find_files, run

    for name in ("rounds", "dialect", "tuned_on", "max_bins"):
        if getattr(options, name) is not None:
            flag = f"--{name.replace('_', '-')}"
            raise ValueError(f"{flag} does not apply to a study on more than two classes, whose methods have defaults")
    protocol = read_multiclass_protocol(options.protocol)
    changes = {name: getattr(options, name) for name in ("repeats", "folds")}
    changes["methods"] = None if options.methods is None else tuple(dict.fromkeys(options.methods))
    given = {name: value for name, value in changes.items() if value is not None}
    protocol = check(replace(protocol, **given))
    files = {name: DataFile(*file) for name, file in map(_own_file, options.data)}
    if options.data_dir is not None:
        files = {**find_files(options.data_dir, options.datasets), **files}
    if not files:
        raise ValueError(
            "a study on more than two classes needs data sets: give --data-dir, a directory of CSV or Parquet files "
            "with the target column 'target', or --data FILE:TARGET"
        )
    store = MulticlassStore(Path(options.out).absolute())
    protocol, left = begin(protocol, store, files)
    return Prepared(
        protocol.tasks(),
        left,
        protocol.work,
        partial(run, protocol, store, left, files, options.jobs, options.executor),
    )


def _protocol(options: Namespace) -> Any:
    """The study with the overrides of the command line."""
    from adacc.study.protocol import check, choose_methods, read_protocol

    protocol = read_protocol(options.protocol)
    if options.methods is not None:
        protocol = choose_methods(protocol, options.methods)
    simple = {name: getattr(options, name) for name in ("repeats", "folds", "rounds", "tuned_on")}
    changes: dict[str, Any] = {name: value for name, value in simple.items() if value is not None}
    if options.max_bins is not None:
        changes["max_bins"] = None if options.max_bins == "exact" else options.max_bins
    if options.dialect is not None:
        changes["dialects"] = ("paper", "authors") if options.dialect == "both" else (options.dialect,)
    own = [_own_file(given) for given in options.data]
    if own or options.datasets is not None:
        changes["datasets"] = (*(options.datasets or ()), *(name for name, _ in own))
    return check(replace(protocol, **changes, files={**protocol.files, **dict(own)}))


def _own_file(given: str) -> tuple[str, tuple[str, str | None]]:
    """Name, path and target column of FILE[:TARGET]; both may contain colons."""
    parts = given.split(":")
    splits = [(":".join(parts[:i]), ":".join(parts[i:])) for i in range(len(parts), 0, -1)]
    is_file = [path for path in splits if Path(path[0]).expanduser().is_file()]
    path, target = is_file[0] if is_file else (parts[0], ":".join(parts[1:]))
    file = Path(path).expanduser().resolve()
    return file.name.split(".")[0], (str(file), target or None)


def show_status(options: Namespace) -> None:
    from adacc.study.multiclass_protocol import is_multiclass
    from adacc.study.multiclass_run import MulticlassStore
    from adacc.study.run import work
    from adacc.study.store import Store

    store: Any = Store(options.folder)
    if is_multiclass(store.stored_entries()):
        store = MulticlassStore(options.folder)
    protocol, rows = store.protocol(), []
    work_of = protocol.work if isinstance(store, MulticlassStore) else work
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
    echo(format_table(["data set", "folds", "time per fold", "failed methods"], rows, left=(0, 3)))
    weight = {task: work_of(task) for task in protocol.tasks()}
    share = sum(weight[task] for task in weight if store.path(task).exists()) / sum(weight.values())
    so_far = f"{sum(done.values())} of {len(weight)} folds are done, about {share:.0%} of the work"
    echo(f"\n{so_far}, in {_duration(sum(seconds.values()))} of computation.")


def _duration(seconds: float) -> str:
    for unit, size in (("hours", 3600), ("minutes", 60)):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.1f} seconds"


def show_tables(options: Namespace) -> None:
    from adacc.study import multiclass_tables
    from adacc.study import tables as two_class_tables
    from adacc.study.multiclass_protocol import is_multiclass
    from adacc.study.store import Store
    from adacc.study.tables import render, write_all

    several = is_multiclass(Store(options.folder).stored_entries())
    module: Any = multiclass_tables if several else two_class_tables
    summary = module.read_summary(options.folder)
    tables = module.all_tables(summary)
    if options.list:
        echo("\n".join(f"{each.name}: {each.title}" for each in tables))
        return
    if options.only is not None:
        known = {each.name: each for each in tables}
        unknown = [name for name in options.only if name not in known]
        if unknown:
            raise ValueError(
                f"--only must name tables of this study, got {unknown[0]!r}; the tables are {', '.join(known)}"
            )
        tables = [known[name] for name in options.only]
    if options.out is None:
        echo("\n\n".join(render(each, options.format) for each in tables))
        return
    for path in write_all(tables, summary, options.format, Path(options.out)):
        echo(str(path))
