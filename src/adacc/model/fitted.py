"""A trained classifier as plain data, without scikit-learn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from adacc.algorithms.base import Array
from adacc.data.binning import BinMapper, CategoryBins
from adacc.data.category_levels import Unseen
from adacc.data.columns import Table
from adacc.model.calibration import Calibrator
from adacc.model.decision import decision_scores
from adacc.model.ensemble import Ensemble
from adacc.model.explainers import Explainer, make_explainer


@dataclass(frozen=True)
class FittedModel:
    """A trained classifier as plain data, for prediction, explanation, model files and export."""

    ensemble: Ensemble  # the weak models and their votes
    classes: NDArray[Any]  # (n_classes,): the labels, in the order of the ensemble's class numbers
    n_features: int  # number of columns
    feature_names: tuple[str, ...] | None = None  # names of the columns; None if they had none in training
    calibrator: Calibrator | None = None  # maps scores to probabilities; None for uncalibrated models
    # (n_classes,): the class of the largest ``multiplier * probability`` is predicted; None if the scores decide
    multipliers: Array | None = None
    # record of the settings, which a warm start compares; a str in model files of format 1
    training: dict[str, Any] | str | None = None
    seed: int | None = None  # seed of the fit, which a warm start reuses
    # balanced accuracy of a forest on its tuning rows (NaN if a class has none); None for other models
    oob_balanced_accuracy: float | None = None

    @property
    def bin_mapper(self) -> BinMapper | None:
        """Maps columns to bins; None for external weak learners."""
        return self.ensemble.models.bin_mapper

    @property
    def has_categories(self) -> bool:
        """Whether some columns are read as categories."""
        return self.bin_mapper is not None and bool(self.bin_mapper.categorical.any())

    @property
    def column_names(self) -> tuple[str, ...]:
        """Names of the columns, "x0", "x1", ... if they had none in training."""
        return self.feature_names or tuple(f"x{j}" for j in range(self.n_features))

    @property
    def positive_class(self) -> int | None:
        """Number of the positive of two classes; None for more classes."""
        return 1 - self.ensemble.negative_class if len(self.classes) == 2 else None

    def check(self, table: Table) -> None:
        """Raise an error if the type of a column differs from that in training."""
        if self.bin_mapper is not None:
            self.bin_mapper.check(table)

    def unseen_categories(self, table: Table) -> dict[str, Unseen]:
        """Categories that were not seen in training, by column, in the columns that the model uses."""
        for column in self.ensemble.models.used.tolist():
            feature = None if self.bin_mapper is None else self.bin_mapper.features[column]
            if isinstance(feature, CategoryBins):
                feature.encode(table, column)
        return {table.name(column): unseen for column, unseen in table.unseen.items()}

    def scores(self, table: Table) -> Array:
        """Sum of the votes: one number per row for two classes, else one per class, or per problem of the coding."""
        return self.ensemble.scores(table)

    def decision_scores(self, scores: Array) -> Array:
        """The scores whose sign or argmax is the prediction."""
        scores = self.ensemble.class_scores(scores)
        if self.calibrator is None or self.multipliers is None:
            return scores
        return decision_scores(self.calibrator.probabilities(scores), self.multipliers)

    def staged_decision_scores(self, table: Table) -> Iterator[Array]:
        """`decision_scores` after each round."""
        return map(self.decision_scores, self.ensemble.staged_scores(table))

    def labels(self, decision: Array) -> NDArray[Any]:
        """The label that each row's decision scores predict."""
        return self.classes[self.ensemble.classes(decision)]

    def probabilities(self, scores: Array) -> Array:
        """Probability of each class, shape (n_rows, n_classes)."""
        scores = self.ensemble.class_scores(scores)
        if self.calibrator is not None:
            return self.calibrator.probabilities(scores)
        if scores.ndim == 1:
            return np.column_stack([expit(-2.0 * scores), expit(2.0 * scores)])
        return softmax(2.0 * scores, axis=1)

    def feature_importances(self) -> Array:
        """Share of each feature in the votes; sums to 1 unless no round splits."""
        by_round = self.ensemble.models.importances(self.n_features)
        summed: Array = self.ensemble.votes.mean(axis=1) @ by_round
        return summed / (summed.sum() or 1.0)

    @property
    def is_additive(self) -> bool:
        """Whether every weak model uses a single feature, so that the score is a sum of functions of one feature."""
        models = self.ensemble.models[:1]
        return models.step_functions(np.zeros((len(models), self.ensemble.votes.shape[1], 1))) is not None

    @property
    def pairs(self) -> list[tuple[int, int]] | None:
        """The two classes of every score if classes are boosted one against one; else None."""
        return None if self.ensemble.coding is None else self.ensemble.coding.pairs

    def explainer(self) -> Explainer:
        """Explains the decision score; raises an error if this is not possible."""
        calibrator = None if self.multipliers is None else self.calibrator
        return make_explainer(self.ensemble, calibrator, self.multipliers, self.column_names, self.classes)
