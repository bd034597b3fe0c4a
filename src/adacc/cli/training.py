"""What training in memory and from disk share on the command line."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from adacc.cli.show import listed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from adacc.estimators.base import BaseAdditiveClassifier


class Trained(NamedTuple):
    """A model, what the columns that it was trained on hold, and what came of it.

    Attributes
    ----------
    positive : label or None
        The class to be found.
    others : list of str
        Labels that became 'other'.
    counts : ndarray of shape (n_classes, n_classes)
        Rows of each (true, predicted) pair.
    """

    model: BaseAdditiveClassifier
    kinds: Mapping[str, str]
    positive: Any
    others: list[str]
    counts: NDArray[Any]


def split_columns(options: Namespace) -> list[str]:
    """Columns that decide on inner splits, and so are no features."""
    names = [name for name in (options.group, options.time) if name is not None]
    if options.target in names:
        raise ValueError(f"--target {options.target} is what is predicted, and cannot decide the splits too")
    return names


def left_out(options: Namespace) -> list[str]:
    """Columns that are neither features nor the target."""
    return [*options.drop, *([] if options.id is None else [options.id])]


def costs_by_label(given: str | dict[str, float] | None, y: NDArray[Any]) -> Any:
    """Costs by the labels themselves instead of their texts."""
    import numpy as np

    from adacc.tables import find_label

    if not isinstance(given, dict):
        return given
    labels = np.unique(y).tolist()
    found = {text: find_label(text, labels) for text in given}
    unknown = [text for text, at in found.items() if at is None]
    if unknown:
        raise ValueError(f"--costs names the label {unknown[0]!r}; the labels are {listed(labels, 20)}")
    return {labels[at]: given[text] for text, at in found.items() if at is not None}
