"""The encodings of categories, and the choice among them on inner folds; test_baselines.py compares the models."""

from dataclasses import replace

import lightgbm
import numpy as np
import pandas as pd
import pytest
from mixed_fold import make_fold
from sklearn.metrics import average_precision_score
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from adacc.evaluation import baseline_models
from adacc.evaluation.baseline_classifier import BaselineClassifier
from adacc.evaluation.baselines import BASELINES
from adacc.evaluation.encodings import Codes, OneHot, candidates
from adacc.evaluation.fold_data import FoldData


def towns(values, levels=("Bonn", "Kiel", "Ulm")):
    return pd.Categorical(values, levels)


def test_codes_count_the_levels_of_the_training_rows_and_leave_the_rest():
    X = pd.DataFrame({"a": [1.5, np.nan], "town": towns(["Ulm", "Bonn"])})
    later = pd.DataFrame({"a": [2.5, 0, 0, 0], "town": towns(["Kiel", "Rom", None, "Ulm"], ("Rom", "Ulm", "Kiel"))})
    coded = Codes(X)(later)
    assert coded["town"].tolist() == [1, -1, -1, 2]
    assert coded["a"].tolist() == [2.5, 0, 0, 0]
    assert later["town"].dtype == "category"  # as it was given


def test_one_hot_columns_follow_the_others_and_columns_of_many_levels_have_codes():
    many = pd.Categorical([f"{i:03}" for i in range(60)])
    X = pd.DataFrame({"x3": np.arange(60.0), "town": towns(["Ulm", "Bonn", None] * 20), "zip": many})
    encoded = OneHot(X)(X.iloc[[1, 59, 3]].assign(town=towns(["Kiel", None, "Ulm"])))
    # a, code of the zip, then Bonn, Ulm and missing: no training row has Kiel.
    due = [[1, 1, 0, 0, 0], [59, 59, 0, 0, 1], [3, 3, 0, 1, 0]]
    np.testing.assert_array_equal(encoded.to_numpy(), due)
    assert encoded.columns.is_unique


@pytest.mark.parametrize(
    ("columns", "native", "numbers"),
    [
        ({}, (), ()),
        ({"town": 2}, ("native", "codes"), ("one-hot",)),
        ({"town": 3}, ("native", "codes", "one-hot"), ("one-hot", "codes")),
        ({"zip": 51}, ("native", "codes"), ("one-hot",)),
        ({"zip": 51, "town": 50}, ("native", "codes", "one-hot"), ("one-hot", "codes")),
    ],
)
def test_candidates(columns, native, numbers):
    X = pd.DataFrame({"a": range(102), **{name: pd.Categorical(np.arange(102) % n) for name, n in columns.items()}})
    assert candidates(BASELINES["lightgbm"].encodings, X) == native
    assert candidates(BASELINES["easy-ensemble"].encodings, X) == numbers


def ordered_fold(order, n=600, groups=None, in_time=False):
    """The class depends on the number of a level (`order`), or on whether it is even: a split by codes or by sets."""
    rng = np.random.default_rng(1)
    level = rng.integers(0, 40, n)
    chance = np.where(level > 29 if order else level % 2 == 1, 0.6, 0.05)
    y = (rng.random(n) < chance).astype(np.int8)
    X = pd.DataFrame({"a": rng.normal(size=n), "town": pd.Categorical([f"{i:02}" for i in level])})
    return FoldData(X, y, X[:5], [20], 3, groups, in_time)


def by_hand(fold, folds):
    """Average precision of LightGBM with categories and with codes, on given inner folds."""
    found = {}
    for name, X in {"native": fold.X, "codes": fold.X.assign(town=fold.X["town"].cat.codes)}.items():
        scores, rows = [], []
        for train, test in folds:
            model = lightgbm.LGBMClassifier(n_estimators=20, n_jobs=1, verbose=-1, force_col_wise=True)
            model.fit(X.iloc[train], fold.y[train])
            scores.append(model.predict(X.iloc[test], raw_score=True))
            rows.append(test)
        found[name] = average_precision_score(fold.y[np.concatenate(rows)], np.concatenate(scores))
    return found


@pytest.mark.parametrize("order", [True, False])
@pytest.mark.parametrize("kind", ["rows", "groups", "time"])
def test_the_encoding_is_chosen_on_folds_that_keep_groups_together_and_follow_times(order, kind):
    n = 600
    groups = {"rows": None, "groups": np.arange(n) // 6, "time": np.arange(n) // 6}[kind]
    fold = ordered_fold(order, n, groups, kind == "time")
    if kind == "time":
        folds = [(np.arange(k * 150), np.arange(k * 150, (k + 1) * 150)) for k in (1, 2, 3)]
    else:
        splitter = StratifiedKFold if groups is None else StratifiedGroupKFold
        folds = list(splitter(3, shuffle=True, random_state=3).split(fold.X, fold.y, groups))
    precision = by_hand(fold, folds)
    baseline = replace(BASELINES["lightgbm-threshold"], encodings=("native", "codes"))
    chosen = baseline.fit(fold).encoding
    assert chosen == max(precision, key=precision.get)
    if kind == "rows":
        assert chosen == ("codes" if order else "native")
    assert baseline.predict(fold)[20].encoding == chosen


@pytest.mark.parametrize("in_time", [False, True])
@pytest.mark.parametrize("name", ["lightgbm", "lightgbm-threshold"])
def test_every_candidate_is_tried_on_these_folds_alone(name, in_time):
    fold, fits = ordered_fold(True, groups=np.arange(600) // 6, in_time=in_time), []

    def watched(given):
        train = given.X.index

        def score(X):
            fits.append((train, X.index))
            return {20: np.arange(len(X)) * 1.0}

        return score

    replace(BASELINES[name], fit_scorer=watched).fit(fold)
    assert len(fits) == 3 * 3  # candidates times folds; the model of all rows scores nothing
    assert [rows.tolist() for _, rows in fits[:3]] * 3 == [rows.tolist() for _, rows in fits]
    for train, test in fits:
        if in_time:
            assert fold.groups[train].max() < fold.groups[test].min()
        else:
            assert not set(fold.groups[train]) & set(fold.groups[test])


@pytest.mark.parametrize("name", ["lightgbm", "lightgbm-threshold"])
@pytest.mark.parametrize("with_categories", [True, False])
def test_a_table_without_categories_costs_no_further_fit(monkeypatch, name, with_categories):
    fold, fits = make_fold(rounds=[5]), []
    make = baseline_models.lightgbm_model

    def watched(*args, **parameters):
        fits.append(parameters)
        return make(*args, **parameters)

    monkeypatch.setattr(baseline_models, "lightgbm_model", watched)
    if not with_categories:
        fold = replace(fold, X=fold.X.drop(columns="colour"), X_test=fold.X_test.drop(columns="colour"))
    found = BASELINES[name].predict(fold)[5]
    n_threshold_fits = 3 if name == "lightgbm-threshold" else 0
    assert len(fits) == (1 + 3 * 3 if with_categories else 1 + n_threshold_fits)
    assert (found.encoding is not None) == with_categories


def test_too_few_rows_for_inner_folds_leave_the_first_encoding():
    fold = make_fold(rounds=[5])
    rows = np.append(np.flatnonzero(fold.y == 1)[:1], np.flatnonzero(fold.y == 0))
    few = replace(fold, X=fold.X.iloc[rows], y=fold.y[rows])
    assert BASELINES["lightgbm"].predict(few)[5].encoding == "native"
    assert BASELINES["easy-ensemble"].predict(few)[1].encoding == "one-hot"


def test_ties_go_to_the_first_encoding():
    fold = make_fold(rounds=[5])
    blind = replace(BASELINES["lightgbm"], fit_scorer=lambda _: lambda X: {5: np.ones(len(X))})
    assert blind.predict(fold)[5].encoding == "native"


@pytest.mark.parametrize("order", [True, False])
def test_more_than_two_classes_choose_by_the_mean_average_precision(order):
    fold = ordered_fold(order)
    levels = fold.X["town"].cat.codes.to_numpy()
    several = replace(fold, y=np.where(levels % 7 == 0, 2, fold.y).astype(np.int8))
    folds = list(StratifiedKFold(3, shuffle=True, random_state=3).split(several.X, several.y))
    precision = {}
    for name, X in {"native": several.X, "codes": several.X.assign(town=levels)}.items():
        held_out = np.zeros((len(several.y), 3))
        for train, test in folds:
            model = lightgbm.LGBMClassifier(n_estimators=20, class_weight="balanced", n_jobs=1, verbose=-1)
            held_out[test] = model.fit(X.iloc[train], several.y[train]).predict_proba(X.iloc[test])
        precision[name] = np.mean([average_precision_score(several.y == k, held_out[:, k]) for k in range(3)])
    baseline = replace(BASELINES["lightgbm"], encodings=("native", "codes"))
    assert baseline.predict_classes(several).encoding == max(precision, key=precision.get)


def test_the_classifier_says_which_encoding_it_has_and_takes_text_for_later_rows():
    fold = ordered_fold(order=True)
    text = fold.X.assign(town=fold.X["town"].astype(str))
    model = BaselineClassifier("lightgbm-threshold", 20, pos_label=1, random_state=3).fit(text, fold.y)
    due = BASELINES["lightgbm-threshold"].predict(fold)[20]
    assert model.encoding_ == due.encoding != "native"
    np.testing.assert_array_equal(model.decision_function(text[:5]), due.scores)
    numbers = BaselineClassifier("lightgbm-threshold", 20).fit(text[["a"]], fold.y)
    assert numbers.encoding_ is None
