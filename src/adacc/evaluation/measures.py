"""The measures of a comparison: names, descriptions and number format, the same in terminal and report.

Shares of rows (balanced accuracy, gmean, TPR, TNR, precision) are shown in per cent with one decimal, all other
measures as numbers with three decimals. JSON stores fractions between 0 and 1, unrounded, and seconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import floor, log10, nan
from typing import Any


@dataclass(frozen=True)
class Measure:
    """Name, column head, description and number format of a measure."""

    label: str
    short: str
    about: str
    percent: bool = False
    low_is_good: bool = False

    @property
    def factor(self) -> float:
        """Factor from the stored value to the value shown."""
        return 100.0 if self.percent else 1.0

    @property
    def unit(self) -> str:
        """Unit of the value shown."""
        return "%" if self.percent else ""


MEASURES = {
    "balanced_accuracy": Measure("Balanced accuracy", "Bal. acc.", "mean of TPR and TNR", True),
    "gmean": Measure("Gmean", "Gmean", "geometric mean of TPR and TNR", True),
    "tpr": Measure("TPR", "TPR", "true positive rate, or recall: share of positive rows predicted positive", True),
    "tnr": Measure("TNR", "TNR", "true negative rate, or specificity: share of negative rows predicted negative", True),
    "precision": Measure("Precision", "Precision", "share of true positives among the positive predictions", True),
    "f1": Measure("F1", "F1", "harmonic mean of precision and TPR"),
    "auc": Measure("AUC", "AUC", "area under the ROC curve"),
    "average_precision": Measure("Average precision", "AP", "mean precision over all values of the TPR"),
    "opm": Measure("OPM", "OPM", "mean of AUC, balanced accuracy, gmean, F1, TPR and TNR"),
    "brier": Measure("Brier score", "Brier", "mean squared error of the probabilities; low is good", low_is_good=True),
    "seconds": Measure("Seconds", "Seconds", "time to tune and fit one fold; low is good", low_is_good=True),
}
"""The measures of two classes."""

MULTICLASS_MEASURES = {
    "balanced_accuracy": Measure("Balanced accuracy", "Bal. acc.", "mean recall of the classes", True),
    "gmean": Measure("Gmean", "Gmean", "geometric mean of the recalls of the classes", True),
    "macro_f1": Measure("Macro F1", "Macro F1", "mean of the F1 scores of the classes, each against the rest"),
    "auc": Measure("AUC", "AUC", "mean area under the ROC curves of all pairs of classes (one against one)"),
    "seconds": MEASURES["seconds"],
}
"""The measures of more than two classes; the recall of each class is beside them."""

RECALL = Measure("Recall", "Recall", "share of the rows of a class that are predicted correctly", True)

FORMATS = MULTICLASS_MEASURES | MEASURES | {"recall": RECALL}
"""Labels and number formats by name; a name has the same for two classes as for more."""

MISSING = "–"


def binary_measures(positive: Any, predicted: Any, scores: Any, probabilities: Any) -> dict[str, float]:
    """All measures but the seconds, from true and predicted labels (booleans); NaN for undefined measures."""
    from sklearn.metrics import average_precision_score

    from adacc import metrics
    from adacc.estimators.cutoffs import brier

    any_positive, any_negative, n_predicted = bool(positive.any()), not positive.all(), int(predicted.sum())
    both = any_positive and any_negative
    defined = {"tpr": any_positive, "f1": any_positive, "tnr": any_negative, "balanced_accuracy": both, "gmean": both}
    found = metrics.evaluate(positive, predicted, scores, pos_label=True)
    return {
        **{name: value if defined.get(name, True) else nan for name, value in found.items()},
        "precision": int((predicted & positive).sum()) / n_predicted if n_predicted else nan,
        "average_precision": float(average_precision_score(positive, scores)) if both else nan,
        "brier": brier(probabilities, positive),
    }


def multiclass_measures(true: Any, predicted: Any, probabilities: Any) -> dict[str, Any]:
    """All measures of several classes but the seconds, and ``recall``, a list by class; NaN for undefined measures.

    Classes are numbered like the columns of the probabilities. A class without rows has no recall, and does not count
    in the means, except that its false positives lower macro F1, as in scikit-learn.
    """
    import numpy as np

    from adacc import metrics

    counts = metrics.confusion(true, predicted, labels=range(probabilities.shape[1]))
    correct, rows, n_predicted = counts.diagonal(), counts.sum(axis=1), counts.sum(axis=0)
    present, occurs = rows > 0.0, rows + n_predicted > 0.0
    recall = np.divide(correct, rows, out=np.full(len(rows), nan), where=present)
    several = int(present.sum()) > 1
    return {
        "balanced_accuracy": float(recall[present].mean()) if several else nan,
        "gmean": metrics.gmean(true, predicted) if several else nan,
        "macro_f1": float(metrics.f1_of_totals(correct, rows + n_predicted)[occurs].mean()) if several else nan,
        "auc": pairwise_auc(true, probabilities),
        "recall": recall.tolist(),
    }


def pairwise_auc(true: Any, probabilities: Any) -> float:
    """The mean AUC of all pairs of classes that have rows [Hand and Till 2001]; NaN if only one has.

    The AUC of a pair is the mean of two: rows of the two classes ranked by the probability of one, and of the other.
    """
    import numpy as np

    from adacc import metrics

    classes = np.unique(true)
    members = {k: np.flatnonzero(true == k) for k in classes.tolist()}
    areas = []
    for i, j in combinations(members, 2):
        rows = np.concatenate([members[i], members[j]])
        areas += [metrics.auc(true[rows], probabilities[rows, k], pos_label=k) for k in (i, j)]
    return float(np.mean(areas)) if areas else nan


def confusion_counts(tp: int, fn: int, fp: int, tn: int) -> dict[str, int]:
    """The confusion counts of two classes by their names in JSON."""
    return {"true_positives": tp, "false_negatives": fn, "false_positives": fp, "true_negatives": tn}


def shown(name: str, value: float | None) -> str:
    """The value of a measure as text.

    Examples
    --------
    >>> shown("tpr", 0.8342), shown("auc", 0.98765), shown("seconds", 12.3456), shown("f1", None)
    ('83.4%', '0.988', '12.35', '–')
    """
    if value is None:
        return MISSING
    if name == "seconds":
        return f"{value:.3f}" if value < 0.1 else f"{value:,.2f}"
    return f"{100 * value:.1f}%" if FORMATS[name].percent else f"{value:.3f}"


def spread(name: str, std: float | None) -> str:
    """The standard deviation beside a mean, without its unit; empty if there is none.

    Examples
    --------
    >>> spread("tpr", 0.0123), spread("auc", 0.0042), spread("auc", None)
    ('± 1.2', '± 0.004', '')
    """
    return "" if std is None else "± " + shown(name, std).removesuffix("%")


def gap(name: str, difference: float) -> str:
    """The size of a difference, as a sentence has it.

    Examples
    --------
    >>> gap("balanced_accuracy", -0.0123), gap("auc", 0.004), gap("auc", 0.00012)
    ('1.2 percentage points of balanced accuracy', '0.004 of AUC', '0.00012 of AUC')
    """
    size, points = abs(difference) * FORMATS[name].factor, " percentage points" if FORMATS[name].percent else ""
    text = f"{size:.1f}" if points else shown(name, size)
    if float(text.replace(",", "")) == 0.0:
        text = f"{size:.{1 - floor(log10(size))}f}" if size else "0"  # two digits of what would be shown as 0
    return f"{text}{points} of {in_sentence(name)}"


def signed_difference(name: str, difference: float) -> str:
    """A difference in the unit of the measure, with its sign.

    Examples
    --------
    >>> signed_difference("balanced_accuracy", -0.0123), signed_difference("auc", 0.004)
    ('−1.2', '+0.004')
    """
    digits = 1 if FORMATS[name].percent else 3
    return f"{difference * FORMATS[name].factor:+.{digits}f}".replace("-", "−")


def in_sentence(name: str) -> str:
    """The label of a measure within a sentence: lower case, but abbreviations stay.

    Examples
    --------
    >>> [in_sentence(name) for name in ("balanced_accuracy", "gmean", "auc", "macro_f1", "brier")]
    ['balanced accuracy', 'gmean', 'AUC', 'macro F1', 'Brier score']
    """
    if name == "brier":
        return FORMATS[name].label
    return " ".join(word if word.isupper() else word.lower() for word in FORMATS[name].label.split())
