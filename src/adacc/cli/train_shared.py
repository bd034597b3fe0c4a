"""Shared by `adacc train` in memory and out of core."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from adacc.cli.terminal import join_names

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from adacc.estimators.base import BaseAdditiveClassifier


class Trained(NamedTuple):
    """A trained model, the kinds of its columns, and its confusion matrix."""

    model: BaseAdditiveClassifier
    kinds: Mapping[str, str]
    positive: Any  # the positive class; None if multi-class
    others: list[str]  # labels merged into 'other'
    # (n_classes, n_classes): confusion matrix of the training rows: rows are true classes, columns predicted ones
    counts: NDArray[Any]


def split_columns(options: Namespace) -> list[str]:
    """The columns of --group and --time, which are not features."""
    names = [name for name in (options.group, options.time) if name is not None]
    if options.target in names:
        raise ValueError(f"--target {options.target} cannot also be given as --group or --time")
    return names


def dropped_columns(options: Namespace) -> list[str]:
    """The columns of --drop and --id."""
    return [*options.drop, *([] if options.id is None else [options.id])]


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
