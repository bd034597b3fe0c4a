"""`adacc train`: a table becomes a model file."""

from __future__ import annotations

import shlex
from argparse import ArgumentParser, Namespace
from math import isnan, nan
from typing import TYPE_CHECKING, Any, NamedTuple

from adacc.cli.files import check_output
from adacc.cli.options import (
    LISTS,
    add_text_format,
    costs,
    names,
    open_given,
    path,
    rounds,
    seed,
    spelled,
    text_format,
)
from adacc.cli.show import number, plain, say, share, table
from adacc.cli.training import Trained, costs_by_label, left_out, split_columns

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from adacc.estimators.voting import BaseAdditiveClassifier

EXAMPLES = (
    """\
examples:
  adacc train claims.csv --target fraud --model fraud.adacc
  adacc train claims.csv --target fraud --method cgada --costs fraud=20,fine=1 --model fraud.adacc
  adacc train digits.parquet --target digit --positive 8 --id picture --model eight.adacc
  zcat claims.csv.gz | adacc train - --target fraud --drop agent,notes --model fraud.adacc
  adacc train big.parquet --target fraud --memory-limit 1GB --model fraud.adacc
  adacc train claims.csv --target fraud --drop '"amount, EUR",town' --sep ';' --decimal , --model fraud.adacc

"""
    + LISTS
)


def add_to(commands: Any) -> None:
    top: ArgumentParser = commands.add_parser(
        "train", help="train a model on a table and save it", epilog=EXAMPLES,
        description="Train a model as `adacc compare` judged it, and save it to a file.",
    )  # fmt: skip
    top.add_argument(
        "data", metavar="DATA",
        help="a table with a row for each case: .csv, .tsv (packed as .gz or not), .parquet or a folder of such files, "
        ".arrow; '-' is standard input. Numbers, text, booleans and gaps are taken as they are",
    )  # fmt: skip
    top.add_argument("--target", required=True, metavar="COL", help="the column to predict")
    top.add_argument("--model", required=True, type=path, metavar="FILE", help="where the model goes")
    top.add_argument("--method", default="adacc1", metavar="NAME", help="see `adacc methods` (default: adacc1)")
    top.add_argument(
        "--positive", metavar="LABEL",
        help="the class to be found (default: of two the rarer). Of more than two this one is told from all others, "
        "which are called 'other'; without it each class is told from each",
    )  # fmt: skip
    add_text_format(top)
    top.add_argument("--drop", type=names, default=[], metavar="A,B", help="columns to leave out; see below for commas")
    top.add_argument("--id", metavar="COL", help="a column that names rows, and so is no feature")
    top.add_argument(
        "--group", metavar="COL",
        help="a column of groups, such as patients: no inner split (calibration folds, bags of adacc-forest) separates "
        "the rows of a group. It is no feature",
    )  # fmt: skip
    top.add_argument(
        "--time", metavar="COL", help="a column of times: inner splits train on what comes before. It is no feature"
    )
    top.add_argument(
        "--rounds", type=rounds, metavar="N",
        help="rounds of boosting (default: 100); of adacc-forest its narrow bags (default: 40)",
    )  # fmt: skip
    top.add_argument(
        "--costs", type=costs, metavar="L=C,...",
        help="what an error on a row of each class costs, such as fraud=20,fine=1 or '\"no, never\"=3,ok=1', or "
        "'balanced', for the methods that take costs (default: those of best F1 on the training rows)",
    )  # fmt: skip
    top.add_argument(
        "--calibrate", choices=("sigmoid", "isotonic"),
        help="let probabilities be frequencies, as those of rows that were held out in five folds, or of adacc-forest "
        "out of its bags",
    )  # fmt: skip
    top.add_argument("--seed", type=seed, default=0, metavar="N", help="of what is drawn at random (default: 0)")
    top.add_argument(
        "--memory-limit", metavar="SIZE",
        help="the most memory to use, such as 1GB, libraries included: a Parquet table may then be larger than it",
    )  # fmt: skip
    top.add_argument(
        "--scratch", type=path, metavar="DIR",
        help="with --memory-limit: a folder with space for a byte a cell and 45 a row (default: TMPDIR or /var/tmp)",
    )  # fmt: skip
    top.set_defaults(run=train)


class Labels(NamedTuple):
    """What is to be predicted: a label for each row, the one to be found if any, and those that became 'other'."""

    y: NDArray[Any]
    positive: Any
    others: list[str]


def train(options: Namespace) -> None:
    check_output(options.model, options.data)
    _check_method(options.method)
    if options.memory_limit is None:
        if options.scratch is not None:
            raise ValueError("--scratch is the folder for the files of --memory-limit; give both or none")
        trained = _in_memory(options)
    else:
        from adacc.cli.out_of_core import train_from_disk

        trained = train_from_disk(options)
    notes = {
        "target": options.target,
        "kinds": trained.kinds,
        "positive": None if trained.positive is None else str(trained.positive),
        "others": trained.others,
        "command": spelled(options, "data"),
        "source": options.data,
    }
    trained.model.save(options.model, notes)
    _summarise(options, trained)


def _in_memory(options: Namespace) -> Trained:
    from sklearn.metrics import confusion_matrix

    from adacc.compare.model import fit
    from adacc.compare.splits import check_dependence
    from adacc.tables import check_features, kinds_of, read_frame

    beside, opened = split_columns(options), open_given(options)
    frame = read_frame(opened, left_out(options), beside, options.target)
    labels = _labels(frame, options)
    group, time = (None if name is None else frame[name] for name in (options.group, options.time))
    check_dependence(group, time, options.data)
    X = frame.drop(columns=[options.target, *beside])
    check_features(X, options.data)
    given = costs_by_label(options.costs, labels.y)
    model = fit(
        options.method, X, labels.y, labels.positive, options.rounds, options.seed, given, options.calibrate,
        groups=frame[beside[0]].to_numpy() if beside else None, in_time=time is not None,
    )  # fmt: skip
    counts = confusion_matrix(labels.y, model.predict(X), labels=model.classes_)
    return Trained(model, kinds_of(X), labels.positive, labels.others, counts)


def _check_method(name: str) -> None:
    from adacc.algorithms.catalog import METHODS, unknown
    from adacc.cli.methods import not_trained
    from adacc.evaluation.baselines import BASELINES, FORESTS

    if name in BASELINES and name not in FORESTS:
        raise ValueError(f"adacc does not train {name}: {not_trained(name, BASELINES[name].library)}")
    if name not in METHODS and name not in FORESTS:
        raise unknown(name, [*METHODS, *FORESTS])


def _labels(frame: pd.DataFrame, options: Namespace) -> Labels:
    import numpy as np

    from adacc.tables import read_labels, read_target

    y = read_labels(frame, options.target, options.data)
    if options.positive is None and len(np.unique(y)) > 2:
        return Labels(y, None, [])
    found = read_target(frame, options.target, options.positive, options.data)
    if len(found.counts) == 2:
        return Labels(y, found.positive, [])
    one = str(found.positive)
    others = [str(label) for label in found.counts if label != found.positive]
    return Labels(np.where(found.y == 1, one, found.other).astype(object), one, others)


def _summarise(options: Namespace, trained: Trained) -> None:
    model, n_rows = trained.model, trained.counts.sum(axis=1)
    rows = []
    for k in sorted(range(len(n_rows)), key=lambda k: -n_rows[k]):
        label = model.classes_.tolist()[k]
        name = plain(label, 40) + (" (to be found)" if label == trained.positive else "")
        right = trained.counts[k, k]
        rows.append([name, f"{n_rows[k]:,.0f}", share(n_rows[k] / n_rows.sum()), share(right / n_rows[k])])
    costs_used = model.get_params(deep=False).get("costs")
    source = "standard input" if options.data == "-" else options.data
    say(f"{source}: {n_rows.sum():,.0f} rows, {len(trained.kinds)} features")
    say(f"method: {options.method}, {_size(model)}")
    if isinstance(costs_used, dict):
        each = ", ".join(f"{plain(label, 40)} {number(cost)}" for label, cost in costs_used.items())
        say(f"costs: {each}" + ("" if options.costs else " (of ten tried, those of best F1 on these rows)"))
    say("\n" + table([options.target, "rows", "share", "recall"], rows))
    say(f"\n{_caveat(model, options)}")
    say(f"\n{options.model}: {_size_of_file(options.model.stat().st_size)}. Next:")
    predict = ["adacc", "predict", str(options.model), "NEW.csv", *text_format(options), "--proba", "-o", "scores.csv"]
    say(f"  {shlex.join(predict)}")
    say(f"  {shlex.join(['adacc', 'explain', str(options.model)])}")


def _size(model: BaseAdditiveClassifier) -> str:
    from adacc.compare.model import n_bags
    from adacc.report.text import size

    bags = n_bags(model)
    return f"{model.n_iter_} of {model.n_estimators} rounds" if bags is None else size(model.n_iter_, bags)


def _caveat(model: BaseAdditiveClassifier, options: Namespace) -> str:
    """How far the recall can be trusted; a forest knows better, unless a class has no row out of the bags."""
    accuracy = getattr(model, "oob_balanced_accuracy_", nan)
    if isnan(accuracy):
        return "Recall is of the rows it was trained on, which flatters; `adacc compare` judges on rows not seen."
    rows = "out of the bags"
    if options.group is not None:
        rows += f", whole groups of {plain(options.group)!r}"
    if options.time is not None:
        rows = f"held out forward in {plain(options.time)!r}"
    return f"Balanced accuracy on rows {rows}: {share(accuracy)}. Recall is of the rows it was trained on."


def _size_of_file(n_bytes: int) -> str:
    return f"{n_bytes / 1e6:.1f} MB" if n_bytes >= 1e6 else f"{max(n_bytes / 1e3, 0.1):.1f} kB"
