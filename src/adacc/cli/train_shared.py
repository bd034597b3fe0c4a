"""Shared by `adacc train` in memory and out of core."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from adacc.cli.decisions import other_columns
from adacc.cli.terminal import join_names

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from adacc.estimators.base import BaseAdditiveClassifier
    from adacc.model.decision_spec import DecisionSpec
    from adacc.tables.sources import OpenTable


class TrainingResult(NamedTuple):
    """A trained model, the kinds of its columns, and its confusion matrix."""

    model: BaseAdditiveClassifier
    kinds: Mapping[str, str]
    positive: Any  # the positive class; None if multi-class
    others: list[str]  # labels merged into 'other'
    # (n_classes, n_classes): confusion matrix of the training rows: rows are true classes, columns predicted ones
    counts: NDArray[Any]
    held_out: dict[str, Any] | None = None  # the estimate of `adacc.comparison.held_out`
    no_held_out: str | None = None  # the reason if the rows allow no estimate
    fingerprints: dict[str, Any] | None = None  # of training rows; None if they are not in memory


def class_rows(trained: TrainingResult) -> dict[str, int]:
    """Number of training rows of each class."""
    labels = trained.model.classes_.tolist()
    return {str(label): int(n) for label, n in zip(labels, trained.counts.sum(axis=1), strict=True)}


def split_columns(options: Namespace) -> list[str]:
    """The columns of --group and --time, which are not features."""
    names = [name for name in (options.group, options.time) if name is not None]
    if options.target in names:
        raise ValueError(f"--target {options.target} cannot also be given as --group or --time")
    return names


def dropped_columns(options: Namespace) -> list[str]:
    """The columns of --drop and --id."""
    return [*options.drop, *([] if options.id is None else [options.id])]


def monotonic_by_name(
    given: dict[str, int] | None, kinds: Mapping[str, str], y: NDArray[Any], positive: Any
) -> dict[str, int] | None:
    """Constraints of the score of the positive class as those of the second class, which the classifiers take."""
    import numpy as np

    if given is None:
        return None
    for name in given:
        if name not in kinds:
            raise ValueError(f"--monotonic must name features, got {name!r}; these are {join_names([*kinds], 20)}")
        if kinds[name] != "number":
            raise ValueError(f"--monotonic must name numeric features, got {name!r}, whose values are categories")
    if positive is None:
        raise ValueError("--monotonic needs two classes; give the class to be found by --positive")
    sign = 1 if np.unique(y).tolist()[1] == positive else -1
    return {name: sign * direction for name, direction in given.items()}


def check_rule_columns(spec: DecisionSpec | None, opened: OpenTable, options: Namespace) -> None:
    """Raise an error if the table lacks a column that the rule names, or does not use it where it must be tuned on."""
    from adacc.tables.errors import missing_column

    for name in () if spec is None else spec.columns:
        if name not in opened.names:
            raise missing_column(opened.where, name, opened.names)
        if spec is not None and spec.needs_tuning and name in (*dropped_columns(options), *split_columns(options)):
            raise ValueError(
                f"the rule {str(spec)!r} is tuned in training, for which {name!r} must be a feature: leave out "
                "'tuned', or set the rule with `adacc decide` on other rows"
            )


def decides_on(model: BaseAdditiveClassifier, features: Collection[str]) -> bool:
    """Whether the rule of the model, if it has one, decides on single rows by their features alone."""
    decision = model.decision_
    return decision is None or not (decision.spec.is_ranked or other_columns(decision.spec, features))


def predict_training_rows(model: BaseAdditiveClassifier, X: Any) -> NDArray[Any]:
    """Predictions of the training rows; by the scores if the rule ranks rows or needs a column that is no feature."""
    if decides_on(model, X.columns):
        return model.predict(X)
    fitted = model.fitted_model_
    return fitted.labels(model.decision_function(X))


def costs_by_label(given: str | dict[str, float] | None, y: NDArray[Any]) -> Any:
    """Costs by label instead of by the text of the label."""
    import numpy as np

    from adacc.tables import find_label

    if not isinstance(given, dict):
        return given
    labels = np.unique(y).tolist()
    index = {text: find_label(text, labels) for text in given}
    unknown = [text for text, k in index.items() if k is None]
    if unknown:
        raise ValueError(
            f"--costs must name labels of the target, got {unknown[0]!r}; the labels are {join_names(labels, 20)}"
        )
    return {labels[k]: given[text] for text, k in index.items() if k is not None}
