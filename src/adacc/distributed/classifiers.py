"""Classifiers on Dask: `DaskBoostingClassifier` for any method by name, and a class for each method."""

from __future__ import annotations

import warnings
from typing import Any

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
from dask.delayed import delayed
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from adacc.boosting.loop import Boosting
from adacc.distributed.cluster import Cluster, DaskPartitions, aligned_with, is_dask, partitions_of, whole_rows
from adacc.distributed.training import check_supported, train
from adacc.docstrings import described
from adacc.estimators import classifiers
from adacc.estimators.base import COLUMNS, restore
from adacc.estimators.booster import FAILED_AT_ONCE, BaseBoosting, report_round, settings_of
from adacc.estimators.input_validation import read_weight, set_columns
from adacc.estimators.parameters import parameters

DOC = """{name} for rows on the workers of a Dask cluster.

    The model does not depend on the number of workers and partitions, up to the rounding of sums. Not supported: weak
    learners other than stumps, early stopping, `warm_start`, calibration by cross-validation, and `sample_cost`.

    {{parameters}}
    """

ROWS = {"X": "Dask array or frame, or any input of the local classifier\n    Rows with the columns of `fit`."}
LABELS = {
    "y": "array of shape (n_samples,)\n    Their labels.",
    "sample_weight": "array of shape (n_samples,)\n    Weights of the rows.",
}
LAZY = "\n    Lazy for a Dask collection."


class DaskMixin:
    """The methods of a Dask classifier that differ from those of its local class `_local`."""

    _local: type[BaseBoosting]

    def fit(self: Any, X: Any, y: Any, sample_weight: Any = None, sample_cost: None = None) -> Any:
        """Fit on the workers of the cluster.

        Parameters
        ----------
        X : Dask array or frame of shape (n_samples, n_features)
            Missing values have a branch of their own; boolean, string and category columns are categories. The
            partitions are computed two or three times unless they are persisted.
        y : Dask array or series of shape (n_samples,)
            Labels of at least two classes, in the partitions of X.
        sample_weight : Dask array or series of shape (n_samples,), default=None
            Only their ratios matter: a row of weight 2 has the influence of two rows, one of weight 0 is ignored.
        sample_cost : None
            Not supported; the local classifier takes costs by row.

        Returns
        -------
        self

        Raises
        ------
        ClusterError
            The scheduler or all workers were lost.
        """
        local = self._unfitted()
        settings = settings_of(local)
        check_supported(settings, self.warm_start, self.decision)
        if sample_cost is not None:
            raise ValueError("sample_cost must be None in distributed and out-of-core training; fit a local classifier")
        X = whole_rows(X)
        named = isinstance(X, dd.DataFrame) and all(isinstance(name, str) for name in X.columns)
        set_columns(local, X.shape[1], X.columns if named else None)

        def after_round(boosting: Boosting, _: Any) -> bool:
            report_round(self, boosting, settings.n_rounds)
            return False

        cluster = Cluster(self.client)
        with cluster.client.as_current():  # Dask uses the default client in some places
            model, failed = train(settings, DaskPartitions(cluster, X, y, sample_weight), local, after_round)
        if failed:
            warnings.warn(FAILED_AT_ONCE, ConvergenceWarning, stacklevel=2)
        return restore(self, model)

    def to_local(self: Any) -> BaseBoosting:
        """The fitted model as a local classifier, which does not need Dask.

        Returns
        -------
        classifier
            A classifier of the class without Dask in its name.
        """
        check_is_fitted(self)
        return restore(self._unfitted(), self.fitted_model_)

    def save(self: Any, path: Any, notes: dict[str, Any] | None = None) -> None:
        """Write the fitted model to a file, which `adacc.load` reads as a local classifier.

        Parameters
        ----------
        path : str or path
            The file.
        notes : dict, default=None
            Anything that JSON can hold.
        """
        self.to_local().save(path, notes)

    @described(ROWS | COLUMNS, returns=f"array, or Series of a frame's index, of shape (n_samples,){LAZY}")
    def predict(self: Any, X: Any, columns: Any = None) -> Any:
        """Predict the class of each row, by the decision rule if there is one."""
        if not is_dask(X):
            return self.to_local().predict(X, columns)
        if columns is not None:
            raise ValueError("columns must be None for a Dask collection: give the columns of the rule in a frame X")
        if self.decision_ is not None and self.decision_.spec.is_ranked:
            raise ValueError(
                f"the decision {self.decision_.rule!r} ranks all rows, but a Dask collection is predicted by "
                "partition: rank its decision_function instead"
            )
        return self._predict_with("predict", X)

    def set_decision(self: Any, rule: Any, X: Any = None, y: Any = None, **options: Any) -> Any:
        """Set the rule by which `predict` decides; see the local classifier. X and y must be in memory.

        Parameters
        ----------
        rule : str, dict, array or None
            The rule.
        X : array, sparse matrix or frame of shape (n_samples, n_features), default=None
            Rows on which the rule is tuned, not training rows.
        y : array of shape (n_samples,), default=None
            Their labels.
        **options
            Further arguments of the local classifier.

        Returns
        -------
        self
        """
        if is_dask(X) or is_dask(y):
            raise TypeError("X and y must be in memory to tune a decision, got a Dask collection: call its compute()")
        return restore(self, self.to_local().set_decision(rule, X, y, **options).fitted_model_)

    @described(ROWS, returns=f"array or frame of shape (n_samples, n_classes){LAZY}")
    def predict_proba(self: Any, X: Any) -> Any:
        """Probability of each class, in the order of ``classes_``; for a Dask frame a frame with their names."""
        return self._predict_with("predict_proba", X)

    @described(ROWS, returns=f"array, series or frame of shape (n_samples,), or (n_samples, n_classes){LAZY}")
    def decision_function(self: Any, X: Any) -> Any:
        """Score of each row; its sign (two classes) or argmax is the prediction."""
        return self._predict_with("decision_function", X)

    @described(ROWS | LABELS, returns="float")
    def score(self: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy."""
        if not is_dask(X):
            return self.to_local().score(X, y, sample_weight)
        X = whole_rows(X)
        columns = [self.predict(X), aligned_with(X, y, "y")]
        if sample_weight is not None:
            columns.append(aligned_with(X, sample_weight, "sample_weight"))
        parts = [delayed(_correct_weight)(*rows) for rows in zip(*map(partitions_of, columns), strict=True)]
        client = self.client
        computed = dask.compute(*parts) if client is None else client.gather(client.compute(parts))
        right, whole = np.sum(computed, axis=0)
        return float(right / whole)

    def _predict_with(self: Any, method: str, X: Any) -> Any:
        """The result of a method of the local classifier, lazy for a Dask collection."""
        local = self.to_local()
        if not is_dask(X):
            return getattr(local, method)(X)
        X = whole_rows(X)
        empty = _empty_prediction(local, method)
        if isinstance(X, da.Array):
            wide = {"drop_axis": 1} if empty.ndim == 1 else {"chunks": (X.chunks[0], (empty.shape[1],))}
            return X.map_blocks(_predict_partition, local, method, empty, dtype=empty.dtype, meta=empty, **wide)
        meta = _as_frame(empty, X._meta.index[:0], method, local.classes_)
        return X.map_partitions(_predict_partition, local, method, empty, meta=meta)

    def _unfitted(self: Any) -> BaseBoosting:
        params = self.get_params(deep=False)
        return self._local(**{name: value for name, value in params.items() if name != "client"})

    def __sklearn_clone__(self: Any) -> Any:
        """An unfitted copy with the same client, as a connection cannot be copied."""
        return type(self)(**self._unfitted().get_params(deep=False), client=self.client)

    def __getstate__(self: Any) -> dict[str, Any]:
        return {**self._local.__getstate__(self), "client": None}


def _correct_weight(predicted: Any, y: Any, weight: Any = None) -> tuple[float, float]:
    """The weight of the correctly predicted rows and of all rows."""
    if len(predicted) != len(y):
        raise ValueError(f"X has {len(predicted)} rows, but y has {len(y)}")
    counts = read_weight(weight, len(y), "sample_weight")
    return float(counts[np.asarray(predicted) == np.asarray(y)].sum()), float(counts.sum())


def _empty_prediction(model: BaseBoosting, method: str) -> NDArray[Any]:
    """The result of a method for no rows."""
    n_classes = len(model.classes_)
    if method == "predict":
        return model.classes_[:0]
    return np.empty(0) if method == "decision_function" and n_classes == 2 else np.empty((0, n_classes))


def _predict_partition(X: Any, model: BaseBoosting, method: str, empty: NDArray[Any]) -> Any:
    answers = getattr(model, method)(X) if len(X) else empty
    return _as_frame(answers, X.index, method, model.classes_) if isinstance(X, pd.DataFrame) else answers


def _as_frame(answers: NDArray[Any], index: Any, method: str, classes: NDArray[Any]) -> Any:
    """Predictions with the index of the rows."""
    if answers.ndim == 1:
        dtype = (
            pd.Series(classes).dtype if method == "predict" else answers.dtype
        )  # pandas cannot infer it from no rows
        return pd.Series(answers, index=index, name=method, dtype=dtype)
    return pd.DataFrame(answers, index=index, columns=classes.tolist())


def _on_dask(local: type[BaseBoosting]) -> Any:
    name = local.__name__
    body = {
        "__doc__": DOC.format(name=name),
        "__module__": __name__,
        "__annotations__": {"client": Any},
        "client": None,
        "_local": local,
    }
    return parameters(type(f"Dask{name}", (DaskMixin, local), body))


DaskBoostingClassifier = _on_dask(classifiers.BoostingClassifier)
DaskAdaCC1Classifier = _on_dask(classifiers.AdaCC1Classifier)
DaskAdaCC2Classifier = _on_dask(classifiers.AdaCC2Classifier)
DaskAdaNCC1Classifier = _on_dask(classifiers.AdaNCC1Classifier)
DaskAdaNCC2Classifier = _on_dask(classifiers.AdaNCC2Classifier)
DaskAdaBoostClassifier = _on_dask(classifiers.AdaBoostClassifier)
DaskCGAdaClassifier = _on_dask(classifiers.CGAdaClassifier)
DaskAdaMECClassifier = _on_dask(classifiers.AdaMECClassifier)
DaskAdaCostClassifier = _on_dask(classifiers.AdaCostClassifier)
DaskCSB1Classifier = _on_dask(classifiers.CSB1Classifier)
DaskCSB2Classifier = _on_dask(classifiers.CSB2Classifier)
DaskAdaC1Classifier = _on_dask(classifiers.AdaC1Classifier)
DaskAdaC2Classifier = _on_dask(classifiers.AdaC2Classifier)
DaskAdaC3Classifier = _on_dask(classifiers.AdaC3Classifier)
DaskRareBoostClassifier = _on_dask(classifiers.RareBoostClassifier)
