"""The measures of the AdaCC paper, and the cost of predictions.

Each takes true and predicted labels, as scikit-learn's metrics do, so that ``make_scorer(adacc.metrics.gmean)`` is a
scorer. The positive class of two is the rarer one among the true labels unless `pos_label` says otherwise: name it
where a fold is so small that the rarer one may change.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from adacc.docstrings import described

Array = NDArray[np.float64]

__all__ = [
    "auc", "balanced_accuracy", "confusion", "cost_loss", "evaluate", "f1", "gmean", "naive_baseline", "opm",
    "savings_score", "tnr", "tpr",
]  # fmt: skip

ARGUMENTS = {
    "y_true": "array of shape (n_samples,)\n    True labels.",
    "y_pred": "array of shape (n_samples,)\n    Predicted labels.",
    "y_score": "array of shape (n_samples,)\n    Scores of the positive class.",
    "labels": "array of shape (n_classes,)\n    The order of rows and columns; None: all labels that occur, sorted.",
    "pos_label": "label\n    The positive class; None for the rarer one.",
    "sample_weight": "array of shape (n_samples,)\n    Weights of the rows: a row of weight 2 counts as two rows.",
    "fp_cost": "float or array of shape (n_samples,)\n    Cost of a false alarm, for all rows or for each.",
    "fn_cost": "float or array of shape (n_samples,)\n    Cost of a false negative (a missed positive row).",
    "tp_cost": "float or array of shape (n_samples,)\n    Cost of a true positive, such as the cost of an inspection.",
    "tn_cost": "float or array of shape (n_samples,)\n    Cost of a true negative.",
    "normalize": "bool\n    Whether to return the mean cost of a row instead of the sum.",
    "baseline": """{"zero_one", "zero", "one"}
    Constant prediction to compare with: always negative ("zero"), always positive ("one"), or the cheaper of the two
    ("zero_one"), as in the paper; `naive_baseline` tells which one that is.""",
}


@described(ARGUMENTS, returns="ndarray of shape (n_classes, n_classes)")
def confusion(
    y_true: ArrayLike, y_pred: ArrayLike, *, labels: ArrayLike | None = None, sample_weight: ArrayLike | None = None
) -> Array:
    """Confusion matrix: weight of the rows of each (true, predicted) pair of labels.

    Examples
    --------
    >>> confusion([0, 0, 0, 1, 1], [0, 0, 1, 1, 0])
    array([[2., 1.],
           [1., 1.]])
    """
    true, predicted = _pair(y_true, "y_pred", y_pred)
    order = np.union1d(true, predicted) if labels is None else np.asarray(labels)
    place = {label: at for at, label in enumerate(order.tolist())}
    unknown = [label for label in [*np.unique(true).tolist(), *np.unique(predicted).tolist()] if label not in place]
    if unknown:
        raise ValueError(f"labels must name every class, but {unknown[0]!r} is not among {order.tolist()}")
    rank = np.argsort(order, kind="stable")
    pair = [rank[np.searchsorted(order, each, sorter=rank)] for each in (true, predicted)]
    counts: Array = np.zeros((len(order), len(order)))
    np.add.at(counts, tuple(pair), _weights(sample_weight, len(true)))
    return counts


@described(ARGUMENTS, returns="float")
def tpr(
    y_true: ArrayLike, y_pred: ArrayLike, *, pos_label: Any = None, sample_weight: ArrayLike | None = None
) -> float:
    """True positive rate (recall), TP / (TP + FN); 0 if there are no positive rows.

    Examples
    --------
    >>> tpr([0, 0, 0, 1, 1], [0, 0, 1, 1, 0])
    0.5
    """
    (_, _), (false_negatives, true_positives) = _against_the_rest(y_true, y_pred, pos_label, sample_weight)
    return float(share(true_positives, false_negatives))


@described(ARGUMENTS, returns="float")
def tnr(
    y_true: ArrayLike, y_pred: ArrayLike, *, pos_label: Any = None, sample_weight: ArrayLike | None = None
) -> float:
    """True negative rate (specificity), TN / (TN + FP); 0 if there are no negative rows.

    Examples
    --------
    >>> round(tnr([0, 0, 0, 1, 1], [0, 0, 1, 1, 0]), 3)
    0.667
    """
    (true_negatives, false_positives), (_, _) = _against_the_rest(y_true, y_pred, pos_label, sample_weight)
    return float(share(true_negatives, false_positives))


@described(ARGUMENTS, returns="float")
def balanced_accuracy(y_true: ArrayLike, y_pred: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Mean recall of the classes in `y_true`; for two classes (TPR + TNR) / 2.

    Examples
    --------
    >>> round(balanced_accuracy([0, 0, 0, 1, 1], [0, 0, 1, 1, 0]), 3)
    0.583
    """
    return float(_recalls(y_true, y_pred, sample_weight).mean())


@described(ARGUMENTS, returns="float")
def gmean(y_true: ArrayLike, y_pred: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Geometric mean of the recalls of the classes in `y_true`; for two classes √(TPR·TNR).

    0 if no row of a class is predicted correctly.

    Examples
    --------
    >>> round(gmean([0, 0, 0, 1, 1], [0, 0, 1, 1, 0]), 3)
    0.577
    """
    recalls = _recalls(y_true, y_pred, sample_weight)
    return float(np.exp(np.log(recalls).mean())) if recalls.all() else 0.0


@described(ARGUMENTS, returns="float")
def f1(y_true: ArrayLike, y_pred: ArrayLike, *, pos_label: Any = None, sample_weight: ArrayLike | None = None) -> float:
    """F1 score, 2·TP / (2·TP + FP + FN); the macro average for more than two classes without `pos_label`.

    Examples
    --------
    >>> f1([0, 0, 0, 1, 1], [0, 0, 1, 1, 0])
    0.5
    """
    labels = np.union1d(*_pair(y_true, "y_pred", y_pred))
    if pos_label is None and len(labels) > 2:
        each = [f1(y_true, y_pred, pos_label=label, sample_weight=sample_weight) for label in labels]
        return float(np.mean(each))
    (_, false_positives), (false_negatives, true_positives) = _against_the_rest(
        y_true, y_pred, pos_label, sample_weight
    )
    return float(f1_of_counts(true_positives, false_positives, false_negatives))


@described(ARGUMENTS, returns="float")
def auc(
    y_true: ArrayLike, y_score: ArrayLike, *, pos_label: Any = None, sample_weight: ArrayLike | None = None
) -> float:
    """Area under the ROC curve: the probability that a positive row scores above a negative one; ties count half.

    NaN where only one class is present.

    Examples
    --------
    >>> auc([0, 0, 0, 1, 1], [0.1, 0.4, 0.3, 0.4, 0.9])
    0.9166666666666666
    """
    true, scores = _pair(y_true, "y_score", np.asarray(y_score, dtype=np.float64))
    weight = _weights(sample_weight, len(true))
    positive = true == _positive(true, true, pos_label, weight)
    _, level = np.unique(scores, return_inverse=True)
    positives, others = np.bincount(level, weight * positive), np.bincount(level, weight * ~positive)
    pairs = positives.sum() * others.sum()
    below = np.cumsum(others) - others / 2
    return float((positives * below).sum() / pairs) if pairs > 0 else float("nan")


@described(ARGUMENTS, returns="float")
def opm(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    y_score: ArrayLike,
    *,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Overall performance measure of the paper: the mean of AUC, balanced accuracy, gmean, F1, TPR and TNR.

    Examples
    --------
    >>> round(opm([0, 0, 0, 1, 1], [0, 0, 1, 1, 0], [0.1, 0.4, 0.3, 0.4, 0.9]), 3)
    0.624
    """
    return evaluate(y_true, y_pred, y_score, pos_label=pos_label, sample_weight=sample_weight)["opm"]


@described(ARGUMENTS, returns="dict\n    ``balanced_accuracy``, ``gmean``, ``tpr``, ``tnr``, ``f1``, ``auc``, ``opm``.")
def evaluate(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    y_score: ArrayLike,
    *,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
) -> dict[str, float]:
    """All measures of two classes, in the order of the paper's tables.

    Examples
    --------
    >>> found = evaluate([0, 0, 0, 1, 1], [0, 0, 1, 1, 0], [0.1, 0.4, 0.3, 0.4, 0.9])
    >>> {name: round(value, 2) for name, value in found.items()}
    {'balanced_accuracy': 0.58, 'gmean': 0.58, 'tpr': 0.5, 'tnr': 0.67, 'f1': 0.5, 'auc': 0.92, 'opm': 0.62}
    """
    of_positive: dict[str, Any] = {"pos_label": pos_label, "sample_weight": sample_weight}
    (true_negatives, false_positives), (false_negatives, true_positives) = _against_the_rest(
        y_true, y_pred, **of_positive
    )
    positives, negatives = true_positives + false_negatives, true_negatives + false_positives
    of_rare, of_others = float(share(true_positives, false_negatives)), float(share(true_negatives, false_positives))
    recalls = [rate for rate, rows in ((of_rare, positives), (of_others, negatives)) if rows > 0.0]
    found = {
        "balanced_accuracy": sum(recalls) / len(recalls),
        "gmean": float(np.prod(recalls)) ** (1 / len(recalls)),
        "tpr": of_rare,
        "tnr": of_others,
        "f1": float(f1_of_counts(true_positives, false_positives, false_negatives)),
        "auc": auc(y_true, y_score, **of_positive),
    }
    return {**found, "opm": sum(found.values()) / len(found)}


@described(ARGUMENTS, returns="float")
def cost_loss(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    fp_cost: ArrayLike = 0.0,
    fn_cost: ArrayLike = 0.0,
    tp_cost: ArrayLike = 0.0,
    tn_cost: ArrayLike = 0.0,
    normalize: bool = False,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Total cost of the predictions, with costs of all rows or of each row.

    ``make_scorer(cost_loss, greater_is_better=False, fp_cost=5).set_score_request(fn_cost=True)`` is a scorer that
    receives the `fn_cost` of each row by metadata routing.

    Examples
    --------
    >>> cost_loss([0, 0, 0, 1, 1], [0, 0, 1, 1, 0], fp_cost=5, fn_cost=[10, 20, 30, 40, 50])
    55.0
    """
    true, predicted = _pair(y_true, "y_pred", y_pred)
    costs = (fp_cost, fn_cost, tp_cost, tn_cost)
    positive, cost = _costs_by_row(true, predicted, *costs, pos_label, sample_weight)
    total = float(np.where(predicted == positive, cost[1], cost[0]).sum())
    return total / float(_weights(sample_weight, len(true)).sum()) if normalize else total


class Baseline(NamedTuple):
    """A constant prediction: "zero" (always negative) or "one" (always positive), and its total cost."""

    prediction: str
    cost: float


@described(ARGUMENTS, returns='Baseline\n    The ``prediction``, "zero" or "one", and its total ``cost``.')
def naive_baseline(
    y_true: ArrayLike,
    *,
    fp_cost: ArrayLike = 0.0,
    fn_cost: ArrayLike = 0.0,
    tp_cost: ArrayLike = 0.0,
    tn_cost: ArrayLike = 0.0,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
) -> Baseline:
    """The cheaper of two constant predictions: never an alarm ("zero", also if both cost the same), or always one.

    Examples
    --------
    >>> naive_baseline([0, 0, 0, 1, 1], fp_cost=5, fn_cost=[10, 20, 30, 40, 50])
    Baseline(prediction='one', cost=15.0)
    """
    true = _labels(y_true, "y_true")
    _, cost = _costs_by_row(true, true, fp_cost, fn_cost, tp_cost, tn_cost, pos_label, sample_weight)
    zero, one = cost.sum(axis=1).tolist()
    return Baseline("one", one) if one < zero else Baseline("zero", zero)


@described(ARGUMENTS, returns="float")
def savings_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    fp_cost: ArrayLike = 0.0,
    fn_cost: ArrayLike = 0.0,
    tp_cost: ArrayLike = 0.0,
    tn_cost: ArrayLike = 0.0,
    baseline: str = "zero_one",
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Share of the cost of a constant prediction that the predictions save [Correa Bahnsen et al. 2014].

    (cost of the baseline - cost) / |cost of the baseline|: 1 if the predictions cost nothing, 0 if they cost as much as
    the baseline, negative if they cost more; NaN if the baseline costs nothing. A negative cost is a gain: if the
    baseline gains, the score is the additional gain as a share of that of the baseline, and can exceed 1.

    Examples
    --------
    >>> round(savings_score([0, 0, 0, 1, 1], [0, 0, 1, 1, 0], fp_cost=5, fn_cost=[10, 20, 30, 40, 50]), 3)
    -2.667
    >>> round(savings_score([0, 0, 0, 1, 1], [0, 0, 1, 1, 0], fp_cost=5, fn_cost=50, baseline="zero"), 3)
    0.45
    """
    if baseline not in ("zero_one", "zero", "one"):
        raise ValueError(f"baseline must be 'zero_one', 'zero' or 'one', got {baseline!r}")
    true, predicted = _pair(y_true, "y_pred", y_pred)
    costs = (fp_cost, fn_cost, tp_cost, tn_cost)
    positive, by_row = _costs_by_row(true, predicted, *costs, pos_label, sample_weight)
    zero, one = by_row.sum(axis=1).tolist()
    reference = {"zero_one": min(zero, one), "zero": zero, "one": one}[baseline]
    cost = float(np.where(predicted == positive, by_row[1], by_row[0]).sum())
    return (reference - cost) / abs(reference) if reference else float("nan")


def _costs_by_row(
    true: NDArray[Any],
    predicted: NDArray[Any],
    fp_cost: ArrayLike,
    fn_cost: ArrayLike,
    tp_cost: ArrayLike,
    tn_cost: ArrayLike,
    pos_label: Any,
    sample_weight: ArrayLike | None,
) -> tuple[Any, Array]:
    """The positive class, and the weighted cost of each row for a negative and a positive prediction."""
    given = {"fp_cost": fp_cost, "fn_cost": fn_cost, "tp_cost": tp_cost, "tn_cost": tn_cost}
    costs = {name: np.asarray(cost, dtype=np.float64) for name, cost in given.items()}
    for name, cost in costs.items():
        if cost.shape not in ((), true.shape):
            raise ValueError(
                f"{name} must be a number or one for each of the {len(true)} rows, got the shape {cost.shape}"
            )
        if not np.isfinite(cost).all():
            raise ValueError(f"{name} must be finite, got {cost.flat[int(np.argmin(np.isfinite(cost)))]}")
    weight = _weights(sample_weight, len(true))
    positive = _positive(true, predicted, pos_label, weight)
    is_positive = true == positive
    negative_prediction = np.where(is_positive, costs["fn_cost"], costs["tn_cost"])
    positive_prediction = np.where(is_positive, costs["tp_cost"], costs["fp_cost"])
    return positive, weight * np.array([negative_prediction, positive_prediction])


def _recalls(y_true: ArrayLike, y_pred: ArrayLike, sample_weight: ArrayLike | None) -> Array:
    """The recall of each class that has rows."""
    counts = confusion(y_true, y_pred, sample_weight=sample_weight)
    whole = counts.sum(axis=1)
    return np.diag(counts)[whole > 0.0] / whole[whole > 0.0]


def _against_the_rest(y_true: ArrayLike, y_pred: ArrayLike, pos_label: Any, sample_weight: Any) -> list[list[float]]:
    """The confusion of the positive class with all others: [[TN, FP], [FN, TP]]."""
    true, predicted = _pair(y_true, "y_pred", y_pred)
    positive = _positive(true, predicted, pos_label, _weights(sample_weight, len(true)))
    return confusion(
        true == positive, predicted == positive, labels=[False, True], sample_weight=sample_weight
    ).tolist()


def _pair(y_true: ArrayLike, name: str, values: ArrayLike) -> tuple[NDArray[Any], NDArray[Any]]:
    """The true labels, and the predicted labels or scores, called `name` in errors."""
    true, predicted = _labels(y_true, "y_true"), _labels(values, name)
    if true.shape != predicted.shape:
        raise ValueError(f"y_true and {name} must have the same length, got {len(true)} and {len(predicted)}")
    return true, predicted


def _labels(values: ArrayLike, name: str) -> NDArray[Any]:
    array = np.asarray(values)
    if array.ndim != 1 or len(array) == 0:
        raise ValueError(f"{name} must have one value for each row, and at least one row, got the shape {array.shape}")
    if array.dtype.kind == "f" and np.isnan(array).any():
        raise ValueError(f"{name} must not contain NaN, got NaN in row {int(np.argmax(np.isnan(array)))}")
    return array


def _positive(true: NDArray[Any], predicted: NDArray[Any], pos_label: Any, weight: Array) -> Any:
    """The positive class; `pos_label` must occur, unless all labels are equal and may be those of the other class."""
    if pos_label is not None:
        known = np.union1d(true, predicted).tolist()
        of_one_kind = isinstance(pos_label, str) == isinstance(known[0], str)
        if pos_label not in known and (len(known) > 1 or not of_one_kind):
            raise ValueError(f"pos_label must be one of the labels {known}, got {pos_label!r}")
        return pos_label
    labels, number = np.unique(true, return_inverse=True)
    if len(labels) > 2:
        raise ValueError(f"pos_label must be the positive class, one of {labels.tolist()}")
    counts = np.bincount(number, weight)
    return labels[-1] if counts[-1] <= counts[0] else labels[0]


def _weights(sample_weight: ArrayLike | None, n_rows: int) -> Array:
    weight = np.ones(n_rows) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != (n_rows,):
        raise ValueError(f"sample_weight must have one value for each of the {n_rows} rows, got shape {weight.shape}")
    for invalid, wanted in ((~np.isfinite(weight), "finite"), (weight < 0.0, "not negative")):
        if invalid.any():
            row = int(np.argmax(invalid))
            raise ValueError(f"sample_weight must be {wanted}, got {weight[row]} in row {row}")
    if not weight.any():
        raise ValueError("sample_weight must not be zero for every row")
    return weight


def share(part: Any, rest: Any) -> Array:
    """The ratio of a part to the sum, by element; 0 if both are 0."""
    return _ratio(part, part + rest)


def f1_of_counts(true_positives: Any, false_positives: Any, false_negatives: Any) -> Array:
    """F1 score of weighted counts, by element."""
    return share(2.0 * true_positives, false_positives + false_negatives)


def f1_of_totals(true_positives: Any, total: Any) -> Array:
    """F1 score, by element; `total` is the weight of the predicted positives plus that of the actual positives."""
    return _ratio(2.0 * true_positives, total)


def _ratio(part: Any, whole: Any) -> Array:
    return np.divide(part, whole, out=np.zeros_like(whole), where=np.greater(whole, 0.0))
