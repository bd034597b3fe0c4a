"""What every parameter means, written once; `parameters` puts it into the classes' docstrings and constructors."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, TypeVar, dataclass_transform

from adacc.algorithms import METHODS

C = TypeVar("C", bound=type)

OWN = {
    "method": """str or Rule, default="adacc1"
    One of ``adacc.methods()``, or a rule of your own.""",
    "costs": """"balanced", dict or sequence, default="balanced"
    Cost of misclassifying a row of each class: inversely proportional to the class's weight, as {label: cost}, or one
    number per class in sorted order. Only their ratios matter. Costs are best tuned: the methods that apply them anew
    each round want ratios far closer to 1 than "balanced".""",
    "alpha": """{"error", "cost"}, default="error"
    The vote from the weighted error, or as printed, from the costs.""",
    "costs_on": """{"all", "errors"}, default="all"
    Whether every row is multiplied by its cost each round, as printed, or the misclassified ones only, as in the
    original.""",
    "sampling_ratio": """float, default=1.0
    Rows of the rarest class over rows that are drawn of each other class.""",
    "n_synthetic": """int, default=100
    Synthetic rows of each rarer class in a round.""",
    "k_neighbors": """int, default=5
    Neighbours between which synthetic rows lie.""",
    "client": """dask.distributed.Client, default=None
    The cluster; None for the client that was made last.""",
}

SHARED = {
    "estimator": """classifier, default=None
    The weak learner: None for native decision stumps or trees, or any scikit-learn classifier that takes sample_weight.
    `criterion`, `max_bins` and the parameters of trees concern the native learners.""",
    "n_estimators": """int, default=100
    Most rounds of boosting.""",
    "learning_rate": """float, default=1.0
    What each vote is multiplied by.""",
    "criterion": """{"gini", "entropy", "error"}, default="gini"
    What a split minimises.""",
    "max_depth": """int or None, default=1
    Splits from the root of a tree to a leaf: 1 for stumps, 2 or more for trees, which see interactions of features;
    None for no limit. A node that no split makes purer is a leaf.""",
    "max_leaf_nodes": """int or None, default=None
    Most leaves of a tree, those of missing values not counted; the splits of the largest gain come first.""",
    "min_samples_leaf": """int, default=1
    Rows that a leaf must have; a leaf of missing values may have fewer.""",
    "max_features": """int, float, "sqrt", "2sqrt", "log2" or None, default=None
    Features that each node of a tree looks at, drawn anew: so many, such a share of all, the square root of their
    number or twice that, or all.""",
    "subsample": """float, default=1.0
    Share of the rows of each class that a round is fitted on, drawn anew.""",
    "rates": """{"training", "out-of-bag"}, default="training"
    The rows whose errors decide on votes and costs: all, or those that a round has not seen, which takes a `subsample`.
    Trees that make no errors on the rows they have seen then still have costs to follow. The bound on the training
    error is not claimed.""",
    "max_bins": """int or None, default=255
    Most bins of a numeric feature; a feature with no more distinct values is split exactly. Of more than 50,000 rows
    the bins come from a draw, by weight and the same for the same rows in the same order. None: always exactly.""",
    "dialect": """{"paper", "authors"}, default="paper"
    The formulas as printed, or as in the code behind the published tables, where these differ.""",
    "calibration": """{None, "sigmoid", "isotonic"}, default=None
    Turn scores into probabilities that are frequencies, by Platt scaling or isotonic regression. Decisions stay those
    of the votes, but for AdaMEC and CGAda, which then decide by the probabilities, and of which CGAda's are frequencies
    among rows weighted by cost.""",
    "calibration_cv": """int, splitter or None, default=None
    Fit the calibration on the training scores (None, as in the papers) or on the scores of rows that folds hold out,
    which calibrated probabilities need: 5 is enough. An int makes stratified folds, which keep the `groups` of `fit`
    whole; a splitter, such as `TimeSplit`, is given the rows that are trained on and their groups.""",
    "pos_label": """label, default=None
    The positive of two classes: None for the rarer one. Only ties depend on it, which go to the other class.""",
    "n_iter_no_change": """int, default=None
    Early stopping: end when the balanced accuracy on held-out rows has not risen for so many rounds, and keep the
    rounds up to the best. None: no early stopping.""",
    "validation_fraction": """float, default=0.1
    Part of the rows held out for early stopping, where `fit` is given no ``X_val``.""",
    "warm_start": """bool, default=False
    Whether `fit` goes on from the rounds of the last `fit` on the same data. Method, options, costs and weak learner
    must have the same values as then.""",
    "n_jobs": """int, default=None
    Threads over features. The result does not depend on it.""",
    "verbose": """int, default=0
    Report progress on standard error every so many rounds.""",
    "random_state": """int, RandomState instance or None, default=None
    Seed of what is random: samples, features drawn, random weak learners, the held-out rows.""",
}

OPTIONS_OF_ALL = frozenset({"dialect", "calibration", "calibration_cv"})
"""Shared parameters that are options of the method: it may have its own default, which None stands for."""

ATTRIBUTES = {
    "classes_": """ndarray of shape (n_classes,)
    The labels.""",
    "n_iter_": """int
    Rounds of the model.""",
    "estimators_": """list
    The weak models: a `Stump` each, or the fitted classifiers.""",
    "estimator_weights_": """ndarray of shape (n_iter_,)
    Vote of each round; (n_iter_, n_classes), by predicted class, for RareBoost.""",
    "estimator_errors_": """ndarray of shape (n_iter_,)
    Weighted error of each round.""",
    "feature_importances_": """ndarray of shape (n_features,)
    Share of each feature in the votes.""",
    "history_": """dict of ndarray
    A row a round: ``alpha``, ``weighted_error``, ``normaliser``, ``bound`` (running product of the normalisers),
    ``class_cost``, ``class_weight`` (weight of each class before the round), ``class_recall`` (of the ensemble so far)
    and, with early stopping, ``validation_balanced_accuracy``.""",
}


@dataclass_transform(kw_only_default=True, eq_default=False)
def parameters(cls: C) -> C:
    """Make the annotated names of a class its constructor parameters, stored as given: scikit-learn's contract.

    ``{summary}`` in the docstring becomes the summary of the class's method in the catalogue, ``{parameters}`` the
    description of all parameters and fitted attributes.
    """
    own = [name for name in vars(cls).get("__annotations__", {}) if name not in SHARED and not name.startswith("_")]
    missing = [name for name in own if name not in OWN]
    if missing:
        raise TypeError(f"{cls.__name__} has the parameter {missing[0]!r}, which OWN does not describe")
    described = {**{name: _with_default(OWN[name], vars(cls)[name]) for name in own}, **SHARED}
    lines = [*_section("Parameters", described), "", *_section("Attributes", ATTRIBUTES)]
    text = (cls.__doc__ or "").replace("{parameters}", "\n".join(f"    {line}".rstrip() for line in lines).strip())
    method = METHODS.get(getattr(cls, "_method", ""))
    if method is not None:
        text = text.replace("{summary}", f"{cls.__name__.removesuffix('Classifier')}: {method.summary}.")
    cls.__doc__ = text
    return dataclass(eq=False, repr=False, kw_only=True)(cls)  # type: ignore[return-value]


def _section(title: str, entries: dict[str, str]) -> list[str]:
    lines = [title, "-" * len(title)]
    for name, text in entries.items():
        lines += f"{name} : {text}".split("\n")
    return lines


def _with_default(text: str, default: Any) -> str:
    """The description with this class's own default, where it is None: that of the method."""
    return re.sub(r"default=.*", "default=None", text, count=1) if default is None else text
