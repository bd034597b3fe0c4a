"""Model files: the model, and input tables read with the column kinds of its training data."""

from __future__ import annotations

import warnings
from argparse import Namespace
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adacc.cli.options import open_input
from adacc.cli.terminal import echo_note, join_names

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from adacc.data.category_levels import Unseen
    from adacc.estimators.base import BaseAdditiveClassifier
    from adacc.model.decision import Decision
    from adacc.tables import Batches


@dataclass(frozen=True)
class ModelFile:
    """A loaded model and its path."""

    path: Path
    model: BaseAdditiveClassifier

    @property
    def notes(self) -> dict[str, Any]:
        """The notes of `adacc train`; models saved in Python can have none or others."""
        return self.model.notes_

    @property
    def labels(self) -> list[Any]:
        return self.model.classes_.tolist()

    @property
    def positive(self) -> int | None:
        """The index of the positive class; None if there are more than two classes."""
        return self.model.fitted_model_.positive_class

    @property
    def method(self) -> str:
        from adacc.algorithms.catalog import FORESTS
        from adacc.estimators.booster import BaseBoosting, method_of

        if isinstance(self.model, BaseBoosting):
            return str(method_of(self.model))
        return next(name for name, forest in FORESTS.items() if forest.estimator == type(self.model).__name__)

    @cached_property
    def kinds(self) -> dict[str, Any]:
        """The kind of each column in the training data."""
        names = getattr(self.model, "feature_names_in_", None)
        if names is None:
            raise ValueError(
                f"{self.path} was trained on an array without column names, but columns of files are matched by name; "
                "train it on a data frame"
            )
        bin_mapper = self.model.fitted_model_.bin_mapper
        assert bin_mapper is not None, "a model file holds native learners"
        pairs = zip(names.tolist(), bin_mapper.features, strict=True)
        return {name: _kind(name, feature, self.path) for name, feature in pairs}

    def open(self, options: Namespace, keep: Iterable[str] = ()) -> Iterator[tuple[pd.DataFrame, pd.DataFrame]]:
        """Batches of the input table: the features of the model, and the columns to keep.

        Print which columns are ignored and, after the last batch, which categories are unknown to the model.
        """
        from adacc.tables import open_batches
        from adacc.tables.errors import source_name

        kinds = self.kinds  # can raise ValueError, so before the table is opened
        batches = open_batches(open_input(options), kinds, keep)
        if batches.ignored:
            echo_note(f"ignored columns: {join_names(batches.ignored)}")
        return self._count_unseen(batches, source_name(options.data))

    def _count_unseen(self, batches: Batches, where: str) -> Iterator[tuple[pd.DataFrame, pd.DataFrame]]:
        from adacc.estimators.unseen_categories import describe_unseen

        total: dict[str, Unseen] = {}
        n_rows = 0
        for X, kept in batches.pairs():
            for name, unseen in self._unseen(X).items():
                total[name] = total[name] + unseen if name in total else unseen
            n_rows += len(X)
            yield X, kept
        if total:
            echo_note(describe_unseen(where, total, n_rows))

    def _unseen(self, X: pd.DataFrame) -> dict[str, Unseen]:
        """The unknown categories of the categorical features that the model uses."""
        from adacc.estimators.base import read_known

        return self.model.fitted_model_.unseen_categories(read_known(self.model, X))

    @property
    def decision(self) -> Decision | None:
        """The decision rule of the model."""
        return self.model.decision_

    def rule(self, options: Namespace) -> Decision | None:
        """The decision rule that applies with these options; a note on standard error names it."""
        if self.decision is None or options.threshold is not None:
            return None
        echo_note(f"decision rule: {self.decision}")
        return self.decision

    def class_index(
        self, X: Any, threshold: float | None, columns: dict[str, NDArray[Any]] | None = None
    ) -> NDArray[np.intp]:
        """The predicted class index of each row: the model's decision, or by a threshold on the positive class.

        `columns` are those that the decision rule names.
        """
        import pandas as pd

        if threshold is None or self.positive is None:
            return pd.Index(self.model.classes_).get_indexer(self.model.predict(X, columns=columns or None))
        from adacc.model.cost_matrix import PROBABILITY_DECIMALS

        # Rounded as for the rule threshold=P, so that both predict the same labels.
        p = self.model.fitted_model_.rounded_probabilities(self.scores(X))[:, self.positive]
        is_positive = p >= round(threshold, PROBABILITY_DECIMALS)
        return (is_positive == bool(self.positive)).astype("intp")

    def positive_scores(self, X: Any) -> NDArray[np.float64]:
        """The scores of two classes, larger for the positive one, as decision rules read them."""
        return self.model.fitted_model_.positive_scores(self.scores(X))

    def scores(self, X: Any) -> NDArray[np.float64]:
        """The scores of the fitted model."""
        from adacc.estimators.base import read_known

        return self.model.fitted_model_.scores(read_known(self.model, X))

    def check_two_classes(self, flag: str) -> None:
        if len(self.labels) != 2:
            raise ValueError(f"{flag} needs a model of two classes, but {self.path} has {len(self.labels)}")


def open_model_file(path: Path) -> ModelFile:
    """Load a model file."""
    import adacc

    # `ModelFile.open` counts them over all batches and prints one message.
    warnings.simplefilter("ignore", adacc.UnseenCategoryWarning)

    if path.is_dir():
        raise ValueError(f"{path} is a directory; give the path of a model file")
    if not path.exists():
        raise ValueError(f"model file {path} does not exist; `adacc train` writes one")
    return ModelFile(path, adacc.load(path))


def _kind(name: str, feature: Any, path: Path) -> str:
    from adacc.tables.kinds import kind_of_labels

    if not feature.categorical:
        return "number"
    labels = {label for label in feature.values if label is not None}
    if labels and all(isinstance(label, bool) for label in labels):
        return "boolean"
    if all(isinstance(label, str) for label in labels):
        return kind_of_labels(labels)
    raise ValueError(
        f"{path}: column {name!r} had categories in training that are not strings, such as "
        f"{min(labels, key=str)!r}; train with strings, as files contain only these"
    )
