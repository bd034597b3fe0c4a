"""Validation of X, y, sample weights and groups, and their conversion to a `TrainingSet`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import assert_all_finite, check_consistent_length, column_or_1d, get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from adacc.algorithms.base import Array
from adacc.boosting.settings import Settings
from adacc.data.columns import ArrayTable, Table, check_exact, is_frame, is_missing, read
from adacc.data.training_set import TrainingSet
from adacc.data.weights import scale_weights
from adacc.estimators.folds import TimeSplit, check_groups
from adacc.kernels import dtypes


def columns_of(estimator: Any) -> tuple[int | None, tuple[str, ...] | None]:
    """Number and names of the columns that scikit-learn's validation recorded; None if it recorded none."""
    names = getattr(estimator, "feature_names_in_", None)
    return getattr(estimator, "n_features_in_", None), None if names is None else tuple(names)


def set_columns(estimator: Any, n_features: int | None, names: Iterable[str] | None) -> None:
    """Record the columns as scikit-learn's validation does; None removes the attribute."""
    array = None if names is None else np.array(list(names), dtype=object)
    set_attributes(estimator, {"n_features_in_": n_features, "feature_names_in_": array})


def set_attributes(estimator: Any, values: Mapping[str, Any]) -> None:
    """Set fitted attributes; None removes an attribute of an earlier fit."""
    for name, value in values.items():
        if value is not None:
            setattr(estimator, name, value)
        elif name in vars(estimator):
            delattr(estimator, name)


@contextmanager
def columns_restored_on_failure(estimator: Any) -> Iterator[None]:
    """Restore the recorded columns if `fit` fails; it sets all other attributes at its end."""
    before = columns_of(estimator)
    try:
        yield
    except BaseException:
        set_columns(estimator, *before)
        raise


def read_table(estimator: Any, X: Any, reset: bool, has_labels: bool = False) -> Table:
    """Convert X to a table. Its columns are checked against those of `fit`, or recorded if `reset`.

    `has_labels` tells whether some columns of `fit` were categorical, so that an array may hold labels.
    """
    if not reset and not has_labels and _is_plain_matrix(estimator, X):
        return ArrayTable(X)
    if is_frame(X):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        if 0 in X.shape:
            raise ValueError(f"X must have rows and columns, got {X.shape[0]} rows and {X.shape[1]} columns")
        return read(X)
    if type(X).__name__ == "LazyFrame":
        raise TypeError("X must be a data frame or an array, got a LazyFrame; call its method collect() first")
    if getattr(getattr(X, "dtype", None), "kind", "f") in "mM":
        raise TypeError(f"X has the type {X.dtype}; adacc takes numbers, and categories as columns of a frame")
    if has_labels and not sparse.issparse(X):
        return ArrayTable(validate_data(estimator, X, reset=reset, dtype=object, ensure_all_finite=False))
    accepted = get_tags(estimator).input_tags
    if isinstance(X, np.ndarray) and X.dtype == object:
        _check_integers(X)
        X = np.where(np.frompyfunc(is_missing, 1, 1)(X).astype(bool), np.nan, X)  # NumPy cannot convert pandas.NA
    try:
        with np.errstate(invalid="ignore"):  # scikit-learn's sum of all values may be inf - inf
            checked = validate_data(
                estimator,
                X,
                reset=reset,
                accept_sparse=["csr", "csc"] if accepted.sparse else False,
                dtype="numeric",
                ensure_all_finite="allow-nan" if accepted.allow_nan else True,
            )
    except OverflowError:
        raise ValueError("X holds a whole number that is too large for a float") from None
    except (TypeError, ValueError) as error:
        if "could not convert string" not in str(error) and "arrays of bytes/strings" not in str(error):
            raise type(error)(f"{error}{_first_non_number(X)}") from None
        raise ValueError(f"{error} Give strings as columns of a frame, which are used as categories.") from None
    return read(checked)


def _is_plain_matrix(estimator: Any, X: Any) -> bool:
    """Whether X is a valid array of floats with as many columns as in `fit`, which had no names.

    The validation of scikit-learn takes longer than the prediction of one row.
    """
    return (
        type(X) is np.ndarray
        and X.dtype == np.float64
        and X.ndim == 2
        and len(X) > 0
        and columns_of(estimator) == (X.shape[1], None)
        and not np.isinf(X).any()
        and (get_tags(estimator).input_tags.allow_nan or not np.isnan(X).any())
    )


def read_training(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    groups: Any = None,
    reset: bool = True,
    sample_cost: Any = None,
) -> TrainingSet:
    """Validate X, y, the weights, groups and costs of the rows, and record the columns."""
    if y is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None")
    table = read_table(estimator, X, reset=reset)
    labels = check_labels(y, "y")
    check_consistent_length(table.native, labels)
    weight = check_weight(sample_weight, table.n_rows, "sample_weight")
    are_times = any(isinstance(getattr(estimator, cv, None), TimeSplit) for cv in ("calibration_cv", "tuning_cv"))
    group = check_groups(groups, table.n_rows, are_times)
    cost = None if sample_cost is None else read_weight(sample_cost, table.n_rows, "sample_cost")
    used = np.flatnonzero(weight)
    has_zero_weights = len(used) < table.n_rows
    if has_zero_weights:
        table, labels, weight = table.take(used), labels[used], weight[used]
        group = None if group is None else group[used]
        cost = None if cost is None else cost[used]
    if cost is not None and not cost.any():
        raise ValueError(NO_WEIGHT.format("sample_cost"))
    classes, true = number_labels(labels)
    check_classes(classes, has_zero_weights)
    negative_class = find_negative_class(estimator.pos_label, classes, np.bincount(true, weight), np.bincount(true))
    return TrainingSet(table, true, weight, classes, negative_class, used, group, cost)


def hold_out(
    estimator: Any, settings: Settings, training_set: TrainingSet, X_val: Any, y_val: Any, sample_weight_val: Any
) -> tuple[TrainingSet, TrainingSet | None]:
    """Training rows and validation rows for early stopping; None if there is no early stopping."""
    if (X_val is None) != (y_val is None) or (X_val is None and sample_weight_val is not None):
        raise ValueError("X_val and y_val must be given together, and sample_weight_val only with them")
    if settings.patience is None:
        if X_val is not None:
            raise ValueError("X_val is used for early stopping only: set n_iter_no_change as well")
        return training_set, None
    if X_val is None:
        return training_set.split(settings.validation_fraction, settings.seed)
    try:
        table = read_table(estimator, X_val, reset=False, has_labels=bool(training_set.table.categorical.any()))
    except (TypeError, ValueError) as error:
        raise type(error)(f"X_val: {error}") from None
    labels = check_labels(y_val, "y_val")
    check_consistent_length(table.native, labels)
    weight = check_weight(sample_weight_val, table.n_rows, "sample_weight_val")
    unknown = np.setdiff1d(labels, training_set.classes)
    if len(unknown):
        raise ValueError(f"y_val must have labels of y, got {unknown.tolist()[0]!r}")
    true = np.searchsorted(training_set.classes, labels)
    lacking = np.flatnonzero(np.bincount(true, weight, len(training_set.classes)) == 0.0)
    if len(lacking):
        what = "row" if sample_weight_val is None else "row of positive sample_weight_val"
        raise ValueError(
            "early stopping (n_iter_no_change) needs validation rows of every class, but y_val has no "
            f"{what} of class {training_set.classes.tolist()[lacking[0]]!r}; add some, or leave out X_val and y_val to "
            "hold out a share of every class"
        )
    return training_set, TrainingSet(
        table, true, weight, training_set.classes, training_set.negative_class, np.arange(len(true))
    )


def find_negative_class(
    pos_label: Any, classes: NDArray[Any], class_weight: NDArray[Any], class_rows: NDArray[Any]
) -> int:
    """Number of the class that wins ties: the negative of two classes, the first of more.

    By default it is the class of more weight. If sample weights balance the classes, it is the one with more rows.
    """
    if pos_label is None:
        if len(classes) != 2:
            return 0
        balanced = np.isclose(class_weight[0], class_weight[1], rtol=BALANCED)
        sizes = class_rows if balanced else class_weight
        return int(sizes[1] > sizes[0])
    if len(classes) != 2:
        raise ValueError(
            f"pos_label must be None for more than two classes, got {pos_label!r} for {len(classes)} classes"
        )
    labels = classes.tolist()
    if np.ndim(pos_label) or pos_label not in labels:
        raise ValueError(f"pos_label must be one of {labels}, got {pos_label!r}")
    return 1 - labels.index(pos_label)


def _check_integers(X: NDArray[Any]) -> None:
    """Raise an error for integers in an array of objects that are too large for floats."""
    for column in range(X.shape[1] if X.ndim == 2 else 0):
        whole = [value for value in X[:, column] if isinstance(value, int | np.integer)]
        check_exact(min(whole, default=0), max(whole, default=0), f"column {column}")


def _first_non_number(X: Any) -> str:
    """Position of the first value of an object array that is not a number, for error messages."""
    if isinstance(X, np.ndarray) and X.dtype == object and X.ndim == 2:
        for (row, column), value in np.ndenumerate(X):
            if not isinstance(value, Real):
                return f" (X holds {value!r} in row {row}, column {column})"
    return ""


def check_classes(classes: NDArray[Any], has_zero_weights: bool) -> None:
    """Check the number of classes; `has_zero_weights` tells whether rows of zero weight were removed."""
    if not 2 <= len(classes) <= dtypes.MAX_CLASSES:
        got = f"only one class, {classes.tolist()[0]!r}" if len(classes) == 1 else f"{len(classes)} classes"
        where = " among the rows of positive sample_weight" if has_zero_weights else ""
        raise ValueError(f"y must have from 2 to {dtypes.MAX_CLASSES} classes, got {got}{where}")


def check_labels(y: Any, name: str) -> NDArray[Any]:
    labels = y if type(y) is np.ndarray and y.ndim == 1 else column_or_1d(y, warn=True)
    if labels.dtype.kind == "f":
        assert_all_finite(labels, input_name=name)
    if labels.dtype == object:
        row = next((row for row, label in enumerate(labels) if is_missing(label)), None)
        if row is not None:
            raise ValueError(f"{name} must not have missing labels, got one in row {row}; remove such rows")
    if labels.dtype == object and len({isinstance(label, str) for label in labels}) > 1:
        types = ", ".join(sorted({type(label).__name__ for label in labels}))
        raise TypeError(f"{name} must have labels of one kind, got {types}")
    # For long integer labels the check is skipped: it could only find too many classes, as `check_classes` does.
    if labels.dtype.kind not in "biu" or len(labels) <= 2 * dtypes.MAX_CLASSES:
        check_classification_targets(labels)
    return labels


def number_labels(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """The distinct labels, ascending, and the class of each row by number."""
    if labels.dtype.kind in "iu" and len(labels):
        smallest, largest = int(labels.min()), int(labels.max())
        if largest - smallest < len(labels) and largest < 2**63:  # counting is faster than sorting
            offsets = labels.astype(np.int64) - smallest
            present = np.bincount(offsets) > 0
            numbers = offsets if present.all() else (np.cumsum(present) - 1)[offsets]
            return (smallest + np.flatnonzero(present)).astype(labels.dtype), numbers
    classes = np.unique(labels)
    return classes, np.searchsorted(classes, labels)


def check_weight(sample_weight: Any, n_rows: int, name: str) -> Array:
    """Validate the weights, and scale them by a power of two; not all may be zero."""
    weight = read_weight(sample_weight, n_rows, name)
    if sample_weight is None:
        return weight
    if not weight.any():
        raise ValueError(NO_WEIGHT.format(name))
    return scale_weights(weight)


BALANCED = 1e-9
"""Largest relative difference of the summed weights of two classes that sample weights balance."""

NO_WEIGHT = "{} must not be zero for every row"


def read_weight(sample_weight: Any, n_rows: int, name: str) -> Array:
    """Validate the weights."""
    if sample_weight is None:
        return np.ones(n_rows)
    try:
        weight = np.array(sample_weight, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be numbers, one for each row, got {sample_weight!r:.60}") from None
    if weight.ndim == 0:
        weight = np.full(n_rows, weight)
    if weight.shape != (n_rows,):
        raise ValueError(f"{name} must have one value for each of the {n_rows} rows, got the shape {weight.shape}")
    for invalid, wanted in ((~np.isfinite(weight), "finite"), (weight < 0.0, "not negative")):
        if invalid.any():
            row = int(np.argmax(invalid))
            raise ValueError(f"{name} must be {wanted}, got {weight[row]} in row {row}")
    return weight
