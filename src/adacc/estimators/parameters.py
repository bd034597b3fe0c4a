"""Descriptions of all parameters; the decorator `parameters` inserts them into the docstrings of the classifiers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from textwrap import indent
from typing import Any, TypeVar, dataclass_transform

from adacc.algorithms import METHODS
from adacc.docstrings import section

C = TypeVar("C", bound=type)

METHOD_OPTIONS = {
    "method": """str or Rule, default="adacc1"
    Boosting method: one of ``adacc.methods()``, or a custom rule.""",
    "costs": """"balanced", dict, sequence or array of shape (n_classes, n_classes), default="balanced"
    Cost of misclassifying a row of each class: "balanced" (inversely proportional to the total weight of the class),
    a dict {label: cost}, or one number per class in the sorted order of the labels. A matrix has the cost of predicting
    class j for a row of class i in row i and column j, and 0 on its diagonal; boosted one against one, each pair of
    classes then has its own two costs, otherwise a class has the mean of its errors. Only the ratios of the costs
    matter. Costs should be tuned, for example with `CostSearchCV`: methods that apply the costs in every round need
    ratios far closer to 1 than "balanced". The ``sample_cost`` of `fit` gives every row its own cost.""",
    "alpha": """{"error", "cost"}, default="error"
    Compute the vote from the weighted error, or from the costs as printed in the paper.""",
    "costs_on": """{"all", "errors"}, default="all"
    Rows whose weight is multiplied by the cost in each round: all rows, as printed in the AdaCC paper, or only the
    misclassified rows, as in the original publication.""",
    "sampling_ratio": """float, default=1.0
    Ratio of the number of rows of the rarest class to the number of rows drawn from each other class.""",
    "n_synthetic": """int, default=100
    Number of synthetic rows generated for each minority class per round.""",
    "k_neighbors": """int, default=5
    Number of nearest neighbours used to generate synthetic rows.""",
    "client": """dask.distributed.Client, default=None
    Client of the Dask cluster; None for the client created most recently.""",
}

SHARED = {
    "estimator": """classifier, {"stump", "tree"} or None, default=None
    Weak learner: None for a native stump (``max_depth=1``) or tree, the name of a native learner, or any scikit-learn
    classifier whose `fit` takes ``sample_weight``. `criterion`, `max_bins` and the tree parameters apply to the native
    learners only.""",
    "n_estimators": """int, default=100
    Maximum number of boosting rounds.""",
    "learning_rate": """float, default=1.0
    Factor applied to the vote of each weak learner.""",
    "criterion": """{"gini", "entropy", "error"}, default="gini"
    Impurity measure that a split minimizes.""",
    "max_depth": """int or None, default=1
    Maximum depth of a tree: 1 for stumps, 2 or more for trees, which can model interactions of features; None for no
    limit. A node that no split makes purer is a leaf.""",
    "max_leaf_nodes": """int or None, default=None
    Maximum number of leaves of a tree, grown best-first by gain; None for no limit. Leaves for missing values are not
    counted.""",
    "min_samples_leaf": """int, default=1
    Minimum number of rows in a leaf. A leaf for missing values may have fewer.""",
    "max_features": """int, float, "sqrt", "2sqrt", "log2", "auto" or None, default=None
    Number of features drawn at random as split candidates at each node of a tree: an int is the number, a float is a
    fraction of all features, "sqrt", "2sqrt" and "log2" are functions of their number, and None means all features.
    "auto" is "2sqrt", but at least 12.""",
    "subsample": """float, default=1.0
    Fraction of the rows of each class that is drawn at random to fit the weak learner of a round.""",
    "rates": """{"training", "out-of-bag"}, default="training"
    Rows on which the error rates for votes and costs are computed: all training rows, or the rows that were not drawn
    for the round, which needs ``subsample < 1``. Out-of-bag rates stay informative for trees that fit their own rows
    without error, but the bound on the training error is then not guaranteed.""",
    "max_bins": """int or None, default=255
    Maximum number of bins of a numeric feature. A feature with at most this many distinct values is split exactly. For
    more than 50,000 rows the bins are computed from a weighted random sample, which is the same for the same rows in
    the same order. None: always split exactly.""",
    "monotonic_cst": """array of -1, 0 or 1 per feature, dict or None, default=None
    Monotonic constraint of each feature, as in `HistGradientBoostingClassifier`: with 1 the score of ``classes_[1]``
    never falls as the feature rises and all others stay the same, with -1 it never rises, with 0 it is free. A dict
    {name: constraint} leaves other features free. The branch of missing values is not constrained. Only for two
    classes, numeric features and the native learners; see docs/user-guide.md.""",
    "dialect": """{"paper", "authors"}, default="paper"
    Use the formulas as printed in the paper, or, where they differ, those of the code behind the published tables.""",
    "calibration": """{None, "sigmoid", "isotonic"}, default=None
    Calibrate probabilities by Platt scaling or isotonic regression. Predictions do not change, except for AdaMEC and
    CGAda, which then predict the class of minimum expected cost. The probabilities of CGAda are calibrated on rows
    weighted by cost.""",
    "calibration_cv": """int, splitter, "training" or None, default=None
    Cross-validation for the calibration and the decision rule, which use the scores of held-out rows. None: five folds,
    or fewer if a class has fewer rows. An int makes stratified folds that do not split the `groups` of `fit`; a
    splitter, such as `TimeSplit`, is called with the training rows and their groups. "training" calibrates on the
    training scores, as in the papers, which is fast but overconfident; it is the default of the methods "cgada-cal" and
    "adamec-cal".""",
    "decision": """str, dict, array or None, default=None
    Rule by which `predict` decides, such as "recall>=0.9", tuned on the rows held out by `calibration_cv`; a dict or an
    array is a cost matrix. See `set_decision` and docs/decisions.md. None: the decision of the method.""",
    "multi_class": """{"auto", "one_vs_one", "one_vs_rest", "joint"}, default="auto"
    More than two classes: boost every pair of classes, every class against the rest, or all classes together (SAMME).
    "auto" means pairs for up to ten classes, and the rest for more. Each problem has its own votes and costs.
    `decision_function` is the sum of tanh(4·margin) over the pairs of a class, or the score of the class against the
    rest.""",
    "duplicates": """{"auto", "together", "apart"}, default="auto"
    Whether calibration, decision rule, early stopping and out-of-bag rates keep equal rows on one side of a split:
    "auto" if there is evidence that they are copies, with a warning; always ("together") or never ("apart"). Given
    `groups` and splitters decide alone. See docs/duplicates.md.""",
    "pos_label": """label, default=None
    Positive class of a binary problem; None for the rarer class (by summed weight; by rows if weights balance the
    classes). Decision rules, `CostSearchCV` and the displays of `adacc.inspect` refer to it. In training it affects
    ties only: a score of 0 and a leaf with equal class weights predict the negative class, not the first one.""",
    "n_iter_no_change": """int, default=None
    Early stopping: stop when the balanced accuracy on held-out rows has not improved for this many rounds, and keep
    the rounds up to the best one. None: no early stopping.""",
    "validation_fraction": """float, default=0.1
    Fraction of the rows held out for early stopping if `fit` is called without ``X_val``.""",
    "warm_start": """bool, default=False
    Whether `fit` adds rounds to the model of the previous `fit` on the same data. Method, options, costs and weak
    learner must be unchanged.""",
    "n_jobs": """int, default=None
    Number of threads, which work on different features or two-class problems; -1 for all cores. The result
    does not depend on it.""",
    "verbose": """int, default=0
    Print progress to standard error every `verbose` rounds; 0 for no output.""",
    "random_state": """int, RandomState instance or None, default=None
    Seed for samples, feature draws, random weak learners and held-out rows.""",
}

OPTIONS_OF_ALL = frozenset({"dialect", "calibration", "calibration_cv"})
"""Shared parameters that are options of the method. None selects the default of the method."""

EXAMPLE = """Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.metrics import balanced_accuracy_score
    >>> from adacc import {name}
    >>> X, digit = load_digits(return_X_y=True)
    >>> model = {name}({options}).fit(X, digit == 8)
    >>> round(float(balanced_accuracy_score(digit == 8, model.predict(X))), 2)
    {accuracy}"""

ATTRIBUTES = {
    "classes_": """ndarray of shape (n_classes,)
    The class labels, sorted.""",
    "n_iter_": """int
    Number of boosting rounds; with several two-class problems (`multi_class`), the largest of them.""",
    "estimators_": """list
    The fitted weak learners: a `Stump` or `Tree` per round, or the fitted classifiers. With several two-class
    problems, those of one problem after the other, which predict its sides -1 and 1.""",
    "estimator_weights_": """ndarray of shape (n_models,)
    Vote of each of the `estimators_`; shape (n_models, n_classes), by predicted class, for RareBoost.""",
    "estimator_errors_": """ndarray of shape (n_models,)
    Weighted error of each of the `estimators_`.""",
    "feature_importances_": """ndarray of shape (n_features,)
    Share of each feature in the votes of the weak learners, in trees by the gains of the splits. Like the importance
    by impurity of scikit-learn it is too large for features with many values, also for noise; that of
    ``explain(X).importance()`` on new rows is affected less.""",
    "history_": """dict of ndarray
    One entry for each of the `estimators_`: ``alpha``, ``weighted_error``, ``normaliser``, ``bound`` (running product
    of the normalisers), ``class_cost``, ``class_weight`` (total weight of each class before the round),
    ``class_recall`` (recall of the ensemble so far) and, with early stopping, ``validation_balanced_accuracy``. With
    several two-class problems also ``problem``, the number of the problem.""",
}


@dataclass_transform(kw_only_default=True, eq_default=False)
def parameters(cls: C) -> C:
    """Turn the annotated names of a class into constructor parameters, which are stored unchanged, as in scikit-learn.

    In the docstring, ``{summary}`` is replaced by the summary of the method in the catalogue, ``{parameters}`` by the
    descriptions of all parameters and fitted attributes, and ``{example}`` by an example with the options and of the
    accuracy that `_example` gives.
    """
    own = [name for name in vars(cls).get("__annotations__", {}) if name not in SHARED and not name.startswith("_")]
    missing = [name for name in own if name not in METHOD_OPTIONS]
    if missing:
        raise TypeError(f"{cls.__name__} has the parameter {missing[0]!r}, which METHOD_OPTIONS does not describe")
    described = {**{name: _with_default(METHOD_OPTIONS[name], vars(cls)[name]) for name in own}, **SHARED}
    sections = [
        section(title, *(f"{name} : {text}" for name, text in entries.items()))
        for title, entries in (("Parameters", described), ("Attributes", ATTRIBUTES))
    ]
    text = (cls.__doc__ or "").replace("{parameters}", indent("\n\n".join(sections), "    ").strip())
    if "_example" in vars(cls):
        options, accuracy = vars(cls)["_example"]
        text = text.replace("{example}", EXAMPLE.format(name=cls.__name__, options=options, accuracy=accuracy))
    method = METHODS.get(getattr(cls, "_method", ""))
    if method is not None:
        text = text.replace("{summary}", f"{cls.__name__.removesuffix('Classifier')}: {method.summary}.")
    cls.__doc__ = text
    return dataclass(eq=False, repr=False, kw_only=True)(cls)  # type: ignore[return-value]


def _with_default(text: str, default: Any) -> str:
    """Replace the default in a description by None if that is the default of this class."""
    return re.sub(r"default=.*", "default=None", text, count=1) if default is None else text
