"""What all boosting classifiers share: parameters, and `fit`."""

from __future__ import annotations

import sys
import warnings
from dataclasses import replace
from functools import cache
from typing import Any, ClassVar

from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags, get_tags

from adacc.boosting.loop import Boosting
from adacc.boosting.session import train
from adacc.boosting.settings import Settings
from adacc.data.training_set import TrainingSet
from adacc.estimators.calibration import calibrate
from adacc.estimators.compat import CALLER_OF_FIT, CallbackRounds, CallbackSupportMixin, with_callbacks
from adacc.estimators.parameters import parameters
from adacc.estimators.provenance import check_same_training, training_record
from adacc.estimators.settings import read_settings
from adacc.estimators.voting import BaseAdditiveClassifier, attributes_of
from adacc.model.ensemble import Ensemble

NEVER_BETTER = "no round was better than chance, so that none has a vote: a larger subsample may help"
FAILED_AT_ONCE = "already the first weak learner is no better than chance; it is kept alone, with vote 1"


@cache
def _parameter_names(cls: Any) -> tuple[str, ...]:
    """As scikit-learn finds them, but once for each class: it takes as long as some rounds."""
    return tuple(super(BaseBoosting, cls)._get_param_names())


@parameters
class BaseBoosting(CallbackSupportMixin, BaseAdditiveClassifier):
    """What all boosting classifiers share; a subclass names its method and adds the method's own options."""

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
    dialect: str = "paper"
    calibration: str | None = None
    calibration_cv: Any = None
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
    ) -> Any:
        """Boost on the rows of X.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            NaN is a branch of its own; boolean, string and category columns of a frame are used as categories.
        y : array of shape (n_samples,)
            Labels of at least two classes.
        sample_weight : array of shape (n_samples,), default=None
            A row of weight 2 counts as two rows, one of weight 0 as none.
        X_val, y_val, sample_weight_val : default=None
            Rows for early stopping instead of a part of X.
        groups : array of shape (n_samples,), default=None
            The group of each row, such as a patient: rows of one group are never on both sides of a split, whether it
            is for calibration, for early stopping, or for rates out of the bag.

        Returns
        -------
        self
        """
        with self._columns_restored_on_failure():
            settings = read_settings(self._settable())
            start = self._ensemble if self.warm_start and hasattr(self, "_ensemble") else None
            if start is not None:
                settings = replace(settings, seed=self._seed)  # the same rows held out, the same samples
            problem = self._read_training(X, y, sample_weight, groups, reset=start is None)
            if start is not None:
                self._check_warm_start(start, settings, problem)
            problem, held_out = self._hold_out(settings, problem, X_val, y_val, sample_weight_val)
            tell = CallbackRounds(self, X, y, settings.n_rounds)

            def after_round(boosting: Boosting, stops: bool) -> bool:
                self._report(boosting, settings.n_rounds)
                is_last = stops or boosting.rounds[-1].last or len(boosting.rounds) == settings.n_rounds
                return tell.end_round(lambda: fitted_attributes(boosting.ensemble(), problem), is_last)

            trained = train(settings, problem, held_out, start, after_round)
            if trained.failed:
                warnings.warn(FAILED_AT_ONCE, ConvergenceWarning, stacklevel=CALLER_OF_FIT)
            elif not trained.ensemble.votes.any():
                warnings.warn(NEVER_BETTER, ConvergenceWarning, stacklevel=CALLER_OF_FIT)
            self.__dict__.update(fitted_attributes(trained.ensemble, problem, settings))
            tell.end()
        return self

    @classmethod
    def _get_param_names(cls) -> list[str]:
        return list(_parameter_names(cls))  # type: ignore[arg-type]

    def _settable(self) -> dict[str, Any]:
        """The parameters, the method among them."""
        return {"method": getattr(self, "_method", None), **self.get_params(deep=False)}

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        own = self.estimator is None or not hasattr(self.estimator, "__sklearn_tags__")
        takes = None if own else get_tags(self.estimator).input_tags
        tags.input_tags.sparse = takes is None or takes.sparse
        tags.input_tags.allow_nan = takes is None or takes.allow_nan
        tags.input_tags.categorical = takes is None or takes.categorical
        return tags

    def _check_warm_start(self, start: Ensemble, settings: Settings, problem: TrainingSet) -> None:
        known, now = self.classes_.tolist(), problem.classes.tolist()
        if known != now:
            raise ValueError(f"warm_start needs the classes of the last fit, {known}; y has {now}")
        check_same_training(self._trained_by, settings, problem.classes)
        start.models.check(problem.table)
        if settings.n_rounds < len(start):
            there = f"the {len(start)} rounds there are"
            raise ValueError(f"with warm_start n_estimators must be at least {there}, got {settings.n_rounds}")

    def _report(self, boosting: Boosting, n_rounds: int) -> None:
        done = len(boosting.rounds)
        if self.verbose and (done % int(self.verbose) == 0 or done == n_rounds):
            latest = boosting.rounds[-1]
            recall = " ".join(f"{value:.3f}" for value in latest.class_recall)
            sys.stderr.write(
                f"{type(self).__name__}: round {done} of {n_rounds}, "
                f"weighted error {latest.weighted_error:.3f}, recall by class {recall}\n"
            )


def fitted_attributes(ensemble: Ensemble, problem: TrainingSet, settings: Settings | None = None) -> dict[str, Any]:
    """What makes an estimator fitted; with `settings` calibrated where these say so, and able to go on."""
    attributes = attributes_of(ensemble, problem.classes)
    if settings is None:
        return attributes
    if settings.calibration is not None:
        calibrator, multipliers = calibrate(settings, problem, ensemble, settings.calibration)
        attributes |= {"_calibrator": calibrator, "_multipliers": multipliers}
    return attributes | origin_of(settings, problem.classes)


def origin_of(settings: Settings, classes: NDArray[Any]) -> dict[str, Any]:
    """What a later fit must know to go on from an ensemble."""
    return {"_trained_by": training_record(settings, classes), "_seed": settings.seed}
