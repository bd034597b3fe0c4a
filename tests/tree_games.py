"""Models of trees, and the value of every set of known features by definition, which explanations must agree with."""

from itertools import combinations

import numpy as np
import pandas as pd

import adacc
from adacc.boosting.problems import SIDES
from adacc.estimators.base import read_known

EXACT = {"rtol": 0.0, "atol": 1e-9}
FOREST = {"n_estimators": 2, "n_rounds": 1, "max_depth": 3, "random_state": 0}
THREE = ("joint", "pairs", "rest", "forest of three")


def numbers(n_rows=300, n_features=8, n_classes=2, seed=0):
    """Numbers with interactions; the last class is rare."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features)).round(1)
    score = X[:, 0] * X[:, 1] + X[:, 2] + (X[:, 3] > 0) * X[:, 4] + 0.3 * rng.normal(size=n_rows)
    return X, np.searchsorted(np.quantile(score, [0.6, 0.85][: n_classes - 1]), score)


def mixed(n_rows=300, n_classes=2):
    """Eight features: numbers with and without gaps, categories with and without gaps, a flag."""
    X, y = numbers(n_rows, n_classes=n_classes)
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    frame.loc[rng.random(n_rows) < 0.25, "a"] = np.nan
    frame.loc[rng.random(n_rows) < 0.1, "c"] = np.nan
    frame["b"] = np.array(["low", "mid", "high", None, "top"], dtype=object)[np.digitize(X[:, 1], [-1, 0, 0.5, 1])]
    frame["d"] = pd.Categorical(np.where(X[:, 3] > 0, "yes", "no"))
    frame["h"] = X[:, 7] > 0.3
    return frame, y


def fit(kind, X, y, **fit_options):
    make = {
        "forest": lambda: adacc.AdaCCForestClassifier(**FOREST),
        "forest of three": lambda: adacc.AdaCCForestClassifier(**FOREST),
        "trees": lambda: adacc.AdaCC1Classifier(n_estimators=4, max_depth=3),
        "joint": lambda: adacc.AdaCC1Classifier(n_estimators=4, max_depth=3, multi_class="joint"),
        "pairs": lambda: adacc.AdaCC2Classifier(n_estimators=3, max_depth=2, multi_class="one_vs_one"),
        "rest": lambda: adacc.AdaCC2Classifier(n_estimators=3, max_depth=2, multi_class="one_vs_rest"),
        "sampled": lambda: adacc.AdaCC1Classifier(n_estimators=3, max_depth=3, subsample=0.6, random_state=0),
        "deep": lambda: adacc.AdaCC1Classifier(n_estimators=2, max_depth=None, max_features=3, random_state=0),
    }
    return make[kind]().fit(X, y, **fit_options)


def asked(X):
    """Rows to explain, among them values that training has not seen."""
    rows = X[:2].copy()
    if isinstance(rows, pd.DataFrame):
        rows["b"] = ["new", None]
        rows.loc[1, ["a", "e"]] = np.nan  # column e has no gaps in training
    else:
        rows[1, 5] = np.nan
    return rows


# The definition, from the public description of the trees.


def scores_of_trees(model, rows, sets):
    """For each set of known features, the expected score of every row.

    A row goes down all branches of an unknown feature in proportion to their training rows.
    """
    contributions = model.fitted_model_.ensemble.class_contributions
    cells = np.array(rows, dtype=object)
    known = np.array([[j in S for j in range(cells.shape[1])] for S in sets])
    total = np.zeros((len(sets), len(cells), contributions.shape[2]))
    labels = (model.classes_ if model.fitted_model_.ensemble.coding is None else SIDES).tolist()
    for tree, values in zip(model.estimators_, contributions, strict=True):
        predicted = np.array([labels.index(label) for label in tree.prediction])
        by_node, share = values[predicted], tree.confidence[:, None]
        if (share < 1.0).any():  # of two classes
            by_node = share * by_node + (1.0 - share) * values[1 - predicted]
        for i, row in enumerate(cells):
            total[:, i] += expected(tree, by_node, row, known, 0)
    return dict(zip(sets, total, strict=True))


def expected(tree, values, row, known, node):
    """The expected value of a row in a node, for each set of known features."""
    f, own = tree.feature[node], np.tile(values[node], (len(known), 1))
    if f < 0:
        return own
    branches = [tree.left[node], tree.right[node], tree.missing[node]]
    below = [own if child < 0 else expected(tree, values, row, known, child) for child in branches]
    cover = np.array([0.0 if child < 0 else tree.cover[child] for child in branches])
    value, category = row[f], tree.category[node]
    absent = value is None or value != value
    if not np.isnan(tree.threshold[node]):
        taken = 2 if absent else 0 if value <= tree.threshold[node] else 1
    else:
        taken = 0 if (absent and category is None) or value == category else 1
    return np.where(known[:, [f]], below[taken], np.tensordot(cover / cover.sum(), below, axes=1))


def scores_with_background(model, rows, background, sets):
    """For each set of known features, the mean score of the background rows with the known features of each row."""
    cells, others = np.array(rows, dtype=object), np.array(background, dtype=object)
    known = np.array([[j in S for j in range(cells.shape[1])] for S in sets])
    mixtures = np.where(known[:, None, None, :], cells[:, None, :], others).reshape(-1, cells.shape[1])
    if not isinstance(rows, pd.DataFrame):
        X = mixtures.astype(float)
    else:
        X = pd.DataFrame(mixtures, columns=rows.columns).astype(dict.fromkeys("acefg", float) | {"h": bool})
    scores = model.fitted_model_.scores(read_known(model, X))
    return dict(zip(sets, scores.reshape(len(sets), len(cells), len(others), -1).mean(axis=2), strict=True))


def subsets(features):
    return [S for size in range(len(features) + 1) for S in combinations(features, size)]
