"""A study small enough for a test: data files, a plan, results without a fit, and the command in this process."""

import io
import warnings
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace

import numpy as np
import pandas as pd
from sklearn.metrics import average_precision_score

from adacc import metrics
from adacc.cli import main
from adacc.evaluation.baselines import BASELINES
from adacc.study.protocol import choose_methods, read_protocol
from adacc.study.store import Result, Series
from adacc.study.tables import all_tables, read_summary, render

FEW = ["adaboost", "adacc1", "adacc2", "csb1", "cgada-cal", "smote-tree"]
FORMATS = ("text", "csv", "markdown", "latex")


def write_files(folder):
    """Two data files, CSV and Parquet: numbers, a category, one row in six ill."""
    rng = np.random.default_rng(5)
    paths = [folder / "clinic.csv", folder / "plant.parquet"]
    for path, n in zip(paths, (130, 190), strict=True):
        ill = np.arange(n) % 6 == 0
        frame = pd.DataFrame(rng.normal(size=(n, 3)).round(2) + ill[:, None] * [1.2, 0.8, 0.3], columns=list("abc"))
        frame["town"] = np.where(rng.random(n) < 0.3 + 0.3 * ill, "Bonn", "Kiel")
        frame["ill"] = np.where(ill, "yes", "no")
        if path.suffix == ".csv":
            frame.to_csv(path, index=False)
        else:
            frame.to_parquet(path)
    return paths


def plan(paths, methods=None, **changes):
    """The paper's study on data files."""
    files = {path.name.split(".")[0]: (str(path), "ill") for path in paths}
    values = {"datasets": tuple(files), "files": files, "rounds": (3, 6), "folds": 2, "repeats": 1, **changes}
    protocol = replace(read_protocol("paper"), **values)
    return protocol if methods is None else choose_methods(protocol, methods)


def options(paths, methods=FEW, **changes):
    """The same for the command."""
    values = {"rounds": "3,6", "folds": 2, "repeats": 1, **changes}
    given = [part for name, value in values.items() for part in (f"--{name}", str(value))]
    data = [part for path in paths for part in ("--data", f"{path}:ill")]
    return ["study", "run", "paper", "--quiet", "--methods", ",".join(methods), *given, *data]


def fake(protocol, store, failing=(), n_test=211):
    """Store results that no method computed: noisy scores, better ones for methods of a larger number."""
    store.adopt(protocol)
    for task in protocol.tasks():
        rng = np.random.default_rng([protocol.datasets.index(task.dataset), task.repeat, task.fold])
        y = (np.arange(n_test) % 7 == 0).astype(np.int8)
        keys = [(*variant, T) for variant in protocol.variants() for T in protocol.rounds]
        for name in protocol.baselines_of(task):
            keys += [(name, "", T) for T in (protocol.rounds if BASELINES[name].boosts else (1,))]
        series, scores = [], []
        for number, (method, dialect, T) in enumerate(keys):
            values = (rng.normal(size=n_test) + (0.012 * number + 0.5) * (2 * y - 1)).astype(np.float32)
            error = "Traceback: no" if (method, task.dataset) in failing else None
            found = {} if error else metrics.evaluate(y, (values > 0).astype(np.int8), values, pos_label=1)
            found |= {} if error else {"average_precision": average_precision_score(y, values)}
            cost = 0.5 if method.startswith("csb") else None
            series.append(Series(method, dialect, T, cost, "adacc 0", 0.1, found, error))
            scores.append(np.full_like(values, np.nan) if error else values)
        store.write(task, Result(np.arange(n_test, dtype=np.int32), y, np.array(scores), series, 1.0))


def command(*arguments):
    """Exit code, stdout and stderr of `adacc`, here."""
    out, err, shown = io.StringIO(), io.StringIO(), warnings.showwarning
    try:
        with warnings.catch_warnings(), redirect_stdout(out), redirect_stderr(err):
            warnings.simplefilter("default")
            code = main([str(argument) for argument in arguments])
    except SystemExit as stop:  # argparse's
        code = stop.code
    finally:
        warnings.showwarning = shown
    return code, out.getvalue(), err.getvalue()


def all_tables_of(folder):
    """Every table in every format, as `adacc study tables --format` prints it."""
    tables = all_tables(read_summary(folder))
    return {form: "\n\n".join(render(table, form) for table in tables) + "\n" for form in FORMATS}
