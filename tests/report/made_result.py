"""Results as `adacc compare` gives them, made from predictions, so that every figure can be counted again."""

from copy import deepcopy
from functools import cache
from time import perf_counter

import numpy as np
from scipy import stats
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, precision_recall_curve, roc_curve
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from adacc import AdaBoostClassifier, AdaCC1Classifier, AdaCC2Classifier, CSB2Classifier
from adacc.comparison.explained_rows import describe_contributions, describe_examples
from adacc.evaluation.measures import confusion_counts
from adacc.inspect import TrainingDisplay
from adacc.metrics import evaluate

FOLDS = 4
METHODS = {
    "adacc2": ("AdaCC2", True, "costs follow the ensemble's errors, outside the exponent", AdaCC2Classifier),
    "adacc1": ("AdaCC1", True, "costs follow the ensemble's errors, inside the exponent", AdaCC1Classifier),
    "adaboost": ("AdaBoost", True, "no costs", AdaBoostClassifier),
    "csb2": (
        "CSB2",
        True,
        "weights times cost",
        lambda **kw: CSB2Classifier(costs={"benign": 0.7, "malignant": 1}, **kw),
    ),
    "logistic": (
        "Logistic regression",
        False,
        "a line",
        lambda **_: make_pipeline(StandardScaler(), LogisticRegression()),
    ),
    "forest": ("Random forest", False, "20 trees", lambda **_: RandomForestClassifier(20, max_depth=4, random_state=0)),
    "bayes": ("Naive Bayes", False, "features taken as independent", lambda **_: GaussianNB()),
    "tree": ("Decision tree", False, "one tree", lambda **_: DecisionTreeClassifier(max_depth=2, random_state=0)),
}


def table():
    """Breast cancer with a third of the positive rows, and without the columns that make it easy."""
    frame, benign = load_breast_cancer(return_X_y=True, as_frame=True)
    y = np.where(benign == 0, "malignant", "benign")
    rows = np.sort(np.concatenate([np.flatnonzero(y == "benign"), np.flatnonzero(y == "malignant")[::3]]))
    return frame.iloc[rows, [1, 4, 5, 8, 9, 11, 14, 18, 21, 24, 28]].reset_index(drop=True), y[rows]


@cache
def predictions():
    """Truth, and by method: probability and decision of every row by a model that has not seen it, part, seconds."""
    X, y = table()
    true = y == "malignant"
    folds = list(StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y))
    found = {}
    for name, (_, own, _, make) in METHODS.items():
        probability, decided = np.zeros(len(y)), np.zeros(len(y), bool)
        part, seconds = np.zeros(len(y), int), []
        for number, (train, test) in enumerate(folds):
            start = perf_counter()
            model = make(**({"n_estimators": 40} if own else {})).fit(X.iloc[train], y[train])
            seconds.append(perf_counter() - start)
            column = list(model.classes_).index("malignant")
            probability[test] = model.predict_proba(X.iloc[test])[:, column]
            decided[test] = model.predict(X.iloc[test]) == "malignant"
            part[test] = number
        found[name] = {"probability": probability, "decided": decided, "part": part, "seconds": seconds}
    return true, found


def measured(values):
    values = np.asarray(values, float)
    half = stats.t.ppf(0.975, len(values) - 1) * stats.sem(values)
    ends = {"low": float(values.mean() - half), "high": float(values.mean() + half)}
    return {"mean": float(values.mean()), "std": float(values.std(ddof=1)), **ends, "by_fold": values.tolist()}


def metrics_of(true, found):
    parts = []
    for number in range(FOLDS):
        rows = found["part"] == number
        y, decided, p = true[rows], found["decided"][rows], found["probability"][rows]
        values = evaluate(y, decided, p, pos_label=True)
        values["precision"] = float(y[decided].mean()) if decided.any() else 0.0
        values["average_precision"] = average_precision_score(y, p)
        values["brier"] = float(np.mean((p - y) ** 2))
        values["seconds"] = found["seconds"][number]
        parts.append(values)
    return {name: measured([each[name] for each in parts]) for name in parts[0]}


def thinned(*columns, most=200):
    keep = np.unique(np.linspace(0, len(columns[0]) - 1, most).round().astype(int))
    return [np.asarray(column)[keep].tolist() for column in columns]


def pooled_of(true, found):
    p, decided = found["probability"], found["decided"]
    fpr, tpr = thinned(*roc_curve(true, p)[:2])
    precision, recall = thinned(*precision_recall_curve(true, p)[:2])
    (at,) = thinned(np.unique(np.concatenate([[0.0, 1.0], p])), most=150)
    caught = [int(((p >= t) & true).sum()) for t in at]
    alarms = [int(((p >= t) & ~true).sum()) for t in at]
    tp, fn, fp, tn = (int((said & rows).sum()) for rows in (true, ~true) for said in (decided, ~decided))
    nearest = int(np.argmin(np.abs(np.add(caught, alarms) - decided.sum())))
    bins = np.clip((p * 10).astype(int), 0, 9)
    calibration = [
        {
            "predicted": float(p[bins == b].mean()),
            "observed": float(true[bins == b].mean()),
            "rows": int((bins == b).sum()),
        }
        for b in np.unique(bins)
    ]
    first = np.arange(len(p)) % 2 == 0
    own = [int((said & rows & first).sum()) for rows in (true, ~true) for said in (decided, ~decided)]
    half = {
        "true_positives": [int(((p >= t) & true & first).sum()) for t in at],
        "false_positives": [int(((p >= t) & ~true & first).sum()) for t in at],
        "default": confusion_counts(*own),
    }
    return {
        "roc": {"fpr": fpr, "tpr": tpr},
        "pr": {"recall": recall, "precision": precision},
        "thresholds": {"at": at, "true_positives": caught, "false_positives": alarms, "default": nearest, "half": half},
        "positives": int(true.sum()),
        "negatives": int((~true).sum()),
        "default": confusion_counts(tp, fn, fp, tn),
        "calibration": calibration,
    }


def methods_section():
    true, found = predictions()
    methods = []
    for name, (label, own, about, _) in METHODS.items():
        method = {"name": name, "label": label, "own": own, "about": about, "failed": None, "versus_best": None}
        method |= {
            "library": "adacc 0.4.0" if own else "scikit-learn 1.7",
            "cost": [0.7] * FOLDS if name == "csb2" else None,
        }
        method |= {"metrics": metrics_of(true, found[name]), "pooled": pooled_of(true, found[name])}
        methods.append(method)
    methods.sort(key=lambda each: -each["metrics"]["balanced_accuracy"]["mean"])
    best = np.array(methods[0]["metrics"]["balanced_accuracy"]["by_fold"])
    for method in methods[1:]:
        behind = np.array(method["metrics"]["balanced_accuracy"]["by_fold"]) - best
        p = float(stats.ttest_1samp(behind, 0.0).pvalue) if behind.any() else 1.0
        low, high = stats.t.interval(0.95, FOLDS - 1, behind.mean(), stats.sem(behind)) if behind.any() else (0.0, 0.0)
        interval = {"low": float(low), "high": float(high), "folds": FOLDS}
        method["versus_best"] = {"difference": float(behind.mean()), **interval, "p": p, "significant": p < 0.05}
    return methods


def data_section():
    X, y = table()
    true = y == "malignant"
    columns = [
        {
            "name": name,
            "kind": "number",
            "missing": 0,
            "distinct": int(X[name].nunique()),
            "alone": alone(X[name], true),
        }
        for name in X
    ]
    columns[2] |= {"missing": 37}
    columns.append({"name": "hospital", "kind": "category", "missing": 3, "distinct": 4, "alone": 0.52})
    columns.append({"name": "batch", "kind": "number", "missing": 0, "distinct": 1, "alone": 0.5})
    findings = [
        {"level": "note", "title": "Column 'batch' is constant", "text": "It tells nothing and may be dropped."},
        {
            "level": "warning",
            "title": "Column 'worst texture' alone predicts the target",
            "text": "Its AUC alone is 0.97. Is it known at the time of the decision? If not, drop it with --drop.",
        },
    ]
    return {
        "source": "cells.csv", "target": "diagnosis", "positive": "malignant", "negative": "benign",
        "rows": len(y) + 5, "rows_used": len(y), "positives": int(true.sum()), "columns": columns, "dropped": ["id"],
        "duplicates": {"rows": 12, "across_folds": 7, "together": False, "contradicting": 2}, "findings": findings,
    }  # fmt: skip


def alone(values, true):
    ranks = stats.rankdata(values)
    n = true.sum()
    found = (ranks[true].sum() - n * (n + 1) / 2) / (n * (~true).sum())
    return float(max(found, 1 - found))


def model_section():
    X, y = table()
    model = AdaCC2Classifier(n_estimators=40).fit(X, y == "malignant")
    order = np.argsort(-model.feature_importances_)
    shares = [{"feature": X.columns[j], "share": float(model.feature_importances_[j])} for j in order]
    shapes = []
    for j in order[:5]:
        curve, values = model.shape_functions()[int(j)], X.iloc[:, j]
        x = [float(values.min()), *curve.thresholds.tolist(), float(values.max())]
        shapes.append({"feature": curve.name, "kind": "number", "x": x, "y": curve.values.tolist(), "missing": None})
    shapes[1]["missing"] = -0.4
    hospitals = {
        "labels": ["North", "South", "West", "an uncommonly long name of a hospital"],
        "y": [0.4, -0.7, 0.1, 1.1],
    }
    shapes.append({"feature": "hospital", "kind": "category", **hospitals, "missing": -0.2})
    history = TrainingDisplay.from_estimator(model).frame()
    errors = {"rare_error": 1 - history["tpr"], "common_error": 1 - history["tnr"]}
    examples = describe_examples(model, X, np.asarray(y == "malignant"), True, [None, *range(2, len(X) + 1)])
    labels = {True: "malignant", False: "benign"}
    columns = {"round": history["round"], **errors, **{key: history[key] for key in ("balanced_error", "rare_weight")}}
    return {
        "method": "adacc2", "label": "AdaCC2", "cost": None, "rounds": 40, "bags": None, "main_share": None,
        "importances": shares, "shapes": shapes,
        "rounds_history": {key: column.tolist() for key, column in columns.items()},
        "contributions": describe_contributions(model, X, np.asarray(y == "malignant"), True),
        "examples": [{**each, "prediction": labels[each["prediction"]]} for each in examples],
        "train_command": "adacc train cells.csv --target diagnosis --method adacc2 --model cells.adacc",
    }  # fmt: skip


@cache
def _result():
    protocol = {
        "folds": FOLDS, "repeats": 1, "splits": "stratified", "rounds": 40, "seed": 0, "metric": "balanced_accuracy",
        "n_folds": FOLDS, "n_folds_done": FOLDS, "tuned": "the cost of the common class, by F1 on the training rows",
    }  # fmt: skip
    return {
        "schema": {"name": "adacc-compare", "version": 1}, "adacc": "0.4.0",
        "created": "2026-11-15T12:00:00+00:00", "stopped": False,
        "command": "adacc compare cells.csv --target diagnosis", "versions": {"python": "3.11.7", "numpy": "2.3.4"},
        "data": data_section(), "protocol": protocol, "methods": methods_section(), "model": model_section(),
    }  # fmt: skip


def result():
    """A whole result, to change at will."""
    return deepcopy(_result())


def explained():
    """A model and one of its rows."""
    whole = result()
    X, y = table()
    model = AdaCC2Classifier(n_estimators=40).fit(X, y == "malignant")
    curves = model.shape_functions()
    added = [float(curve(X.iloc[7:8, j])[0]) for j, curve in enumerate(curves)]
    model_says = "malignant" if model.predict(X.iloc[7:8])[0] else "benign"
    probability = float(model.predict_proba(X.iloc[7:8])[0, 1])
    pieces = [
        {"feature": name, "value": float(X.iloc[7, j]), "contribution": added[j]} for j, name in enumerate(X.columns)
    ]
    whole["model"]["row"] = {
        "number": 7, "score": float(curves.intercept) + sum(added), "prediction": model_says,
        "decision": "The model predicts malignant at a score above 0.",
        "probability": probability, "intercept": float(curves.intercept), "contributions": pieces,
    }  # fmt: skip
    keys = ("schema", "adacc", "created", "command", "versions", "model")
    return {key: whole[key] for key in keys}
