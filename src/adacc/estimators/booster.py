"""Base of the boosting classifiers: parameters and `fit`."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from types import MappingProxyType
from typing import Any, ClassVar

from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags, get_tags

from adacc.boosting.loop import Boosting
from adacc.boosting.session import train
from adacc.boosting.settings import Settings
from adacc.data.training_set import TrainingSet
from adacc.estimators.base import BaseAdditiveClassifier
from adacc.estimators.calibration import calibrate, calibrates_on_folds, held_out_scores
from adacc.estimators.compat import CALLER_OF_FIT, CallbackRounds, CallbackSupportMixin, with_callbacks
from adacc.estimators.decisions import columns_in, decide, thinned
from adacc.estimators.duplicates import keep_copies_together
from adacc.estimators.folds import (
    dependent_groups,
    held_out_weight,
    is_number_of_folds,
    on_training_rows,
    repeated_rows,
)
from adacc.estimators.input_validation import columns_of, columns_restored_on_failure, hold_out, read_training
from adacc.estimators.monotonic import constrain
from adacc.estimators.parameters import parameters
from adacc.estimators.provenance import check_same_training, training_record
from adacc.estimators.settings import check_growth, check_takes_row_costs, read_settings
from adacc.model.decision_spec import DecisionSpec, read_decision
from adacc.model.ensemble import Ensemble
from adacc.model.fitted import FittedModel, TuningScores

NEVER_BETTER = "no weak learner was better than chance, so all votes are 0; a larger subsample may help"
FAILED_AT_ONCE = "the first weak learner is no better than chance; the model consists of it alone, with vote 1"


@cache
def _parameter_names(cls: Any) -> tuple[str, ...]:
    """The parameter names of a class, cached because scikit-learn's lookup takes as long as several rounds."""
    return tuple(super(BaseBoosting, cls)._get_param_names())


@parameters
class BaseBoosting(CallbackSupportMixin, BaseAdditiveClassifier):
    """Base class of the boosting classifiers; a subclass sets `_method` and adds the options of the method."""

    estimator: Any = None
    n_estimators: int = 100
    learning_rate: float = 1.0
    criterion: str = "gini"
    max_depth: int | None = 1
    max_leaf_nodes: int | None = None
    min_samples_leaf: int = 1
    max_features: Any = None
    subsample: float = 1.0
    rates: str = "training"
    max_bins: int | None = 255
    monotonic_cst: Any = None
    dialect: str = "paper"
    calibration: str | None = None
    calibration_cv: Any = None
    decision: Any = None
    multi_class: str = "auto"
    duplicates: str = "auto"
    pos_label: Any = None
    n_iter_no_change: int | None = None
    validation_fraction: float = 0.1
    warm_start: bool = False
    n_jobs: int | None = None
    verbose: int = 0
    random_state: Any = None

    _method: ClassVar[str]
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"groups": True}

    @with_callbacks
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        X_val: Any = None,
        y_val: ArrayLike | None = None,
        sample_weight_val: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        sample_cost: ArrayLike | None = None,
    ) -> Any:
        """Fit the boosted ensemble.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            NaN gets its own branch; boolean, string and category columns of a frame are used as categories.
        y : array of shape (n_samples,)
            Labels of at least two classes.
        sample_weight : array of shape (n_samples,), default=None
            Only their ratios matter: a row of weight 2 has the influence of two rows, one of weight 0 is ignored.
            Numbers of rows, such as `min_samples_leaf`, do not depend on weights.
        X_val, y_val, sample_weight_val : default=None
            Validation rows of every class for early stopping, instead of a fraction of X.
        groups : array of shape (n_samples,), default=None
            Group of each row, such as a patient. Rows of one group are never on both sides of a split, be it for
            calibration, early stopping or out-of-bag rates.
        sample_cost : array of shape (n_samples,), default=None
            Cost of misclassifying each row, such as the amount of a transaction, for CGAda, CSB1, CSB2, AdaCost, AdaC1,
            AdaC2 and AdaC3. It is multiplied by the `costs` of the class, unless these are "balanced". Only the ratios
            of the costs matter. See docs/methods.md.

        Returns
        -------
        self
        """
        with columns_restored_on_failure(self):
            settings = settings_of(self)
            spec = None if self.decision is None else read_decision(self.decision)
            previous = getattr(self, "fitted_model_", None) if self.warm_start else None
            start = None if previous is None else previous.ensemble
            if previous is not None and previous.seed is not None:
                settings = replace(settings, seed=previous.seed)  # hold out and draw the same rows as before
            check_takes_row_costs(settings, sample_cost)
            training_set = read_training(
                self, X, y, sample_weight, groups, reset=start is None, sample_cost=sample_cost
            )
            check_growth(settings.growth, len(training_set.y), training_set.table.n_columns)
            training_set = keep_copies_together(
                training_set, self.duplicates, splits_rows(settings, spec, has_validation_rows=X_val is not None)
            )
            settings = constrain(settings, self, training_set.table.categorical, len(training_set.classes))
            if previous is not None:
                _check_warm_start(previous, settings, training_set)
            columns = columns_in(X, spec)
            training_set, held_out = hold_out(self, settings, training_set, X_val, y_val, sample_weight_val)
            callbacks = CallbackRounds(self, X, y, settings.n_rounds)
            has_problems = settings.codes(len(training_set.classes)) is not None

            def after_round(boosting: Boosting, stops: bool) -> bool:
                report_round(self, boosting, settings.n_rounds)
                if has_problems:  # the model of a round is that of one problem
                    return False
                is_last = stops or boosting.rounds[-1].last or len(boosting.rounds) == settings.n_rounds
                return callbacks.end_round(
                    lambda: {"fitted_model_": self._as_model(boosting.ensemble(), training_set)}, is_last
                )

            trained = train(settings, training_set, held_out, start, after_round)
            if trained.failed:
                warnings.warn(FAILED_AT_ONCE, ConvergenceWarning, stacklevel=CALLER_OF_FIT)
            elif not trained.ensemble.votes.any():
                warnings.warn(NEVER_BETTER, ConvergenceWarning, stacklevel=CALLER_OF_FIT)
            self.fitted_model_ = finish_model(
                self._as_model(trained.ensemble, training_set), training_set, settings, spec, columns
            )
            callbacks.end()
        return self

    @classmethod
    def _get_param_names(cls) -> list[str]:
        return list(_parameter_names(cls))  # type: ignore[arg-type]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        native = self.estimator is None or not hasattr(self.estimator, "__sklearn_tags__")
        accepted = None if native else get_tags(self.estimator).input_tags
        tags.input_tags.sparse = accepted is None or accepted.sparse
        tags.input_tags.allow_nan = accepted is None or accepted.allow_nan
        tags.input_tags.categorical = accepted is None or accepted.categorical
        return tags

    def _as_model(self, ensemble: Ensemble, training_set: TrainingSet) -> FittedModel:
        _, names = columns_of(self)
        return FittedModel(ensemble, training_set.classes, training_set.table.n_columns, names)


def method_of(estimator: BaseBoosting) -> Any:
    """Name of the estimator's method, or its custom rule."""
    return getattr(estimator, "_method", None) or estimator.get_params(deep=False)["method"]


def settings_of(estimator: BaseBoosting) -> Settings:
    """Validate the parameters of the estimator."""
    return read_settings({"method": method_of(estimator), **estimator.get_params(deep=False)})


def splits_rows(settings: Settings, spec: DecisionSpec | None, has_validation_rows: bool = False) -> bool:
    """Whether `fit` splits the rows by itself, so that copies of rows can be on both sides."""
    holds_out = settings.patience is not None and not has_validation_rows
    makes_folds = calibrates_on_folds(settings) or (spec is not None and spec.needs_tuning)
    cv = settings.options["calibration_cv"]
    return holds_out or settings.out_of_bag or (makes_folds and (is_number_of_folds(cv) or on_training_rows(cv)))


def report_round(estimator: BaseBoosting, boosting: Boosting, n_rounds: int) -> None:
    """Print a line of progress to standard error every `verbose` rounds and after the last round."""
    done = len(boosting.rounds)
    if estimator.verbose and (done % int(estimator.verbose) == 0 or done == n_rounds):
        latest = boosting.rounds[-1]
        recall = " ".join(f"{value:.3f}" for value in latest.class_recall)
        sys.stderr.write(
            f"{type(estimator).__name__}: round {done} of {n_rounds}, "
            f"weighted error {latest.weighted_error:.3f}, recall by class {recall}\n"
        )


def _check_warm_start(previous: FittedModel, settings: Settings, training_set: TrainingSet) -> None:
    expected, classes = previous.classes.tolist(), training_set.classes.tolist()
    if expected != classes:
        raise ValueError(f"warm_start needs the classes of the last fit, {expected}, got {classes}")
    check_same_training(previous.training, settings, training_set.classes, training_set.cost is not None)
    previous.check(training_set.table)
    n_rounds = previous.ensemble.n_rounds
    if settings.n_rounds < n_rounds:
        raise ValueError(
            f"with warm_start, n_estimators must be at least the {n_rounds} rounds of the fitted model, "
            f"got {settings.n_rounds}"
        )


def finish_model(
    model: FittedModel,
    training_set: TrainingSet,
    settings: Settings,
    spec: DecisionSpec | None = None,
    columns: Mapping[str, NDArray[Any]] = MappingProxyType({}),
) -> FittedModel:
    """Calibrate the model and tune its decision rule, and add the training record that a warm start needs.

    `columns` are those that the rule names, with a value for each row of the user's X.
    """
    held_out = None
    if spec is not None:
        spec = spec.for_classes(model.classes)
    if calibrates_on_folds(settings) or (spec is not None and spec.needs_tuning):
        held_out = held_out_scores(replace(settings, n_rounds=model.ensemble.n_rounds), training_set, model.ensemble)
    if settings.calibration is not None:
        calibrator, multipliers = calibrate(settings, training_set, model.ensemble, settings.calibration, held_out)
        model = replace(model, calibrator=calibrator, multipliers=multipliers)
    tuning, of_rows = None, {}
    if held_out is not None and model.positive_class is not None:
        rows, groups = held_out.rows, dependent_groups(settings.options["calibration_cv"], training_set.groups)
        is_positive = training_set.y[rows] == model.positive_class
        weight, group = held_out_weight(rows, training_set.weight), None if groups is None else groups[rows]
        tuning = TuningScores("held-out", held_out.matched, is_positive, weight, group, repeated_rows(rows))
        of_rows = {name: values[training_set.numbers[rows]] for name, values in columns.items()}
        model = replace(model, tuning_scores=thinned(tuning, settings.seed))
    if spec is not None:
        model = replace(model, decision=decide(model, spec, tuning, of_rows))
    return replace(
        model, training=training_record(settings, model.classes, training_set.cost is not None), seed=settings.seed
    )
