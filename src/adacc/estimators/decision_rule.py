"""A meta-classifier that decides by a rule, from the scores of any classifier."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from adacc.estimators.base_decision import BaseDecision, HeldOutRows
from adacc.estimators.decision_tuning import tune_rule
from adacc.estimators.decisions import check_calibrated, model_inside, rounded, row_costs, split_columns
from adacc.estimators.folds import check_groups, dependent_groups, on_training_rows, repeated_rows
from adacc.estimators.input_validation import find_negative_class
from adacc.estimators.labelled_rows import LabelledRows
from adacc.model.decision import Decision, untuned
from adacc.model.decision_spec import DecisionSpec, read_decision


@dataclass(eq=False, repr=False)
class DecisionRule(BaseDecision):
    """Meta-classifier that decides by a rule such as "recall>=0.9", from the scores of any classifier.

    The threshold of the rule is tuned on rows held out by cross-validation. Classifiers of adacc need no
    meta-classifier: they have the parameter `decision` and the method `set_decision`.

    Parameters
    ----------
    estimator : classifier
        A classifier with `predict_proba`, or with `decision_function` for rules that need only a ranking. To use a
        fitted classifier without refitting it, wrap it in scikit-learn's `FrozenEstimator`; the rows given to `fit`
        should then not be the rows it was fitted on.
    rule : str, dict or array, default="f1"
        The rule, see docs/decisions.md: "recall>=0.9", "precision>=0.5", "alerts<=20/1000", "top=50",
        "top=50 per day of COLUMN", "f1", "fbeta=2", "threshold=0.3", "score=0", "cost=[[0, 1], [20, 0]]" or
        "fn=COLUMN, fp=5"; the last two also with "tuned" before, without which they refuse classifiers of adacc whose
        probabilities are not calibrated. A dict or an array is a cost matrix as in `CostDecision`.
    cv : int, splitter, iterable or "training", default=5
        Cross-validation as in scikit-learn, whose held-out rows tune the rule. Folds whose training rows lack a class
        are skipped, and a row that several folds hold out counts once. "training": use the training rows, which is fast
        but optimistic.
    pos_label : label, default=None
        Positive class; None for the rarer class.
    undo_class_weight : "balanced", dict or sequence, default=None
        Class weights that the estimator is trained with, which are undone as in `CostDecision`.
    duplicates : {"auto", "together", "apart"}, default="auto"
        Whether the folds of an int `cv` keep equal rows together: "auto" if there is evidence that they are copies,
        with a warning; always ("together") or never ("apart"). Given `groups` and splitters decide alone. See
        docs/duplicates.md.
    n_jobs : int, default=None
        Number of folds that are fitted in parallel, as in scikit-learn; -1 for all cores.

    Attributes
    ----------
    estimator_ : classifier
        The estimator, fitted on all rows.
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    decision_ : Decision
        The ``rule``, its ``threshold``, and a ``report`` of what it achieves on held-out rows with 95 % intervals for
        new rows.
    n_features_in_ : int
        Number of columns of X, if the estimator has this attribute.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if the estimator has this attribute.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from adacc import DecisionRule
    >>> X, y = load_breast_cancer(return_X_y=True)  # class 0, the rarer one, is malignant
    >>> model = DecisionRule(make_pipeline(StandardScaler(), LogisticRegression()), "recall>=0.99").fit(X, y)
    >>> print(model.decision_)
    recall>=0.99 (score >= 0.07006)
    >>> [round(each, 2) for each in model.decision_.report.achieved["precision"]]  # and its interval on new rows
    [0.83, 0.77, 0.87]
    """

    estimator: Any
    rule: Any = "f1"
    _: KW_ONLY
    cv: Any = 5
    pos_label: Any = None
    undo_class_weight: Any = None
    duplicates: str = "auto"
    n_jobs: int | None = None

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        columns: Any = None,
    ) -> DecisionRule:
        """Fit the estimator, and tune the rule on held-out rows.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            As the estimator takes it.
        y : array of shape (n_samples,)
            Class labels.
        sample_weight : array of shape (n_samples,), default=None
            A row of weight 2 counts as two rows, in the rule and for the estimator, whose `fit` must take it.
        groups : array of shape (n_samples,), default=None
            Group of each row. The folds of an int `cv` do not split groups; a splitter receives them, and so does the
            estimator if its `fit` takes groups. The intervals then hold for new groups.
        columns : dict, frame or array of shape (n_samples,), default=None
            Columns that the rule names, by name; the values alone if it names one. By default they are columns of the
            frame X, which are features of the estimator, too.

        Returns
        -------
        self
        """
        spec = read_decision(self.rule)
        by_score = spec.kind == "score"
        self._check_estimator(spec.by_probability)
        if by_score:
            self._check_scores(spec)
        found: dict[str, NDArray[Any]] = {}
        if columns is not None or spec.needs_tuning:
            _, found = split_columns(spec, X, columns)
        held_out = self._fit_held_out(X, y, sample_weight, groups, by_score)
        spec = rounded(spec.for_classes(held_out.classes))
        model = model_inside(held_out.estimator)
        if model is not None:
            check_calibrated(model, spec)
        if len(held_out.classes) > 2:
            if self.pos_label is not None:
                raise ValueError(f"pos_label must be None for more than two classes, got {self.pos_label!r}")
            self._set_fitted(held_out, untuned(spec, 0))
            return self
        rows_of_class = np.bincount(held_out.true[held_out.weight > 0.0], minlength=2)
        positive = 1 - find_negative_class(self.pos_label, held_out.classes, held_out.class_weight, rows_of_class)
        self._set_fitted(held_out, self._tuned(spec, positive, held_out, found))
        return self

    def _check_scores(self, spec: DecisionSpec) -> None:
        if not hasattr(self.estimator, "decision_function"):
            raise TypeError(
                f"estimator must have decision_function for the rule {str(spec)!r}, got {self.estimator!r}; "
                "'threshold=P' compares its probabilities"
            )
        if self.undo_class_weight is not None:
            raise ValueError(
                f"undo_class_weight must be None for the rule {str(spec)!r}, which compares scores, got "
                f"{self.undo_class_weight!r}"
            )

    def _tuned(
        self, spec: DecisionSpec, positive: int, held_out: HeldOutRows, columns: dict[str, NDArray[Any]]
    ) -> Decision:
        decision, rows, responses = untuned(spec, positive), held_out.rows, held_out.matched
        if any(name not in columns for name in spec.columns):
            return decision
        of_rows = {name: values[rows] for name, values in columns.items()}
        number = dependent_groups(self.cv, check_groups(held_out.groups, len(held_out.true)))
        fn, fp = row_costs(spec, of_rows)
        labelled = LabelledRows(
            responses[:, positive] if spec.is_ranked
            else decision.statistic(responses[:, positive], lambda: responses, of_rows),
            held_out.true[rows] == positive, held_out.row_weight, None if number is None else number[rows], fn, fp,
            numbers=repeated_rows(rows),
        )  # fmt: skip
        return tune_rule(spec, positive, labelled, "training" if on_training_rows(self.cv) else "held-out")

    def _two_classes_only(self) -> bool:
        spec = read_decision(self.rule)
        return spec.kind != "cost" or spec.tuned
