"""A trained classifier as plain data: no scikit-learn estimator is involved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from adacc.algorithms.base import ROUNDING, Array
from adacc.data.binning import BinMapper, CategoryBins
from adacc.data.category_levels import Unseen
from adacc.data.columns import Table
from adacc.model.calibration import Calibrator
from adacc.model.cost_matrix import PROBABILITY_DECIMALS
from adacc.model.decision import Decision, decision_scores, log_multipliers
from adacc.model.ensemble import Ensemble
from adacc.model.explainers import Explainer, make_explainer

DECIMALS = 10
"""Decimals to which a decision rule rounds scores, so that rounding errors do not decide."""


@dataclass(frozen=True)
class TuningScores:
    """Scores of rows by models that were trained without them, on which decision rules are tuned; two classes only."""

    rows: str  # "out-of-bag" or "held-out"
    scores: Array  # (n_rows,): as `FittedModel.scores`, on its scale
    is_positive: NDArray[np.bool_]  # (n_rows,)
    weight: Array  # (n_rows,)
    groups: NDArray[np.int64] | None = None  # (n_rows,): numbers of the groups; None if all rows are independent
    numbers: NDArray[np.int64] | None = None  # (n_rows,): numbers of the rows if some occur repeatedly; else None


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
    decision: Decision | None = None  # the rule that predicts labels; None if the scores do
    tuning_scores: TuningScores | None = None  # None if there are no rows that the model was trained without

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

    def decision_scores(self, scores: Array, n_rounds: int | None = None) -> Array:
        """The scores whose sign or argmax is the prediction; `scores` are those after `n_rounds`, by default all."""
        scores = self.ensemble.class_scores(scores, n_rounds)
        if self.calibrator is None or self.multipliers is None:
            return scores
        return decision_scores(self.calibrator.probabilities(scores), self.multipliers)

    def staged_decision_scores(self, table: Table) -> Iterator[Array]:
        """`decision_scores` after each round."""
        for n_rounds, scores in enumerate(self.ensemble.staged_scores(table), start=1):
            yield self.decision_scores(scores, n_rounds)

    def labels(self, decision: Array) -> NDArray[Any]:
        """The label that each row's decision scores predict."""
        return self.classes[self.ensemble.classes(decision)]

    def predicted(self, scores: Array, columns: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
        """The label of each row by the decision rule if there is one; `columns` are those that the rule names."""
        if self.decision is None:
            return self.labels(self.decision_scores(scores))
        positive_scores = None if self.positive_class is None else self.positive_scores(scores)
        index = self.decision.class_index(positive_scores, lambda: self.rounded_probabilities(scores), columns)
        return self.classes[index]

    def positive_scores(self, scores: Array) -> Array:
        """`decision_scores` of two classes as decision rules read them: rounded, and larger for the positive class."""
        decisive = np.round(self.decision_scores(scores), DECIMALS)
        return decisive if self.positive_class == 1 else -decisive

    def probability_at(self, positive_score: float) -> float:
        """Probability of the positive of two classes at a score as decision rules read it."""
        score = positive_score if self.positive_class == 1 else -positive_score
        if self.multipliers is not None:
            logs = log_multipliers(self.multipliers)
            second = float(expit(score - logs[1] + logs[0]))
        else:
            second = float(self.probabilities(np.array([score]))[0, 1])
        return second if self.positive_class == 1 else 1.0 - second

    def rounded_probabilities(self, scores: Array) -> Array:
        """`probabilities` as decision rules read them."""
        return np.round(self.probabilities(scores), PROBABILITY_DECIMALS)

    def probabilities(self, scores: Array, n_rounds: int | None = None) -> Array:
        """Probability of each class, shape (n_rows, n_classes); `scores` are those after `n_rounds`, by default all."""
        scores = self.ensemble.class_scores(scores, n_rounds)
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

    def effect_shares(self) -> Array:
        """Standard deviation of each shape function over its steps or categories, as a share of their sum.

        Shape functions of trees are main effects. In contrast to the votes, in which every split on noise counts,
        opposite effects of several splits cancel out.
        """
        explainer = make_explainer(self.ensemble, None, None, self.column_names, self.classes)
        curves = explainer.shape_functions(None, n_pairs=0)
        sizes = np.array([np.std(curve.values, axis=0).mean() for curve in curves])
        # A feature of a single category and missing values has one step; rounding errors are no effect.
        sizes[sizes <= ROUNDING] = 0.0
        return sizes / (sizes.sum() or 1.0)

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
