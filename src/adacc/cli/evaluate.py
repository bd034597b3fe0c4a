"""`adacc evaluate`: how well a model does on rows whose class is known."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from math import isnan, nan
from textwrap import fill
from typing import TYPE_CHECKING, Any

from adacc.cli.files import check_output
from adacc.cli.options import add_model, add_text_format, add_threshold, path
from adacc.cli.saved import Saved, read_saved
from adacc.cli.show import listed, plain, say, share, table, width
from adacc.files import whole_file

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

EXAMPLES = """\
examples:
  adacc evaluate fraud.adacc last_year.csv
  adacc evaluate fraud.adacc last_year.csv --threshold 0.2
  adacc evaluate fraud.adacc checked.parquet --target is_fraud --json fraud.json
"""

MOST_CONFUSIONS = 10
"""Pairs of classes that are named where a table of all would not fit the terminal."""


def add_to(commands: Any) -> None:
    top: ArgumentParser = commands.add_parser(
        "evaluate", help="how well a model does on rows whose class is known", epilog=EXAMPLES,
        description="Compare a model's answers with the truth. Take rows that it was not trained on:\n"
        "those flatter.",
    )  # fmt: skip
    add_model(top)
    top.add_argument("data", metavar="DATA", help="a table with the column to predict; '-' is standard input")
    top.add_argument("--target", metavar="COL", help="the column with the truth (default: as in training)")
    add_threshold(top)
    add_text_format(top)
    top.add_argument("--json", type=path, metavar="FILE", help="write the numbers to a file, too")
    top.set_defaults(run=evaluate)


def evaluate(options: Namespace) -> None:
    if options.json is not None:
        check_output(options.json, options.model, options.data)
    saved = read_saved(options.model)
    if options.threshold is not None:
        saved.check_two_classes("--threshold")
    target = options.target or saved.notes.get("target")
    if not isinstance(target, str):
        raise ValueError(f"{saved.path} does not say which column it predicts; name it with --target")
    judged = _judge(saved, options, target)
    found: dict[str, Any] = {
        "model": str(saved.path),
        "data": options.data,
        "target": target,
        "threshold": options.threshold,
        "rows": len(judged[0]),
        **(_of_two if saved.positive is not None else _of_many)(saved, *judged),
    }
    if options.json is not None:
        with whole_file(options.json) as scratch:
            scratch.write_text(json.dumps(found, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    source = "standard input" if options.data == "-" else options.data
    say(f"{saved.path} on {found['rows']:,} rows of {source}\n")
    say((_text_of_two if saved.positive is not None else _text_of_many)(found))


def _judge(saved: Saved, options: Namespace, target: str) -> list[NDArray[Any]]:
    """Of every row the class that it has and the one it is said to have, by number; and of two classes the score and
    the probability of the one to be found.
    """
    import numpy as np

    from adacc.tables.errors import TableError, called

    parts, cells = [], Cells(saved, called(options.data), target)
    for X, kept in saved.open(options, [target]):
        part = [cells.read(kept[target]), saved.class_index(X, options.threshold).astype(np.int16)]
        if saved.positive is not None:
            sign = 1.0 if saved.positive == 1 else -1.0
            part += [sign * saved.model.decision_function(X), saved.model.predict_proba(X)[:, saved.positive]]
        parts.append(part)
    if not parts:
        raise TableError(f"{called(options.data)} has no rows to judge by, only the names of its columns")
    return [np.concatenate(column) for column in zip(*parts, strict=True)]


class Cells:
    """What turns cells into numbers of classes; labels are looked up once."""

    def __init__(self, saved: Saved, where: str, target: str) -> None:
        self._saved, self._where, self._target = saved, where, target
        self._known: dict[Any, int] = {}
        self._rows = 0

    def read(self, cells: pd.Series) -> NDArray[Any]:
        import numpy as np

        from adacc.tables.labels import WORDS

        numbers, values = cells.factorize()
        self._check_missing(numbers < 0)
        for value in values.tolist():
            if value not in self._known:
                at, here = self._class_of(value), numbers == values.tolist().index(value)
                if at is None:
                    self._check_missing(here & (str(value).strip() in (*WORDS, "")))
                    raise self._unknown(value, self._rows + int(here.argmax()) + 1)
                self._known[value] = at
        self._rows += len(cells)
        return np.array([self._known[value] for value in values.tolist()], dtype=np.int16)[numbers]

    def _class_of(self, value: Any) -> int | None:
        from adacc.tables import find_label

        at = find_label(value, self._saved.labels)
        others = self._saved.notes.get("others")
        if at is None and self._saved.positive is not None and isinstance(others, list):
            return 1 - self._saved.positive if find_label(value, others) is not None else None
        return at

    def _check_missing(self, missing: NDArray[Any]) -> None:
        from adacc.tables.errors import TableError

        if missing.any():
            row = self._rows + int(missing.argmax()) + 1
            raise TableError(
                f"{self._where}: row {row}, column {self._target!r} has no label to judge by; leave the row out or "
                "fill it in"
            )

    def _unknown(self, value: Any, row: int) -> ValueError:
        from adacc.tables.errors import TableError

        return TableError(
            f"{self._where}: row {row}, column {self._target!r}: the model does not know the label {str(value)!r}; it "
            f"knows {listed(self._saved.labels, 20)}. Leave such rows out, or train with them"
        )


def _of_two(saved: Saved, true: Any, said: Any, scores: Any, p: Any) -> dict[str, Any]:
    from sklearn.metrics import average_precision_score

    from adacc import metrics

    positive = true == saved.positive
    (alone, alarms), (missed, caught) = metrics.confusion(true, said, labels=_order(saved)).astype(int).tolist()
    of_paper = metrics.evaluate(true, said, scores, pos_label=saved.positive)
    some, others = bool(positive.any()), not positive.all()
    measures = {
        "tpr": of_paper["tpr"] if some else nan,
        "tnr": of_paper["tnr"] if others else nan,
        "balanced_accuracy": of_paper["balanced_accuracy"] if some and others else nan,
        "gmean": of_paper["gmean"] if some and others else nan,
        "precision": caught / (caught + alarms) if caught + alarms else nan,
        "f1": of_paper["f1"] if some else nan,
        "auc": of_paper["auc"],
        "average_precision": float(average_precision_score(positive, scores)) if some and others else nan,
        "opm": of_paper["opm"],
        "brier": float(((p - positive) ** 2).mean()),
    }
    return {
        "positive": saved.labels[saved.positive or 0],
        "negative": saved.labels[1 - (saved.positive or 0)],
        "confusion": {"caught": caught, "missed": missed, "false_alarms": alarms, "left_alone": alone},
        "measures": {name: None if isnan(value) else value for name, value in measures.items()},
    }


def _order(saved: Saved) -> list[int]:
    """The other class, then the one to be found."""
    return [1, 0] if saved.positive == 0 else [0, 1]


def _of_many(saved: Saved, true: Any, said: Any) -> dict[str, Any]:
    from sklearn.metrics import f1_score

    from adacc import metrics

    counts = metrics.confusion(true, said, labels=range(len(saved.labels)))
    rows = counts.sum(axis=1)
    recalls = [float(right / n) if n else None for right, n in zip(counts.diagonal(), rows, strict=True)]
    measures = {
        "balanced_accuracy": metrics.balanced_accuracy(true, said),
        "gmean": metrics.gmean(true, said),
        "macro_f1": float(f1_score(true, said, average="macro", zero_division=0.0)),
    }
    return {
        "classes": saved.labels,
        "class_rows": rows.astype(int).tolist(),
        "recall": recalls,
        "measures": measures if (rows > 0).sum() > 1 else dict.fromkeys(measures),
        "confusion": counts.astype(int).tolist(),
    }


SHOWN = {
    "tpr": "TPR: of {positive} caught",
    "tnr": "TNR: of {negative} left alone",
    "balanced_accuracy": "balanced accuracy: mean of the two",
    "gmean": "gmean: their geometric mean",
    "precision": "precision: alarms that are right",
    "f1": "F1: of precision and TPR",
    "auc": "AUC: order of the scores",
    "average_precision": "average precision: order, at the top",
    "opm": "OPM: the paper's mean of six",
    "brier": "Brier: error of the probabilities, 0 is best",
}
IN_PERCENT = ("tpr", "tnr", "balanced_accuracy", "gmean", "precision")


def _text_of_two(found: dict[str, Any]) -> str:
    names = {name: plain(found[name], 24) for name in ("positive", "negative")}
    counts = found["confusion"]
    confusion = table(
        ["", f"said {names['positive']}", f"said {names['negative']}"],
        [
            [f"is {names['positive']}", f"{counts['caught']:,} caught", f"{counts['missed']:,} missed"],
            [
                f"is {names['negative']}",
                f"{counts['false_alarms']:,} false alarms",
                f"{counts['left_alone']:,} left alone",
            ],
        ],
    )
    empty = next((name for name, n in _rows_of_two(counts).items() if n == 0), None)
    undefined = [name for name in SHOWN if empty and name != "precision" and found["measures"][name] is None]
    rows = [
        [text.format(**names), _measure(name, found["measures"][name])]
        for name, text in SHOWN.items()
        if name not in undefined
    ]
    text = f"{confusion}\n\n{table(['measure', ''], rows)}"
    if empty is None:
        return text
    left_out = ", ".join(SHOWN[name].partition(":")[0] for name in undefined)
    return f"{text}\n\n" + fill(
        f"There are no rows of class {names[empty]}, so these are undefined: {left_out}.", width()
    )


def _rows_of_two(counts: dict[str, int]) -> dict[str, int]:
    return {
        "positive": counts["caught"] + counts["missed"],
        "negative": counts["false_alarms"] + counts["left_alone"],
    }


def _measure(name: str, value: float | None) -> str:
    return "-" if value is None else share(value) if name in IN_PERCENT else f"{value:.3f}"


def _text_of_many(found: dict[str, Any]) -> str:
    names = [plain(label, 16) for label in found["classes"]]
    each = zip(names, found["class_rows"], found["recall"], strict=True)
    rows = [[name, f"{n:,}", "-" if recall is None else share(recall)] for name, n, recall in each]
    return (
        f"{table([plain(found['target'], 30), 'rows', 'recall'], rows)}\n\n"
        f"{_means_of_many(found)}\n\n{_confusion(names, found['confusion'])}"
    )


def _means_of_many(found: dict[str, Any]) -> str:
    measures, present = (
        found["measures"],
        [name for name, n in zip(found["classes"], found["class_rows"], strict=True) if n],
    )
    if len(present) == 1:
        text = f"All rows are of class {plain(present[0], 16)}, so balanced accuracy, gmean and macro F1 are undefined."
        return fill(text, width())
    some = "" if len(present) == len(found["classes"]) else f" (of the {len(present)} classes that have rows)"
    return (
        f"balanced accuracy {share(measures['balanced_accuracy'])}, gmean {share(measures['gmean'])}{some}, "
        f"macro F1 {measures['macro_f1']:.3f}"
    )


def _confusion(names: list[str], counts: list[list[int]]) -> str:
    """The whole table if the terminal is wide enough, otherwise what is confused most."""
    rows = [[f"is {name}", *(f"{n:,}" for n in row)] for name, row in zip(names, counts, strict=True)]
    whole = table(["", *(f"said {name}" for name in names)], rows)
    if max(map(len, whole.splitlines())) <= width():
        return whole
    pairs = [(n, i, j) for i, row in enumerate(counts) for j, n in enumerate(row) if i != j and n]
    pairs.sort(key=lambda pair: -pair[0])
    rows = [[f"is {names[i]}", f"said {names[j]}", f"{n:,}"] for n, i, j in pairs[:MOST_CONFUSIONS]]
    rest = f"\n{len(pairs) - MOST_CONFUSIONS} more pairs; --json has all" if len(pairs) > MOST_CONFUSIONS else ""
    return table(["", "", "rows"], rows, left=(0, 1)) + rest
